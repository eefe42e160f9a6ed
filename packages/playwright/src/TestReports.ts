import type { AttemptReport, TestReport } from "@delivery/client"
import { caseIds, joined, messageText, stackText, testReport, titleOf as joinTitles } from "@delivery/publishing"
import type { TestCase, TestError, TestResult } from "@playwright/test/reporter"
import { relative, sep } from "node:path"

/** Turns what Playwright knows about a test into the terms of the service. */

/** The first attempt of a test, as it was when it ended. */
export interface FirstAttempt {
  readonly attempt: AttemptReport | null
  readonly annotations: TestCase["annotations"]
  readonly files: ReadonlyArray<string>
}

/** The message of an error. */
export const messageOf = (error: TestError): string => messageText(error.message ?? error.value ?? error.stack ?? "")

/** The stack of an error, with the lines of source around it, which readers of the run do not have at hand. */
const stackOf = ({ snippet, stack }: TestError): string => stackText(stack, snippet)

/**
 * An attempt as Playwright judges it: it passed if it ended as expected, so an expected failure passes. Skipped and
 * interrupted attempts did not run (`test.outcome()` calls both skipped).
 */
export const attemptReport = (
  test: TestCase,
  result: TestResult,
  files: ReadonlyArray<string>
): AttemptReport | null => {
  if (result.status === "skipped" || result.status === "interrupted") return null
  const ran = {
    durationMs: Math.max(0, result.duration),
    startedAt: result.startTime.toISOString(),
    files
  }
  if (result.status === test.expectedStatus) return { ...ran, status: "passed", errorMessage: null, errorStack: null }
  const message = joined(result.errors.map(messageOf))
  return {
    ...ran,
    status: "failed",
    errorMessage: message ?? (result.status === "passed" ? "Expected to fail, but passed." : null),
    errorStack: joined(result.errors.map(stackOf))
  }
}

/** The path of the test's file from the root of the tests, with slashes. */
export const fileOf = (test: TestCase, rootDir: string): string =>
  relative(rootDir, test.location.file).split(sep).join("/")

/** The titles of the test and the groups around it: the title path without root, project and file. */
const titlesOf = (test: TestCase): ReadonlyArray<string> =>
  test
    .titlePath()
    .slice(3)
    .filter((title) => title !== "")

export const titleOf = (test: TestCase): string => joinTitles(titlesOf(test))

const projectOf = (test: TestCase): string => test.parent.project()?.name ?? ""

/** All tests of the run with their first attempts. Tests without one did not run. */
export const testReports = (
  tests: ReadonlyArray<TestCase>,
  firstAttempts: ReadonlyMap<string, FirstAttempt>,
  context: { readonly rootDir: string; readonly projects: number }
): Array<TestReport> => {
  const unique = caseIds()
  return tests.map((test) => {
    const first = firstAttempts.get(test.id)
    return testReport(
      {
        file: fileOf(test, context.rootDir),
        titles: titlesOf(test),
        annotations: [...test.annotations, ...(first?.annotations ?? [])],
        tags: test.tags,
        project: context.projects > 1 ? projectOf(test) : "",
        repetition: test.repeatEachIndex,
        files: first?.files ?? [],
        attempt: first?.attempt ?? null
      },
      unique
    )
  })
}

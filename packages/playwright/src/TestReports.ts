import type { AttemptReport, Coverage, TestReport } from "@delivery/client"
import { firstCharacters } from "@delivery/domain/Text"
import { caseIds, coverages, fitId } from "@delivery/publishing"
import type { TestCase, TestError, TestResult } from "@playwright/test/reporter"
import { relative, sep } from "node:path"
import { stripVTControlCharacters } from "node:util"

/** Turns what Playwright knows about a test into the terms of the service. */

const maxMessage = 20_000
const maxStack = 40_000

/** The first attempt of a test, as it was when it ended. */
export interface FirstAttempt {
  readonly attempt: AttemptReport | null
  readonly annotations: TestCase["annotations"]
  readonly files: ReadonlyArray<string>
}

/** The text without colours, cut to `length` characters. */
const plain = (text: string, length: number): string =>
  firstCharacters(stripVTControlCharacters(text), length).toWellFormed()

/** The message of an error. */
export const messageOf = (error: TestError): string =>
  plain(error.message ?? error.value ?? error.stack ?? "", maxMessage)

/** The stack of an error, with the lines of source around it, which readers of the run do not have at hand. */
const stackOf = ({ snippet, stack }: TestError): string =>
  plain([stack ?? "", snippet ?? ""].filter((text) => text !== "").join("\n\n"), maxStack)

const joined = (texts: ReadonlyArray<string>): string | null => texts.filter((text) => text !== "").join("\n\n") || null

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

export const titleOf = (test: TestCase): string => titlesOf(test).join(" › ")

const projectOf = (test: TestCase): string => test.parent.project()?.name ?? ""

/** The description of the last annotation of a type, so that annotations that a test adds while it runs win. */
const annotation = (annotations: TestCase["annotations"], type: string): string | undefined =>
  annotations.findLast((one) => one.type === type && (one.description ?? "").trim() !== "")?.description?.trim()

const caseTag = /^@case:(\S+)$/

/**
 * The id of a test, the same in every run: its own (annotation `caseId`, tag `@case:ID`), or its file and titles. The project
 * and the repetition are added, because each of them runs the test.
 */
const caseIdOf = (test: TestCase, annotations: TestCase["annotations"], rootDir: string, projects: number): string => {
  const tag = test.tags.map((tag) => caseTag.exec(tag)?.[1]).find((id) => id !== undefined)
  const own = annotation(annotations, "caseId") ?? tag
  const id = own ?? [fileOf(test, rootDir), ...titlesOf(test)].join(" › ")
  const project = projects > 1 && projectOf(test) !== "" ? ` [${projectOf(test)}]` : ""
  const repetition = test.repeatEachIndex > 0 ? ` #${test.repeatEachIndex + 1}` : ""
  return fitId(id, 500 - project.length - repetition.length) + project + repetition
}

const coverageOf = (test: TestCase, annotations: TestCase["annotations"]): Coverage => {
  const annotated = annotation(annotations, "coverage")
  return (
    coverages.find((one) => one === annotated) ?? coverages.find((one) => test.tags.includes(`@${one}`)) ?? "regression"
  )
}

/** All tests of the run with their first attempts. Tests without one did not run. */
export const testReports = (
  tests: ReadonlyArray<TestCase>,
  firstAttempts: ReadonlyMap<string, FirstAttempt>,
  context: { readonly rootDir: string; readonly projects: number }
): Array<TestReport> => {
  const unique = caseIds()
  return tests.map((test) => {
    const first = firstAttempts.get(test.id)
    const annotations = [...test.annotations, ...(first?.annotations ?? [])]
    const priority = annotation(annotations, "priority")
    return {
      caseId: unique(caseIdOf(test, annotations, context.rootDir, context.projects)),
      title: firstCharacters(titleOf(test), 4_000),
      file: firstCharacters(fileOf(test, context.rootDir), 4_000),
      coverage: coverageOf(test, annotations),
      testKind: firstCharacters(annotation(annotations, "testKind") ?? "behavior", 40),
      priority: priority === undefined ? null : firstCharacters(priority, 100),
      files: first?.files ?? [],
      attempt: first?.attempt ?? null
    }
  })
}

import type { AttemptReport, TestReport } from "@delivery/client"
import {
  type Attachment,
  caseIds,
  joined,
  messageText,
  type RunFile,
  runFiles,
  stackText,
  testReport,
  titleOf
} from "@delivery/publishing"
import { isAbsolute, relative, resolve, sep } from "node:path"
import type { TestCase, TestModule } from "vitest/node"

/** Turns what Vitest knows about a test into the terms of the service. */

interface ThrownError {
  readonly message?: string | undefined
  readonly stack?: string | undefined
  readonly diff?: string | undefined
}

/** The message of an error. */
const messageOf = ({ message, stack }: ThrownError): string => messageText(message ?? stack ?? "")

const failedWith = (errors: ReadonlyArray<ThrownError>) => ({
  status: "failed" as const,
  errorMessage: joined(errors.map(messageOf)),
  errorStack: joined(errors.map(({ diff, stack }) => stackText(stack, diff)))
})

/**
 * The first attempt of a test, as Vitest judges it: an expected failure passes. Skipped tests, and those that a test run that was
 * given up never ran, have none. One that Vitest fails without running it, such as for a forbidden `only`, has failed.
 */
const attemptReport = (test: TestCase, files: ReadonlyArray<string>): AttemptReport | null => {
  const [attempt] = test.attempts()
  const { errors = [], state } = test.result()
  if (state === "skipped" || state === "pending") return null
  if (attempt === undefined) {
    return state === "failed"
      ? { durationMs: 0, startedAt: new Date().toISOString(), files, ...failedWith(errors) }
      : null
  }
  const ran = {
    durationMs: Math.max(0, attempt.duration),
    startedAt: new Date(attempt.startTime).toISOString(),
    files
  }
  return attempt.state === "passed"
    ? { ...ran, status: "passed", errorMessage: null, errorStack: null }
    : { ...ran, ...failedWith(attempt.errors ?? []) }
}

/** The titles of the groups around a test and its own. */
const titlesOf = (test: TestCase): ReadonlyArray<string> => {
  const titles = [test.name]
  for (let group = test.parent; group.type === "suite"; group = group.parent) titles.unshift(group.name)
  return titles
}

const fileOf = (test: TestCase, root: string): string => relative(root, test.module.moduleId).split(sep).join("/")

/** The files that a test attached to its annotations. Those elsewhere in the web are not uploaded. */
export const attachedFiles = (test: TestCase, root: string): ReadonlyArray<RunFile> =>
  runFiles(
    { file: fileOf(test, root), title: titleOf(titlesOf(test)), key: test.id },
    test.annotations().flatMap(({ attachment, message }): Array<Attachment> => {
      if (attachment === undefined) return []
      const { body, contentType = "", path } = attachment
      if (body !== undefined) {
        const source = typeof body === "string" ? Buffer.from(body, attachment.bodyEncoding ?? "base64") : body
        return [{ name: message, contentType, source }]
      }
      if (path === undefined || /^https?:/i.test(path)) return []
      return [{ name: message, contentType, source: isAbsolute(path) ? path : resolve(root, path) }]
    })
  )

/** What went wrong outside of tests: in files, in the hooks of groups, in groups that have no test, and elsewhere. */
export const errorsOf = (modules: ReadonlyArray<TestModule>, unhandled: ReadonlyArray<ThrownError>): Array<string> => {
  const inside = modules.flatMap((module) => [module, ...module.children.allSuites()].flatMap((one) => one.errors()))
  // Whatever was thrown fails the run, an error without a message, too.
  return [...inside, ...unhandled].map(
    (error) => messageOf(error) || messageText(error.stack ?? "") || "An error without a message."
  )
}

/** All tests of the modules with their first attempts. */
export const testReports = (
  modules: ReadonlyArray<TestModule>,
  context: { readonly root: string; readonly projects: number }
): Array<TestReport> => {
  const unique = caseIds()
  return modules.flatMap((module) =>
    [...module.children.allTests()].map((test) => {
      const files = attachedFiles(test, context.root).map(({ path }) => path)
      return testReport(
        {
          file: fileOf(test, context.root),
          titles: titlesOf(test),
          annotations: test.annotations().map(({ message, type }) => ({ type, description: message })),
          tags: test.tags,
          project: context.projects > 1 ? test.project.name : "",
          repetition: 0,
          files,
          attempt: attemptReport(test, files)
        },
        unique
      )
    })
  )
}

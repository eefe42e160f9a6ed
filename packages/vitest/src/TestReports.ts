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
export const messageOf = ({ message, stack }: ThrownError): string => messageText(message ?? stack ?? "")

/**
 * The first attempt of a test, as Vitest judges it: an expected failure passes. Skipped tests, and those that a test run that was
 * given up never ran, have none.
 */
const attemptReport = (test: TestCase, files: ReadonlyArray<string>): AttemptReport | null => {
  const [attempt] = test.attempts()
  const { state } = test.result()
  if (attempt === undefined || state === "skipped" || state === "pending") return null
  const ran = {
    durationMs: Math.max(0, attempt.duration),
    startedAt: new Date(attempt.startTime).toISOString(),
    files
  }
  if (attempt.state === "passed") return { ...ran, status: "passed", errorMessage: null, errorStack: null }
  const errors = attempt.errors ?? []
  return {
    ...ran,
    status: "failed",
    errorMessage: joined(errors.map(messageOf)),
    errorStack: joined(errors.map(({ diff, stack }) => stackText(stack, diff)))
  }
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

import { type RunFile, runFiles } from "@delivery/publishing"
import type { TestCase, TestResult } from "@playwright/test/reporter"
import { fileOf, titleOf } from "./TestReports.ts"

/** The files of an attempt. Attachments whose name begins with `_` are Playwright's own; its reports hide them too. */
export const attachedFiles = (test: TestCase, result: TestResult, rootDir: string): ReadonlyArray<RunFile> =>
  runFiles(
    { file: fileOf(test, rootDir), title: titleOf(test), key: test.id },
    result.attachments.flatMap(({ body, contentType, name, path }) => {
      const source = body ?? path
      return source === undefined || name.startsWith("_") ? [] : [{ name, contentType, source }]
    })
  )

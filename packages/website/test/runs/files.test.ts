import { expect, it } from "vitest"
import type { Attempt, TestEntry } from "@delivery/domain/runs/TestEntry"
import { fileName, imageDiffs, kindOf, traceCommand, tracedAttempt } from "../../src/runs/files.ts"

it("knows files of tests by their names", () => {
  const paths = [
    "a/shot.PNG",
    "video.webm",
    "trace.zip",
    "a/trace-1.zip",
    "stdout.txt",
    "report.html",
    "archive.zip",
    "image.svg"
  ]
  expect(paths.map(kindOf)).toEqual(["image", "video", "trace", "trace", "text", "other", "other", "other"])
  expect([fileName("a/b/c.txt"), fileName("c.txt")]).toEqual(["c.txt", "c.txt"])
})

it("Pictures belong together by their names", () => {
  const files = [
    "a/basket-expected.png",
    "a/basket-actual.png",
    "a/basket-diff.png",
    "b/list-actual.png",
    "b/list-expected.png",
    "c/alone-expected.png",
    "c/alone-actual.jpg",
    "d/text-expected.txt",
    "d/text-actual.txt"
  ]
  expect(imageDiffs(files)).toEqual([
    { name: "basket.png", expected: files[0], actual: files[1], diff: files[2] },
    { name: "list.png", expected: files[4], actual: files[3], diff: undefined }
  ])
})

it("A test leads to the trace of the last attempt that failed, else of the last one", () => {
  const attempts = (...all: ReadonlyArray<readonly [Attempt["status"], string]>) =>
    ({
      attempts: all.map(([status, file], index) => ({ number: index + 1, status, files: [file] }))
    }) as never as TestEntry
  expect(
    tracedAttempt(attempts(["failed", "trace.zip"], ["failed", "trace.zip"], ["passed", "trace.zip"]))?.number
  ).toBe(2)
  expect(tracedAttempt(attempts(["failed", "a.txt"], ["passed", "trace.zip"]))?.number).toBe(2)
  expect(tracedAttempt(attempts(["failed", "a.txt"]))).toBeUndefined()
})

it("The line that shows a trace is one argument of a shell, whatever the path", () => {
  expect(traceCommand("main", 7, "it's $(a)/trace.zip")).toBe(
    String.raw`npx @delivery/cli runs trace 7 --workspace main --test 'it'\''s $(a)/trace.zip'`
  )
})

import { expect, it } from "vitest"
import { fileName, kindOf } from "../../src/runs/files.ts"

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

import { expect, test } from "@playwright/test"
import { createHash } from "node:crypto"
import { writeFile } from "node:fs/promises"

const mebibyte = 1024 * 1024

/** Bytes that differ from place to place, the same in every run. */
const bytes = (size: number, seed: string): Buffer => {
  const block = Buffer.concat(
    Array.from({ length: 2048 }, (_, index) => createHash("sha256").update(`${seed}${index}`).digest())
  )
  return Buffer.alloc(size, block)
}

test("attaches a file of several megabytes", async () => {
  const path = test.info().outputPath("trace.zip")
  await writeFile(path, bytes(6 * mebibyte + 17, "file"))
  await test.info().attach("trace", { path, contentType: "application/zip" })
})

test("attaches bytes of several megabytes", async () => {
  await test.info().attach("video", { body: bytes(3 * mebibyte + 1, "body"), contentType: "video/webm" })
})

test("attaches several files of one name, one of them empty", async () => {
  for (const text of ["first", "second", ""]) {
    await test.info().attach("log.txt", { body: text, contentType: "text/plain" })
  }
})

test("attaches what a failure needs", async () => {
  await test.info().attach("state.json", { body: JSON.stringify({ basket: [] }), contentType: "application/json" })
  expect(test.info().title).toBe("attaches nothing")
})

// Every example of the page of @delivery/server/testing runs as it is printed.
import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, expect, it } from "vitest"

const page = readFileSync(join(import.meta.dirname, "../packages/server/src/testing/README.md"), "utf8")
const examples = [...page.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code!)

// Beside this file, so that packages are found.
const directory = mkdtempSync(join(import.meta.dirname, ".testing-"))
afterAll(() => rmSync(directory, { recursive: true }))

it("has examples", () => expect(examples).toHaveLength(5))

it.each(examples)("runs: %s", async (code) => {
  const file = join(directory, `${examples.indexOf(code)}.ts`)
  const end = code.includes("const runtime") ? "await runtime.dispose()\n" : ""
  writeFileSync(file, `${code}${end}`)
  const { stderr } = await promisify(execFile)(process.execPath, [file])
  expect(stderr).toBe("")
})

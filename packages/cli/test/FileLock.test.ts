import { execFile } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, assert, describe, it } from "vitest"
import { abandonedMillis, LockedByAnother, makeFileLock } from "../src/FileLock.ts"

const root = mkdtempSync(join(tmpdir(), "delivery-lock-"))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const newDirectory = () => join(mkdtempSync(join(root, "lock-")), "sign-in.json.locks")

/** Counts in a file, without help of the file system: only the lock keeps two from reading the same number. */
const counting = `
import { readFileSync, writeFileSync } from "node:fs"
import { makeFileLock, LockedByAnother } from ${JSON.stringify(new URL("../src/FileLock.ts", import.meta.url).href)}
const [directory, file, times] = process.argv.slice(1)
for (let done = 0; done < Number(times); done++) {
  const lock = makeFileLock(directory)
  for (;;) {
    try {
      const held = lock.take()
      const count = Number(readFileSync(file, "utf8"))
      await new Promise((resolve) => setImmediate(resolve))
      writeFileSync(file, String(count + 1))
      held.close()
      break
    } catch (cause) {
      if (!(cause instanceof LockedByAnother)) throw cause
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 5))
    }
  }
}
`

describe("the lock of a sign-in", () => {
  it("is one process's at a time", async () => {
    const [directory, file] = [newDirectory(), join(mkdtempSync(join(root, "count-")), "count")]
    writeFileSync(file, "0")
    await Promise.all(
      Array.from({ length: 4 }, () =>
        promisify(execFile)(process.execPath, ["--input-type=module", "-e", counting, directory, file, "50"])
      )
    )
    assert.strictEqual(readFileSync(file, "utf8"), "200")
    assert.deepStrictEqual(readdirSync(directory), [])
  })

  it("is free again once it is closed", () => {
    const directory = newDirectory()
    const [one, other] = [makeFileLock(directory), makeFileLock(directory)]
    const held = one.take()
    assert.throws(() => other.take(), LockedByAnother)
    held.close()
    other.take().close()
  })

  it("is taken from a process that was killed, once it was seen for long enough", () => {
    const directory = newDirectory()
    let now = 0
    const [killed, waiting] = [makeFileLock(directory), makeFileLock(directory, () => now)]
    killed.take()
    assert.throws(() => waiting.take(), LockedByAnother)
    now = abandonedMillis - 1
    assert.throws(() => waiting.take(), LockedByAnother)
    now = abandonedMillis
    const held = waiting.take()
    assert.strictEqual(readdirSync(directory).length, 1)
    assert.throws(() => makeFileLock(directory).take(), LockedByAnother)
    held.close()
    assert.deepStrictEqual(readdirSync(directory), [])
  })

  it("counts anew for each that holds it", () => {
    const directory = newDirectory()
    let now = 0
    const [one, waiting] = [makeFileLock(directory), makeFileLock(directory, () => now)]
    const first = one.take()
    assert.throws(() => waiting.take(), LockedByAnother)
    first.close()
    one.take()
    now = abandonedMillis
    assert.throws(() => waiting.take(), LockedByAnother)
  })
})

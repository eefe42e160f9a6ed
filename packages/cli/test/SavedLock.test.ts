import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, beforeEach, describe, it, vi } from "vitest"
import { whileLocked } from "../src/results/SavedLock.ts"

const { signal } = new AbortController()

describe("the lock of saved results", () => {
  let root = ""
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "delivery-saved-"))
    vi.stubEnv("TMPDIR", root)
  })
  afterEach(() => {
    vi.unstubAllEnvs()
    rmSync(root, { recursive: true, force: true })
  })

  it("lets one after the other at the file", async () => {
    const seen: Array<string> = []
    const use = (name: string) => async () => {
      seen.push(`${name} begins`)
      await Promise.resolve()
      seen.push(`${name} ends`)
      return name
    }
    const [a, b] = await Promise.all([
      whileLocked("a.json", use("a"), signal),
      whileLocked("./a.json", use("b"), signal)
    ])
    assert.deepStrictEqual([a, b], ["a", "b"])
    assert.deepStrictEqual(
      seen.map((text) => text.slice(2)),
      ["begins", "ends", "begins", "ends"]
    )
  })

  it.skipIf(process.getuid === undefined)("touches nothing that somebody has linked in its place", async () => {
    const victim = join(root, "victim")
    mkdirSync(victim)
    writeFileSync(join(victim, "kept"), "")
    symlinkSync(victim, join(root, `delivery-locks-${process.getuid!()}`))
    assert.strictEqual(await whileLocked("a.json", () => Promise.resolve("done"), signal), "done")
    assert.deepStrictEqual(readdirSync(victim), ["kept"])
  })

  it("gives up the wait when the command is told to stop", async () => {
    const stopping = new AbortController()
    const held = Promise.withResolvers<void>()
    const first = whileLocked("a.json", () => held.promise, signal)
    const second = whileLocked("a.json", () => Promise.resolve("too early"), stopping.signal).catch(String)
    stopping.abort(new Error("stopped"))
    assert.strictEqual(await second, "Error: stopped")
    held.resolve()
    await first
  })
})

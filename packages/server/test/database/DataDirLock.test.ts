import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as DataDirLock from "../../src/database/DataDirLock.ts"

describe("DataDirLock", () => {
  let root = ""
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), "data-dir-lock-"))
  })
  const children: Array<ChildProcess> = []
  afterAll(() => {
    for (const child of children) child.kill("SIGKILL")
    rmSync(root, { recursive: true, force: true })
  })

  const hold = (dataDir: string) => Effect.scoped(DataDirLock.acquire(dataDir))

  /** A process that takes the lock and keeps it; answers what it said first. */
  const other = (dataDir: string) => {
    const source = `
      import { Effect } from "effect"
      import * as DataDirLock from ${JSON.stringify(new URL("../../src/database/DataDirLock.ts", import.meta.url).href)}
      await Effect.runPromise(Effect.scoped(DataDirLock.acquire(${JSON.stringify(dataDir)}).pipe(
        Effect.andThen(Effect.sync(() => console.log("held"))),
        Effect.andThen(Effect.sleep("1 minute"))
      )).pipe(Effect.catch(({ message }) => Effect.sync(() => console.log(message)))))`
    const child = spawn(process.execPath, ["--input-type=module", "--eval", source], {
      cwd: join(import.meta.dirname, "../.."),
      stdio: ["ignore", "pipe", "inherit"]
    })
    children.push(child)
    const exit = new Promise<void>((resolve) => child.once("close", () => resolve()))
    const output = new Promise<string>((resolve) =>
      child.stdout.once("data", (data: Buffer) => resolve(data.toString().trimEnd()))
    )
    return { child, output, exit }
  }

  it.live("is exclusive, creates the directory and is released", () =>
    Effect.gen(function* () {
      // Longer than the path of a socket may be.
      const dataDir = join(root, ...Array.from({ length: 20 }, () => "a-long-name"))
      const error = yield* Effect.scoped(
        Effect.andThen(DataDirLock.acquire(dataDir), Effect.flip(DataDirLock.acquire(join(dataDir, "."))))
      )
      assert.instanceOf(error, DataDirLock.DataDirError)
      assert.strictEqual(
        error.message,
        `DATA_DIR ${dataDir} is used by another server. Stop that server, or set another DATA_DIR for this one.`
      )
      yield* hold(dataDir)
    })
  )

  it.live("is refused while another process holds it, and free after that was killed", () =>
    Effect.gen(function* () {
      const dataDir = join(root, "killed")
      const holder = other(dataDir)
      assert.strictEqual(yield* Effect.promise(() => holder.output), "held")
      assert.include((yield* Effect.flip(hold(dataDir))).message, "is used by another server")
      holder.child.kill("SIGKILL")
      yield* Effect.promise(() => holder.exit)
      yield* hold(dataDir)
    })
  )

  it.live("is acquired by one of many processes that start at once", () =>
    Effect.gen(function* () {
      const dataDir = join(root, "race")
      const output = yield* Effect.promise(() => Promise.all(Array.from({ length: 6 }, () => other(dataDir).output)))
      assert.strictEqual(output.filter((line) => line === "held").length, 1)
      assert.strictEqual(output.filter((line) => line.includes("is used by another server")).length, 5)
    })
  )
})

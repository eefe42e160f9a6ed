import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, describe, it } from "vitest"
import { openDatabase } from "../support/Databases.ts"
import { freePort } from "../../src/cli/FreePort.ts"
import { answers, startCommand } from "../support/ServerProcess.ts"

/** How a server that was started by a package manager ends. Each of them takes longer to start than the server. */

describe("a server that was started by pnpm", () => {
  const cleanups: Array<() => Promise<void> | void> = []
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
  })

  it.each(["start", "dev"])("%s ends when that command is told to", { timeout: 180_000 }, async (script) => {
    const port = await freePort()
    const directory = mkdtempSync(join(tmpdir(), "delivery-pnpm-"))
    cleanups.push(() => rmSync(directory, { recursive: true, force: true }))
    const { drop, url } = await openDatabase()
    cleanups.push(drop)
    // All of it but what the test runner sets for itself: npm may need settings of the machine to reach its registry.
    const { BASE_URL: _, ...machine } = process.env
    const launched = startCommand("npx", ["--yes", "pnpm@12.21.0", script], {
      ...machine,
      DATABASE_URL: url,
      VAULT_KEYS: `k1:${Buffer.alloc(32, 7).toString("base64")}`,
      DATA_DIR: directory,
      PORT: String(port),
      LOG_LEVEL: "warn"
    })
    cleanups.push(() => {
      try {
        process.kill(-launched.child.pid!, "SIGKILL")
      } catch {
        // All of the group have ended, as they should.
      }
    })
    // It may have to install first: the limit is the test's. A watcher stays when the server that it runs has failed.
    const isDecided = new Promise<void>((resolve) => {
      for (const stream of [launched.child.stdout, launched.child.stderr]) {
        stream.on("data", () => /curl|Failed running/.test(launched.output()) && resolve())
      }
    })
    await Promise.race([isDecided, launched.code()])
    assert.isTrue(await answers(port), launched.output())
    launched.child.kill("SIGTERM")
    // Its output closes when the last process that has it has ended.
    await launched.code()
    assert.isFalse(await answers(port))
  })
})

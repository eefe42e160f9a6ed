import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import type { Statement } from "effect/sql"
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, describe, it } from "vitest"
import { blobsBelow } from "../runs/Scene.ts"
import { openDatabase } from "../support/Databases.ts"
import { finishOf, getRun, http, report, runOf } from "../support/Http.ts"
import { type ServerProcess, startServer } from "../support/ServerProcess.ts"

/** `kill -9` of servers that erase runs: no run is there in part, and in the end neither rows nor blobs are left. */

const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
const runs = 240
const testsPerRun = 60
const filesPerRun = 3

const query = <A extends object>(url: string, ask: (sql: PgClient.PgClient) => Statement.Statement<A>) =>
  Effect.runPromise(
    Effect.flatMap(PgClient.PgClient, ask).pipe(
      Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }))
    )
  )

describe("kill -9 amid the retention of runs", () => {
  const directory = mkdtempSync(join(tmpdir(), "delivery-retention-"))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  it("leaves every run whole or gone, and in the end nothing of those that are gone", async () => {
    const database = await openDatabase()
    const settings = {
      DATABASE_URL: database.url,
      // As few as there can be: what erases must not hold one while it asks for another.
      DATABASE_POOL: "1",
      VAULT_KEYS: `k1:${randomBytes(32).toString("base64")}`,
      DATA_DIR: directory,
      BOOTSTRAP_API_KEY: apiKey,
      LOG_LEVEL: "warn"
    }
    const at = (server: ServerProcess) => http(server.baseUrl, apiKey, "main")
    const startBody = runOf({ environment: "ci" })
    const finishBody = finishOf({ tests: Array.from({ length: testsPerRun }, (_, i) => report(`case-${i}`)) })
    const publish = async (server: ServerProcess) => {
      const { number } = await at(server).post<{ number: number }>("test-runs", startBody)
      for (let i = 0; i < filesPerRun; i++) {
        const { status } = await at(server).send("PUT", `test-runs/${number}/files/${i}`, { body: randomBytes(2_000) })
        assert.strictEqual(status, 201)
      }
      await at(server).post(`test-runs/${number}/finish`, finishBody, 200)
      return number
    }
    const count = async (table: string) => {
      const rows = await query(
        database.url,
        (sql) => sql<{ readonly count: number }>`select count(*)::int as count from ${sql.literal(table)}`
      )
      return rows[0]!.count
    }
    const blobs = () => blobsBelow(join(directory, "files")).length
    const assertWhole = async () => {
      const parts = await query(
        database.url,
        (sql) => sql`select r.number from test_runs r
          where (select count(*) from test_run_tests t where t.run_id = r.id) <> ${testsPerRun}
            or (select count(*) from test_run_files f where f.run_id = r.id) <> ${filesPerRun}`
      )
      assert.deepStrictEqual(parts, [])
    }

    let server = await startServer(settings)
    await at(server).post("products", { slug: "shop", name: "Shop", type: "library" })
    await at(server).post("environments", { slug: "ci", name: "CI", class: "non-production" })
    await at(server).post("deployments", { product: "shop", environment: "ci" })
    for (let i = 0; i < runs; i += 8) await Promise.all(Array.from({ length: 8 }, () => publish(server)))
    assert.strictEqual(blobs(), runs * filesPerRun)
    assert.strictEqual(await count("test_run_tests"), runs * testsPerRun)
    await at(server).patch("", { runDays: 0.000_001 })
    await server.end("SIGTERM")

    // Each dies a little later in what it erases from its start on: the last amid the blobs.
    const left = async () => [
      await count("test_runs"),
      await count("test_run_tests"),
      await count("test_run_files"),
      await count("pending_blobs")
    ]
    let before = await left()
    for (let deaths = 0; deaths < 4; deaths++) {
      const dying = [await startServer(settings), ...(deaths % 2 === 1 ? [await startServer(settings)] : [])]
      for (let now = before; now.join() === before.join(); now = await left()) await sleep(5)
      await Promise.all(dying.map((server) => server.end("SIGKILL")))
      await assertWhole()
      before = await left()
    }

    server = await startServer(settings)
    const done = async () => (await left()).every((rows) => rows === 0) && blobs() === 0
    while (!(await done())) await sleep(50)
    assert.strictEqual(await count("erased_runs"), 0)
    assert.strictEqual(await count("past_runs"), runs)
    await at(server).patch("", { runDays: null })
    const number = await publish(server)
    assert.strictEqual(number, runs + 1)
    assert.lengthOf((await getRun(at(server), number)).tests, testsPerRun)
    await at(server).delete(`test-runs/${number}`)
    while (!(await done())) await sleep(50)
    await server.end("SIGTERM")
    await database.drop()
  }, 300_000)
})

import type { TestRunPage } from "@delivery/domain/runs/TestRun"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import type { Statement } from "effect/sql"
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, describe, it } from "vitest"
import { openDatabase } from "../support/Databases.ts"
import { finishRun, type Http, http, runOf, startRun } from "../support/Http.ts"
import { type ServerProcess, startServer } from "../support/ServerProcess.ts"

/** `kill -9` of servers that index runs for the search, while clients start and finish more. */

const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
/** So many that blocks of the index are joined on the way. */
const before = 40_000
const clients = 6

/** What a client starts: a run that is found by its subject. */
const runAbout = (subject: string) => ({ environment: "ci", git: { ...runOf().git, subject } })

const query = <A extends object>(url: string, ask: (sql: PgClient.PgClient) => Statement.Statement<A>) =>
  Effect.runPromise(
    Effect.flatMap(PgClient.PgClient, ask).pipe(
      Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }))
    )
  )

/** The whole list, page after page. */
const listOf = async (at: Http, filter: string): Promise<ReadonlyArray<number>> => {
  const numbers: Array<number> = []
  for (let cursor: number | null | undefined; cursor !== null;) {
    const page: TestRunPage = await at.get(`test-runs?${filter}${cursor === undefined ? "" : `&cursor=${cursor}`}`)
    numbers.push(...page.runs.map(({ number }) => number))
    cursor = page.nextCursor
  }
  return numbers
}

describe("kill -9 amid the indexing of runs", () => {
  const directory = mkdtempSync(join(tmpdir(), "delivery-run-index-"))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  it("loses no run to the search and repeats none, with one server and with two", async () => {
    const database = await openDatabase()
    const settings = {
      DATABASE_URL: database.url,
      VAULT_KEYS: `k1:${randomBytes(32).toString("base64")}`,
      DATA_DIR: directory,
      BOOTSTRAP_API_KEY: apiKey,
      LOG_LEVEL: "warn"
    }
    const start = () => startServer(settings)
    const at = (server: ServerProcess) => http(server.baseUrl, apiKey, "main")
    const indexed = async () => {
      const rows = await query(
        database.url,
        (sql) => sql<{ readonly indexed: number }>`select indexed_runs as indexed from test_run_search`
      )
      return rows[0]?.indexed ?? 0
    }
    const scan = async (part: string, result: string | null) => {
      const rows = await query(
        database.url,
        (sql) => sql<{ readonly number: number }>`select number from test_runs where strpos(search, ${part}) > 0
          and (${result}::text is null or result = ${result}::text) order by number desc`
      )
      return rows.map(({ number }) => number)
    }

    const first = await start()
    await at(first).post("products", { slug: "shop", name: "Shop", type: "library" })
    await at(first).post("environments", { slug: "ci", name: "CI", class: "non-production" })
    await at(first).post("deployments", { product: "shop", environment: "ci" })
    await startRun(at(first), runAbout("the first"))
    await first.end("SIGTERM")
    // As a version without the index left them.
    await query(
      database.url,
      (sql) => sql`insert into test_runs select made.* from test_runs r, generate_series(2, ${before}::int) n,
        jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(), 'number', n, 'token_hash', 'made-' || n,
          'search', 'main' || chr(10) || case when n % 100 = 0 then 'needle ' else 'hay ' end || n)
          || case when n % 2 = 0 then jsonb_build_object('state', 'finished', 'result', 'passed',
            'finished_at', now()) else '{}' end) made`
    )
    await query(database.url, (sql) => sql`update workspaces set last_run_number = ${before}`)

    /** Numbers of the runs whose start was answered, by what they are found by. */
    const acknowledged: Array<number> = []
    const finished = new Set<number>()
    /** Clients of the servers, until those die that do; afterwards all of the runs are found. */
    const round = async (
      servers: ReadonlyArray<ServerProcess>,
      dies: ServerProcess,
      until: (indexed: number) => boolean
    ) => {
      let isOver = false
      const publishers = Array.from({ length: clients }, async (_, client) => {
        const server = servers[client % servers.length]!
        try {
          while (!isOver) {
            const { number } = await startRun(at(server), runAbout("needle of a client"))
            acknowledged.push(number)
            if (number % 2 === 0) continue
            await finishRun(at(server), number)
            finished.add(number)
          }
        } catch (error) {
          // The server died under the request: that is the point. Any other failure is one.
          if (server !== dies || !isOver) throw error
        }
      })
      const settled = Promise.all(publishers)
      const reads = (async () => {
        const reader = at(servers.find((server) => server !== dies) ?? dies)
        while (!isOver) {
          const known = [...acknowledged]
          const found = await listOf(reader, "q=of+a+client").catch((error: unknown) => {
            if (isOver) return undefined
            throw error
          })
          if (found === undefined) return
          assert.lengthOf(new Set(found), found.length)
          const missing = known.filter((number) => !found.includes(number))
          assert.deepStrictEqual(missing, [])
        }
      })()
      let reached = await indexed()
      // A publisher that fails ends the wait.
      for (; !until(reached); reached = await indexed()) await Promise.race([settled, sleep(10)])
      isOver = true
      await dies.end("SIGKILL")
      await Promise.all([settled, reads])
      // It died on the way.
      assert.isBelow(await indexed(), before - 2_048)
    }

    const one = await start()
    await round([one], one, (indexed) => indexed >= 4_096)
    const [two, three] = await Promise.all([start(), start()])
    const reached = await indexed()
    await round([two, three], two, (indexed) => indexed >= reached + 8_192)

    const all = await scan("", null)
    assert.deepStrictEqual(
      all,
      Array.from({ length: all.length }, (_, i) => all.length - i)
    )
    while ((await indexed()) <= all.length - 1_024) await sleep(20)
    assert.isAbove(acknowledged.length, 2 * clients)
    for (const server of [three, await start()]) {
      const found = await listOf(at(server), "q=needle")
      assert.deepStrictEqual(found, await scan("needle", null))
      assert.includeMembers([...found], acknowledged)
      const passed = await listOf(at(server), "q=needle&result=passed")
      assert.deepStrictEqual(passed, await scan("needle", "passed"))
      assert.includeMembers([...passed], [...finished])
      await server.end("SIGTERM")
    }
    // Of each term and run the index says once whether the run has it.
    const repeated = await query(
      database.url,
      (sql) => sql`select a.term from test_run_postings a join test_run_postings b on b.term = a.term
        and b.first_run > a.first_run and b.first_run < a.first_run + length(a.runs) limit 1`
    )
    assert.deepStrictEqual(repeated, [])
    await database.drop()
  }, 300_000)
})

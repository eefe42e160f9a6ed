import type { CasePage, CaseWithResults, Trends } from "@delivery/domain/runs/Case"
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
import { attempt, finishOf, http, report, runOf } from "../support/Http.ts"
import { type ServerProcess, startServer } from "../support/ServerProcess.ts"

/** `kill -9` of servers between the end of runs and the counting of their results: each result is counted, and counted once. */

const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
const clients = 6
const testsPerRun = 40
const deaths = 4

const query = <A extends object>(url: string, ask: (sql: PgClient.PgClient) => Statement.Statement<A>) =>
  Effect.runPromise(
    Effect.flatMap(PgClient.PgClient, ask).pipe(
      Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }))
    )
  )

/** Whether a test fails in a run. */
const fails = (run: number, test: number) => (run + test) % 7 === 0

const tests = (run: number) =>
  Array.from({ length: testsPerRun }, (_, n) =>
    report(`case-${n}`, { attempt: fails(run, n) ? attempt("failed", { errorMessage: "gone" }) : attempt("passed") })
  )

/** Results of finished runs that are not counted, or not as they are; and what is counted of which there is no result. */
const unlike = (sql: PgClient.PgClient) =>
  sql<{ readonly number: number }>`select distinct coalesce(r.number, c.number) as number
    from (
      select r.number, t.case_id, t.status = 'failed' as failed from test_runs r
        join test_run_tests t on t.run_id = r.id where r.result is not null
    ) r full join (
      select c.number, s.case_id, c.failed from case_results c join test_cases s on s.id = c.series_id
    ) c on c.number = r.number and c.case_id = r.case_id and c.failed = r.failed
    where r.number is null or c.number is null order by 1`

describe("kill -9 between finish and counting", () => {
  const directory = mkdtempSync(join(tmpdir(), "delivery-case-counting-"))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  it("loses no result and counts none twice, with one server and with two", async () => {
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
    const uncounted = async () => (await query(database.url, unlike)).map(({ number }) => number)
    const body = runOf({ environment: "ci" })

    const first = await start()
    await at(first).post("products", { slug: "shop", name: "Shop", type: "library" })
    await at(first).post("environments", { slug: "ci", name: "CI", class: "non-production" })
    await at(first).post("deployments", { product: "shop", environment: "ci" })
    await first.end("SIGTERM")

    const acknowledged = new Set<number>()
    /** Clients of the servers, until the first of these dies, which it does when it has counted some but not all. */
    const round = async (servers: ReadonlyArray<ServerProcess>) => {
      const [dies] = servers
      const before = acknowledged.size
      let isOver = false
      const publishers = Array.from({ length: clients }, async (_, client) => {
        const server = servers[client % servers.length]!
        try {
          while (!isOver) {
            const { number } = await at(server).post<{ number: number }>("test-runs", body)
            await at(server).post(`test-runs/${number}/finish`, finishOf({ tests: tests(number) }), 200)
            acknowledged.add(number)
          }
        } catch (error) {
          // The server died under the request: that is the point. Any other failure is one.
          if (server !== dies || !isOver) throw error
        }
      })
      const settled = Promise.all(publishers)
      const isBehind = async () => {
        const ended = acknowledged.size - before
        const missing = (await uncounted()).length
        return missing > 0 && missing < ended
      }
      // A publisher that fails ends the wait.
      while (!(await isBehind())) await Promise.race([settled, sleep(5)])
      isOver = true
      await dies!.end("SIGKILL")
      await settled
      return (await uncounted()).length
    }

    let left = 0
    let survivor: ServerProcess | undefined
    for (let death = 0; death < deaths; death++) {
      const servers = [await start(), ...(death % 2 === 1 ? [await start()] : [])]
      left += await round(servers)
      survivor = servers[1]
      // The one that lived goes on with what the other left; the next begins with what is left then.
      await survivor?.end(death === deaths - 1 ? "SIGTERM" : "SIGKILL")
    }
    assert.isAbove(left, 0)

    const server = await start()
    while ((await uncounted()).length > 0) await sleep(20)
    const finished = (
      await query(
        database.url,
        (sql) => sql<{ readonly number: number }>`select number from test_runs where result is not null order by number`
      )
    ).map(({ number }) => number)
    assert.includeMembers(finished, [...acknowledged])
    const failed = (n: number) => finished.filter((run) => fails(run, n))
    const trends = () => at(server).get<Trends>("products/shop/trends")
    const runsIn = ({ days }: Trends) => days.reduce((all, { runs }) => all + runs, 0)
    while (runsIn(await trends()) < finished.length) await sleep(20)
    assert.strictEqual(runsIn(await trends()), finished.length)
    const { cases } = await at(server).get<CasePage>("products/shop/cases")
    assert.deepStrictEqual(
      cases.map(({ caseId, firstFailure, lastFailure, passRate }) => [
        caseId,
        firstFailure?.run,
        lastFailure?.run,
        passRate
      ]),
      Array.from({ length: testsPerRun }, (_, n) => [
        `case-${n}`,
        failed(n)[0],
        failed(n).at(-1),
        (finished.length - failed(n).length) / finished.length
      ])
    )
    const { results } = await at(server).get<CaseWithResults>("products/shop/cases/case-3")
    assert.deepStrictEqual(
      results.map(({ run, status }) => [run, status]),
      finished
        .toReversed()
        .slice(0, 100)
        .map((run) => [run, fails(run, 3) ? "failed" : "passed"])
    )
    await server.end("SIGTERM")
    await database.drop()
  }, 300_000)
})

import type { TestRunId, WorkspaceId } from "@delivery/domain/Ids"
import { emptyTally } from "@delivery/domain/runs/TestResults"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { Reactivity } from "effect/reactivity"
import assert from "node:assert"
import { cpus, loadavg } from "node:os"
import { layerSqlStorage } from "../packages/server/src/App.ts"
import { SearchBlocks } from "../packages/server/src/runs/search/SearchBlocks.ts"
import { searchPart } from "../packages/server/src/runs/search/SearchText.ts"
// oxlint-disable-next-line no-restricted-imports -- It measures this statement beside another one.
import * as TestRunSearch from "../packages/server/src/runs/search/TestRunSearchSql.ts"
import { type TestRunFilter, TestRunsRepo } from "../packages/server/src/runs/TestRunsRepo.ts"
import { connection, makeRuns, makeWorkspace, runEvent, startDatabase, storeRun } from "./Database.ts"
import { median } from "./Processes.ts"
import { type At, explain, filters, pageSize, percentile95, scan } from "./RunFilters.ts"

/**
 * The search of runs: our index beside PostgreSQL's own extension `pg_trgm`, at 1,000 and 1,000,000 runs. The figures
 * are the reason for docs/decisions/search-of-runs.md.
 *
 * Everything is as good for `pg_trgm` as we know to make it. One GIN index has the trigrams of branch and subject and,
 * by `btree_gin`, the workspace and every other filter, so that filters which contradict each other meet in the index.
 * Each statement is planned for its values. The whole database is in memory. There are two good plans, and a statement
 * may get the wrong one; so both are forced, too, and the better of them counts, as if it were always known before:
 *
 * - `newest`: from the newest run on, compare one by one until the page is full. Quick if many runs match.
 * - `GIN`: find all runs that match, then sort them. Quick if few runs match.
 *
 * Run it with `pnpm bench:search`. It takes about ten minutes, 4 GB of memory and 3 GB of disk.
 */
const sizes = { small: 1_000, large: Number(process.env["BENCH_RUNS"] ?? 1_000_000) }
const rounds = 60
/** A list that has taken longer is measured by ten calls. */
const patience = 3_000
/** What the decision asks of every `q`, at the 95th percentile, in milliseconds. */
const limit = 100
const countOfCosts = 32_768

const questions: typeof filters = [
  ...filters,
  ["q: one letter, nowhere", () => ({ q: "#" })],
  ["q: two letters, nowhere", () => ({ q: "zz" })],
  ["q: two letters, of another result", () => ({ q: "sk", result: "failed" })]
]

/** A way to find the numbers of a page. */
interface Way {
  readonly name: string
  readonly sql: PgClient.PgClient
  readonly list: (at: At, filter: TestRunFilter) => Effect.Effect<ReadonlyArray<number>>
}

/** Our index, as the service uses it. The service then reads the rows of the page, which is the same for both. */
const ours = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const readRuns: TestRunSearch.Dependencies<number>["readRuns"] = (_, numbers) =>
    sql<{ readonly number: number }>`select number from (${numbers}) page order by number desc`.pipe(
      Effect.map((rows) => rows.map((row) => row.number)),
      Effect.orDie
    )
  const list = TestRunSearch.list({ sql, sizes: yield* SearchBlocks, readRuns })
  return { name: "ours", sql, list: (at, filter) => list(at.workspaceId as WorkspaceId, filter, pageSize) } as Way
})

/** The list in one statement, by `pg_trgm` or any other index. `settings` are PostgreSQL's. */
const standard = Effect.fnUntraced(function* (name: string, url: string, settings: Record<string, string>) {
  const sql = yield* PgClient.make({
    ...connection(url),
    startupParameters: { work_mem: "64MB", plan_cache_mode: "force_custom_plan", ...settings }
  })
  const list = (at: At, filter: TestRunFilter) => {
    const conditions = [...TestRunSearch.conditions(sql, { workspaceId: at.workspaceId as WorkspaceId, filter })]
    const { q = "" } = filter
    if (q !== "") {
      const part = `%${searchPart(q).replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
      conditions.push(sql`(r.search like ${part} or ${TestRunSearch.startsSha(sql, q)})`)
    }
    return TestRunSearch.selectNumbers(sql, conditions, pageSize).pipe(
      Effect.map((rows) => rows.map((row) => row.number)),
      Effect.orDie
    )
  }
  return { name, sql, list } as Way
})

const off = (...names: ReadonlyArray<string>) => Object.fromEntries(names.map((name) => [`enable_${name}`, "off"]))

const timed = Effect.fnUntraced(function* <A, E, R>(work: Effect.Effect<A, E, R>) {
  const began = performance.now()
  yield* work
  return performance.now() - began
})

const say = (milliseconds: number) => (milliseconds < 10 ? milliseconds.toFixed(2) : milliseconds.toFixed(0))

const load = () => `load of the last minute ${loadavg()[0]!.toFixed(1)} on ${cpus().length} cores`

/** Asks every way in turn. Returns the times of each, and how many runs were found. */
const measure = Effect.fnUntraced(function* (ways: ReadonlyArray<Way>, at: At, filter: TestRunFilter) {
  const expected = yield* scan(at, filter)
  const measured = ways.map((way) => ({ way, times: [] as Array<number>, sum: 0 }))
  for (const { way } of measured) assert.deepStrictEqual(yield* way.list(at, filter), expected, way.name)
  for (let round = -2; round < rounds; round++) {
    for (const one of measured) {
      if (one.sum > patience && one.times.length >= 10) continue
      const time = yield* timed(one.way.list(at, filter))
      if (round < 0) continue
      one.times.push(time)
      one.sum += time
    }
  }
  return { found: expected.length, times: measured.map(({ times }) => times) }
})

const measureAll = Effect.fnUntraced(function* (ways: ReadonlyArray<Way>, at: At) {
  console.log(`\n${at.runs} runs, p50 and p95 in milliseconds; ${load()}.\n`)
  console.log(
    `| Filter | found | ${ways.map((way) => way.name).join(" | ")} | better plan, p95 | beside ours | fastest call |`
  )
  console.log(`|---|---|${"---|".repeat(ways.length + 3)}`)
  const tooSlow: Array<string> = []
  for (const [name, filter] of questions) {
    const { found, times } = yield* measure(ways, at, filter(at))
    const [own, ...others] = times.map(percentile95)
    const better = Math.min(...others)
    // However loaded the machine was, it was so for some calls less than for others.
    const fastest = Math.min(...times.slice(1).flat())
    if (name.startsWith("q:") && better > limit)
      tooSlow.push(`${name} (${say(better)} ms, never below ${say(fastest)} ms)`)
    console.log(
      `| ${name} | ${found} | ${times.map((some) => `${say(median(some))}, ${say(percentile95(some))}`).join(" | ")} | ` +
        `${say(better)} | ${(better / own!).toFixed(1)} | ${say(fastest)} |`
    )
  }
  console.log(
    `\n${load()} at the end. ${tooSlow.length} kinds of q take more than ${limit} ms with the better plan of pg_trgm:`
  )
  for (const one of tooSlow) console.log(`- ${one}`)
})

/** Starts and finishes runs, 32 at once: what each costs, with the work that follows it. */
const costOfRuns = Effect.fnUntraced(function* <E>(
  name: string,
  at: Parameters<typeof storeRun>[0],
  after: Effect.Effect<unknown, E>
) {
  const repo = yield* TestRunsRepo
  const sql = yield* PgClient.PgClient
  const written = Effect.map(
    sql<{ readonly bytes: number }>`select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as bytes`,
    ([row]) => row!.bytes
  )
  const ids: Array<TestRunId> = []
  const all = { concurrency: 32, discard: true } as const
  const numbers = Array.from({ length: countOfCosts }, (_, n) => n)
  const finished = {
    ...emptyTally,
    state: "finished",
    result: "passed",
    gateResult: "passed",
    error: null,
    cleanup: null,
    durationMs: 60_000,
    finishedAt: "2026-11-21T09:31:00.000Z"
  } as const
  const bytes = yield* written
  const start = yield* timed(
    Effect.forEach(
      numbers,
      (n) =>
        Effect.map(storeRun(at, { branch: `feature/ticket-${n}`, subject: `correct taxes in step ${n}` }), (id) =>
          ids.push(id)
        ),
      all
    )
  )
  const finish = yield* timed(
    Effect.forEach(ids, (id) => repo.finish(id, finished, [], runEvent(at, "run_finished", id)), all)
  )
  const rest = yield* timed(after)
  const micros = (milliseconds: number) => `${((milliseconds * 1_000) / countOfCosts).toFixed(0)} µs`
  console.log(
    `${name}: start ${micros(start)}, finish ${micros(finish)}, later ${micros(rest)}, together ` +
      `${micros(start + finish + rest)}; ${(((yield* written) - bytes) / countOfCosts / 1_024).toFixed(1)} KiB of log.`
  )
})

const program = Effect.fnUntraced(function* (url: string) {
  const sql = yield* PgClient.PgClient
  const repo = yield* TestRunsRepo
  const indexAll = Effect.gen(function* () {
    while (yield* sql.withTransaction(repo.indexBlock));
    while (yield* sql.withTransaction(repo.indexResults));
  })
  const sizeOf = (relation: string) =>
    Effect.map(
      sql<{ readonly size: string }>`select pg_size_pretty(pg_total_relation_size(${relation})) as size`,
      ([row]) => row!.size
    )
  const small = yield* makeRuns(1, sizes.small)
  const large = yield* makeRuns(2, sizes.large)
  const besides = yield* makeWorkspace(3)

  console.log(`To index ${sizes.large} runs; ${load()}.\n`)
  const indexing = yield* timed(indexAll)
  console.log(`ours: ${say(indexing / 1_000)} s, ${yield* sizeOf("test_run_postings")}`)
  // Other writes than ours of a run that starts and finishes are the same with both.
  yield* costOfRuns("Ours", besides, indexAll)

  yield* sql`create extension pg_trgm`
  yield* sql`create extension btree_gin`
  const building = yield* timed(sql`create index test_runs_trgm on test_runs using gin
    (workspace_id, search gin_trgm_ops, product_id, environment_id, publisher_id, result)`)
  console.log(`pg_trgm: ${say(building / 1_000)} s, ${yield* sizeOf("test_runs_trgm")}`)
  yield* costOfRuns("pg_trgm", besides, sql`select gin_clean_pending_list('test_runs_trgm')`)
  yield* sql`vacuum analyze`

  const ways = [
    yield* ours,
    yield* standard("pg_trgm, as planned", url, {}),
    yield* standard("newest", url, off("bitmapscan", "seqscan", "sort")),
    yield* standard("GIN", url, off("indexscan", "indexonlyscan", "seqscan"))
  ]
  yield* measureAll(ways, small)
  yield* measureAll(ways, large)

  console.log(`\nPlans at ${sizes.large} runs: each line a scan, each block of lines a statement.`)
  for (const [name, filter] of questions) {
    for (const way of ways) {
      const plans = yield* Effect.provideService(explain(way.list(large, filter(large))), PgClient.PgClient, way.sql)
      console.log(`\n  ${name}, ${way.name}\n${plans.join("\n\n")}`)
    }
  }
})

await Effect.runPromise(
  Effect.gen(function* () {
    const url = yield* startDatabase({ settings: ["shared_buffers=3GB"] })
    const layer = Layer.provideMerge(layerSqlStorage, PgClient.layer(connection(url)))
    yield* Effect.provide(program(url), layer)
  }).pipe(Effect.provide(Reactivity.layer), Effect.scoped)
)

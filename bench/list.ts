import type { WorkspaceId } from "@delivery/domain/Ids"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import assert from "node:assert"
import { type TestRunFilter, TestRunsRepo } from "../packages/server/src/runs/TestRunsRepo.ts"
import { layerStorage, makeRuns, storeRun } from "./Database.ts"
import { median } from "./Processes.ts"
import { type At, explain, filters, pageSize, percentile95, scan } from "./RunFilters.ts"

/**
 * The list of test runs at 1,000,000 runs in one workspace beside 1,000 in another: the 95th percentile of every
 * filter, each pair of calls in turn; how each finds the runs of its page at 1,000,000, by EXPLAIN; and what the index
 * of `q` costs a run that starts.
 * Run it with `pnpm bench:list`.
 */
const sizes = { small: 1_000, large: Number(process.env["BENCH_RUNS"] ?? 1_000_000) }
const rounds = 150

/** Starts runs beside each other, then indexes them: what each takes of the database and this process together. */
const costOfIndex = Effect.fnUntraced(function* (at: At) {
  const repo = yield* TestRunsRepo
  const sql = yield* PgClient.PgClient
  const count = 32_768
  const timed = Effect.fnUntraced(function* <A, E, R>(work: Effect.Effect<A, E, R>) {
    const began = performance.now()
    yield* work
    return ((performance.now() - began) * 1_000) / count
  })
  const indexAll = Effect.gen(function* () {
    while (yield* sql.withTransaction(repo.indexBlock));
  })
  const starts = yield* timed(
    Effect.forEach(
      Array.from({ length: count }, (_, n) => n),
      (n) => storeRun(at, { branch: `feature/ticket-${n}`, subject: `correct taxes in step ${n}` }),
      { concurrency: 32, discard: true }
    )
  )
  const index = yield* timed(indexAll)
  console.log(
    `\nOf each of ${count} runs started 32 at once: the start ${starts.toFixed(0)} µs, the index for q, written ` +
      `behind it, ${index.toFixed(0)} µs (${((index / starts) * 100).toFixed(0)} %).`
  )
})

const program = Effect.gen(function* () {
  const repo = yield* TestRunsRepo
  const sql = yield* PgClient.PgClient
  const small = yield* makeRuns(1, sizes.small)
  const large = yield* makeRuns(2, sizes.large)
  // As the service does it behind the runs.
  const began = performance.now()
  while (yield* sql.withTransaction(repo.indexBlock));
  const indexing = performance.now() - began
  const [disk] = yield* sql<{ readonly index: string; readonly runs: string }>`select
    pg_size_pretty(pg_total_relation_size('test_run_postings')) as index,
    pg_size_pretty(pg_total_relation_size('test_runs')) as runs`
  console.log(
    `Indexed ${sizes.large} runs for q in ${(indexing / 1000).toFixed(0)} s: ${disk!.index}, the runs with their ` +
      `other indexes ${disk!.runs}.\n`
  )
  yield* sql`vacuum analyze test_run_postings`
  yield* sql`vacuum analyze test_runs`
  yield* sql`vacuum analyze workspaces`

  const list = (at: At, filter: TestRunFilter) => repo.list(at.workspaceId as WorkspaceId, filter, pageSize)
  const timed = Effect.fnUntraced(function* (at: At, filter: TestRunFilter) {
    const began = performance.now()
    const found = yield* list(at, filter)
    return [performance.now() - began, found.length] as const
  })
  console.log(
    `Pages of ${pageSize} runs, ${rounds} calls in turn after 10, milliseconds:\n` +
      `${"filter".padEnd(36)}  found at each  p95 at ${sizes.small}  p95 at ${sizes.large}   ratio   medians`
  )
  for (const [name, filter] of filters) {
    const times: { small: Array<number>; large: Array<number> } = { small: [], large: [] }
    let found = ""
    // A slow filter shows itself in few calls.
    for (let round = -10; round < rounds; round++) {
      const [one, fewer] = yield* timed(small, filter(small))
      const [other, more] = yield* timed(large, filter(large))
      found = `${fewer} ${more}`
      if (round < 0) continue
      times.small.push(one)
      times.large.push(other)
      if (other > 100 && round > 20) break
    }
    const [a, b] = [percentile95(times.small), percentile95(times.large)]
    console.log(
      `${name.padEnd(36)} ${found.padStart(14)}  ${a.toFixed(2).padStart(11)}  ${b.toFixed(2).padStart(14)}  ` +
        `${(b / a).toFixed(2).padStart(6)}   ${median(times.small).toFixed(2)} ${median(times.large).toFixed(2)}`
    )
  }
  for (const [name, filter] of filters) {
    const found = (yield* list(large, filter(large))).map((run) => run.number)
    assert.deepStrictEqual(found, yield* scan(large, filter(large)), name)
  }
  console.log("Each page is that of a scan of all runs.")
  console.log(
    `\nPlans at ${sizes.large} runs: each line a scan of the runs or their index, each block of lines a statement; the ` +
      `look-up of rows by test_runs_number_key at the end of a statement is that of the page's runs.`
  )
  for (const [name, filter] of filters) {
    console.log(`\n  ${name}\n${(yield* explain(list(large, filter(large)))).join("\n\n")}`)
  }
  yield* costOfIndex(large)
})

await Effect.runPromise(program.pipe(Effect.provide(layerStorage), Effect.scoped))

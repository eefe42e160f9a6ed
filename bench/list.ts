import type { EnvironmentId, PersonId, ProductId, WorkspaceId } from "@delivery/domain/Ids"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { Statement } from "effect/sql"
import assert from "node:assert"
import type { TestRunFilter } from "../packages/server/src/runs/TestRunRows.ts"
import { TestRunsRepo } from "../packages/server/src/runs/TestRunsRepo.ts"
import { layerStorage, makeRuns, storeRun } from "./Database.ts"
import { median } from "./Processes.ts"

/**
 * The list of test runs at 1,000,000 runs in one workspace beside 1,000 in another: the 95th percentile of every
 * filter, each pair of calls in turn; how each finds the runs of its page at 1,000,000, by EXPLAIN; and what the index
 * of `q` costs a run that starts.
 * Run it with `pnpm bench:list`.
 */
const sizes = { small: 1_000, large: Number(process.env["BENCH_RUNS"] ?? 1_000_000) }
const rounds = 150
const pageSize = 51

type At = Effect.Success<ReturnType<typeof makeRuns>>

const filters: ReadonlyArray<readonly [name: string, filter: (at: At) => TestRunFilter]> = [
  ["no filter", () => ({})],
  ["cursor, in the middle", (at) => ({ below: at.runs / 2 })],
  ["product (1 of 10)", (at) => ({ productId: at.productId(1) as ProductId })],
  ["environment (1 of 4)", (at) => ({ environmentId: at.environmentId(1) as EnvironmentId })],
  ["result=passed", () => ({ result: "passed" })],
  ["result=failed", () => ({ result: "failed" })],
  ["result=flaky (1 in 50)", () => ({ result: "flaky" })],
  ["mine (1 of 2)", (at) => ({ publisher: { kind: "user", id: at.personId(1) as PersonId } })],
  ["commit", () => ({ commit: "e4da3b7fbbce2345d7772b0674a318d500000000" })],
  [
    "product, environment, result, mine",
    (at) => ({
      productId: at.productId(3) as ProductId,
      environmentId: at.environmentId(1) as EnvironmentId,
      result: "passed",
      publisher: { kind: "user", id: at.personId(1) as PersonId }
    })
  ],
  [
    "product, environment that never meet",
    (at) => ({ productId: at.productId(1) as ProductId, environmentId: at.environmentId(0) as EnvironmentId })
  ],
  ["product, result=flaky, never", (at) => ({ productId: at.productId(1) as ProductId, result: "flaky" })],
  [
    "commit, product, result",
    (at) => ({
      commit: "e4da3b7fbbce2345d7772b0674a318d500000000",
      productId: at.productId(7) as ProductId,
      result: "failed"
    })
  ],
  ["q: start of a commit", () => ({ q: "e4da3b7fbb" })],
  ["q: a commit of 1 in 14, none new", () => ({ q: "dadada" })],
  ["q: two digits of commits", () => ({ q: "fd" })],
  ["q: in 1 of 10 subjects", () => ({ q: "basket" })],
  ["q: in 1 of 100 subjects", () => ({ q: "orders" })],
  ["q: in 1 of 20 subjects, none new", () => ({ q: "hand" })],
  ["q: one letter, everywhere", () => ({ q: "e" })],
  ["q: one letter, in 5 old runs", () => ({ q: "+" })],
  ["q: two letters, in 5 old runs", () => ({ q: "-c" })],
  ["q: in 5 old runs", () => ({ q: "release-candidate" })],
  ["q: nowhere", () => ({ q: "zebra crossing" })],
  ["q: nowhere, its words everywhere", () => ({ q: "orders in the basket" })],
  ["q: nowhere, of a product", (at) => ({ q: "zebra crossing", productId: at.productId(1) as ProductId })],
  ["q: common, of another product", (at) => ({ q: "basket", productId: at.productId(1) as ProductId })],
  ["q: common, of another result", () => ({ q: "basket", result: "failed" })],
  ["q: common, passed by a retry", () => ({ q: "rename", result: "passed" })],
  ["q: common, cursor in the middle", (at) => ({ q: "orders", below: at.runs / 2 })]
]

const percentile95 = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1]!

/** The page as a comparison of every run finds it. */
const scan = Effect.fnUntraced(function* (at: At, filter: TestRunFilter) {
  const sql = yield* PgClient.PgClient
  const { q = "" } = filter
  const found = yield* sql<{
    readonly number: number
  }>`select number from test_runs where workspace_id = ${at.workspaceId}
      and (strpos(lower(git_branch), ${q}) > 0 or strpos(lower(git_subject), ${q}) > 0 or starts_with(git_sha, ${q}))
      and product_id = coalesce(${filter.productId ?? null}::uuid, product_id)
      and environment_id = coalesce(${filter.environmentId ?? null}::uuid, environment_id)
      and publisher_id = coalesce(${filter.publisher?.id ?? null}::uuid, publisher_id)
      and git_sha = coalesce(${filter.commit ?? null}, git_sha) and number < ${filter.below ?? 2 ** 31 - 1}
      and case ${filter.result ?? ""} when '' then true when 'flaky' then flaky > 0 else result = ${filter.result ?? ""} end
    order by number desc limit ${pageSize}`
  return found.map((run) => run.number)
})

/** Of a plan its scans of the runs and of their index, each on a line, without the values that they look for. */
const shorten = (plan: ReadonlyArray<string>): string => {
  const scans: Array<Array<string>> = []
  let details: Array<string> | undefined
  for (const line of plan) {
    const [, scan, actual] = /-> +(.* Scan .*\btest_run.*) \(actual (.*)\)/.exec(line) ?? []
    if (scan !== undefined) scans.push((details = [`${scan} (${actual})`]))
    else if (line.includes("->")) details = undefined
    else if (/ (Index Cond|Filter|Rows Removed by Filter|Heap Fetches|Buffers): /.test(line))
      details?.push(line.trim().slice(0, 160))
  }
  return scans
    .map((details) => `    ${details.join("; ")}`)
    .join("\n")
    .replaceAll(/'[^']*'::(uuid|integer\[\])/g, "…")
    .replaceAll(".00 ", " ")
}

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
  const explain = Effect.fnUntraced(function* (at: At, filter: TestRunFilter) {
    const statements: Array<ReturnType<Statement.Statement<unknown>["compile"]>> = []
    const capture: Statement.Transformer = (one) => {
      statements.push(one.compile())
      return Effect.succeed(one)
    }
    yield* Effect.provideService(list(at, filter), Statement.CurrentTransformer, capture)
    const plans = yield* Effect.forEach(statements, ([statement, parameters]) =>
      sql.unsafe<{ readonly "QUERY PLAN": string }>(
        `explain (analyze, buffers, costs off, timing off, summary off) ${statement}`,
        parameters
      )
    )
    return plans.map((plan) => shorten(plan.map((row) => row["QUERY PLAN"])))
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
    console.log(`\n  ${name}\n${(yield* explain(large, filter(large))).join("\n\n")}`)
  }
  yield* costOfIndex(large)
})

await Effect.runPromise(program.pipe(Effect.provide(layerStorage), Effect.scoped))

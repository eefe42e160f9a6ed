import type { TestRunId } from "@delivery/domain/Ids"
import { caseCursor } from "@delivery/domain/runs/Case"
import { countedFrom, slowFrom } from "@delivery/domain/runs/CaseFigures"
import { type RecordedTest, outcome } from "@delivery/domain/runs/TestResults"
import { titleKey } from "@delivery/domain/runs/TitleKey"
import { PgClient } from "@effect/sql-pg"
import { Effect, Fiber, type Layer } from "effect"
import { execFileSync } from "node:child_process"
import { CaseCounting } from "../packages/server/src/runs/cases/CaseCounting.ts"
import { pace } from "../packages/server/src/runs/cases/CaseCountingRounds.ts"
import { CasesRepo } from "../packages/server/src/runs/cases/CasesRepo.ts"
import { ResultChanges } from "../packages/server/src/runs/ResultChanges.ts"
import { TestRunsRepo } from "../packages/server/src/runs/TestRunsRepo.ts"
import { paced } from "../packages/server/src/storage/Paced.ts"
import { apiKey, open } from "./Bench.ts"
import { runEvent, storeRun } from "./Database.ts"
import {
  type At,
  counted,
  fillRuns,
  layerPlanting,
  makeProduct,
  plantCounts,
  suites,
  tests,
  untilCounted
} from "./PlantedCases.ts"
import { median, start } from "./Processes.ts"
import { explain, percentile95 } from "./RunFilters.ts"

/**
 * Tests over time at 1,000,000 runs of 50 tests: the answers over HTTP and how each finds its rows, by EXPLAIN; then what a run takes
 * to finish with and without the counting behind it. What is counted of the runs is planted, after it was shown of 2,000 that the
 * service counts the same. 30 GB of disk, and an hour; `node bench/cases.ts 20000` takes fewer runs, and `... 20000 20000` counts
 * all of them. Run it with `pnpm bench:cases`.
 */
const runs = Number(process.argv[2] ?? 1_000_000)
/** How many runs are counted by the command as well, to show that what is planted is what it counts. */
const checked = Number(process.argv[3] ?? 2_000)
const rounds = 60
const main = "packages/server/src/cli/main.ts"

/** A database with runs, and what was counted of them. */
const planted = async (count: number) => {
  const bench = await open()
  const environment = { ...bench.settings, LOG_LEVEL: "warn", LOG_FORMAT: "json" }
  const layer = layerPlanting(bench.databaseUrl)
  const inDatabase = <A, E>(effect: Effect.Effect<A, E, Layer.Success<typeof layer>>) =>
    Effect.runPromise(Effect.scoped(Effect.provide(effect, layer)))
  const server = await start(main, ["serve"], environment)
  const at = await makeProduct(server.baseUrl)
  await server.end()
  const filled = await timed(() => inDatabase(fillRuns(at, count)))
  const counts = await timed(() => inDatabase(plantCounts(at, count)))
  console.log(
    `${count} runs of ${tests} tests, stored in ${seconds(filled)}; what is counted of them, in ${seconds(counts)}.`
  )
  return { at, close: bench.close, environment, inDatabase }
}

const timed = async <A>(work: () => Promise<A>) => {
  const began = performance.now()
  await work()
  return performance.now() - began
}
const seconds = (milliseconds: number) => `${(milliseconds / 1_000).toFixed(1)} s`

const sizes = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  return yield* sql<{ readonly name: string; readonly size: string }>`select t as name,
      pg_size_pretty(pg_total_relation_size(t::regclass)) as size
    from unnest(array['test_runs', 'test_run_tests', 'test_cases', 'case_results', 'case_days', 'product_days']) t`
})

const middle = { title: "Suite 5 › case 25", caseId: "suite-5/basket.spec.ts › case 25" }
const oneCase = `cases/${encodeURIComponent(middle.caseId)}`
const cursor = caseCursor({ caseId: middle.caseId, titleKey: titleKey(middle.title) })
const year = new Date(Date.now() - 364 * 86_400_000).toISOString().slice(0, 10)

const requests: ReadonlyArray<readonly [name: string, path: string]> = [
  ["cases", "products/shop/cases"],
  ["cases, from the middle on", `products/shop/cases?cursor=${encodeURIComponent(cursor)}`],
  ["cases of an environment", "products/shop/cases?environment=env-1"],
  ["state=failing", "products/shop/cases?state=failing"],
  ["state=passing", "products/shop/cases?state=passing"],
  ["state=flaky (none)", "products/shop/cases?state=flaky"],
  ["state=slow", "products/shop/cases?state=slow"],
  ["q, in 1 of 10 cases", "products/shop/cases?q=suite-7"],
  ["q, in none", "products/shop/cases?q=zebra"],
  ["a case", `products/shop/${oneCase}`],
  ["a case, from the middle on", `products/shop/${oneCase}?before=${Math.floor(runs / 2)}`],
  ["a case of an environment", `products/shop/${oneCase}?environment=env-1`],
  ["errors of the newest run", `test-runs/${runs}/errors`],
  ["errors of an old run", `test-runs/${Math.floor(runs / 2)}/errors`],
  ["trends of 30 days", "products/shop/trends"],
  ["trends of a year", `products/shop/trends?from=${year}`]
]

const measureReads = async (baseUrl: string) => {
  console.log(`\nAnswers over HTTP, one after the other, ${rounds} calls each after 5, milliseconds:`)
  for (const [name, path] of requests) {
    const times: Array<number> = []
    let bytes = 0
    for (let round = -5; round < rounds; round++) {
      const took = await timed(async () => {
        const response = await fetch(`${baseUrl}/v1/workspaces/main/${path}`, {
          headers: { authorization: `Bearer ${apiKey}`, "accept-encoding": "identity" }
        })
        const text = await response.text()
        if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`)
        bytes = text.length
      })
      if (round >= 0) times.push(took)
    }
    console.log(
      `  ${name.padEnd(30)} p95 ${percentile95(times).toFixed(1).padStart(6)}   median ${median(times).toFixed(1).padStart(6)}` +
        `   ${bytes} bytes`
    )
  }
}

const showPlans = ({ environmentIds, productId, workspaceId }: At) =>
  Effect.gen(function* () {
    const repo = yield* CasesRepo
    const scope = { workspaceId, productId, environmentId: undefined }
    const rule = { since: countedFrom(new Date().toISOString()), slowFromMs: slowFrom(yield* repo.median(scope)) }
    const ids = [middle.caseId]
    const plans = [
      ["cases", repo.list(scope, {}, rule, 101)],
      [
        "state=failing of an environment",
        repo.list({ ...scope, environmentId: environmentIds[1] }, { state: "failing" }, rule, 101)
      ],
      ["state=slow", repo.list(scope, { state: "slow" }, rule, 101)],
      ["q, in none", repo.list(scope, { q: "zebra" }, rule, 101)],
      ["results of a case, from the middle on", repo.results(scope, middle.caseId, Math.floor(runs / 2), 100)],
      ["what makes a failure known", repo.earlier({ workspaceId, productId, number: runs }, ids)],
      ["days of a year", repo.days(scope, year, new Date().toISOString().slice(0, 10))]
    ] as const
    console.log("\nPlans: each line a scan.")
    for (const [name, work] of plans) {
      console.log(
        `\n  ${name}\n${(yield* explain(work as Effect.Effect<unknown>, "test_|case_|product_days")).join("\n\n")}`
      )
    }
  })

const recorded = (count: number): ReadonlyArray<RecordedTest> =>
  Array.from({ length: count }, (_, n) => ({
    caseId: `suite-${Math.floor(n / 50) % suites}/basket.spec.ts › case ${n % 50}${n < 500 ? "" : ` of ${n}`}`,
    title: `Suite › case ${n}`,
    file: "basket.spec.ts",
    coverage: "regression",
    testKind: "behavior",
    priority: null,
    status: n % 20 === 0 ? "failed" : "passed",
    files: [],
    attempts: [
      {
        number: 1,
        retry: null,
        status: n % 20 === 0 ? "failed" : "passed",
        durationMs: 1_000 + n,
        startedAt: "2026-11-21T09:30:10.000Z",
        errorMessage: n % 20 === 0 ? "Expected 200, got 500" : null,
        errorStack: n % 20 === 0 ? "Error: Expected 200, got 500\n    at checkout.spec.ts:12:9\n".repeat(20) : null,
        files: []
      }
    ]
  }))

/** Finishes runs one after the other, in turn with and without a server's rounds of counting behind them. */
const measureFinish = (
  { environmentIds, productId, workspaceId }: At,
  { blocks, perBlock, tests: count }: { readonly tests: number; readonly perBlock: number; readonly blocks: number }
) =>
  Effect.gen(function* () {
    const repo = yield* TestRunsRepo
    const sql = yield* PgClient.PgClient
    const changes = yield* ResultChanges
    const { awaitChange, step } = yield* CaseCounting
    const [person] = yield* sql<{ readonly id: string }>`select id from persons limit 1`
    const one = {
      workspaceId,
      productId: () => productId,
      environmentId: () => environmentIds[0]!,
      personId: () => person!.id
    }
    const recordedTests = recorded(count)
    const finishOne = Effect.fnUntraced(function* (id: TestRunId) {
      const began = performance.now()
      const finished = {
        ...outcome({ interrupted: false }, recordedTests),
        cleanup: null,
        durationMs: 64_210,
        finishedAt: new Date().toISOString()
      }
      if (!(yield* repo.finish(id, finished, recordedTests, runEvent(one, "run_finished", id)))) {
        return yield* Effect.die(new Error("The run was not finished."))
      }
      yield* changes.note
      return performance.now() - began
    })
    const block = Effect.gen(function* () {
      const times: Array<number> = []
      for (let i = 0; i < perBlock; i++) times.push(yield* finishOne(yield* storeRun(one)))
      return times
    })
    // As `CaseCountingRounds` does it.
    const counting = Effect.forever(Effect.andThen(paced(step, pace), Effect.timeoutOption(awaitChange, "1 minute")))
    const times: { alone: Array<number>; counted: Array<number> } = { alone: [], counted: [] }
    const ratios: Array<number> = []
    for (let round = -1; round < blocks; round++) {
      const alone = yield* block
      yield* untilCounted
      const fiber = yield* Effect.forkChild(counting)
      const counted = yield* block
      yield* Fiber.interrupt(fiber)
      yield* untilCounted
      if (round < 0) continue
      times.alone.push(...alone)
      times.counted.push(...counted)
      ratios.push(median(counted) / median(alone))
    }
    const shown = (values: ReadonlyArray<number>) =>
      `median ${median(values).toFixed(2)} ms, p95 ${percentile95(values).toFixed(2)} ms`
    console.log(
      `  ${count} tests, ${times.alone.length} runs each:  without ${shown(times.alone)};  with ${shown(times.counted)};  ` +
        `ratio of the medians of each round, median ${median(ratios).toFixed(3)} [${ratios.map((ratio) => ratio.toFixed(2)).join(", ")}]`
    )
  })

const check = async () => {
  const { close, environment, inDatabase } = await planted(checked)
  try {
    const before = await inDatabase(counted)
    const took = await timed(async () => {
      execFileSync(process.execPath, [main, "cases", "rebuild"], { env: { ...process.env, ...environment } })
    })
    const after = await inDatabase(counted)
    if (after.join() !== before.join()) throw new Error(`Planted:\n${before.join("\n")}\nCounted:\n${after.join("\n")}`)
    const each = ((took * 1_000) / checked).toFixed(0)
    console.log(`The same by \`cases rebuild\` in ${seconds(took)}, ${each} µs a run:\n  ${after.join("\n  ")}\n`)
  } finally {
    await close()
  }
}

await check()
const { at, close, environment, inDatabase } = await planted(runs)
try {
  await inDatabase(
    Effect.flatMap(PgClient.PgClient, (sql) => sql`vacuum analyze test_cases, case_results, case_days, product_days`)
  )
  for (const { name, size } of await inDatabase(sizes)) console.log(`  ${name.padEnd(16)} ${size}`)
  const server = await start(main, ["serve"], environment)
  await measureReads(server.baseUrl)
  await server.end()
  await inDatabase(showPlans(at))
  console.log("\nFinishing a run, one after the other, with and without the counting behind:")
  await inDatabase(measureFinish(at, { tests: 50, perBlock: 600, blocks: 12 }))
  await inDatabase(measureFinish(at, { tests: 5_000, perBlock: 10, blocks: 8 }))
} finally {
  await close()
}

import type { TestRunId } from "@delivery/domain/Ids"
import type { TestReport } from "@delivery/domain/runs/TestEntry"
import { outcome, recordTest } from "@delivery/domain/runs/TestResults"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { column, texts } from "../packages/server/src/storage/Columns.ts"
import { TestRunsRepo } from "../packages/server/src/runs/TestRunsRepo.ts"
import { layerStorage, makeWorkspace, runEvent, storeRun } from "./Database.ts"
import { median } from "./Processes.ts"

/**
 * Finishing a run of 5,000 tests, from the report to the stored run with its counts and event, beside a bare set-based
 * insert of the same rows into the same table, in turn. Run it with `pnpm bench:finish`.
 */
const tests = 5_000
const rounds = 15
const oid = { float8: 701, timestamptz: 1184 }

const reports: ReadonlyArray<TestReport> = Array.from({ length: tests }, (_, n) => ({
  caseId: `checkout/basket-${n % 50}.spec.ts › basket › case ${n}`,
  title: `basket › case ${n}`,
  file: `checkout/basket-${n % 50}.spec.ts`,
  coverage: "regression",
  testKind: "behavior",
  priority: null,
  files: [],
  attempt: {
    status: n % 20 === 0 ? "failed" : "passed",
    durationMs: 1_000 + n,
    startedAt: "2026-11-21T09:30:10.000Z",
    errorMessage: n % 20 === 0 ? "Expected 200, got 500" : null,
    errorStack: n % 20 === 0 ? "Error: Expected 200, got 500\n    at checkout.spec.ts:12:9\n".repeat(20) : null,
    files: n % 20 === 0 ? [`checkout/case-${n}/trace.zip`] : []
  }
}))

const program = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const repo = yield* TestRunsRepo
  const at = yield* makeWorkspace(1)
  const timed = Effect.fnUntraced(function* <A, E>(work: Effect.Effect<A, E>) {
    const began = performance.now()
    yield* work
    return performance.now() - began
  })

  const finish = Effect.fnUntraced(function* (runId: TestRunId) {
    const recorded = reports.map(recordTest)
    const finished = {
      ...outcome({ interrupted: false }, recorded),
      cleanup: null,
      durationMs: 64_210,
      finishedAt: "2026-11-21T09:31:00.000Z"
    }
    if (!(yield* repo.finish(runId, finished, recorded, runEvent(at, "run_finished", runId)))) {
      return yield* Effect.die(new Error("The run was not finished."))
    }
  })

  const rows = reports.map(recordTest)
  const insert = (runId: TestRunId) => sql`insert into test_run_tests (workspace_id, run_id, case_id, title, file,
      coverage, test_kind, priority, status, files, attempt_status, attempt_duration_ms, attempt_started_at,
      attempt_error_message, attempt_error_stack, attempt_files)
    select ${at.workspaceId}::uuid, ${runId}::uuid, t.case_id, t.title, t.file, t.coverage, t.test_kind, t.priority,
      t.status, t.files::jsonb, t.attempt_status, t.duration_ms, t.started_at, t.message, t.stack, t.attempt_files::jsonb
    from unnest(${texts(rows, (row) => row.caseId)}, ${texts(rows, (row) => row.title)},
      ${texts(rows, (row) => row.file)}, ${texts(rows, (row) => row.coverage)}, ${texts(rows, (row) => row.testKind)},
      ${texts(rows, (row) => row.priority)}, ${texts(rows, (row) => row.status)},
      ${texts(rows, (row) => JSON.stringify(row.files))}, ${texts(rows, (row) => row.attempts[0]?.status)},
      ${column(rows, oid.float8, (row) => row.attempts[0]?.durationMs)},
      ${column(rows, oid.timestamptz, (row) => new Date(row.attempts[0]!.startedAt))},
      ${texts(rows, (row) => row.attempts[0]?.errorMessage)}, ${texts(rows, (row) => row.attempts[0]?.errorStack)},
      ${texts(rows, (row) => JSON.stringify(row.attempts[0]?.files))}
    ) as t (case_id, title, file, coverage, test_kind, priority, status, files, attempt_status, duration_ms, started_at,
      message, stack, attempt_files)`

  const times: { finish: Array<number>; insert: Array<number> } = { finish: [], insert: [] }
  for (let round = -3; round < rounds; round++) {
    const [a, b] = [yield* storeRun(at), yield* storeRun(at)]
    const one = yield* timed(finish(a))
    const other = yield* timed(insert(b))
    if (round < 0) continue
    times.finish.push(one)
    times.insert.push(other)
  }
  const shown = (values: ReadonlyArray<number>) =>
    `${median(values).toFixed(0).padStart(5)} ms  [${Math.min(...values).toFixed(0)}..${Math.max(...values).toFixed(0)}]`
  const ratios = times.finish.map((value, round) => value / times.insert[round]!)
  console.log(`A run of ${tests} tests, ${rounds} rounds in turn after 3, medians [fastest..slowest]:`)
  console.log(`  finish: report to stored run      ${shown(times.finish)}`)
  console.log(`  bare insert of the same rows      ${shown(times.insert)}`)
  console.log(`  ratio of each round, median       ${median(ratios).toFixed(2)}`)
})

await Effect.runPromise(program.pipe(Effect.provide(layerStorage), Effect.scoped))

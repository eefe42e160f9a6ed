import type { TestRunId } from "@delivery/domain/Ids"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { layerSqlStorage } from "../../src/App.ts"
import { EvidenceRepo, evidenceRuns, olderInterrupted, olderResults } from "../../src/flow/EvidenceRepo.ts"
import { ReadinessRepo } from "../../src/flow/ReadinessRepo.ts"
import { makeDeployed } from "../runs/Scene.ts"
import { finishRun, startRun, Time } from "../runs/SemaphoreStorages.ts"
import { layerPostgres } from "../support/Databases.ts"

/** How PostgreSQL finds what runs prove, of a product with many. */

const layerTime = Layer.succeed(Time, { pass: () => Effect.die("not here"), now: Effect.sync(() => Date.now()) })

layer(Layer.mergeAll(layerSqlStorage, layerTime).pipe(Layer.provideMerge(layerPostgres)), {
  excludeTestServices: true
})("PostgreSQL", (it) => {
  it.effect("finds results of a test by indexes, as many as are looked at, however many there are", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const repo = yield* EvidenceRepo
      const at = yield* makeDeployed()
      const finished = yield* startRun(at)
      yield* finishRun(finished)
      const [workspaceId, productId] = [at.workspace.id, at.product.id]
      // Each tenth of 10,000 runs was interrupted. All have ended; one test failed in each third of the others, 1,000 never.
      yield* sql`insert into test_runs select (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(),
          'number', 1000 + n, 'token_hash', gen_random_uuid(), 'finished_at', r.started_at,
          'state', case when n % 10 = 0 then 'interrupted' else r.state end,
          'result', case when n % 10 > 0 then 'failed' end))).*
        from test_runs r, generate_series(1, 10000) n where r.id = ${finished.runId}`
      yield* sql`insert into test_cases (workspace_id, product_id, scope_id, whole_id, case_id)
        select ${workspaceId}::uuid, ${productId}::uuid, s.id, null, 'case ' || n
        from generate_series(1, 1000) n, unnest(array[${productId}::uuid, ${at.environment.id}::uuid]) s (id)`
      yield* sql`update test_cases c set whole_id = w.id from test_cases w
        where c.scope_id = ${at.environment.id} and w.scope_id = ${productId} and w.case_id = c.case_id`
      yield* sql`insert into case_results (workspace_id, series_id, number, failed, flaky, attempts, duration_ms, day, on_base)
        select c.workspace_id, c.id, r.number, c.case_id = 'case 7' and r.number % 3 = 0, false, 1, 5, '2026-11-21', true
        from test_cases c, test_runs r where c.scope_id = ${at.environment.id} and c.case_id in ('case 7', 'case 8')
          and r.workspace_id = ${workspaceId} and r.number > 1000 and r.result is not null`
      yield* sql`insert into test_run_tests (workspace_id, run_id, case_id, title, file, coverage, test_kind, status, files,
          attempt_status, attempt_duration_ms, attempt_started_at, attempt_files)
        select r.workspace_id, r.id, c.case_id, c.case_id, 'a.test.ts', 'critical', 'e2e', s.status, '[]', s.status, 5,
          r.started_at, '[]'
        from test_runs r cross join (values ('case 7'), ('case 8')) c (case_id)
        cross join lateral (select case when c.case_id = 'case 7' and (r.number % 3 = 0 or r.result is null)
          then 'failed' else 'passed' end as status) s
        where r.workspace_id = ${workspaceId} and r.number > 1000`
      yield* sql`vacuum analyze test_cases, case_results, test_runs, test_run_tests`
      const counts = sql<{
        readonly table: string
        readonly scans: number
        readonly returned: number
      }>`select t as table,
          pg_stat_get_xact_numscans(t::regclass)::int as scans,
          (select sum(pg_stat_get_xact_tuples_returned(i.indexrelid))::int from pg_index i where i.indrelid = t::regclass)
            as returned
        from unnest(array['test_cases', 'case_results', 'test_runs', 'test_run_tests']) t`
      const read = repo.results(workspaceId, productId, ["case 7", "case 8"])
      const [before, found, after] = yield* sql.withTransaction(Effect.all([counts, read, counts]))
      const of = (caseId: string) => found.filter((one) => one.caseId === caseId)
      const oldest = 11_000 - evidenceRuns
      const older = of("case 7").filter(({ number }) => number <= oldest)
      const isInterrupted = ({ number }: { readonly number: number }) => number % 10 === 0
      assert.lengthOf(older.filter(isInterrupted), olderInterrupted)
      const counted = older.filter((one) => !isInterrupted(one))
      for (const status of ["failed", "passed"]) {
        assert.lengthOf(
          counted.filter((one) => one.status === status),
          olderResults
        )
      }
      assert.lengthOf(of("case 8"), evidenceRuns * 0.9 + olderResults)
      for (const [index, { returned, scans, table }] of after.entries()) {
        assert.strictEqual(scans - before[index]!.scans, 0, table)
        assert.isBelow(returned - before[index]!.returned, 2_000, table)
      }
    })
  )

  it.effect("finds what a version has left out by indexes, however many runs of others there are", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const repo = yield* ReadinessRepo
      const at = yield* makeDeployed()
      const finished = yield* startRun(at)
      yield* finishRun(finished)
      // Each of 500 versions has 20 runs, and one a second; each tenth was interrupted.
      yield* sql`insert into test_runs select (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(),
          'number', 1000 + n, 'token_hash', gen_random_uuid(), 'finished_at', r.started_at + n * interval '1 second',
          'deployment_version', 'v' || (n - 1) / 20, 'deployment_changed', false, 'coverage', 'critical',
          'selection', '{"folders":[],"caseIds":[]}'::jsonb, 'publisher_kind', 'apiKey', 'passed', 100, 'failed', 1,
          'state', case when n % 10 = 5 then 'interrupted' else r.state end,
          'result', case when n % 10 = 5 then null when n % 20 = 10 then 'passed' else 'failed' end))).*
        from test_runs r, generate_series(1, 10000) n where r.id = ${finished.runId}`
      // A test fails in each of the newest 500, and 99 pass. The last of a version and the interrupted one have a failure of their own.
      yield* sql`insert into test_run_tests (workspace_id, run_id, case_id, title, file, coverage, test_kind, status, files,
          attempt_status, attempt_duration_ms, attempt_started_at, attempt_files)
        select r.workspace_id, r.id, c.case_id, c.case_id, 'a.test.ts', 'critical', 'e2e', c.status, '[]', c.status, 5, r.started_at, '[]'
        from test_runs r cross join lateral (
          select 'case ' || n as case_id, case when n = r.number % 100 then 'failed' else 'passed' end as status from generate_series(0, 99) n
          union all
          select 'own ' || r.number, 'failed' where r.number % 20 in (0, 5)
        ) c
        where r.workspace_id = ${at.workspace.id} and r.number > 10500`
      yield* sql`vacuum analyze test_runs, test_run_tests`
      const [deciding] = yield* sql<{ readonly id: TestRunId }>`select id from test_runs
        where workspace_id = ${at.workspace.id} and number = 10990`
      const counts = sql<{
        readonly table: string
        readonly scans: number
        readonly returned: number
      }>`select t as table,
          pg_stat_get_xact_numscans(t::regclass)::int as scans,
          (select sum(pg_stat_get_xact_tuples_returned(i.indexrelid))::int from pg_index i where i.indrelid = t::regclass)
            as returned
        from unnest(array['test_runs', 'test_run_tests', 'test_run_attempts', 'deployment_releases']) t`
      const asked = { workspaceId: at.workspace.id, productId: at.product.id, versions: ["v499"] }
      const reads = [
        Effect.map(repo.leftOut(asked, [deciding!.id]), (found) => {
          assert.deepInclude(
            found.map(({ number, otherVersion }) => [number, otherVersion]),
            [10_980, "v498"]
          )
          // 11 of the last 200 that finished, and of the interrupted ones the 25 that have tests.
          assert.lengthOf(found, 36)
        }),
        Effect.map(repo.fewer(asked, [deciding!.id]), (found) => assert.lengthOf(found, 0))
      ]
      for (const read of reads) {
        const [before, , after] = yield* sql.withTransaction(Effect.all([counts, read, counts]))
        for (const [index, { returned, scans, table }] of after.entries()) {
          assert.strictEqual(scans - before[index]!.scans, 0, table)
          assert.isBelow(returned - before[index]!.returned, 2_500, table)
        }
      }
    })
  )
})

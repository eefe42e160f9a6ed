import { timestamp } from "@delivery/domain/Timestamp"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { layerSqlStorage } from "../../src/App.ts"
import { CasesRepo } from "../../src/runs/cases/CasesRepo.ts"
import { SemaphoresRepo } from "../../src/runs/SemaphoresRepo.ts"
import { TestRunsRepo } from "../../src/runs/TestRunsRepo.ts"
import { newId, unique } from "../identity/Scene.ts"
import { layerPostgres } from "../support/Databases.ts"
import { makeDeployed } from "./Scene.ts"
import { finishRun, startRun, Time, leaseRequest } from "./SemaphoreStorages.ts"

/** How PostgreSQL finds rows where what it knows of the tables is of another time. */

const layerTime = Layer.succeed(Time, { pass: () => Effect.die("not here"), now: Effect.sync(() => Date.now()) })

layer(Layer.mergeAll(layerSqlStorage, layerTime).pipe(Layer.provideMerge(layerPostgres)), {
  excludeTestServices: true
})("PostgreSQL", (it) => {
  it.effect("finds a run by its token or id through an index, even if statistics say that few runs are running", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const repo = yield* SemaphoresRepo
      const runs = yield* TestRunsRepo
      const at = yield* makeDeployed()
      const finished = yield* startRun(at)
      yield* finishRun(finished)
      yield* sql`insert into test_runs select (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(),
          'number', 1000 + n, 'token_hash', gen_random_uuid()))).*
        from test_runs r, generate_series(1, 5000) n where r.id = ${finished.runId}`
      yield* sql`vacuum analyze test_runs`
      const run = yield* startRun(at)
      const [scans] = yield* sql.withTransaction(
        Effect.gen(function* () {
          for (let i = 0; i < 10; i++) {
            assert.strictEqual((yield* repo.authenticate(run.tokenHash, run.workspaceId))?.owner.runId, run.runId)
            assert.strictEqual((yield* repo.take(run, leaseRequest(unique("semaphore"))))._tag, "Held")
          }
          yield* finishRun(run)
          assert.deepStrictEqual(yield* runs.expire(timestamp(0), [newId()]), [])
          return yield* sql<Readonly<Record<"runs" | "overdue" | "byId" | "byToken", number>>>`select
            pg_stat_get_xact_numscans('test_runs'::regclass)::integer as runs,
            pg_stat_get_xact_numscans('test_runs_overdue'::regclass)::integer as overdue,
            pg_stat_get_xact_numscans('test_runs_pkey'::regclass)::integer as "byId",
            pg_stat_get_xact_numscans('test_runs_token_hash_key'::regclass)::integer as "byToken"`
        })
      )
      assert.deepStrictEqual([scans!.runs, scans!.overdue, scans!.byToken], [0, 1, 10])
      assert.isAtLeast(scans!.byId, 11)
    })
  )

  it.effect("reads the leases of one semaphore only, even with plans made for an empty table", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const repo = yield* SemaphoresRepo
      const run = yield* startRun(yield* makeDeployed())
      yield* sql`vacuum analyze semaphores, semaphore_leases`
      const [read] = yield* sql.withTransaction(
        Effect.gen(function* () {
          // From the sixth time on a connection keeps its plans.
          for (let i = 0; i < 10; i++) {
            const name = unique("semaphore")
            const place = leaseRequest(name, { requestId: unique("request") })
            const taken = yield* repo.take(run, leaseRequest(name))
            assert.strictEqual((yield* repo.take(run, place))._tag, "Queued")
            assert.strictEqual((yield* repo.lookUpPlace(place.id, false))._tag, "Queued")
            if (taken._tag !== "Held") return assert.fail(taken._tag)
            assert.strictEqual((yield* repo.renew(run, name, taken.lease.lease, undefined))._tag, "Held")
            yield* repo.leave(place.id, 1)
            yield* repo.release(run, name, taken.lease.lease)
            yield* repo.settle([place.id])
          }
          return yield* sql<{ readonly leases: number }>`
            select pg_stat_get_xact_numscans('semaphore_leases'::regclass)::integer as leases`
        })
      )
      assert.strictEqual(read!.leases, 0)
    })
  )

  it.effect("reads pages of cases and results through indexes, however many there are", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const repo = yield* CasesRepo
      const at = yield* makeDeployed()
      const finished = yield* startRun(at)
      yield* finishRun(finished)
      const scope = { workspaceId: at.workspace.id, productId: at.product.id, environmentId: undefined }
      // Of 4,000 cases in one environment, one in 200 fails, is flaky and can be slow. One has 10,000 results.
      yield* sql`insert into test_cases (workspace_id, product_id, scope_id, whole_id, case_id, title, title_key, newest_run,
          newest_day, newest_failed, is_long, p95_ms, flaky_day)
        select ${scope.workspaceId}::uuid, ${scope.productId}::uuid, s.id, null, 'case ' || n, 'Case', lpad(n::text, 5, '0'), 1,
          '2026-11-21', n % 200 = 0, n % 200 = 0, 20000, case when n % 200 = 0 then '2026-11-21'::date end
        from generate_series(1, 4000) n, unnest(array[${scope.productId}::uuid, ${at.environment.id}::uuid]) s (id)`
      yield* sql`update test_cases c set whole_id = w.id from test_cases w
        where c.scope_id = ${at.environment.id} and w.scope_id = ${scope.productId} and w.case_id = c.case_id`
      yield* sql`insert into test_runs select (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(),
          'number', 1000 + n, 'token_hash', gen_random_uuid(), 'result', 'failed'))).*
        from test_runs r, generate_series(1, 10000) n where r.id = ${finished.runId}`
      yield* sql`insert into case_results (workspace_id, series_id, number, failed, flaky, attempts, duration_ms, day, on_base)
        select c.workspace_id, c.id, 1000 + n, n % 3 = 0, false, 1, 5, '2026-11-21', n % 2 = 0
        from test_cases c, generate_series(1, 10000) n where c.scope_id = ${at.environment.id} and c.case_id = 'case 7'`
      yield* sql`vacuum analyze test_cases, case_results, case_days, test_runs`
      const rule = { since: "2026-11-01", slowFromMs: 15_000 }
      // A transaction begins with what was counted of those just before it.
      const returned = (name: string) =>
        sql.literal(`(select sum(pg_stat_get_xact_tuples_returned(indexrelid))::int from pg_index
          where indrelid = '${name}'::regclass)`)
      const counts = sql<Readonly<Record<"scans" | "cases" | "results" | "runs", number>>>`select
          (select sum(pg_stat_get_xact_numscans(t::regclass))::int
            from unnest(array['test_cases', 'case_results', 'test_runs']) t) as scans,
          ${returned("test_cases")} as cases, ${returned("case_results")} as results, ${returned("test_runs")} as runs`
      const read = Effect.fnUntraced(function* <A>(reads: Effect.Effect<A>) {
        const [[before], , [after]] = yield* sql.withTransaction(Effect.all([counts, reads, counts]))
        assert.strictEqual(after!.scans - before!.scans, 0)
        return {
          cases: after!.cases - before!.cases,
          results: after!.results - before!.results,
          runs: after!.runs - before!.runs
        }
      })
      for (const state of ["failing", "flaky", "slow", "passing", undefined] as const) {
        for (const environmentId of [undefined, at.environment.id]) {
          const { cases, runs } = yield* read(repo.list({ ...scope, environmentId }, { state }, rule, 101))
          assert.isAtLeast(cases, 20, state)
          assert.isBelow(cases, 1_000, state)
          assert.isBelow(runs, 1_000, state)
        }
      }
      const ofResults = yield* read(repo.results(scope, "case 7", 7_000, 100))
      assert.isAtLeast(ofResults.results, 100)
      assert.isBelow(ofResults.results, 1_000)
      assert.isBelow(ofResults.runs, 1_000)
      const one = yield* read(repo.find(scope, "case 7", rule))
      assert.isBelow(one.cases, 100)
      const { productId, workspaceId } = scope
      const known = yield* read(repo.earlier({ workspaceId, productId, number: 7_000 }, ["case 7", "case 8"]))
      assert.isAtLeast(known.results, 7)
      assert.isBelow(known.results, 1_000)
    })
  )

  it.effect("finds the newest run of each deployment through an index, also of one that is seldom tested", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const runs = yield* TestRunsRepo
      const at = yield* makeDeployed()
      const rare = yield* startRun(at)
      yield* finishRun(rare)
      const often = yield* startRun(yield* makeDeployed({ workspace: at }))
      yield* finishRun(often)
      yield* sql`insert into test_runs select (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(),
          'number', 1000 + n, 'token_hash', gen_random_uuid(), 'result', 'failed'))).*
        from test_runs r, generate_series(1, 10000) n where r.id = ${often.runId}`
      yield* sql`vacuum analyze test_runs`
      const returned = sql<{ readonly tuples: number }>`select
        (select sum(pg_stat_get_xact_tuples_returned(indexrelid))::int from pg_index where indrelid = 'test_runs'::regclass)
        + pg_stat_get_xact_tuples_returned('test_runs'::regclass)::int as tuples`
      const list = runs.list(at.workspace.id, { latest: true }, 51)
      const [[before], found, [after]] = yield* sql.withTransaction(Effect.all([returned, list, returned]))
      assert.deepStrictEqual(
        found.map(({ number }) => number),
        [11_000, 1]
      )
      assert.isBelow(after!.tuples - before!.tuples, 50)
    })
  )
})

import { timestamp } from "@delivery/domain/Timestamp"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { layerSqlStorage } from "../../src/App.ts"
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
})

import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { layerSqlStorage } from "../../src/App.ts"
import { SemaphoresRepo } from "../../src/testing/SemaphoresRepo.ts"
import { unique } from "../identity/Scene.ts"
import { layerPostgres } from "../support/Databases.ts"
import { makeDeployed } from "./Scene.ts"
import { startRun, Time, wish } from "./SemaphoreStorages.ts"

const layerTime = Layer.succeed(Time, { pass: () => Effect.die("not here"), now: Effect.sync(() => Date.now()) })

layer(Layer.mergeAll(layerSqlStorage, layerTime).pipe(Layer.provideMerge(layerPostgres)), {
  excludeTestServices: true
})("Semaphores on PostgreSQL", (it) => {
  it.effect("read no lease but their own, though PostgreSQL planned when there was none", () =>
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
            const place = wish(name, { requestId: unique("request") })
            const taken = yield* repo.take(run, wish(name))
            assert.strictEqual((yield* repo.take(run, place))._tag, "Queued")
            assert.strictEqual((yield* repo.look(place.id, false))._tag, "Queued")
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

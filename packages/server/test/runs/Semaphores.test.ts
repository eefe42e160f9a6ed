import { RunCaller } from "@delivery/domain/runs/RunAuthorization"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Fiber, Layer } from "effect"
import { layerSqlStorage } from "../../src/App.ts"
import { Settings } from "../../src/Config.ts"
import * as Files from "../../src/files/Files.ts"
import * as Keys from "../../src/keys/Keys.ts"
import * as Runs from "../../src/runs/Runs.ts"
import { type LeaseAnswer, Semaphores } from "../../src/runs/Semaphores.ts"
import { SemaphoresRepo } from "../../src/runs/SemaphoresRepo.ts"
import * as StorageRoom from "../../src/storage/StorageRoom.ts"
import { layerPostgres } from "../support/Databases.ts"
import { eventually } from "../support/Eventually.ts"
import { unique } from "../identity/Scene.ts"
import { makeDeployed } from "./Scene.ts"
import { startRun, Time } from "./SemaphoreStorages.ts"
import { layerSigningKeys } from "../support/Storages.ts"
import { layerRuns } from "./Services.ts"

/** Calls that wait at one server for what happens at another, over one PostgreSQL. */

/** A server of its own: its services and its LISTEN connection, over the database that all share. */
const makeServerWith = <R>(layerReplaced: Layer.Layer<SemaphoresRepo, never, R>) =>
  Effect.map(
    Layer.build(
      Layer.fresh(
        layerRuns.pipe(
          Layer.provide(layerReplaced),
          Layer.provide([Runs.layerSql, StorageRoom.layerSql, layerSigningKeys, Files.layerMemory]),
          Layer.provide([Keys.layerMemoryKeyring, Settings.layer({})])
        )
      )
    ),
    (context) => Context.get(context, Semaphores)
  )

const makeServer = makeServerWith(Runs.layerSql)

/** Never looks a place up at the end of a call: the change must have arrived before, by polling or by notices alone. */
const makeServerBy = (source: "polling" | "notices") =>
  makeServerWith(
    Layer.effect(
      SemaphoresRepo,
      Effect.map(SemaphoresRepo, (repo) =>
        SemaphoresRepo.of({
          ...repo,
          ...(source === "notices" ? { settle: () => Effect.never } : {}),
          lookUpPlace: (place, isLast) =>
            isLast ? Effect.die(new Error("It was too late.")) : repo.lookUpPlace(place, false)
        })
      )
    ).pipe(Layer.provide(Runs.layerSql))
  )

const layerTime = Layer.succeed(Time, { pass: () => Effect.die("not here"), now: Effect.sync(() => Date.now()) })

const leaseOf = (answer: LeaseAnswer) => {
  if (answer.kind === "queued") throw new Error("It is queued")
  return answer.lease
}

layer(Layer.mergeAll(layerSqlStorage, layerTime).pipe(Layer.provideMerge(layerPostgres)), {
  excludeTestServices: true
})("Semaphores of two servers", (it) => {
  /** Two servers, a run, and a semaphore that is held. */
  const prepare = Effect.fnUntraced(function* (second: typeof makeServer) {
    const [one, two] = [yield* makeServer, yield* second]
    const run = yield* startRun(yield* makeDeployed())
    const name = unique("semaphore")
    const as = Effect.provideService(RunCaller, run)
    const take = (server: typeof one, waitMs: number) =>
      as(server.take(name, { capacity: 1, waitMs, requestId: unique("r") }))
    const held = leaseOf(yield* take(one, 0))
    const release = (lease: string) => as(one.release(name, lease))
    return { two, take, held, release, name }
  })

  /** The sessions of the database that listen, and ask it something now and then: the two servers', and that of the storage that all tests use. */
  const listeners = Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    return yield* sql<{ readonly pid: number }>`select pid from pg_stat_activity
        where datname = current_database() and (query ilike 'listen %' or query = 'select 1')`
  })

  /** Until so many calls wait for the semaphore. */
  const queued = Effect.fnUntraced(function* (name: string, count: number) {
    const sql = yield* PgClient.PgClient
    const places = sql`select 1 from semaphore_leases l join semaphores s on s.id = l.semaphore_id
      where s.name = ${name} and l.state = 'queued'`
    yield* eventually(places, (rows) => rows.length === count)
  })

  const listening = (count: number) => eventually(listeners, (sessions) => sessions.length === count)

  it.effect("grants a slot that one server frees to a call that waits at another", () =>
    Effect.gen(function* () {
      const { held, name, release, take, two } = yield* prepare(makeServerBy("notices"))
      yield* listening(3)
      const waiting = yield* Effect.forkChild(take(two, 20_000))
      yield* queued(name, 1)
      // How soon is measured by the benchmark.
      yield* release(held.lease)
      const next = yield* Fiber.join(waiting)
      assert.isAbove(leaseOf(next).fence, held.fence)
      assert.strictEqual(next.kind, "new")
    })
  )

  it.effect("survives the loss of the connections that listen", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const { held, name, release, take, two } = yield* prepare(makeServerBy("notices"))
      const waiting = yield* Effect.forkChild(take(two, 20_000))
      yield* queued(name, 1)
      const later = yield* Effect.forkChild(take(two, 20_000))
      yield* queued(name, 2)
      yield* listening(3)
      const before = yield* listeners
      for (const { pid } of before) yield* sql`select pg_terminate_backend(${pid}::integer)`
      // Freed while nobody hears it.
      yield* release(held.lease)
      const next = leaseOf(yield* Fiber.join(waiting))
      yield* listening(3)
      const pids = new Set((yield* listeners).map(({ pid }) => pid))
      assert.isTrue(before.every(({ pid }) => !pids.has(pid)))
      yield* release(next.lease)
      assert.isAbove(leaseOf(yield* Fiber.join(later)).fence, next.fence)
    })
  )

  it.effect("finds changes by polling if a notice is lost", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const { held, take, two, name } = yield* prepare(makeServerBy("polling"))
      const waiting = yield* Effect.forkChild(take(two, 20_000))
      yield* queued(name, 1)
      // The lease ends without a word.
      yield* sql`update semaphore_leases set expires_at = clock_timestamp() where id = ${held.lease}`
      const next = leaseOf(yield* Fiber.join(waiting))
      assert.strictEqual(next.name, name)
      assert.strictEqual(next.slot, 1)
    })
  )
})

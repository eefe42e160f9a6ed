import { LeaseId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { PgClient } from "@effect/sql-pg"
import { layer, type Vitest } from "@effect/vitest"
import { Clock, Context, Effect, Layer } from "effect"
import { TestClock, TestConsole } from "effect/testing"
import { layerMemoryStorage } from "../../src/App.ts"
import { type NewRetry, RetriesRepo } from "../../src/runs/RetriesRepo.ts"
import type { LeaseRequest } from "../../src/runs/SemaphoresRepo.ts"
import { type NewTestRun, TestRunsRepo } from "../../src/runs/TestRunsRepo.ts"
import { newId, unique } from "../identity/Scene.ts"
import { type Repositories, sharedDatabases } from "../support/Storages.ts"
import { type Deployed, makeDeployed, newEvent, newRun } from "./Scene.ts"

/** Semaphores on each storage, with a hand on the clock that decides what has lapsed. */

export class Time extends Context.Service<
  Time,
  {
    /** Lets so many milliseconds pass for leases. */
    readonly pass: (millis: number) => Effect.Effect<void>
    /** What the storage takes for now, in milliseconds. */
    readonly now: Effect.Effect<number>
  }
>()("@delivery/server/test/Time") {}

/** A database's clock cannot be moved: what it is compared with is moved instead. */
export const layerSqlTime = Layer.effect(
  Time,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    return Time.of({
      pass: (millis) =>
        Effect.gen(function* () {
          const interval = sql.literal(`interval '${millis} milliseconds'`)
          // Runs of other suites that ended long ago stay as they are.
          yield* sql`with leases as (
            update semaphore_leases set expires_at = expires_at - ${interval}, since = since - ${interval},
              ended_at = ended_at - ${interval}, token_expires_at = token_expires_at - ${interval}
          ), runs as (
            update test_runs set expires_at = expires_at - ${interval},
              running_retry_expires_at = running_retry_expires_at - ${interval}
              where greatest(expires_at, running_retry_expires_at) > clock_timestamp()
          )
          update test_run_retries set expires_at = expires_at - ${interval} where expires_at > clock_timestamp()`
        }).pipe(Effect.orDie),
      now: sql<{ readonly now: Date }>`select clock_timestamp() as now`.pipe(
        Effect.map(([row]) => row!.now.getTime()),
        Effect.orDie
      )
    })
  })
)

const layerMemoryTime = Layer.succeed(Time, {
  pass: (millis) => TestClock.adjust(millis),
  now: Clock.currentTimeMillis
})

/** Pools and listeners wait for times that a test need not reach: no warning. */
const layerClock = TestClock.layer({ warningDelay: "1 hour" })

const storages = [
  { name: "memory", layer: Layer.merge(layerMemoryStorage, layerMemoryTime) },
  ...sharedDatabases.map(({ layer, name }) => ({ name, layer: Layer.provideMerge(layerSqlTime, layer) }))
]

/** Runs the tests on each storage; which other suites use too. */
export const onEachStorage = (
  subject: string,
  tests: (it: Vitest.MethodsNonLive<Repositories | Time>) => void
): void => {
  for (const storage of storages) {
    const built = Layer.provideMerge(storage.layer, Layer.merge(TestConsole.layer, layerClock))
    layer(built, { excludeTestServices: true })(`${subject} on ${storage.name}`, tests)
  }
}

/** A run that has begun, as the owner of leases. Its token lives for an hour unless told otherwise. */
export const startRun = Effect.fnUntraced(function* (
  at: Deployed,
  lifeMillis = 3_600_000,
  fields: Partial<NewTestRun> = {}
) {
  const now = yield* (yield* Time).now
  const run = newRun(at, { startedAt: timestamp(now), expiresAt: timestamp(now + lifeMillis), ...fields })
  const { number } = yield* (yield* TestRunsRepo).start(run, newEvent(run, "run_started"))
  return {
    workspaceId: run.workspaceId,
    runId: run.id,
    run: number,
    retry: null,
    expiresAt: run.expiresAt,
    tokenHash: run.tokenHash,
    newRun: run
  }
})

/** A retry of a run that it ends, as the owner of leases. */
export const startRetry = Effect.fnUntraced(function* (
  { newRun, retry: _, ...run }: Effect.Success<ReturnType<typeof startRun>>,
  lifeMillis = 3_600_000
) {
  yield* finishRun({ ...run, newRun, retry: null })
  const now = yield* (yield* Time).now
  const retry: NewRetry = {
    id: newId(),
    workspaceId: run.workspaceId,
    runId: run.runId,
    after: 0,
    publisher: newRun.publisher,
    makerId: newRun.makerId,
    requiredPasses: 1,
    testCount: 1,
    baseUrl: newRun.baseUrl,
    git: newRun.git,
    machine: newRun.machine,
    tokenHash: unique("hash"),
    fixture: null,
    startedAt: timestamp(now),
    expiresAt: timestamp(now + lifeMillis)
  }
  const started = yield* (yield* RetriesRepo).start(retry, newEvent(newRun, "retry_started"))
  return { ...run, retry: started!.number, expiresAt: retry.expiresAt, tokenHash: retry.tokenHash }
})

/** A workspace with two runs and a semaphore's name that nothing else uses. */
export const makeRuns = Effect.gen(function* () {
  const at = yield* makeDeployed()
  return { at, run: yield* startRun(at), other: yield* startRun(at), name: unique("semaphore") }
})

/** Ends a run. */
export const finishRun = Effect.fnUntraced(function* (run: Effect.Success<ReturnType<typeof startRun>>) {
  const now = yield* (yield* Time).now
  yield* (yield* TestRunsRepo).finish(
    run.runId,
    {
      state: "finished",
      result: "passed",
      gateResult: "passed",
      error: null,
      counts: { total: 0, passed: 0, flaky: 0, failed: 0, skipped: 0 },
      passRate: null,
      firstAttemptPassRate: null,
      cleanup: null,
      durationMs: 1,
      finishedAt: timestamp(now)
    },
    [],
    newEvent(run.newRun, "run_finished")
  )
})

/** The id of a lease that was asked for then (milliseconds since 1970). */
export const leaseIdAt = (time: number): LeaseId => {
  const digits = time.toString(16).padStart(12, "0")
  return LeaseId.make(`${digits.slice(0, 8)}-${digits.slice(8)}${newId<LeaseId>().slice(13)}`)
}

export const leaseRequest = (name: string, fields: Partial<LeaseRequest> = {}): LeaseRequest => ({
  id: newId<LeaseId>(),
  name,
  capacity: 1,
  requestId: null,
  test: null,
  ttlMillis: 60_000,
  waitMillis: 0,
  ...fields
})

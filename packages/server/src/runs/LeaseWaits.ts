import type { LeaseId } from "@delivery/domain/Ids"
import { Clock, Context, Effect, Latch, Layer, type Scope } from "effect"
import { RequestQueue } from "../http/RequestQueue.ts"
import { Stopping } from "../http/Stopping.ts"
import { Notices } from "../storage/Notices.ts"
import { background } from "../telemetry/Background.ts"
import { observe, semaphoreWaiters } from "../telemetry/Metrics.ts"
import { SemaphoresRepo } from "./SemaphoresRepo.ts"

/** The waiting of one call for its place. */
export interface LeaseWait {
  /** Waits until the place may no longer wait, at most so many milliseconds. A further call waits for a further change. */
  readonly changed: (millis: number) => Effect.Effect<void>
  /** Makes the place be looked up in so many milliseconds, when a slot lapses that it may get. */
  readonly lapsesIn: (millis: number) => void
  /** From now on the call waits for this place, which an earlier one has made, in place of its own. */
  readonly moveTo: (place: LeaseId) => Effect.Effect<void>
}

/**
 * The calls of this server that wait for a lease. They hold no database connection: the storage sends a notice when
 * a place no longer waits. Since a notice may be lost, and lapsing sends none, all places are looked up together at least
 * once a second.
 */
export class LeaseWaits extends Context.Service<
  LeaseWaits,
  {
    /** Waits for a place until the scope closes. Begins before the place is made, so that nothing is missed. */
    readonly begin: (place: LeaseId) => Effect.Effect<LeaseWait, never, Scope.Scope>
  }
>()("@delivery/server/runs/LeaseWaits") {
  static readonly layer = Layer.effect(LeaseWaits, Effect.gen(make))
}

/** The calls that wait for each place, each with a latch that opens when the place may no longer wait. */
type Waits = Map<LeaseId, Set<Latch.Latch>>

function* make() {
  const notices = yield* Notices
  const waits: Waits = new Map()
  yield* observe(semaphoreWaiters, () => countCalls(waits))

  const wakeAll = () => {
    for (const place of waits.keys()) wake(waits, place)
  }
  yield* notices.listen("semaphores", {
    onNotice: (payload) => wake(waits, payload as LeaseId),
    onListening: wakeAll
  })
  yield* (yield* Stopping).onBegin(wakeAll)

  const checkBy = yield* checkPlaces(yield* SemaphoresRepo, waits)
  return LeaseWaits.of({ begin: begin(yield* RequestQueue, waits, checkBy) })
}

const countCalls = (waits: Waits): number => {
  let calls = 0
  for (const latches of waits.values()) calls += latches.size
  return calls
}

const wake = (waits: Waits, place: LeaseId): void => waits.get(place)?.forEach((latch) => latch.openUnsafe())

/** Looks up the places in the background. Answers a function that sets the latest time of the next look-up, in milliseconds since 1970. */
const checkPlaces = Effect.fnUntraced(function* (repo: SemaphoresRepo["Service"], waits: Waits) {
  let lapsesIn: number | undefined
  const settle = yield* background(
    "semaphore_queues",
    "The queues of semaphores could not be looked up.",
    Effect.suspend(() => {
      lapsesIn = undefined
      return Effect.map(repo.settle([...waits.keys()]), ({ changed, lapsesInMillis }) => {
        lapsesIn = lapsesInMillis
        for (const place of changed) wake(waits, place)
      })
    })
  )

  const check = yield* Latch.make(false)
  let checkAt = Number.POSITIVE_INFINITY
  const checkBy = (millis: number) => {
    if (millis >= checkAt) return
    checkAt = millis
    check.openUnsafe()
  }
  yield* Effect.gen(function* () {
    while (true) {
      const now = yield* Clock.currentTimeMillis
      if (checkAt > now) {
        check.closeUnsafe()
        yield* checkAt === Number.POSITIVE_INFINITY ? check.await : Effect.timeoutOption(check.await, checkAt - now)
        continue
      }
      checkAt = Number.POSITIVE_INFINITY
      if (waits.size === 0) continue
      yield* settle
      checkBy((yield* Clock.currentTimeMillis) + Math.min(longestMillis, lapsesIn ?? longestMillis))
    }
  }).pipe(Effect.forkScoped)
  return checkBy
})

const begin = (queue: RequestQueue["Service"], waits: Waits, checkBy: (millis: number) => void) =>
  Effect.fnUntraced(function* (place: LeaseId) {
    const clock = yield* Clock.Clock
    const latch = Latch.makeUnsafe(false)
    let waitedFor = place
    const enter = Effect.sync(() => {
      const latches = waits.get(waitedFor) ?? new Set()
      waits.set(waitedFor, latches.add(latch))
    })
    const leave = Effect.sync(() => {
      const latches = waits.get(waitedFor)
      latches?.delete(latch)
      if (latches?.size === 0) waits.delete(waitedFor)
    })
    yield* Effect.acquireRelease(enter, () => leave)
    return {
      changed: (millis: number) =>
        Effect.andThen(
          queue.releaseWhile(Effect.timeoutOption(latch.await, millis)),
          Effect.sync(() => void latch.closeUnsafe())
        ),
      lapsesIn: (millis: number) => checkBy(clock.currentTimeMillisUnsafe() + Math.min(longestMillis, millis)),
      moveTo: (place: LeaseId) =>
        Effect.uninterruptible(
          Effect.andThen(
            leave,
            Effect.suspend(() => {
              waitedFor = place
              return enter
            })
          )
        )
    }
  })

/** Milliseconds after which places are looked up even without a notice. */
const longestMillis = 1_000

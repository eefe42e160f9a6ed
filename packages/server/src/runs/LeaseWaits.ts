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
  /** Waits until the place may no longer wait, at most so many milliseconds. Only what comes after is told again. */
  readonly changed: (millis: number) => Effect.Effect<void>
  /** Says in how many milliseconds a slot lapses that the place may get. */
  readonly lapsesIn: (millis: number) => void
  /** From now on the call waits for this place, which an earlier one has made, in place of its own. */
  readonly moveTo: (place: LeaseId) => Effect.Effect<void>
}

/**
 * The calls of this server that wait for a lease. They hold no database connection: the storage tells which places no
 * longer wait, and where that is not heard, or a slot lapses, they are looked up together, each second at the latest.
 */
export class LeaseWaits extends Context.Service<
  LeaseWaits,
  {
    /** Waits for a place until the scope closes. Begins before the place is made, so that nothing is missed. */
    readonly begin: (place: LeaseId) => Effect.Effect<LeaseWait, never, Scope.Scope>
  }
>()("@delivery/server/runs/LeaseWaits") {
  static readonly layer = Layer.effect(
    LeaseWaits,
    Effect.gen(function* () {
      const repo = yield* SemaphoresRepo
      const notices = yield* Notices
      const stopping = yield* Stopping
      const queue = yield* RequestQueue
      const waits = new Map<LeaseId, Set<Latch.Latch>>()
      const wake = (place: LeaseId) => waits.get(place)?.forEach((latch) => latch.openUnsafe())
      yield* observe(semaphoreWaiters, () => {
        let calls = 0
        for (const latches of waits.values()) calls += latches.size
        return calls
      })

      const wakeAll = () => {
        for (const place of waits.keys()) wake(place)
      }
      yield* notices.listen("semaphores", {
        onNotice: (payload) => wake(payload as LeaseId),
        onListening: wakeAll
      })
      yield* stopping.onBegin(wakeAll)

      let lapsesIn: number | undefined
      const settle = yield* background(
        "semaphore_queues",
        "The queues of semaphores could not be looked up.",
        Effect.suspend(() => {
          lapsesIn = undefined
          return Effect.map(repo.settle([...waits.keys()]), ({ changed, lapsesInMillis }) => {
            lapsesIn = lapsesInMillis
            for (const place of changed) wake(place)
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

      return LeaseWaits.of({
        begin: Effect.fnUntraced(function* (place: LeaseId) {
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
                queue.aside(Effect.timeoutOption(latch.await, millis)),
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
      })
    })
  )
}

/** Milliseconds after which places are looked up though nothing was heard. */
const longestMillis = 1_000

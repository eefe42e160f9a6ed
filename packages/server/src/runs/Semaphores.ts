import { Conflict, Forbidden, NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { LeaseId } from "@delivery/domain/Ids"
import { byName } from "@delivery/domain/Order"
import { RunCaller } from "@delivery/domain/runs/RunAuthorization"
import type { Lease, QueuedLease, RenewLease, SemaphoreList, TakeLease } from "@delivery/domain/runs/Semaphore"
import { isId } from "@delivery/domain/Text"
import { Clock, Context, Effect, Layer, Metric } from "effect"
import { SecureRandom } from "effect/crypto"
import { Settings } from "../Config.ts"
import { nextId } from "../ids/NextId.ts"
import { Stopping } from "../http/Stopping.ts"
import { anyRole } from "../access/Access.ts"
import { leasesGranted, leasesReleased } from "../telemetry/Metrics.ts"
import { type LeaseWait, LeaseWaits } from "./LeaseWaits.ts"
import {
  type NotHolder,
  type Queued,
  type Refused,
  type RunNotRunning,
  SemaphoresRepo,
  type Taken
} from "./SemaphoresRepo.ts"

/** What a call that takes a lease gets: a lease, new or as before, or a place in the queue. */
export type LeaseAnswer =
  | { readonly kind: "new" | "again"; readonly lease: Lease }
  | { readonly kind: "queued"; readonly place: QueuedLease }

/** Semaphores and their leases (service document, Semaphores; contract, section 7). */
export class Semaphores extends Context.Service<
  Semaphores,
  {
    readonly list: Effect.Effect<SemaphoreList, NotFound, Caller>
    /** `Conflict`: `full`, `capacity_mismatch` or `run_not_running`. */
    readonly take: (name: string, wish: TakeLease) => Effect.Effect<LeaseAnswer, Conflict, RunCaller>
    readonly renew: (
      name: string,
      lease: string,
      wish: RenewLease
    ) => Effect.Effect<Lease, NotFound | Forbidden, RunCaller>
    readonly release: (name: string, lease: string) => Effect.Effect<void, NotFound | Forbidden, RunCaller>
  }
>()("@delivery/server/runs/Semaphores") {
  static readonly layer = Layer.effect(
    Semaphores,
    Effect.gen(function* () {
      const random = yield* SecureRandom.SecureRandom
      const { semaphoreLeaseMillis } = yield* Settings
      const repo = yield* SemaphoresRepo
      const waits = yield* LeaseWaits
      const stopping = yield* Stopping

      const isOver = (until: number) =>
        Effect.map(Clock.currentTimeMillis, (now) => until <= now || stopping.hasBegun())

      /** Waits until the place becomes a lease, ends, or the time of the call is up. */
      const wait = Effect.fnUntraced(function* (waiting: LeaseWait, first: Queued, until: number) {
        let taken: Taken = first
        while (taken._tag === "Queued") {
          if (taken.lapsesInMillis !== undefined) waiting.lapsesIn(taken.lapsesInMillis)
          if (!(yield* isOver(until))) yield* waiting.changed(until - (yield* Clock.currentTimeMillis))
          const isLast = yield* isOver(until)
          taken = yield* repo.look(first.place.lease, isLast)
          if (isLast) break
        }
        return taken
      })

      /** Waits for a place that an earlier call has made: it may have become a lease while nobody here waited. */
      const waitAgain = Effect.fnUntraced(function* (waiting: LeaseWait, first: Queued, until: number) {
        yield* waiting.moveTo(first.place.lease)
        const now = yield* repo.look(first.place.lease, false)
        return now._tag === "Queued" ? yield* wait(waiting, now, until) : now
      })

      return Semaphores.of({
        list: Effect.gen(function* () {
          const { workspace } = yield* anyRole
          const semaphores = yield* repo.list(workspace.id)
          return { semaphores: semaphores.toSorted((a, b) => byName({ ...a, id: a.name }, { ...b, id: b.name })) }
        }).pipe(Effect.withSpan("Semaphores.list")),

        take: Effect.fnUntraced(
          function* (name: string, wish: TakeLease) {
            const owner = yield* RunCaller
            const id = yield* nextId<LeaseId>()
            const waitMillis = wish.waitMs ?? 0
            const started = yield* Clock.currentTimeMillis
            // Begun before the place is made: it may be granted before the answer of its making is here.
            const waiting = waitMillis > 0 ? yield* waits.begin(id) : undefined
            const wishes = repo.take(owner, {
              id,
              name,
              capacity: wish.capacity,
              requestId: wish.requestId ?? null,
              test: wish.test ?? null,
              ttlMillis: wish.ttlMs ?? semaphoreLeaseMillis,
              waitMillis
            })
            const until = started + waitMillis
            // A call that goes away leaves its place, once it has one.
            const taken = yield* Effect.uninterruptibleMask((restore) =>
              Effect.flatMap(wishes, (taken) => {
                if (taken._tag !== "Queued" || waiting === undefined) return Effect.succeed(taken)
                const waited = taken.place.lease === id ? wait(waiting, taken, until) : waitAgain(waiting, taken, until)
                return Effect.onInterrupt(restore(waited), () => repo.leave(taken.place.lease, taken.polls))
              })
            )
            if (taken._tag === "Held" && taken.isNew) yield* Metric.update(leasesGranted, 1)
            if (taken._tag !== "RunNotRunning") return yield* answer(taken)
            const [semaphore = { capacity: wish.capacity, holders: [] }] = yield* repo.list(owner.workspaceId, name)
            return yield* new Conflict({
              message: "The run is no longer running.",
              reason: "run_not_running",
              ...extras({ ...semaphore, lapsesInMillis: undefined })
            })
          },
          Effect.scoped,
          Effect.provideService(SecureRandom.SecureRandom, random)
        ),

        renew: Effect.fnUntraced(function* (name: string, lease: string, wish: RenewLease) {
          const owner = yield* RunCaller
          const renewed = yield* repo.renew(owner, name, yield* leaseId(lease), wish.ttlMs)
          return renewed._tag === "Held" ? renewed.lease : yield* refusal(renewed)
        }),

        release: Effect.fnUntraced(function* (name: string, lease: string) {
          const owner = yield* RunCaller
          const released = yield* repo.release(owner, name, yield* leaseId(lease))
          if (released._tag !== "Released") return yield* refusal(released)
          yield* Metric.update(leasesReleased, 1)
        })
      })
    })
  )
}

/** A queue moves on before its leases lapse: who waits outside of it should not ask later than this. */
const longestRetryMillis = 5_000

const leaseId = (text: string): Effect.Effect<LeaseId, NotFound> =>
  isId(text) ? Effect.succeed(text as LeaseId) : Effect.fail(NotFound.of("lease"))

const refusal = ({ _tag }: NotHolder): Effect.Effect<never, NotFound | Forbidden> =>
  _tag === "Unknown"
    ? Effect.fail(NotFound.of("lease"))
    : Effect.fail(new Forbidden({ message: "Another run or retry holds the lease.", reason: "not_holder" }))

const answer = (taken: Exclude<Taken, RunNotRunning>): Effect.Effect<LeaseAnswer, Conflict> => {
  switch (taken._tag) {
    case "Held":
      return Effect.succeed({ kind: taken.isNew ? "new" : "again", lease: taken.lease })
    case "Queued":
      return Effect.succeed({ kind: "queued", place: taken.place })
    case "Full": {
      const message =
        taken.capacity === 1
          ? "The semaphore is held or waited for."
          : `All ${taken.capacity} leases of the semaphore are held or waited for.`
      return Effect.fail(new Conflict({ message, reason: "full", ...extras(taken) }))
    }
    case "CapacityMismatch": {
      const message = `The semaphore is used with a capacity of ${taken.capacity}.`
      return Effect.fail(new Conflict({ message, reason: "capacity_mismatch", ...extras(taken) }))
    }
  }
}

const extras = ({ capacity, holders, lapsesInMillis }: Omit<Refused, "_tag">) => ({
  capacity,
  holders,
  retryAfterMs: Math.min(longestRetryMillis, lapsesInMillis ?? longestRetryMillis)
})

import { Conflict, Forbidden, NotFound, Unauthorized } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { LeaseId } from "@delivery/domain/Ids"
import { byName } from "@delivery/domain/Order"
import { RunCaller } from "@delivery/domain/runs/RunAuthorization"
import type {
  Lease,
  QueuedLease,
  RenewLease,
  SemaphoreList,
  SemaphoreUsageList,
  TakeLease
} from "@delivery/domain/runs/Semaphore"
import { isId } from "@delivery/domain/Text"
import { Clock, Context, Effect, Layer, Metric } from "effect"
import { Settings } from "../Config.ts"
import { NextId } from "../ids/NextId.ts"
import { Stopping } from "../http/Stopping.ts"
import { anyRole } from "../access/Access.ts"
import { leasesGranted, leasesReleased } from "../telemetry/Metrics.ts"
import { type LeaseWait, LeaseWaits } from "./LeaseWaits.ts"
import { notRunningMessage } from "./RunAnswers.ts"
import { shownHours, usageFrom } from "./SemaphoreUse.ts"
import {
  type LeaseOwner,
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

/** Semaphores and their leases (docs/contract.md, Semaphores). */
export class Semaphores extends Context.Service<
  Semaphores,
  {
    readonly list: Effect.Effect<SemaphoreList, NotFound, Caller>
    /** Of the last 24 hours. */
    readonly usage: Effect.Effect<SemaphoreUsageList, NotFound, Caller>
    /** `Conflict`: `full`, `capacity_mismatch` or `run_not_running`. `Unauthorized` where the token ended during a wait. */
    readonly take: (name: string, request: TakeLease) => Effect.Effect<LeaseAnswer, Unauthorized | Conflict, RunCaller>
    readonly renew: (
      name: string,
      lease: string,
      request: RenewLease
    ) => Effect.Effect<Lease, NotFound | Forbidden, RunCaller>
    readonly release: (name: string, lease: string) => Effect.Effect<void, NotFound | Forbidden, RunCaller>
  }
>()("@delivery/server/runs/Semaphores") {
  static readonly layer = Layer.effect(Semaphores, Effect.gen(make))
}

interface Dependencies {
  readonly semaphoreLeaseMillis: number
  readonly repo: SemaphoresRepo["Service"]
  readonly waits: LeaseWaits["Service"]
  readonly stopping: Stopping["Service"]
  readonly nextId: NextId["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    semaphoreLeaseMillis: (yield* Settings).semaphoreLeaseMillis,
    repo: yield* SemaphoresRepo,
    waits: yield* LeaseWaits,
    stopping: yield* Stopping,
    nextId: yield* NextId
  }
  return Semaphores.of({
    list: list(dependencies),
    usage: usage(dependencies),
    take: take(dependencies),
    renew: renew(dependencies),
    release: release(dependencies)
  })
}

const list = ({ repo }: Dependencies) =>
  Effect.gen(function* () {
    const { workspace } = yield* anyRole
    const semaphores = yield* repo.list(workspace.id)
    return { semaphores: semaphores.toSorted(byOwnName) }
  }).pipe(Effect.withSpan("Semaphores.list"))

interface Named {
  readonly name: string
}

const byOwnName = (a: Named, b: Named): number => byName({ ...a, id: a.name }, { ...b, id: b.name })

const usage = ({ repo }: Dependencies) =>
  Effect.gen(function* () {
    const { workspace } = yield* anyRole
    const now = yield* Clock.currentTimeMillis
    const used = yield* repo.usage(workspace.id, usageFrom(now))
    return {
      semaphores: used.toSorted(byOwnName).map(({ hours, name }) => ({ name, hours: shownHours(hours, now) }))
    }
  }).pipe(Effect.withSpan("Semaphores.usage"))

/** Whether the token of the request still works, for a call that has waited. */
export const IsRunCallerNow = Context.Reference<Effect.Effect<boolean>>("@delivery/server/runs/IsRunCallerNow", {
  defaultValue: () => Effect.succeed(true)
})

const take = (dependencies: Dependencies) => {
  const { nextId, repo, semaphoreLeaseMillis, waits } = dependencies
  return Effect.fnUntraced(function* (name: string, request: TakeLease) {
    const owner = yield* RunCaller
    const id = yield* nextId<LeaseId>()
    const waitMillis = request.waitMs ?? 0
    const started = yield* Clock.currentTimeMillis
    // Starts before the place exists, which may be granted before its answer arrives.
    const waiting = waitMillis > 0 ? yield* waits.begin(id) : undefined
    const asked = repo.take(owner, {
      id,
      name,
      capacity: request.capacity,
      requestId: request.requestId ?? null,
      test: request.test ?? null,
      ttlMillis: request.ttlMs ?? semaphoreLeaseMillis,
      waitMillis
    })
    const until = started + waitMillis
    // An interrupted call gives up its place.
    const taken = yield* Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(asked, (taken) => {
        if (taken._tag !== "Queued" || waiting === undefined) return Effect.succeed(taken)
        const { lease } = taken.place
        const waited = (lease === id ? wait : waitAgain)(dependencies, waiting, taken, until)
        return restore(waited).pipe(
          Effect.onInterrupt(() => repo.leave(lease, taken.polls)),
          Effect.tap((now) =>
            now._tag === "RunNotRunning" ? Effect.void : checkCaller(dependencies, owner, name, lease)
          )
        )
      })
    )
    if (taken._tag === "Held" && taken.isNew) yield* Metric.update(leasesGranted, 1)
    if (taken._tag !== "RunNotRunning") return yield* answer(taken)
    const [semaphore = { capacity: request.capacity, holders: [] }] = yield* repo.list(owner.workspaceId, name)
    return yield* new Conflict({
      message: notRunningMessage("run"),
      reason: "run_not_running",
      ...extras({ ...semaphore, lapsesInMillis: undefined })
    })
  }, Effect.scoped)
}

/** Refuses a caller whose token ended during the wait, and gives back what the wait has won. */
const checkCaller = Effect.fnUntraced(function* (
  { repo }: Dependencies,
  owner: LeaseOwner,
  name: string,
  lease: LeaseId
) {
  if (yield* yield* IsRunCallerNow) return
  yield* repo.release(owner, name, lease)
  return yield* Effect.fail(Unauthorized.generic)
})

/** Waits until the place becomes a lease, ends, or the time of the call is up. */
const wait = Effect.fnUntraced(function* (
  { repo, stopping }: Dependencies,
  waiting: LeaseWait,
  first: Queued,
  until: number
) {
  const isOver = Effect.map(Clock.currentTimeMillis, (now) => until <= now || stopping.hasBegun())
  let taken: Taken = first
  while (taken._tag === "Queued") {
    if (taken.lapsesInMillis !== undefined) waiting.lapsesIn(taken.lapsesInMillis)
    if (!(yield* isOver)) yield* waiting.changed(until - (yield* Clock.currentTimeMillis))
    const isLast = yield* isOver
    taken = yield* repo.lookUpPlace(first.place.lease, isLast)
    if (isLast) break
  }
  return taken
})

/** Waits for a place that an earlier call has made: it may have become a lease while nobody here waited. */
const waitAgain = Effect.fnUntraced(function* (
  dependencies: Dependencies,
  waiting: LeaseWait,
  first: Queued,
  until: number
) {
  yield* waiting.moveTo(first.place.lease)
  const now = yield* dependencies.repo.lookUpPlace(first.place.lease, false)
  return now._tag === "Queued" ? yield* wait(dependencies, waiting, now, until) : now
})

const renew = ({ repo }: Dependencies) =>
  Effect.fnUntraced(function* (name: string, lease: string, request: RenewLease) {
    const owner = yield* RunCaller
    const renewed = yield* repo.renew(owner, name, yield* leaseId(lease), request.ttlMs)
    return renewed._tag === "Held" ? renewed.lease : yield* refusal(renewed, lease)
  })

const release = ({ repo }: Dependencies) =>
  Effect.fnUntraced(function* (name: string, lease: string) {
    const owner = yield* RunCaller
    const released = yield* repo.release(owner, name, yield* leaseId(lease))
    if (released._tag !== "Released") return yield* refusal(released, lease)
    yield* Metric.update(leasesReleased, 1)
  })

/** A queue moves on before its leases lapse: a caller who waits outside of it should ask again by then. */
const longestRetryMillis = 5_000

const leaseId = (text: string): Effect.Effect<LeaseId, NotFound> =>
  isId(text) ? Effect.succeed(text as LeaseId) : Effect.fail(NotFound.of("lease", text))

const refusal = ({ _tag }: NotHolder, lease: string): Effect.Effect<never, NotFound | Forbidden> =>
  _tag === "Unknown"
    ? Effect.fail(NotFound.of("lease", lease))
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
          ? "The semaphore is in use, or others are waiting for it."
          : `All ${taken.capacity} leases of the semaphore are in use, or others are waiting for them.`
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

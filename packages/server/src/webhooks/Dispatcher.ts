import type { WebhookDeliveryId, WebhookId } from "@delivery/domain/Ids"
import { Cause, Clock, Context, Effect, Exit, FiberSet, Latch, Layer, Metric, Random, type Scope } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { asServer } from "../audit/ActsInstead.ts"
import { AuditedEvents } from "../audit/AuditedEvents.ts"
import { Settings } from "../Config.ts"
import { presentEvent } from "../events/EventPages.ts"
import { EventsRepo, type EventWithActor } from "../events/EventsRepo.ts"
import { NextId } from "../ids/NextId.ts"
import { Notices } from "../storage/Notices.ts"
import { Storage } from "../storage/Storage.ts"
import { background, makeReports, type Reports } from "../telemetry/Background.ts"
import { observe, webhooksParked, webhooksServed } from "../telemetry/Metrics.ts"
import { Selection } from "./Selection.ts"
import { aboutWebhook } from "./Subjects.ts"
import { Tries, type TryResult } from "./Tries.ts"
import { type HeldWebhook, leaseMillis, WebhookQueue } from "./WebhookQueue.ts"
import type { DeliveryRow } from "./WebhooksRepo.ts"

/** Webhooks that a process serves at once. Each has at most one request under way. */
const atOnce = 64

/** Of them at most so many that are slow: the other places stay with those that answer soon. */
export const slowAtOnce = 32

/** Milliseconds after which a webhook that has more to be sent lets others take its place. */
const turnMillis = 5_000

/** Milliseconds after which it is looked for work, though nothing told of any: a notice may be lost, or a server have died. */
const fallback = 1_000

/** Milliseconds between two looks while a transaction holds events back, or after a notice. */
const pause = 50

/** Milliseconds after a notice in which others may have been left out (migration 0088), with some to spare. */
const quiet = 200

/** Milliseconds after which events are looked for, though none seem to be new. */
const wholeMillis = 30_000

/** Nothing is sent with a lease that is older: what takes its time must be over before another server may have it. */
const freshMillis = leaseMillis / 2

/** How much later than it should a try may come: a tenth, and at most a minute. */
const maxJitterMillis = 60_000

/**
 * Sends events to webhooks (docs/contract.md, Webhooks): each event at least once, and those of a webhook in their order. A
 * webhook is served by one server at a time, by a lease. What a try came to is stored before the next event is sent; a
 * server that dies between the two leaves the event to another, once the lease is over.
 */
export class Dispatcher extends Context.Service<
  Dispatcher,
  {
    /** There may be something to be sent. */
    readonly wake: Effect.Effect<void>
    /** Serves webhooks until the scope closes. */
    readonly run: Effect.Effect<void, never, Scope.Scope>
  }
>()("@delivery/server/webhooks/Dispatcher") {
  static readonly layer = Layer.effect(Dispatcher, Effect.gen(make))
}

/** Serves webhooks. Every server does so. */
export const layerBackground = Layer.effectDiscard(Effect.flatMap(Dispatcher, ({ run }) => run))

interface Dependencies {
  readonly baseUrl: string
  readonly retryMillis: ReadonlyArray<number>
  readonly feed: EventsRepo["Service"]
  readonly queue: WebhookQueue["Service"]
  readonly selection: Selection["Service"]
  readonly tries: Tries["Service"]
  readonly notices: Notices["Service"]
  readonly storage: Storage["Service"]
  readonly events: AuditedEvents["Service"]
  readonly nextId: NextId["Service"]
  readonly state: State
}

interface State {
  readonly wake: Latch.Latch
  /** Those that are served now. */
  readonly serving: Set<WebhookId>
  /** Of them those that were slow when they were taken. */
  readonly slow: Set<WebhookId>
  /** Whether there may be webhooks at all. */
  isInUse: boolean
  /** Up to where all events were looked for; undefined where it must be done again. */
  lookedUpTo: number | undefined
  lookedAt: number
  noticedAt: number
  isHeldBack: boolean
}

function* make() {
  const state: State = {
    wake: Latch.makeUnsafe(false),
    serving: new Set(),
    slow: new Set(),
    isInUse: true,
    lookedUpTo: undefined,
    lookedAt: Number.NEGATIVE_INFINITY,
    noticedAt: Number.NEGATIVE_INFINITY,
    isHeldBack: false
  }
  const { baseUrl, webhooks } = yield* Settings
  const dependencies: Dependencies = {
    baseUrl,
    retryMillis: webhooks.retryMillis,
    feed: yield* EventsRepo,
    queue: yield* WebhookQueue,
    selection: yield* Selection,
    tries: yield* Tries,
    notices: yield* Notices,
    storage: yield* Storage,
    events: yield* AuditedEvents,
    nextId: yield* NextId,
    state
  }
  return Dispatcher.of({ wake: Effect.sync(() => again(state)), run: run(dependencies) })
}

const again = (state: State): void => {
  state.isInUse = true
  state.lookedUpTo = undefined
  state.wake.openUnsafe()
}

const run = (dependencies: Dependencies) =>
  Effect.gen(function* () {
    const { notices, state } = dependencies
    const clock = yield* Clock.Clock
    const notice = () => {
      if (!state.isInUse) return
      state.noticedAt = clock.currentTimeMillisUnsafe()
      state.wake.openUnsafe()
    }
    yield* notices.listen("events", { onNotice: notice, onListening: notice })
    yield* observe(webhooksServed, () => state.serving.size)
    const serveReports = yield* makeReports("webhooks", "A webhook could not be served.")
    const served = yield* FiberSet.make<void>()
    const fork = yield* FiberSet.runtime(served)()
    const round = yield* background(
      "webhook_claims",
      "Webhooks that have something to be sent could not be looked for.",
      look(dependencies, (held) => fork(serve(dependencies, serveReports, held)))
    )
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(untilNext(state), round)))
  })

/** Waits until it is time to look: at once for a notice, and soon where more is expected. */
const untilNext = (state: State): Effect.Effect<void> =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const isExpecting = state.isInUse && (state.isHeldBack || now - state.noticedAt < quiet)
    if (isExpecting) yield* Effect.sleep(pause)
    else yield* Effect.timeoutOption(state.wake.await, fallback)
    state.wake.closeUnsafe()
  })

/** Takes webhooks that have something to be sent, and begins to serve them. */
const look = ({ feed, nextId, queue, state }: Dependencies, begin: (claimed: ClaimedWebhook) => void) =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const isWhole = now - state.lookedAt >= wholeMillis
    if (!state.isInUse || isWhole) state.isInUse = yield* queue.isInUse
    const limit = atOnce - state.serving.size
    const slowLimit = slowAtOnce - state.slow.size
    if (!state.isInUse || limit <= 0) return
    const { last, readable } = yield* feed.horizon
    state.isHeldBack = last > readable
    const hasNews = isWhole || state.lookedUpTo !== readable
    if (hasNews) {
      state.lookedAt = now
      state.lookedUpTo = readable
    }
    const leasedAt = yield* Clock.currentTimeMillis
    const claimed = yield* queue.claim({ holder: yield* nextId<string>(), limit, slowLimit, upTo: readable, hasNews })
    for (const held of claimed) {
      state.serving.add(held.id)
      if (held.isSlow) state.slow.add(held.id)
      begin({ ...held, leasedAt })
    }
    // Others may be left.
    if (claimed.length === limit || state.slow.size === slowAtOnce) state.lookedUpTo = undefined
  })

interface ClaimedWebhook extends HeldWebhook {
  /** The lease began no earlier. */
  readonly leasedAt: number
}

/** Sends what there is to be sent, one event after the other, and gives the webhook back. */
const serve = (dependencies: Dependencies, reports: Reports, first: ClaimedWebhook): Effect.Effect<void> =>
  Effect.gen(function* () {
    const began = yield* Clock.currentTimeMillis
    let leasedAt = first.leasedAt
    let held: HeldWebhook | undefined = first
    while (held !== undefined) {
      const now = yield* Clock.currentTimeMillis
      // One that turned out to be slow takes the place of a slow one.
      if (now - began >= turnMillis || (held.isSlow && !first.isSlow)) break
      held = yield* step(dependencies, held, leasedAt)
      // What the step stored began the lease anew, no earlier than this.
      leasedAt = now
    }
    yield* reports.succeeded
  }).pipe(
    Effect.onExit((exit) => {
      const { queue, state } = dependencies
      // After a failure the lease ends by itself: it is not tried again at once.
      const isReleased = Exit.isSuccess(exit) || Cause.hasInterrupts(exit.cause)
      // Whoever looked while it was held has not seen what came meanwhile.
      return Effect.ensuring(
        isReleased ? queue.release(first) : Effect.void,
        Effect.sync(() => {
          state.serving.delete(first.id)
          state.slow.delete(first.id)
          again(state)
        })
      )
    }),
    Effect.catchCause((cause) => (Cause.hasInterruptsOnly(cause) ? Effect.void : reports.failed(cause)))
  )

/** Sends the next event; the webhook as it is then, where it may have more to be sent. */
const step = (dependencies: Dependencies, held: HeldWebhook, leasedAt: number) =>
  Effect.gen(function* () {
    const { baseUrl, feed, nextId, queue, selection, tries } = dependencies
    const pending = held.deliveryId === null ? undefined : yield* queue.pending(held)
    const range =
      pending === undefined
        ? { after: held.position, upTo: (yield* feed.horizon).readable }
        : { after: pending.position! - 1, upTo: pending.position! }
    if (range.after >= range.upTo) return undefined
    const event = yield* selection.next(held, range)
    if (event === undefined) {
      const passed = yield* queue.pass(held, range.upTo)
      return pending === undefined ? undefined : passed
    }
    if ((yield* Clock.currentTimeMillis) - leasedAt > freshMillis) return undefined
    const result = yield* tries.send(held, event.id, presentEvent(baseUrl, held.slug)(event))
    const delivery = pending ?? newDelivery(held, event, yield* nextId<WebhookDeliveryId>(), result)
    return yield* conclude(dependencies, held, delivery, result)
  })

const newDelivery = (held: HeldWebhook, event: EventWithActor, id: WebhookDeliveryId, { attempt }: TryResult) => ({
  id,
  workspaceId: held.workspaceId,
  webhookId: held.id,
  eventId: event.id,
  kind: event.kind,
  position: event.position,
  tries: 0,
  createdAt: attempt.at
})

/** Stores what the try came to. The webhook where it may go on; undefined where it waits, or is held no more. */
const conclude = (
  dependencies: Dependencies,
  held: HeldWebhook,
  delivery: Omit<DeliveryRow, "state" | "attempts" | "nextAttemptAt">,
  { attempt, isDelivered, isSlow }: TryResult
) =>
  Effect.gen(function* () {
    const { queue, retryMillis, storage } = dependencies
    const { createdAt, eventId, id, kind, position, webhookId, workspaceId } = delivery
    const tries = delivery.tries + 1
    const wait = retryMillis[tries - 1]
    const tried = {
      delivery: { id, workspaceId, webhookId, eventId, kind, position, tries, createdAt },
      attempt,
      state: isDelivered ? "delivered" : wait === undefined ? "parked" : "pending",
      waitMillis: wait === undefined ? 0 : yield* later(wait),
      isSlow
    } as const
    if (tried.state === "delivered") return yield* queue.store(held, tried)
    if (tried.state === "pending") {
      const stored = yield* queue.store(held, tried)
      if (stored !== undefined && tried.waitMillis < fallback) yield* wakeIn(dependencies, tried.waitMillis)
      return undefined
    }
    const parked = Effect.tap(queue.store(held, tried), (stored) =>
      stored === undefined ? Effect.void : tellParked(dependencies, stored)
    )
    if ((yield* storage.transaction(parked)) !== undefined) yield* Metric.update(webhooksParked, 1)
    return undefined
  })

/** The wait with some more, so that what failed together is not tried again together. */
const later = (wait: number): Effect.Effect<number> =>
  Effect.map(Random.next, (random) => wait + Math.floor(random * Math.min(wait / 10, maxJitterMillis)))

/** Tries that come soon are not left to the fallback. */
const wakeIn = ({ state }: Dependencies, millis: number) =>
  Effect.forkDetach(
    Effect.andThen(
      Effect.sleep(millis + 1),
      Effect.sync(() => void state.wake.openUnsafe())
    )
  )

/** It is told as done by who made the webhook, for the server is nobody. */
const tellParked = ({ events }: Dependencies, held: HeldWebhook) => {
  const actor = { kind: held.createdByKind, id: held.createdById } as ActorRef
  const by = { workspace: { id: held.workspaceId }, actor }
  const changes = [{ field: "state", from: "active", to: "parked" }]
  return asServer(events.record(by, { kind: "webhook_parked", ...aboutWebhook(held), changes }))
}

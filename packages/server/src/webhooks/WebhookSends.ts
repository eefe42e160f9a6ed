import { Conflict, NotFound } from "@delivery/domain/Errors"
import type { Event } from "@delivery/domain/events/Event"
import { Caller } from "@delivery/domain/identity/Authorization"
import type { EventId, WebhookDeliveryId, WebhookId } from "@delivery/domain/Ids"
import { isId } from "@delivery/domain/Text"
import { timestamp } from "@delivery/domain/Timestamp"
import { testKind } from "@delivery/domain/webhooks/Webhook"
import { Clock, Effect, Fiber } from "effect"
import { type Access, atLeast } from "../access/Access.ts"
import { Settings } from "../Config.ts"
import { presentEvent } from "../events/EventPages.ts"
import { RequestQueue } from "../http/RequestQueue.ts"
import { NextId } from "../ids/NextId.ts"
import { Dispatcher } from "./Dispatcher.ts"
import { found, presentDelivery } from "./FoundWebhooks.ts"
import { Selection } from "./Selection.ts"
import { webhookSubject } from "./Subjects.ts"
import { Tries } from "./Tries.ts"
import { type DeliveryRow, type FoundWebhook, WebhooksRepo } from "./WebhooksRepo.ts"

interface Dependencies {
  readonly baseUrl: string
  readonly repo: WebhooksRepo["Service"]
  readonly tries: Tries["Service"]
  readonly selection: Selection["Service"]
  readonly dispatcher: Dispatcher["Service"]
  readonly queue: RequestQueue["Service"]
  readonly nextId: NextId["Service"]
  /** Those that are sent something that somebody asked for. */
  readonly sending: Set<WebhookId>
}

/** What is sent to a webhook because somebody asks for it: tests, and deliveries again. */
export const makeSends = Effect.gen(function* () {
  const dependencies: Dependencies = {
    baseUrl: (yield* Settings).baseUrl,
    repo: yield* WebhooksRepo,
    tries: yield* Tries,
    selection: yield* Selection,
    dispatcher: yield* Dispatcher,
    queue: yield* RequestQueue,
    nextId: yield* NextId,
    sending: new Set()
  }
  return { test: test(dependencies), redeliver: redeliver(dependencies) }
})

/** The webhook, where something may be sent to it. */
const sendable = (dependencies: Dependencies, by: Access, id: string) =>
  Effect.filterOrFail(
    found(dependencies, by, id),
    ({ isBlocked }) => !isBlocked,
    () => makerBlocked
  )

const makerBlocked = new Conflict({
  message: "The credential that the webhook was made with is blocked, and the webhook with it.",
  reason: "maker_blocked"
})

/**
 * One after the other of a webhook, and to its end: also where whoever asked has gone, for the receiver may have it by now.
 */
const alone = <A, E, R>({ queue, sending }: Dependencies, { id }: FoundWebhook, send: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    if (sending.has(id)) return yield* underWay
    sending.add(id)
    const sent = Effect.ensuring(
      send,
      Effect.sync(() => sending.delete(id))
    )
    const fiber = yield* Effect.forkDetach(sent, { startImmediately: true })
    return yield* queue.releaseWhile(Fiber.join(fiber))
  })

const underWay = new Conflict({
  message: "The webhook is being sent a test or a delivery that somebody asked for. Try again when that has ended.",
  reason: "send_under_way"
})

const test = (dependencies: Dependencies) =>
  Effect.fn("Webhooks.test")(function* (id: string) {
    const by = yield* atLeast("admin")
    const webhook = yield* sendable(dependencies, by, id)
    return yield* alone(dependencies, webhook, sendTest(dependencies, by, webhook))
  })

const sendTest = Effect.fnUntraced(function* (dependencies: Dependencies, by: Access, webhook: FoundWebhook) {
  const { nextId, repo, tries } = dependencies
  const delivery = yield* nextId<WebhookDeliveryId>()
  const createdAt = timestamp(yield* Clock.currentTimeMillis)
  const event = yield* testEvent(dependencies, by, webhook, { id: delivery, createdAt })
  const { attempt, isDelivered } = yield* tries.send(webhook, delivery, event)
  const row: DeliveryRow = {
    id: delivery,
    workspaceId: webhook.workspaceId,
    webhookId: webhook.id,
    eventId: null,
    kind: testKind,
    position: null,
    state: isDelivered ? "delivered" : "parked",
    tries: 1,
    attempts: [attempt],
    nextAttemptAt: null,
    createdAt
  }
  return (yield* repo.insertDelivery(row)) ? presentDelivery(row) : yield* NotFound.of("webhook", webhook.id)
})

/** What a test sends: an event that is none of the workspace. Its id is that of the delivery. */
const testEvent = (
  { baseUrl }: Dependencies,
  { workspace }: Access,
  webhook: FoundWebhook,
  { createdAt, id }: Pick<DeliveryRow, "id" | "createdAt">
): Effect.Effect<Event, never, Caller> =>
  Effect.map(Caller, ({ principal }) => {
    const { path, ...subject } = webhookSubject(webhook)
    return {
      id: id as string as EventId,
      kind: testKind,
      actor: principal,
      subject: { ...subject, url: `${baseUrl}/w/${workspace.slug}/${path}` },
      changes: [],
      createdAt
    }
  })

const redeliver = (dependencies: Dependencies) =>
  Effect.fn("Webhooks.redeliver")(function* (id: string, deliveryId: string) {
    const { dispatcher, repo, tries } = dependencies
    const by = yield* atLeast("admin")
    const webhook = yield* sendable(dependencies, by, id)
    const delivery = isId(deliveryId)
      ? yield* repo.findDelivery(webhook.id, deliveryId as WebhookDeliveryId)
      : undefined
    if (delivery === undefined) return yield* NotFound.of("delivery", deliveryId)
    const event = yield* eventAgain(dependencies, by, webhook, delivery)
    const send = Effect.gen(function* () {
      const { attempt, isDelivered } = yield* tries.send(webhook, event.id, event)
      const tried = yield* repo.addAttempt(delivery, attempt, isDelivered)
      yield* dispatcher.wake
      return tried
    })
    const tried = yield* alone(dependencies, webhook, send)
    return tried === undefined ? yield* NotFound.of("delivery", deliveryId) : presentDelivery(tried)
  })

const eventAgain = Effect.fnUntraced(function* (
  dependencies: Dependencies,
  by: Access,
  webhook: FoundWebhook,
  delivery: DeliveryRow
) {
  const { baseUrl, selection } = dependencies
  const { position } = delivery
  if (position === null) return yield* testEvent(dependencies, by, webhook, delivery)
  // What is sent now is another question than what somebody asks for again.
  const again = { ...webhook, kinds: null }
  const event = yield* selection.next(again, { after: position - 1, upTo: position })
  if (event !== undefined) return presentEvent(baseUrl, by.workspace.slug)(event)
  return yield* new Conflict({
    message:
      "The webhook may not be sent this event any more: everybody in the workspace saw it then, and now only a team does.",
    reason: "event_not_visible"
  })
})

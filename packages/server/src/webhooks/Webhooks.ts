import { Conflict, type Forbidden, InvalidInput, NotFound, type Unauthorized } from "@delivery/domain/Errors"
import type { Change, Event } from "@delivery/domain/events/Event"
import { Caller } from "@delivery/domain/identity/Authorization"
import type { EventId, WebhookDeliveryId, WebhookId } from "@delivery/domain/Ids"
import { isId } from "@delivery/domain/Text"
import { timestamp } from "@delivery/domain/Timestamp"
import {
  type CreateWebhook,
  deliveriesPageSize,
  maxWebhooks,
  overlapSeconds,
  type RotateWebhook,
  testKind,
  type UpdateWebhook,
  type Webhook,
  type WebhookDeliveriesPage,
  type WebhookDelivery,
  type WebhookWithSecret
} from "@delivery/domain/webhooks/Webhook"
import { Clock, Context, Effect, Layer, Redacted } from "effect"
import { type Access, atLeast, freshProof } from "../access/Access.ts"
import { AuditedEvents } from "../audit/AuditedEvents.ts"
import { Settings } from "../Config.ts"
import { presentEvent } from "../events/EventPages.ts"
import { EventsRepo } from "../events/EventsRepo.ts"
import { RequestQueue } from "../http/RequestQueue.ts"
import { ApiKeysRepo } from "../identity/ApiKeysRepo.ts"
import { BlocksRepo } from "../identity/BlocksRepo.ts"
import { Makers } from "../identity/Makers.ts"
import { MembersRepo } from "../identity/MembersRepo.ts"
import { presentAccess } from "../identity/Standing.ts"
import { WorkspacesRepo } from "../identity/WorkspacesRepo.ts"
import { NextId } from "../ids/NextId.ts"
import { TeamsRepo } from "../planning/TeamsRepo.ts"
import { viewerOf } from "../planning/Viewer.ts"
import { nextUpdate } from "../storage/NextUpdate.ts"
import { Storage } from "../storage/Storage.ts"
import { DataKeys } from "../vault/DataKeys.ts"
import { Dispatcher } from "./Dispatcher.ts"
import { Selection } from "./Selection.ts"
import { newSecret } from "./Signatures.ts"
import { aboutWebhook, webhookSubject } from "./Subjects.ts"
import { secretPurpose, Tries } from "./Tries.ts"
import { type DeliveryRow, type FoundWebhook, type WebhookRow, WebhooksRepo } from "./WebhooksRepo.ts"

/** Addresses that are sent what happens in a workspace (docs/contract.md, Webhooks). */
export class Webhooks extends Context.Service<
  Webhooks,
  {
    readonly list: Effect.Effect<ReadonlyArray<Webhook>, NotFound | Forbidden, Caller>
    readonly create: (
      input: CreateWebhook
    ) => Effect.Effect<WebhookWithSecret, Unauthorized | InvalidInput | NotFound | Forbidden | Conflict, Caller>
    readonly get: (id: string) => Effect.Effect<Webhook, NotFound | Forbidden, Caller>
    readonly update: (
      id: string,
      input: UpdateWebhook
    ) => Effect.Effect<Webhook, Unauthorized | InvalidInput | NotFound | Forbidden, Caller>
    readonly delete: (id: string) => Effect.Effect<void, NotFound | Forbidden, Caller>
    readonly rotate: (
      id: string,
      input?: RotateWebhook
    ) => Effect.Effect<WebhookWithSecret, NotFound | Forbidden, Caller>
    readonly test: (id: string) => Effect.Effect<WebhookDelivery, NotFound | Forbidden | Conflict, Caller>
    readonly deliveries: (
      id: string,
      cursor?: string
    ) => Effect.Effect<WebhookDeliveriesPage, NotFound | Forbidden, Caller>
    readonly redeliver: (
      id: string,
      delivery: string
    ) => Effect.Effect<WebhookDelivery, NotFound | Forbidden | Conflict, Caller>
    /** Erases deliveries that are older than they are kept; how many. */
    readonly erase: Effect.Effect<number>
  }
>()("@delivery/server/webhooks/Webhooks") {
  static readonly layer = Layer.effect(Webhooks, Effect.gen(make))
}

interface Dependencies {
  readonly baseUrl: string
  readonly repo: WebhooksRepo["Service"]
  readonly tries: Tries["Service"]
  readonly selection: Selection["Service"]
  readonly dispatcher: Dispatcher["Service"]
  readonly keys: DataKeys["Service"]
  readonly teams: TeamsRepo["Service"]
  readonly apiKeys: ApiKeysRepo["Service"]
  readonly blocks: BlocksRepo["Service"]
  readonly makers: Makers["Service"]
  readonly members: MembersRepo["Service"]
  readonly workspaces: WorkspacesRepo["Service"]
  readonly feed: EventsRepo["Service"]
  readonly events: AuditedEvents["Service"]
  readonly storage: Storage["Service"]
  readonly queue: RequestQueue["Service"]
  readonly nextId: NextId["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    baseUrl: (yield* Settings).baseUrl,
    repo: yield* WebhooksRepo,
    tries: yield* Tries,
    selection: yield* Selection,
    dispatcher: yield* Dispatcher,
    keys: yield* DataKeys,
    teams: yield* TeamsRepo,
    apiKeys: yield* ApiKeysRepo,
    blocks: yield* BlocksRepo,
    makers: yield* Makers,
    members: yield* MembersRepo,
    workspaces: yield* WorkspacesRepo,
    feed: yield* EventsRepo,
    events: yield* AuditedEvents,
    storage: yield* Storage,
    queue: yield* RequestQueue,
    nextId: yield* NextId
  }
  return Webhooks.of({
    list: list(dependencies),
    create: create(dependencies),
    get: get(dependencies),
    update: update(dependencies),
    delete: remove(dependencies),
    rotate: rotate(dependencies),
    test: test(dependencies),
    deliveries: deliveries(dependencies),
    redeliver: redeliver(dependencies),
    erase: erase(dependencies)
  })
}

const list = ({ repo }: Dependencies) =>
  Effect.gen(function* () {
    const { workspace } = yield* atLeast("admin")
    return (yield* repo.list(workspace.id)).map(present)
  }).pipe(Effect.withSpan("Webhooks.list"))

const create = (dependencies: Dependencies) => {
  const { dispatcher, events, feed, keys, repo, storage, teams } = dependencies
  return Effect.fn("Webhooks.create")(function* (input: CreateWebhook) {
    yield* checkUrl(dependencies, input.url)
    const access = yield* atLeast("admin")
    yield* freshProof
    // A key of the workspace that is made with it must stay, whatever becomes of the webhook.
    const cipher = yield* keys.cipher(access.workspace.id)
    const id = yield* dependencies.nextId<WebhookId>()
    const secret = newSecret()
    const created = Effect.gen(function* () {
      const { by, ...maker } = yield* holdMaker(dependencies, access)
      const team = input.team == null ? null : yield* teams.find(viewerOf(by), input.team)
      if (team === undefined) return yield* NotFound.reference("team", input.team ?? undefined)
      if ((yield* repo.list(by.workspace.id)).length >= maxWebhooks) return yield* tooMany
      const now = timestamp(yield* Clock.currentTimeMillis)
      const row: WebhookRow = {
        ...nothingSent,
        id,
        workspaceId: by.workspace.id,
        url: input.url,
        kinds: distinct(input.kinds ?? null),
        format: input.format ?? "standard",
        teamId: team?.id ?? null,
        secret: cipher.seal(secretPurpose(id), secret),
        ...maker,
        position: (yield* feed.horizon).readable,
        createdAt: now,
        updatedAt: now
      }
      yield* repo.insert(row)
      yield* events.record(by, { kind: "webhook_created", ...aboutWebhook(row) })
      return yield* found(dependencies, by, id)
    })
    const webhook = yield* storage.transaction(created)
    yield* dispatcher.wake
    return { ...present(webhook), secret: Redacted.value(secret) }
  })
}

/** What a new webhook has. */
const nothingSent = {
  state: "active",
  previousSecret: null,
  previousUntil: null,
  makerEndedAt: null,
  deliveryId: null,
  dueAt: null,
  leaseHolder: null,
  leaseUntil: null,
  servedAt: null
} as const

const tooMany = new Conflict({
  message: `The workspace has ${maxWebhooks} webhooks, which is the limit. Delete one first.`,
  reason: "too_many_webhooks"
})

const distinct = (kinds: ReadonlyArray<string> | null) => kinds && [...new Set(kinds)]

/** The form of a request comes before all else. */
const checkUrl = ({ tries }: Dependencies, url: string | undefined): Effect.Effect<void, InvalidInput> => {
  const refusal = url === undefined ? undefined : tries.refusalOf(url)
  return refusal === undefined ? Effect.void : Effect.fail(InvalidInput.at("url", refusal))
}

/** The webhook of the workspace; with `lock`, until the transaction ends. */
const found = ({ repo }: Dependencies, { workspace }: Access, id: string, how: "find" | "lock" = "find") =>
  Effect.gen(function* () {
    const webhook = isId(id) ? yield* repo[how](workspace.id, id as WebhookId) : undefined
    return webhook ?? (yield* NotFound.of("webhook", id))
  })

const get = (dependencies: Dependencies) =>
  Effect.fn("Webhooks.get")(function* (id: string) {
    const by = yield* atLeast("admin")
    return present(yield* found(dependencies, by, id))
  })

/**
 * Whoever has the events sent elsewhere needs what making a webhook takes, and the webhook is theirs from then on: it is
 * blocked with their credential.
 */
const update = (dependencies: Dependencies) =>
  Effect.fn("Webhooks.update")(function* (id: string, { state, ...input }: UpdateWebhook) {
    const { dispatcher, events, repo, storage } = dependencies
    yield* checkUrl(dependencies, input.url)
    const access = yield* atLeast("admin")
    const updated = Effect.gen(function* () {
      const taker = input.url === undefined ? undefined : yield* holdMaker(dependencies, access)
      const by = taker?.by ?? access
      const before = yield* found(dependencies, by, id, "lock")
      const kinds = input.kinds === undefined ? before.kinds : distinct(input.kinds)
      const after = { ...before, ...input, kinds, state: state ?? before.state }
      const changes = changesOf(before, after)
      if (taker !== undefined && after.url !== before.url) {
        yield* freshProof
        yield* repo.takeOver(before.id, taker)
      }
      if (changes.length === 0) return before
      yield* repo.update({ ...after, updatedAt: yield* nextUpdate(before) })
      if (after.state !== before.state) yield* repo.activate(before.id)
      yield* events.record(by, { kind: "webhook_updated", ...aboutWebhook(after), changes })
      return yield* found(dependencies, by, id)
    })
    const webhook = yield* storage.transaction(updated)
    yield* dispatcher.wake
    return present(webhook)
  })

/** Whoever makes a webhook, and their credential, as they are until the transaction ends. */
const holdMaker = Effect.fnUntraced(function* (dependencies: Dependencies, access: Access) {
  yield* dependencies.workspaces.lock(access.workspace.id)
  const by = yield* presentAccess(dependencies, access, "admin")
  const { id } = yield* dependencies.makers.hold
  return { by, createdByKind: by.actor.kind, createdById: by.actor.id, makerId: id }
})

type Changing = Pick<FoundWebhook, "url" | "kinds" | "format" | "state">

/** Of a URL the hosts. */
const changesOf = (before: Changing, after: Changing): ReadonlyArray<Change> => {
  const kindsOf = ({ kinds }: Changing) => kinds?.join(", ") ?? null
  const fields = [
    { field: "url", isChanged: before.url !== after.url, from: new URL(before.url).host, to: new URL(after.url).host },
    { field: "kinds", isChanged: kindsOf(before) !== kindsOf(after), from: kindsOf(before), to: kindsOf(after) },
    { field: "format", isChanged: before.format !== after.format, from: before.format, to: after.format },
    { field: "state", isChanged: before.state !== after.state, from: before.state, to: after.state }
  ]
  return fields.filter(({ isChanged }) => isChanged).map(({ field, from, to }) => ({ field, from, to }))
}

const remove = (dependencies: Dependencies) =>
  Effect.fn("Webhooks.delete")(function* (id: string) {
    const { events, repo, storage } = dependencies
    const by = yield* atLeast("admin")
    const deleted = Effect.gen(function* () {
      const webhook = yield* found(dependencies, by, id, "lock")
      yield* repo.delete(webhook.id)
      yield* events.record(by, { kind: "webhook_deleted", ...aboutWebhook(webhook) })
    })
    yield* storage.transaction(deleted)
  })

const rotate = (dependencies: Dependencies) =>
  Effect.fn("Webhooks.rotate")(function* (id: string, input: RotateWebhook = {}) {
    const { events, keys, repo, storage } = dependencies
    const by = yield* atLeast("admin")
    yield* freshProof
    const cipher = yield* keys.cipher(by.workspace.id)
    const secret = newSecret()
    const overlap = input.overlapSeconds ?? overlapSeconds.default
    const rotated = Effect.gen(function* () {
      const before = yield* found(dependencies, by, id, "lock")
      const until = timestamp((yield* Clock.currentTimeMillis) + overlap * 1_000)
      yield* repo.update({
        ...before,
        secret: cipher.seal(secretPurpose(before.id), secret),
        previousSecret: overlap === 0 ? null : before.secret,
        previousUntil: overlap === 0 ? null : until,
        updatedAt: yield* nextUpdate(before)
      })
      yield* events.record(by, { kind: "webhook_rotated", ...aboutWebhook(before) })
      return yield* found(dependencies, by, id)
    })
    return { ...present(yield* storage.transaction(rotated)), secret: Redacted.value(secret) }
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

const test = (dependencies: Dependencies) =>
  Effect.fn("Webhooks.test")(function* (id: string) {
    const { nextId, queue, repo, tries } = dependencies
    const by = yield* atLeast("admin")
    const webhook = yield* sendable(dependencies, by, id)
    const delivery = yield* nextId<WebhookDeliveryId>()
    const createdAt = timestamp(yield* Clock.currentTimeMillis)
    const event = yield* testEvent(dependencies, by, webhook, { id: delivery, createdAt })
    const { attempt, isDelivered } = yield* queue.releaseWhile(tries.send(webhook, delivery, event))
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
    return (yield* repo.insertDelivery(row)) ? presentDelivery(row) : yield* NotFound.of("webhook", id)
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

const deliveries = (dependencies: Dependencies) =>
  Effect.fn("Webhooks.deliveries")(function* (id: string, cursor?: string) {
    const by = yield* atLeast("admin")
    const webhook = yield* found(dependencies, by, id)
    const rows = yield* dependencies.repo.deliveries(webhook.id, cursor, deliveriesPageSize + 1)
    const page = rows.slice(0, deliveriesPageSize)
    return {
      deliveries: page.map(presentDelivery),
      nextCursor: rows.length > page.length ? page.at(-1)!.id : null
    }
  })

const redeliver = (dependencies: Dependencies) =>
  Effect.fn("Webhooks.redeliver")(function* (id: string, deliveryId: string) {
    const { dispatcher, queue, repo, tries } = dependencies
    const by = yield* atLeast("admin")
    const webhook = yield* sendable(dependencies, by, id)
    const delivery = isId(deliveryId)
      ? yield* repo.findDelivery(webhook.id, deliveryId as WebhookDeliveryId)
      : undefined
    if (delivery === undefined) return yield* NotFound.of("delivery", deliveryId)
    const event = yield* eventAgain(dependencies, by, webhook, delivery)
    const { attempt, isDelivered } = yield* queue.releaseWhile(tries.send(webhook, event.id, event))
    const tried = yield* repo.addAttempt(delivery, attempt, isDelivered)
    yield* dispatcher.wake
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

/** Milliseconds for which deliveries are kept. */
const keptMillis = 30 * 86_400_000

const erasedAtOnce = 1_000

const erase = ({ repo }: Dependencies) =>
  Effect.gen(function* () {
    const before = timestamp((yield* Clock.currentTimeMillis) - keptMillis)
    for (let all = 0; ;) {
      const erased = yield* repo.erase(before, erasedAtOnce)
      all += erased
      if (erased < erasedAtOnce) return all
    }
  }).pipe(Effect.withSpan("Webhooks.erase"))

const present = ({
  createdAt,
  createdBy,
  format,
  id,
  isBlocked,
  kinds,
  makerEndedAt,
  state,
  team,
  updatedAt,
  url
}: FoundWebhook): Webhook => ({
  id,
  url,
  kinds,
  format,
  team,
  state,
  createdBy,
  makerEndedAt,
  blocked: isBlocked,
  createdAt,
  updatedAt
})

const presentDelivery = ({
  attempts,
  createdAt,
  eventId,
  id,
  kind,
  nextAttemptAt,
  state
}: DeliveryRow): WebhookDelivery => ({
  id,
  event: eventId === null ? null : { id: eventId, kind },
  state,
  attempts,
  nextAttemptAt,
  createdAt
})

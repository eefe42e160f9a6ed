import { Conflict, type Forbidden, InvalidInput, NotFound, type Unauthorized } from "@delivery/domain/Errors"
import type { Change } from "@delivery/domain/events/Event"
import { Caller } from "@delivery/domain/identity/Authorization"
import type { WebhookId } from "@delivery/domain/Ids"
import { hasScope } from "@delivery/domain/Scope"
import { timestamp } from "@delivery/domain/Timestamp"
import {
  type CreateWebhook,
  deliveriesPageSize,
  maxWebhooks,
  overlapSeconds,
  type RotateWebhook,
  type UpdateWebhook,
  type Webhook,
  type WebhookDeliveriesPage,
  type WebhookDelivery,
  type WebhookWithSecret
} from "@delivery/domain/webhooks/Webhook"
import { Clock, Context, Effect, Layer, Redacted } from "effect"
import { type Access, atLeast, freshProof } from "../access/Access.ts"
import { AuditedEvents } from "../audit/AuditedEvents.ts"
import { EventsRepo } from "../events/EventsRepo.ts"
import { scopeMissing } from "../http/RequiredScopes.ts"
import { ApiKeysRepo } from "../identity/ApiKeysRepo.ts"
import { BlocksRepo } from "../identity/BlocksRepo.ts"
import { keyExpires, Makers } from "../identity/Makers.ts"
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
import { found, present, presentDelivery } from "./FoundWebhooks.ts"
import { newSecret } from "./Signatures.ts"
import { aboutWebhook } from "./Subjects.ts"
import { secretPurpose, Tries } from "./Tries.ts"
import { slowMillis } from "./WebhookQueue.ts"
import { makeSends } from "./WebhookSends.ts"
import { type FoundWebhook, type WebhookRow, WebhooksRepo } from "./WebhooksRepo.ts"

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
    ) => Effect.Effect<WebhookWithSecret, Unauthorized | NotFound | Forbidden, Caller>
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
  readonly repo: WebhooksRepo["Service"]
  readonly tries: Tries["Service"]
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
  readonly nextId: NextId["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    repo: yield* WebhooksRepo,
    tries: yield* Tries,
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
    nextId: yield* NextId
  }
  const sends = yield* makeSends
  return Webhooks.of({
    list: list(dependencies),
    create: create(dependencies),
    get: get(dependencies),
    update: update(dependencies),
    delete: remove(dependencies),
    rotate: rotate(dependencies),
    test: sends.test,
    deliveries: deliveries(dependencies),
    redeliver: sends.redeliver,
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
    yield* mayRead
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
        slowUntil: yield* newUntil,
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

/** A webhook tells what happens: whoever may not read it makes none. */
const mayRead = Effect.flatMap(Caller, ({ credential }) =>
  hasScope(credential.scopes, "read") ? Effect.void : Effect.fail(scopeMissing("read"))
)

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
    if (input.url !== undefined) yield* mayRead
    const updated = Effect.gen(function* () {
      const taker = input.url === undefined ? undefined : yield* holdMaker(dependencies, access)
      const by = taker?.by ?? access
      const before = yield* found(dependencies, by, id, "lock")
      const kinds = input.kinds === undefined ? before.kinds : distinct(input.kinds)
      const after = { ...before, ...input, kinds, state: state ?? before.state }
      const changes = changesOf(before, after)
      if (taker !== undefined && after.url !== before.url) {
        yield* freshProof
        yield* repo.takeOver(before.id, taker, yield* newUntil)
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

/** Until when an address is new. It counts as slow so long. */
const newUntil = Effect.map(Clock.currentTimeMillis, (now) => timestamp(now + slowMillis))

/** Whoever makes a webhook, and their credential, as they are until the transaction ends. */
const holdMaker = Effect.fnUntraced(function* (dependencies: Dependencies, access: Access) {
  yield* dependencies.workspaces.lock(access.workspace.id)
  const by = yield* presentAccess(dependencies, access, "admin")
  const { expiresAt, id } = yield* dependencies.makers.hold
  if (expiresAt !== null) return yield* keyExpires
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
    yield* mayRead
    yield* freshProof
    const cipher = yield* keys.cipher(by.workspace.id)
    const secret = newSecret()
    const overlap = input.overlapSeconds ?? overlapSeconds.default
    const rotated = Effect.gen(function* () {
      // As for a new webhook: the secret stays longer than the key would.
      if ((yield* dependencies.makers.hold).expiresAt !== null) return yield* keyExpires
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

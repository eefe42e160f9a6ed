import { Conflict, type Forbidden, InvalidInput, NotFound, type Unauthorized } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import {
  type CreateTrustedPublisher,
  gitHubIssuer,
  gitLabIssuer,
  maxTrustedPublishers,
  type TrustedPublisher,
  type TrustedPublishers as TrustedPublishersList
} from "@delivery/domain/identity/TrustedPublisher"
import type { TrustedPublisherId } from "@delivery/domain/Ids"
import { distinctScopes } from "@delivery/domain/Scope"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { atLeast, freshProof, mayGive } from "../access/Access.ts"
import { AuditedEvents } from "../audit/AuditedEvents.ts"
import { Settings } from "../Config.ts"
import { NextId } from "../ids/NextId.ts"
import { Storage } from "../storage/Storage.ts"
import { ApiKeysRepo } from "./ApiKeysRepo.ts"
import { BlocksRepo } from "./BlocksRepo.ts"
import { InvitesRepo } from "./InvitesRepo.ts"
import { endPublishers, type KeyChainDependencies, limitsOfKey } from "./KeyChains.ts"
import { MadeSignIns } from "./MadeSignIns.ts"
import { MadeTokens } from "./MadeTokens.ts"
import { MadeWebhooks } from "./MadeWebhooks.ts"
import { Makers } from "./Makers.ts"
import { MembersRepo } from "./MembersRepo.ts"
import { presentAccess } from "./Standing.ts"
import {
  type PublisherWithActor,
  publisherSubject,
  type TrustedPublisherRow,
  TrustedPublishersRepo
} from "./TrustedPublishersRepo.ts"
import { WorkspacesRepo } from "./WorkspacesRepo.ts"

/** Workflows of CI that get keys of a workspace (docs/contract.md, Trusted publishers). */
export class TrustedPublishers extends Context.Service<
  TrustedPublishers,
  {
    readonly list: Effect.Effect<TrustedPublishersList, NotFound | Forbidden, Caller>
    readonly create: (
      input: CreateTrustedPublisher
    ) => Effect.Effect<TrustedPublisher, Unauthorized | InvalidInput | NotFound | Forbidden | Conflict, Caller>
    readonly delete: (id: string) => Effect.Effect<void, Unauthorized | NotFound | Forbidden, Caller>
  }
>()("@delivery/server/identity/TrustedPublishers") {
  static readonly layer = Layer.effect(TrustedPublishers, Effect.gen(make))
}

interface Dependencies extends KeyChainDependencies {
  readonly issuers: ReadonlyArray<string>
  readonly makers: Makers["Service"]
  readonly blocks: BlocksRepo["Service"]
  readonly members: MembersRepo["Service"]
  readonly storage: Storage["Service"]
  readonly nextId: NextId["Service"]
}

/** Whose tokens a server takes. */
export const knownIssuers = ({ ciIssuers }: Pick<Settings["Service"], "ciIssuers">): ReadonlyArray<string> => [
  ...new Set([gitHubIssuer, gitLabIssuer, ...ciIssuers])
]

function* make() {
  const dependencies: Dependencies = {
    issuers: knownIssuers(yield* Settings),
    repo: yield* ApiKeysRepo,
    publishers: yield* TrustedPublishersRepo,
    makers: yield* Makers,
    blocks: yield* BlocksRepo,
    members: yield* MembersRepo,
    workspaces: yield* WorkspacesRepo,
    storage: yield* Storage,
    events: yield* AuditedEvents,
    invites: yield* InvitesRepo,
    signIns: yield* MadeSignIns,
    webhooks: yield* MadeWebhooks,
    tokens: yield* MadeTokens,
    nextId: yield* NextId
  }
  return TrustedPublishers.of({
    list: list(dependencies),
    create: create(dependencies),
    delete: remove(dependencies)
  })
}

const list = ({ issuers, publishers }: Dependencies) =>
  Effect.gen(function* () {
    const { workspace } = yield* atLeast("admin")
    return { trustedPublishers: (yield* publishers.list(workspace.id)).map(present), issuers }
  }).pipe(Effect.withSpan("TrustedPublishers.list"))

const standing = ({ repo: apiKeys, ...dependencies }: Dependencies) => ({ ...dependencies, apiKeys })

const create = (dependencies: Dependencies) => {
  const { blocks, events, issuers, makers, nextId, publishers, storage, workspaces } = dependencies
  return Effect.fn("TrustedPublishers.create")(function* (input: CreateTrustedPublisher) {
    const access = yield* atLeast("admin")
    const scopes = distinctScopes(input.scopes)
    yield* mayGive(scopes)
    yield* freshProof
    const issuer = input.issuer.replace(/\/+$/, "")
    if (!issuers.includes(issuer)) {
      return yield* InvalidInput.at("issuer", `Expected one of ${issuers.join(", ")}`)
    }
    const created = Effect.gen(function* () {
      yield* workspaces.lock(access.workspace.id)
      const by = yield* presentAccess(standing(dependencies), access, "admin")
      const maker = yield* makers.hold
      const row: TrustedPublisherRow = {
        id: yield* nextId<TrustedPublisherId>(),
        workspaceId: by.workspace.id,
        issuer,
        repositoryId: input.repositoryId,
        ownerId: input.ownerId,
        workflow: input.workflow,
        ref: input.ref ?? null,
        environment: input.environment ?? null,
        allowPullRequests: input.allowPullRequests ?? false,
        role: input.role,
        scopes,
        createdByKind: by.actor.kind,
        createdById: by.actor.id,
        createdAt: timestamp(yield* Clock.currentTimeMillis),
        expiresAt: maker.expiresAt,
        lastUsedAt: null,
        makerId: maker.id
      }
      yield* mayAdd(yield* publishers.list(by.workspace.id), row)
      yield* publishers.insert(row)
      yield* blocks.inherit(maker.id, row.id)
      yield* events.record(
        by,
        { kind: "publisher_created", subject: publisherSubject(row), changes: conditionsOf(row) },
        { changes: limitsOfKey(row) }
      )
      return present((yield* publishers.list(by.workspace.id)).find(({ id }) => id === row.id)!)
    })
    return yield* storage.transaction(created)
  })
}

const conditions = ["issuer", "repositoryId", "ownerId", "workflow", "ref", "environment"] as const

const mayAdd = (
  present: ReadonlyArray<TrustedPublisherRow>,
  row: TrustedPublisherRow
): Effect.Effect<void, Conflict> => {
  if (present.some((other) => conditions.every((condition) => other[condition] === row[condition]))) {
    return Effect.fail(
      new Conflict({
        message: "A publisher with the same issuer, repository, owner, workflow, ref and environment is trusted.",
        reason: "already_trusted"
      })
    )
  }
  if (present.length < maxTrustedPublishers) return Effect.void
  return Effect.fail(
    new Conflict({
      message: `The workspace has ${maxTrustedPublishers} trusted publishers, which is the limit. Delete one first.`,
      reason: "too_many_publishers"
    })
  )
}

/** What is trusted, as the event tells it. */
const conditionsOf = (row: TrustedPublisherRow) => [
  ...conditions.flatMap((field) => {
    const to = row[field]
    return to === null ? [] : [{ field, from: null, to }]
  }),
  { field: "allowPullRequests", from: null, to: String(row.allowPullRequests) },
  { field: "role", from: null, to: row.role }
]

const remove = (dependencies: Dependencies) => {
  const { publishers, storage, workspaces } = dependencies
  const end = endPublishers(dependencies)
  return Effect.fn("TrustedPublishers.delete")(function* (id: string) {
    const access = yield* atLeast("admin")
    yield* freshProof
    const removed = Effect.gen(function* () {
      yield* workspaces.lock(access.workspace.id)
      const { actor, workspace } = yield* presentAccess(standing(dependencies), access, "admin")
      const found = (yield* publishers.list(workspace.id)).find((publisher) => publisher.id === id)
      if (found === undefined) return yield* NotFound.of("trusted publisher", id)
      yield* end(actor, [found])
    })
    yield* storage.transaction(removed)
  })
}

const present = (publisher: PublisherWithActor): TrustedPublisher => {
  const { createdById: _, createdByKind: __, makerId: ___, workspaceId: ____, ...shown } = publisher
  return shown
}

import type { Change } from "@delivery/domain/events/Event"
import type { ApiKeyId, WorkspaceId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"
import type { ApiKeyRow } from "../access/ActorRows.ts"
import type { AuditedEvents } from "../audit/AuditedEvents.ts"
import { type ApiKeysRepo, keySubject, type KeyOwnerId } from "./ApiKeysRepo.ts"
import { type InviteRow, type InvitesRepo, inviteSubject } from "./InvitesRepo.ts"
import type { MadeSignIns } from "./MadeSignIns.ts"
import type { MadeTokens } from "./MadeTokens.ts"
import type { MadeWebhooks } from "./MadeWebhooks.ts"
import { publisherSubject, type TrustedPublisherRow, type TrustedPublishersRepo } from "./TrustedPublishersRepo.ts"
import type { WorkspacesRepo } from "./WorkspacesRepo.ts"

/** The end of keys, with all that was made with them (docs/contract.md, API keys). */

export interface KeyChainDependencies {
  readonly repo: ApiKeysRepo["Service"]
  readonly invites: InvitesRepo["Service"]
  readonly publishers: TrustedPublishersRepo["Service"]
  readonly signIns: MadeSignIns["Service"]
  readonly webhooks: MadeWebhooks["Service"]
  readonly tokens: MadeTokens["Service"]
  readonly workspaces: WorkspacesRepo["Service"]
  readonly events: AuditedEvents["Service"]
}

/** Records what happened to a key in its workspace, or in each workspace of its person. */
export const recordOfKey =
  ({ events, workspaces }: Pick<KeyChainDependencies, "events" | "workspaces">) =>
  (
    actor: ActorRef,
    key: Pick<ApiKeyRow, "id" | "name" | "personId" | "workspaceId" | "role" | "scopes" | "expiresAt">,
    kind: "key_created" | "key_revoked" | "key_reported"
  ): Effect.Effect<void> =>
    Effect.gen(function* () {
      const isNew = kind === "key_created"
      const changes = isNew && key.role !== null ? [{ field: "role", from: null, to: key.role }] : []
      const more = isNew ? { changes: limitsOfKey(key) } : {}
      const of =
        key.workspaceId === null
          ? (yield* workspaces.ofPerson(key.personId!)).map(({ id }) => id)
          : [key.workspaceId as WorkspaceId]
      for (const id of of)
        yield* events.record({ workspace: { id }, actor }, { kind, subject: keySubject(key), changes }, more)
    })

/** What a new key may do, and until when, as its entry of the audit tells it. */
export const limitsOfKey = ({ expiresAt, scopes }: Pick<ApiKeyRow, "scopes" | "expiresAt">): ReadonlyArray<Change> => [
  { field: "scopes", from: null, to: scopes === null ? "all" : scopes.join(", ") },
  ...(expiresAt === null ? [] : [{ field: "expiresAt", from: null, to: expiresAt }])
]

/** The keys and invites that ended with a key, itself among them. */
export interface EndedChain {
  readonly keys: ReadonlyArray<Pick<ApiKeyRow, "id" | "name">>
  readonly invites: ReadonlyArray<Pick<InviteRow, "id" | "email">>
}

interface EndOptions {
  readonly isReported?: boolean
  /** The credential that keeps the account keys: they are cut off (`ApiKeysRepo.cutOff`). */
  readonly keptBy?: string | undefined
}

/**
 * Ends the key, and what was made with it and with that. Called in a transaction. Undefined where the owner has no such
 * key that works.
 */
export const endKey = (dependencies: KeyChainDependencies) => {
  const { events, invites, publishers, repo, signIns, tokens, webhooks } = dependencies
  const record = recordOfKey(dependencies)
  const end: EndKey = Effect.fnUntraced(function* (actor, id, owner, { isReported = false, keptBy } = {}) {
    const now = timestamp(yield* Clock.currentTimeMillis)
    const ended = yield* repo.end(id, owner, { at: now, keptBy })
    if (ended.length === 0) return undefined
    const makers = ended.map((key) => key.id)
    yield* signIns.end(makers, actor)
    yield* webhooks.makersEnded({ makers, isReported }, actor)
    yield* tokens.makersEnded(makers, actor)
    for (const key of ended) {
      yield* record(actor, key, isReported && key.id === id ? "key_reported" : "key_revoked")
    }
    const revoked = yield* invites.revokeMadeBy(makers, now)
    for (const invite of revoked) {
      const by = { workspace: { id: invite.workspaceId }, actor }
      yield* events.record(by, { kind: "invite_revoked", subject: inviteSubject(invite) })
    }
    const given: Array<EndedChain> = []
    for (const publisher of yield* publishers.deleteMadeWith(makers)) {
      yield* recordEnd(events)(actor, publisher)
      given.push(...(yield* endGiven(repo, end)(actor, publisher)))
    }
    return {
      keys: [...ended, ...given.flatMap((chain) => chain.keys)],
      invites: [...revoked, ...given.flatMap((chain) => chain.invites)]
    }
  })
  return end
}

type EndKey = (
  actor: ActorRef,
  id: ApiKeyId,
  owner: KeyOwnerId | "anyone",
  options?: EndOptions
) => Effect.Effect<EndedChain | undefined>

const recordEnd =
  (events: AuditedEvents["Service"]) =>
  (actor: ActorRef, publisher: TrustedPublisherRow): Effect.Effect<void> =>
    events.record(
      { workspace: { id: publisher.workspaceId }, actor },
      { kind: "publisher_deleted", subject: publisherSubject(publisher) }
    )

/** Ends the keys that a publisher gave, which is gone. */
const endGiven = (repo: ApiKeysRepo["Service"], end: EndKey) =>
  Effect.fnUntraced(function* (actor: ActorRef, { id, workspaceId }: TrustedPublisherRow) {
    const chains: Array<EndedChain> = []
    for (const key of yield* repo.madeWith(id)) {
      const ended = yield* end(actor, key.id, { workspaceId })
      if (ended !== undefined) chains.push(ended)
    }
    return chains
  })

/**
 * Ends trusted publishers, with the keys that they gave. Called in a transaction. Who gives a key holds the family of the
 * publisher's maker and then its row: so does this.
 */
export const endPublishers = (dependencies: KeyChainDependencies) => {
  const { events, publishers, repo } = dependencies
  const end = endGiven(repo, endKey(dependencies))
  return Effect.fnUntraced(function* (actor: ActorRef, ending: ReadonlyArray<TrustedPublisherRow>) {
    yield* repo.holdFamilies(
      ending.flatMap(({ makerId }) => makerId ?? []),
      "alone"
    )
    for (const { id } of ending) {
      const publisher = yield* publishers.delete(id)
      if (publisher === undefined) continue
      yield* recordEnd(events)(actor, publisher)
      yield* end(actor, publisher)
    }
  })
}

/** Ends the publishers that expired keys made. The keys that they gave have expired with them. */
export const endExpiredPublishers =
  ({ events, publishers }: Pick<KeyChainDependencies, "events" | "publishers">) =>
  (actor: ActorRef, maker: ApiKeyId) =>
    Effect.flatMap(publishers.deleteMadeWith([maker]), (ended) =>
      Effect.forEach(ended, (publisher) => recordEnd(events)(actor, publisher), { discard: true })
    )

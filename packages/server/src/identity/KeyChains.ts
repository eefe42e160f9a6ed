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
import type { WorkspacesRepo } from "./WorkspacesRepo.ts"

/** The end of keys, with all that was made with them (docs/contract.md, API keys). */

export interface KeyChainDependencies {
  readonly repo: ApiKeysRepo["Service"]
  readonly invites: InvitesRepo["Service"]
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
  const { events, invites, repo, signIns, tokens, webhooks } = dependencies
  const record = recordOfKey(dependencies)
  return Effect.fnUntraced(function* (
    actor: ActorRef,
    id: ApiKeyId,
    owner: KeyOwnerId | "anyone",
    { isReported = false, keptBy }: EndOptions = {}
  ) {
    const now = timestamp(yield* Clock.currentTimeMillis)
    const ended = yield* repo.end(id, owner, { at: now, keptBy })
    if (ended.length === 0) return undefined
    const makers = ended.map((key) => key.id)
    yield* signIns.end(makers, actor)
    yield* webhooks.makersEnded({ makers }, actor)
    yield* tokens.makersEnded(makers, actor)
    for (const key of ended) {
      yield* record(actor, key, isReported && key.id === id ? "key_reported" : "key_revoked")
    }
    const revoked = yield* invites.revokeMadeBy(makers, now)
    for (const invite of revoked) {
      const by = { workspace: { id: invite.workspaceId }, actor }
      yield* events.record(by, { kind: "invite_revoked", subject: inviteSubject(invite) })
    }
    const chain: EndedChain = { keys: ended, invites: revoked }
    return chain
  })
}

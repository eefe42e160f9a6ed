import type { Actor } from "@delivery/domain/identity/Actor"
import type { Membership, Principal } from "@delivery/domain/identity/Authorization"
import type { ApiKeyId, PersonId, WorkspaceId } from "@delivery/domain/Ids"
import type { Scopes } from "@delivery/domain/Scope"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import type { ApiKeyRow } from "../access/ActorRows.ts"
import type { Credential } from "./Credentials.ts"

/** What one look-up tells of a token: whose key it is, and the membership in the workspace asked for. */
export interface Authenticated {
  readonly keyId: ApiKeyId
  readonly scopes: Scopes
  readonly principal: Principal
  readonly membership: Membership | undefined
}

/** A key with the present name of who made it; null where that is not known, or was the operator of the host. */
export type KeyWithActor = ApiKeyRow & { readonly createdBy: Actor | null }

/** An API key in events. */
export const keySubject = (key: Pick<ApiKeyRow, "id" | "name">) => ({
  type: "key",
  id: key.id,
  label: key.name,
  path: "settings/api-keys"
})

/** Whose key it must be. */
export type KeyOwnerId = { readonly personId: PersonId } | { readonly workspaceId: WorkspaceId }

/**
 * The credential that makes another one, which ends with it (docs/contract.md, API keys). `id` and `family` are null where
 * the maker is no credential of a request, such as the operator of the host.
 */
export interface Maker {
  readonly id: string | null
  /** The first credential of the chain. Whoever changes a chain holds it. */
  readonly family: string | null
  /** When the maker ends: what it makes ends then at the latest. */
  readonly expiresAt: Timestamp | null
}

/** Stores API keys of persons and workspaces, and authenticates by the hash of a token. */
export class ApiKeysRepo extends Context.Service<
  ApiKeysRepo,
  {
    readonly insert: (key: ApiKeyRow) => Effect.Effect<void>
    /** Keys that work now, newest first. */
    readonly ofPerson: (personId: PersonId) => Effect.Effect<ReadonlyArray<ApiKeyRow>>
    /** Keys that work now, newest first. */
    readonly ofWorkspace: (workspaceId: WorkspaceId) => Effect.Effect<ReadonlyArray<KeyWithActor>>
    /** The account keys of the workspace and the keys of its active members that work now, newest first. */
    readonly actingIn: (workspaceId: WorkspaceId) => Effect.Effect<ReadonlyArray<KeyWithActor>>
    /**
     * The account keys of the workspace that the person made, and those made with such keys, revoked ones included: what
     * they made in turn ends with them.
     */
    readonly madeBy: (workspaceId: WorkspaceId, personId: PersonId) => Effect.Effect<ReadonlyArray<ApiKeyRow>>
    /**
     * Revokes the owner's key, and all that were made with it and with those; returns those that worked until now. None
     * where the owner has no such key that works. Account keys are spared where a credential keeps them, with what was made
     * with them, and cut off as `cutOff` does.
     */
    readonly end: (
      id: ApiKeyId,
      owner: KeyOwnerId | "anyone",
      options: { readonly at: Timestamp; readonly keptBy: string | undefined }
    ) => Effect.Effect<ReadonlyArray<ApiKeyRow>>
    /**
     * Makes each of the account keys that a credential keeps the first of a chain of its own, with what was made with it: what
     * it was made with ends it no more. Those of the credential's own family stay as they are, else whoever has a leaked key
     * could put what it made out of reach.
     */
    readonly cutOff: (keys: ReadonlyArray<ApiKeyId>, keptBy: string) => Effect.Effect<void>
    /** The keys that work now and were made with the credential itself. */
    readonly madeWith: (maker: string) => Effect.Effect<ReadonlyArray<ApiKeyRow>>
    /** The trusted publisher that gave the key, which may have expired; undefined where it is trusted no more. */
    readonly publisherOf: (id: string) => Effect.Effect<string | undefined>
    /** Marks keys as ended that have expired by a time, some at once, and answers them: each once. */
    readonly endExpired: (by: Timestamp, limit: number) => Effect.Effect<ReadonlyArray<ApiKeyRow>>
    /**
     * The key, if it works now, as the maker of something. Until the transaction ends, its family stays as it is: whoever
     * ends it waits.
     */
    readonly holdMaker: (id: string) => Effect.Effect<Maker | undefined>
    /**
     * Holds the families of credentials until the transaction ends, with others or alone. Who needs more than one holds them
     * at once: they are held in one order.
     */
    readonly holdFamilies: (credentials: ReadonlyArray<string>, how: "shared" | "alone") => Effect.Effect<void>
    /** Holds the family of a credential with others until the transaction ends, and answers its first credential. */
    readonly holdFamilyOf: (id: string) => Effect.Effect<string>
    /**
     * The credential, and the keys and trusted publishers that were made with it and with those. Nothing is made with them until the transaction
     * ends: their family is held alone.
     */
    readonly holdChain: (id: string) => Effect.Effect<ReadonlyArray<string>>
    /** The key with this token, whether it works or not. */
    readonly ofToken: (tokenHash: string) => Effect.Effect<ApiKeyRow | undefined>
    /**
     * In one look-up, shared with requests of the same moment: the key that works now, and the active membership
     * in the workspace (slug or id), which is none where the workspace has blocked the key. Without a workspace, an account
     * key's own.
     */
    readonly authenticate: (
      tokenHash: string,
      workspace: string | undefined
    ) => Effect.Effect<Authenticated | undefined>
    /** A text that changes when one of these credentials authenticates somebody else, or nobody any more. */
    readonly state: (asked: ReadonlyArray<Credential>) => Effect.Effect<string>
    /** Moves `lastUsedAt` forward, never back. */
    readonly touch: (uses: ReadonlyMap<ApiKeyId, Timestamp>) => Effect.Effect<void>
  }
>()("@delivery/server/identity/ApiKeysRepo") {}

import type { Membership, Principal } from "@delivery/domain/identity/Authorization"
import type { ApiKeyId, PersonId, WorkspaceId } from "@delivery/domain/Ids"
import type { Scopes } from "@delivery/domain/identity/Scope"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import type { ApiKeyRow } from "../access/ActorRows.ts"

/** What one look-up tells of a token: whose key it is, and the membership in the workspace asked for. */
export interface Authenticated {
  readonly keyId: ApiKeyId
  readonly scopes: Scopes
  readonly principal: Principal
  readonly membership: Membership | undefined
}

/** An account API key in events. */
export const keySubject = (key: Pick<ApiKeyRow, "id" | "name">) => ({
  type: "key",
  id: key.id,
  label: key.name,
  path: "settings/api-keys"
})

/** Stores API keys of persons and workspaces, and authenticates by the hash of a token. */
export class ApiKeysRepo extends Context.Service<
  ApiKeysRepo,
  {
    readonly insert: (key: ApiKeyRow) => Effect.Effect<void>
    /** Keys that work now, newest first. */
    readonly ofPerson: (personId: PersonId) => Effect.Effect<ReadonlyArray<ApiKeyRow>>
    /** Keys that work now, newest first. */
    readonly ofWorkspace: (workspaceId: WorkspaceId) => Effect.Effect<ReadonlyArray<ApiKeyRow>>
    /**
     * The account keys of the workspace that the person made, and those made with such keys, revoked ones included: what
     * they made in turn ends with them.
     */
    readonly madeBy: (workspaceId: WorkspaceId, personId: PersonId) => Effect.Effect<ReadonlyArray<ApiKeyRow>>
    /** Revokes the owner's key and returns it; undefined when there is none such, or it does not work any more. */
    readonly revoke: (
      id: ApiKeyId,
      owner: { readonly personId: PersonId } | { readonly workspaceId: WorkspaceId },
      at: Timestamp
    ) => Effect.Effect<ApiKeyRow | undefined>
    /**
     * In one look-up, shared with requests of the same moment: the key that works now, and the active membership
     * in the workspace (slug or id). Without a workspace, an account key's own.
     */
    readonly authenticate: (
      tokenHash: string,
      workspace: string | undefined
    ) => Effect.Effect<Authenticated | undefined>
    /** Moves `lastUsedAt` forward, never back. */
    readonly touch: (uses: ReadonlyMap<ApiKeyId, Timestamp>) => Effect.Effect<void>
  }
>()("@delivery/server/identity/ApiKeysRepo") {}

import type { WorkspaceId } from "@delivery/domain/Ids"
import { Context, type Effect } from "effect"
import { bytes, instant, nullable, type Row, table, text, uuid } from "../storage/Table.ts"

/** The keys that the values of workspaces are encrypted with, one a workspace. */
export const dataKeys = table("vault_data_keys", {
  id: uuid(),
  workspaceId: uuid<WorkspaceId>(),
  /** The vault key that it is encrypted under; `sealed` names it, too. */
  keyId: text(),
  /** The encrypted key. */
  sealed: text(),
  createdAt: instant(),
  /** What makes revisions, sealed under this key; null where it makes them itself, as the first of a workspace does. */
  revisionKey: nullable(bytes())
})

/** Keys that another one has replaced: what they encrypted can be decrypted until it is encrypted anew. */
export const replacedDataKeys = table("vault_replaced_data_keys", {
  id: uuid(),
  workspaceId: uuid<WorkspaceId>(),
  keyId: text(),
  sealed: text(),
  createdAt: instant()
})

/** A known text, encrypted under the vault key of each id: it proves that the key is the one that it was. */
export const canaries = table("vault_canaries", {
  keyId: text(),
  sealed: text()
})

export type DataKeyRow = Row<typeof dataKeys>
export type StoredDataKey = Omit<DataKeyRow, "createdAt">
export type DataKey = Omit<StoredDataKey, "revisionKey">
export type CanaryRow = Row<typeof canaries>

/** Stores the data keys of workspaces, and what proves the vault keys. */
export class VaultKeysRepo extends Context.Service<
  VaultKeysRepo,
  {
    readonly canaries: Effect.Effect<ReadonlyArray<CanaryRow>>
    /** Stores the canary unless its key has one: of servers that start at the same time, one makes it. */
    readonly insertCanary: (canary: CanaryRow) => Effect.Effect<void>
    /** How many data keys are encrypted under each vault key, by its id. */
    readonly countDataKeys: Effect.Effect<ReadonlyArray<{ readonly keyId: string; readonly count: number }>>
    /** The key that encrypts, then those that it replaced. Empty where the workspace has none yet. */
    readonly dataKeys: (workspaceId: WorkspaceId) => Effect.Effect<ReadonlyArray<StoredDataKey>>
    /** Stores the key unless its workspace has one. */
    readonly insertDataKey: (key: DataKeyRow) => Effect.Effect<void>
    /**
     * Some data keys, replaced ones too, that are not encrypted under this vault key, locked until the transaction ends; those that another
     * transaction has locked are left out.
     */
    readonly lockOthers: (keyId: string, limit: number) => Effect.Effect<ReadonlyArray<DataKey>>
    /** Stores the vault key and the encrypted form of data keys. */
    readonly updateDataKeys: (keys: ReadonlyArray<DataKey>) => Effect.Effect<void>
  }
>()("@delivery/server/vault/VaultKeysRepo") {}

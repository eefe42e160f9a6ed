import type { WorkspaceId } from "@delivery/domain/Ids"
import { Context, type Effect } from "effect"
import type { DataKeyRow, StoredDataKey } from "./VaultKeysRepo.ts"
import type { VersionPlace } from "./VaultRepo.ts"

/** A stored value, and where it is. */
export interface SealedValue extends VersionPlace {
  readonly workspaceId: WorkspaceId
  readonly sealed: Uint8Array
}

/** Replaces data keys in a database, and finds what is encrypted under those that were replaced. */
export class DataKeyRotationRepo extends Context.Service<
  DataKeyRotationRepo,
  {
    /** Data keys of the workspaces after one, in the order of their ids, locked until the transaction ends. */
    readonly lockAfter: (
      after: WorkspaceId | undefined,
      limit: number
    ) => Effect.Effect<ReadonlyArray<StoredDataKey & Pick<DataKeyRow, "createdAt">>>
    /** Keeps the key for what it encrypted, and puts another one in its place. */
    readonly replace: (replaced: StoredDataKey & Pick<DataKeyRow, "createdAt">, key: DataKeyRow) => Effect.Effect<void>
    /** Values under replaced keys, after a place in the order of secret, environment and version. */
    readonly valuesUnderReplaced: (
      after: VersionPlace | undefined,
      limit: number
    ) => Effect.Effect<ReadonlyArray<SealedValue>>
    /** How many values are under replaced keys. */
    readonly countUnderReplaced: Effect.Effect<number>
    /** Stores values that were encrypted anew, where they are still what was found; how many they were. */
    readonly replaceValues: (
      values: ReadonlyArray<{ readonly found: SealedValue; readonly sealed: Uint8Array }>
    ) => Effect.Effect<number>
  }
>()("@delivery/server/vault/DataKeyRotationRepo") {}

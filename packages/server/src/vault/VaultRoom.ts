import { Effect, Layer } from "effect"
import { SecretHoldings } from "../catalog/SecretHoldings.ts"
import { DataKeyRotation } from "./DataKeyRotation.ts"
import * as DataKeyRotationSql from "./DataKeyRotationSql.ts"
import { DataKeys } from "./DataKeys.ts"
import { Vault } from "./Vault.ts"
import * as VaultErasure from "./VaultErasure.ts"
import * as VaultHttp from "./VaultHttp.ts"
import { VaultKeys } from "./VaultKeys.ts"
import * as VaultKeysMemory from "./VaultKeysMemory.ts"
import { canaries, dataKeys, replacedDataKeys } from "./VaultKeysRepo.ts"
import * as VaultKeysSql from "./VaultKeysSql.ts"
import * as VaultMemory from "./VaultMemory.ts"
import { secrets, secretValues, secretVersions, vaultAudit, VaultRepo, vaultRequests } from "./VaultRepo.ts"
import * as VaultSql from "./VaultSql.ts"

/** The vault: secrets, their versions, and the keys that encrypt them. */

export const tables = [
  secrets,
  secretValues,
  secretVersions,
  vaultRequests,
  vaultAudit,
  dataKeys,
  replacedDataKeys,
  canaries
]

export const layerSql = Layer.mergeAll(VaultSql.layer, VaultKeysSql.layer)

export const layerMemory = Layer.mergeAll(VaultMemory.layer, VaultKeysMemory.layer)

/** Fails, before anything is encrypted, where the keyring is not that of this database. */
export const layerKeys = Layer.effect(
  VaultKeys,
  Effect.tap(VaultKeys, ({ prove }) => prove)
).pipe(Layer.provide(VaultKeys.layer))

/**
 * For commands of the host, over the `SealedSecrets` of other rooms: the keys of `VAULT_KEYS`, whether they are those of
 * the database or not, and the rotation of data keys.
 */
export const layerHost = DataKeyRotation.layer.pipe(
  Layer.provideMerge(VaultKeys.layer),
  Layer.provide(DataKeys.layer),
  Layer.provide([VaultKeysSql.layer, DataKeyRotationSql.layer])
)

/** For the catalog. */
export const layerSecretHoldings = Layer.effect(
  SecretHoldings,
  Effect.map(VaultRepo, ({ eraseValues, holdsValues }) => ({ eraseValues, holdsValues }))
)

/** The keys that encrypt values. */
export const layerDataKeys = DataKeys.layer

/** The secrets, over `DataKeys`. */
export const layerSecrets = Vault.layer

/** What requests call. */
export const layerServices = Layer.provideMerge(layerSecrets, layerDataKeys)

/** What a server does by itself, over the services. */
export const layerBackground = VaultErasure.layer

export const layerHttp = VaultHttp.layer

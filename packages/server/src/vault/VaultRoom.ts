import { Layer } from "effect"
import { DataKeys } from "./DataKeys.ts"
import { Vault } from "./Vault.ts"
import { VaultErasure } from "./VaultErasure.ts"
import { VaultEdgeLive, VaultHttp } from "./VaultHttp.ts"
import { VaultKeys } from "./VaultKeys.ts"
import { VaultKeysRepo } from "./VaultKeysRepo.ts"
import { VaultRepo } from "./VaultRepo.ts"

/** The vault: secrets, their versions, and the keys that they are sealed under. */

/** Supplies the catalog's `SecretHoldings`, too. */
export const layerSql = Layer.mergeAll(VaultRepo.layerSql, VaultKeysRepo.layerSql)

export const layerMemory = Layer.mergeAll(VaultRepo.layerMemory, VaultKeysRepo.layerMemory)

/** Proves, before anything is sealed, that the keyring is that of this database. */
export const layerKeys = VaultKeys.layerProven

export const layer = VaultErasure.pipe(Layer.provideMerge(Vault.layer), Layer.provideMerge(DataKeys.layer))

export const layerHttp = Layer.provide(VaultHttp, VaultEdgeLive)

import { SigningKeys } from "./SigningKeys.ts"
import { SigningKeysRepo } from "./SigningKeysRepo.ts"

/** The keys of the server: the keyring that seals, and the keys that sign fixture tokens. */

export const layerSql = SigningKeysRepo.layerSql

export const layerMemory = SigningKeysRepo.layerMemory

/** Needs a `Keyring`. */
export const layer = SigningKeys.layer

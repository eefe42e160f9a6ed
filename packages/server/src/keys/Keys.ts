import { SigningKeys } from "./SigningKeys.ts"
import * as SigningKeysMemory from "./SigningKeysMemory.ts"
import { signingKeys } from "./SigningKeysRepo.ts"
import * as SigningKeysSql from "./SigningKeysSql.ts"

/** The keys of the server: the keyring that encrypts, and the keys that sign fixture tokens. */

export const tables = [signingKeys]

export const layerSql = SigningKeysSql.layer

export const layerMemory = SigningKeysMemory.layer

/** Needs a `Keyring`. */
export const layer = SigningKeys.layer

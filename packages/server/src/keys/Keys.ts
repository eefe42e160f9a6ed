import { Keyring } from "./Keyring.ts"
import * as Signing from "./SigningKeys.ts"
import * as SigningKeysMemory from "./SigningKeysMemory.ts"
import { signingKeys } from "./SigningKeysRepo.ts"
import * as SigningKeysSql from "./SigningKeysSql.ts"

/** The keys of the server: the keyring that encrypts, and the keys that sign fixture tokens. */

export const tables = [signingKeys]

export const layerSql = SigningKeysSql.layer

export const layerMemory = SigningKeysMemory.layer

/** The keys of the settings that encrypt. */
export const layerKeyring = Keyring.layer

/** A key that encrypts, gone with the process. */
export const layerMemoryKeyring = Keyring.layerMemory

/** The keys that sign. Needs a `Keyring`. */
export const layer = Signing.SigningKeys.layer

export const layerBackground = Signing.layerBackground

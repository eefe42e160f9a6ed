import { Context, Effect, Layer } from "effect"
import { SettingsError } from "../Config.ts"
import { keyIdOf, Keyring, type KeyringError } from "../keys/Keyring.ts"
import { signingKeyPurpose } from "../keys/SigningKeys.ts"
import { SigningKeysRepo } from "../keys/SigningKeysRepo.ts"
import { Storage } from "../storage/Storage.ts"
import { dataKeyProblem, dataKeyPurpose } from "./DataKeys.ts"
import { VaultKeysRepo } from "./VaultKeysRepo.ts"

/** A vault key, and how many keys are encrypted under it. */
export interface VaultKeyUse {
  readonly id: string
  readonly isActive: boolean
  /** Whether it is one of `VAULT_KEYS`. */
  readonly isGiven: boolean
  readonly dataKeys: number
  readonly signingKeys: number
}

/** The keys of `VAULT_KEYS`, compared with those that the database was encrypted under (docs/contract.md, Vault). */
export class VaultKeys extends Context.Service<
  VaultKeys,
  {
    /** Fails, naming the id, where a key that is in use is missing, or a key is not the one that it was. */
    readonly prove: Effect.Effect<void, SettingsError>
    /** Every key given or in use, the active one first. */
    readonly status: Effect.Effect<ReadonlyArray<VaultKeyUse>>
    /**
     * Encrypts data keys and signing keys under the active key, while servers run; how many they were. Safe to repeat
     * and to interrupt: a repeated one continues where it stopped.
     */
    readonly rotate: Effect.Effect<{ readonly dataKeys: number; readonly signingKeys: number }, SettingsError>
  }
>()("@delivery/server/vault/VaultKeys") {
  static readonly layer = Layer.effect(VaultKeys, Effect.gen(make))
}

interface Dependencies {
  readonly storage: Storage["Service"]
  readonly keyring: Keyring["Service"]
  readonly repo: VaultKeysRepo["Service"]
  readonly signingKeys: SigningKeysRepo["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    storage: yield* Storage,
    keyring: yield* Keyring,
    repo: yield* VaultKeysRepo,
    signingKeys: yield* SigningKeysRepo
  }
  return VaultKeys.of({
    prove: prove(dependencies),
    status: status(dependencies),
    rotate: rotate(dependencies)
  })
}

const status = ({ keyring, repo, signingKeys }: Dependencies) =>
  Effect.gen(function* () {
    const counts = new Map((yield* repo.countDataKeys).map(({ count, keyId }) => [keyId, count]))
    const signing = (yield* signingKeys.list).map((key) => keyIdOf(key.sealedPrivateKey))
    return [...new Set([...keyring.ids, ...counts.keys(), ...signing])].map((id) => ({
      id,
      isActive: id === keyring.activeId,
      isGiven: keyring.ids.includes(id),
      dataKeys: counts.get(id) ?? 0,
      signingKeys: signing.filter((keyId) => keyId === id).length
    }))
  })

const prove = (dependencies: Dependencies) => {
  const { keyring, repo } = dependencies
  return Effect.gen(function* () {
    yield* checkNoneMissing(dependencies)
    const sealed = yield* keyring.encrypt(canaryPurpose(keyring.activeId), Buffer.from(canaryText))
    yield* repo.insertCanary({ keyId: keyring.activeId, sealed })
    for (const canary of yield* repo.canaries) {
      if (!keyring.ids.includes(canary.keyId)) continue
      yield* Effect.catchTag(
        keyring.decrypt(canaryPurpose(canary.keyId), canary.sealed),
        "KeyringError",
        () =>
          new SettingsError({
            message: `VAULT_KEYS is invalid: its key ${canary.keyId} does not match the key with that id in this database.`
          })
      )
    }
  })
}

const checkNoneMissing = (dependencies: Dependencies) =>
  Effect.gen(function* () {
    for (const { dataKeys, id, isGiven, signingKeys } of yield* status(dependencies)) {
      if (!isGiven) {
        return yield* new SettingsError({
          message:
            `VAULT_KEYS lacks the key ${id}, which encrypts ${dataKeys} data keys and ${signingKeys} signing keys of ` +
            "this database. Add it behind the active key."
        })
      }
    }
  })

const rotate = (dependencies: Dependencies) =>
  Effect.gen(function* () {
    yield* prove(dependencies)
    let dataKeys = 0
    for (;;) {
      const some = yield* rotateDataKeys(dependencies)
      if (some === 0) break
      dataKeys += some
    }
    return { dataKeys, signingKeys: yield* rotateSigningKeys(dependencies) }
  }).pipe(Effect.withSpan("VaultKeys.rotate"))

/** Rotates a batch of data keys in one transaction; how many they were. */
const rotateDataKeys = ({ keyring, repo, storage }: Dependencies) =>
  storage.transaction(
    Effect.gen(function* () {
      const keys = yield* repo.lockOthers(keyring.activeId, batch)
      const rotated = yield* Effect.forEach(keys, (key) =>
        keyring.decrypt(dataKeyPurpose(key), key.sealed).pipe(
          Effect.flatMap((bytes) => keyring.encrypt(dataKeyPurpose(key), bytes)),
          Effect.map((sealed) => ({ ...key, keyId: keyring.activeId, sealed })),
          Effect.catchTag("KeyringError", (error) => new SettingsError({ message: dataKeyProblem(key, error) }))
        )
      )
      if (rotated.length > 0) yield* repo.updateDataKeys(rotated)
      return rotated.length
    })
  )

const rotateSigningKeys = ({ keyring, signingKeys }: Dependencies) =>
  Effect.gen(function* () {
    const others = (yield* signingKeys.list).filter((key) => keyIdOf(key.sealedPrivateKey) !== keyring.activeId)
    for (const { kid, sealedPrivateKey } of others) {
      const purpose = signingKeyPurpose(kid)
      const bytes = yield* Effect.catchTag(
        keyring.decrypt(purpose, sealedPrivateKey),
        "KeyringError",
        (error) => new SettingsError({ message: signingKeyProblem(kid, error) })
      )
      yield* signingKeys.replacePrivateKey(kid, sealedPrivateKey, yield* keyring.encrypt(purpose, bytes))
    }
    return others.length
  })

/** How many data keys one transaction rotates. */
const batch = 100

const canaryText = "A canary of the vault."
const canaryPurpose = (keyId: string) => `canary:${keyId}`

const signingKeyProblem = (kid: string, { keyId, reason }: KeyringError): string =>
  reason === "unknown_key"
    ? `VAULT_KEYS lacks the key ${keyId}, which encrypts the signing key ${kid}.`
    : `The signing key ${kid} is not what was encrypted under the key ${keyId} of VAULT_KEYS.`

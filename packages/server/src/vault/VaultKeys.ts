import { Context, Effect, Layer } from "effect"
import { SettingsError } from "../Config.ts"
import { keyIdOf, Keyring, type KeyringError } from "../keys/Keyring.ts"
import { signingKeyPurpose } from "../keys/SigningKeys.ts"
import { SigningKeysRepo } from "../keys/SigningKeysRepo.ts"
import { Storage } from "../storage/Storage.ts"
import { dataKeyProblem, dataKeyPurpose } from "./DataKeys.ts"
import { VaultKeysRepo } from "./VaultKeysRepo.ts"

/** A vault key, and how much is sealed under it. */
export interface VaultKeyUse {
  readonly id: string
  readonly isActive: boolean
  /** Whether it is one of `VAULT_KEYS`. */
  readonly isGiven: boolean
  readonly dataKeys: number
  readonly signingKeys: number
}

/** The keys of `VAULT_KEYS` against what the database was sealed under (contract, section 5). */
export class VaultKeys extends Context.Service<
  VaultKeys,
  {
    /** Fails, naming the id, where a key that is in use is missing, or a key is not the one that it was. */
    readonly prove: Effect.Effect<void, SettingsError>
    /** Every key given or in use, the active one first. */
    readonly status: Effect.Effect<ReadonlyArray<VaultKeyUse>>
    /**
     * Seals everything anew under the active key, while servers run; answers how much it was. Safe to repeat and to
     * interrupt: what is done stays done.
     */
    readonly rotate: Effect.Effect<{ readonly dataKeys: number; readonly signingKeys: number }, SettingsError>
  }
>()("@delivery/server/vault/VaultKeys") {
  static readonly layer = Layer.effect(
    VaultKeys,
    Effect.gen(function* () {
      const storage = yield* Storage
      const keyring = yield* Keyring
      const repo = yield* VaultKeysRepo
      const signingKeys = yield* SigningKeysRepo

      const status = Effect.gen(function* () {
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

      const noneMissing = Effect.gen(function* () {
        for (const { dataKeys, id, isGiven, signingKeys } of yield* status) {
          if (!isGiven) {
            return yield* new SettingsError({
              message:
                `VAULT_KEYS lacks the key ${id}, which ${dataKeys} data keys and ${signingKeys} signing keys of ` +
                "this database are sealed under."
            })
          }
        }
      })

      const prove = Effect.gen(function* () {
        yield* noneMissing
        const sealed = yield* keyring.seal(canaryPurpose(keyring.activeId), Buffer.from(canaryText))
        yield* repo.insertCanary({ keyId: keyring.activeId, sealed })
        for (const canary of yield* repo.canaries) {
          if (!keyring.ids.includes(canary.keyId)) continue
          yield* Effect.catchTag(
            keyring.open(canaryPurpose(canary.keyId), canary.sealed),
            "KeyringError",
            () =>
              new SettingsError({
                message: `VAULT_KEYS is wrong: its key ${canary.keyId} is not the one that this database knows by that id.`
              })
          )
        }
      })

      const rotateSome = storage.transaction(
        Effect.gen(function* () {
          const keys = yield* repo.lockOthers(keyring.activeId, batch)
          const resealed = yield* Effect.forEach(keys, (key) =>
            keyring.open(dataKeyPurpose(key), key.sealed).pipe(
              Effect.flatMap((bytes) => keyring.seal(dataKeyPurpose(key), bytes)),
              Effect.map((sealed) => ({ ...key, keyId: keyring.activeId, sealed })),
              Effect.catchTag("KeyringError", (error) => new SettingsError({ message: dataKeyProblem(key, error) }))
            )
          )
          if (resealed.length > 0) yield* repo.reseal(resealed)
          return resealed.length
        })
      )

      const rotateSigningKeys = Effect.gen(function* () {
        const others = (yield* signingKeys.list).filter((key) => keyIdOf(key.sealedPrivateKey) !== keyring.activeId)
        for (const { kid, sealedPrivateKey } of others) {
          const purpose = signingKeyPurpose(kid)
          const bytes = yield* Effect.catchTag(
            keyring.open(purpose, sealedPrivateKey),
            "KeyringError",
            (error) => new SettingsError({ message: signingKeyProblem(kid, error) })
          )
          yield* signingKeys.reseal(kid, sealedPrivateKey, yield* keyring.seal(purpose, bytes))
        }
        return others.length
      })

      return VaultKeys.of({
        prove,
        status,
        rotate: Effect.gen(function* () {
          yield* prove
          let dataKeys = 0
          for (;;) {
            const some = yield* rotateSome
            if (some === 0) break
            dataKeys += some
          }
          return { dataKeys, signingKeys: yield* rotateSigningKeys }
        }).pipe(Effect.withSpan("VaultKeys.rotate"))
      })
    })
  )

  /** The same, where it has proved the keys. */
  static readonly layerProven = Layer.effect(
    VaultKeys,
    Effect.tap(VaultKeys, ({ prove }) => prove)
  ).pipe(Layer.provide(VaultKeys.layer))
}

/** How many data keys one transaction seals anew. */
const batch = 100

const canaryText = "A canary of the vault."
const canaryPurpose = (keyId: string) => `canary:${keyId}`

const signingKeyProblem = (kid: string, { keyId, reason }: KeyringError): string =>
  reason === "unknown_key"
    ? `VAULT_KEYS lacks the key ${keyId}, which the signing key ${kid} is sealed under.`
    : `The signing key ${kid} is not what the key ${keyId} of VAULT_KEYS sealed.`

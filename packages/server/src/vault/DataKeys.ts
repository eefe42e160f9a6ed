import type { EnvironmentId, SecretId, WorkspaceId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Data, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { createCipheriv, createDecipheriv, createHmac, createSecretKey, hkdfSync, randomBytes } from "node:crypto"
import { nextId } from "../ids/NextId.ts"
import { Keyring } from "../keys/Keyring.ts"
import { type SealedDataKey, VaultKeysRepo } from "./VaultKeysRepo.ts"

/** Where a value stands. It opens nowhere else. */
export interface Place {
  readonly secretId: SecretId
  readonly environmentId: EnvironmentId
  readonly version: number
}

/**
 * A value or data key in storage is not what was stored: it was changed, moved from another place, or sealed under
 * another key. A fault: the request that meets it answers `Internal`, and the log names the place.
 */
export class NotAuthentic extends Data.TaggedError("NotAuthentic")<{ readonly message: string }> {}

/** Encrypts and decrypts the values of one workspace. */
export interface ValueCipher {
  readonly seal: (place: Place, value: Redacted.Redacted) => Uint8Array
  /** Dies with `NotAuthentic` where the value is not the one sealed for the place. */
  readonly open: (place: Place, sealed: Uint8Array) => Effect.Effect<Redacted.Redacted>
  /** A keyed hash that tells equal texts from others, and nothing of them to whoever lacks the key. */
  readonly fingerprint: (text: string) => string
}

/**
 * The data keys of workspaces, in use. Each is made when first needed and sealed by the keyring; values are encrypted
 * with AES-256-GCM and a random nonce: byte 1 is the format, then the data key's id (16), nonce (12), ciphertext and
 * tag (16). What is authenticated with them: format, data key, workspace, secret, environment and version.
 */
export class DataKeys extends Context.Service<
  DataKeys,
  {
    /** The cipher of a workspace. Called outside of transactions: a key that a rollback takes back must not be used. */
    readonly cipher: (workspaceId: WorkspaceId) => Effect.Effect<ValueCipher>
  }
>()("@delivery/server/vault/DataKeys") {
  static readonly layer = Layer.effect(
    DataKeys,
    Effect.gen(function* () {
      const repo = yield* VaultKeysRepo
      const keyring = yield* Keyring
      const random = yield* SecureRandom.SecureRandom
      const ciphers = new Map<WorkspaceId, ValueCipher>()

      const makeKey = Effect.fnUntraced(function* (workspaceId: WorkspaceId) {
        const id = yield* Effect.provideService(nextId<string>(), SecureRandom.SecureRandom, random)
        yield* repo.insertDataKey({
          id,
          workspaceId,
          keyId: keyring.activeId,
          sealed: yield* keyring.seal(dataKeyPurpose({ id, workspaceId }), randomBytes(keyLength)),
          createdAt: timestamp(yield* Clock.currentTimeMillis)
        })
      })

      const open = Effect.fnUntraced(function* (workspaceId: WorkspaceId) {
        if ((yield* repo.dataKey(workspaceId)) === undefined) yield* makeKey(workspaceId)
        const stored = yield* repo.dataKey(workspaceId)
        if (stored === undefined) return yield* Effect.die(new Error("No data key was stored."))
        const bytes = yield* Effect.catchTag(
          keyring.open(dataKeyPurpose(stored), stored.sealed),
          "KeyringError",
          (error) => Effect.die(new NotAuthentic({ message: dataKeyProblem(stored, error) }))
        )
        return cipherOf(workspaceId, stored.id, bytes)
      })

      return DataKeys.of({
        cipher: (workspaceId) =>
          Effect.suspend(() => {
            const known = ciphers.get(workspaceId)
            if (known !== undefined) return Effect.succeed(known)
            return Effect.tap(open(workspaceId), (cipher) => Effect.sync(() => ciphers.set(workspaceId, cipher)))
          })
      })
    })
  )
}

/** What a data key is sealed for. */
export const dataKeyPurpose = (key: Pick<SealedDataKey, "id" | "workspaceId">): string =>
  `data-key:${key.id}:${key.workspaceId}`

/** Why a data key does not open, for the log. */
export const dataKeyProblem = (
  key: Pick<SealedDataKey, "id" | "workspaceId">,
  { keyId, reason }: { readonly keyId: string; readonly reason: "unknown_key" | "not_authentic" }
): string =>
  `The data key ${key.id} of the workspace ${key.workspaceId} cannot be opened: ` +
  (reason === "unknown_key" ? `VAULT_KEYS lacks the key ${keyId}.` : `it is not what the key ${keyId} sealed.`)

const format = 1
const cipher = "aes-256-gcm"
const keyLength = 32
const idLength = 16
const nonceLength = 12
const tagLength = 16
const headLength = 1 + idLength

const cipherOf = (workspaceId: WorkspaceId, dataKeyId: string, bytes: Uint8Array): ValueCipher => {
  // Bytes would be made a key at each use, which takes three times as long as to decrypt.
  const key = createSecretKey(bytes)
  const head = Buffer.concat([Buffer.of(format), Buffer.from(dataKeyId.replaceAll("-", ""), "hex")])
  const fingerprintKey = createSecretKey(
    Buffer.from(hkdfSync("sha256", bytes, "", "delivery/vault/request-fingerprint", keyLength))
  )
  const authenticated = ({ environmentId, secretId, version }: Place) =>
    Buffer.from(`vault:${format}:${dataKeyId}:${workspaceId}:${secretId}:${environmentId}:${version}`)
  return {
    seal: (place, value) => {
      const nonce = randomBytes(nonceLength)
      const encrypt = createCipheriv(cipher, key, nonce, { authTagLength: tagLength })
      encrypt.setAAD(authenticated(place))
      const text = encrypt.update(Redacted.value(value), "utf8")
      return new Uint8Array(Buffer.concat([head, nonce, text, encrypt.final(), encrypt.getAuthTag()]))
    },
    open: (place, sealed) =>
      Effect.orDie(
        Effect.try({
          try: () => {
            const blob = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
            if (blob.length < headLength + nonceLength + tagLength || !blob.subarray(0, headLength).equals(head)) {
              throw new Error("Another format or key.")
            }
            const nonce = blob.subarray(headLength, headLength + nonceLength)
            const decrypt = createDecipheriv(cipher, key, nonce, { authTagLength: tagLength })
            decrypt.setAAD(authenticated(place))
            decrypt.setAuthTag(blob.subarray(-tagLength))
            const text = decrypt.update(blob.subarray(headLength + nonceLength, -tagLength))
            return Redacted.make(Buffer.concat([text, decrypt.final()]).toString("utf8"))
          },
          catch: () =>
            new NotAuthentic({
              message:
                `The stored value of the secret ${place.secretId} in the environment ${place.environmentId}, ` +
                `version ${place.version}, workspace ${workspaceId}, is not authentic: it was changed, or moved there.`
            })
        })
      ),
    fingerprint: (text) => createHmac("sha256", fingerprintKey).update(text, "utf8").digest("base64url")
  }
}

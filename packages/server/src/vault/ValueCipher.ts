import type { WorkspaceId } from "@delivery/domain/Ids"
import { Data, Effect, Redacted } from "effect"
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes
} from "node:crypto"
import type { VersionPlace } from "./VaultRepo.ts"

/**
 * A value or data key in storage is not what was stored: it was changed, moved from another place, or encrypted under
 * another key. This is a fault: the request that meets it answers `Internal`, and the log names the place.
 */
export class NotAuthentic extends Data.TaggedError("NotAuthentic")<{ readonly message: string }> {}

/** Encrypts values under the data key of one workspace, and decrypts those under the keys that it replaced, too. */
export interface ValueCipher {
  readonly encrypt: (place: VersionPlace, value: Redacted.Redacted) => Uint8Array
  /** Dies with `NotAuthentic` where the value is not the one that was encrypted for the place. */
  readonly decrypt: (place: VersionPlace, encrypted: Uint8Array) => Effect.Effect<Redacted.Redacted>
  /** The same for other secrets of the workspace, which can be decrypted for the same purpose only. */
  readonly seal: (purpose: string, secret: Redacted.Redacted) => Uint8Array
  readonly open: (purpose: string, sealed: Uint8Array) => Effect.Effect<Redacted.Redacted>
  /** Whether it is encrypted under the key that encrypts now. */
  readonly isCurrent: (encrypted: Uint8Array) => boolean
  /** A keyed hash: equal texts have equal fingerprints, which say nothing of the text to whoever lacks the key. */
  readonly fingerprint: (text: string) => string
  /** Whether it is the fingerprint of the text, under the key that makes them now or one that it replaced. */
  readonly isFingerprint: (fingerprint: string, text: string) => Effect.Effect<boolean>
  /**
   * The same under a key of its own, for what clients are told: no fingerprint of a body is ever among them. It stays the
   * same when the data key is replaced, so that no product starts again for it.
   */
  readonly revision: (text: string) => string
}

/** A data key, ready to use. */
export interface LoadedKey {
  readonly workspaceId: WorkspaceId
  readonly id: string
  readonly key: KeyObject
  /** What each encrypted value begins with: format and id. */
  readonly head: Buffer
  readonly fingerprint: (text: string) => string
}

/** The data keys of a workspace: the one that encrypts, and those that it replaced. */
export interface KeySet {
  readonly current: LoadedKey
  readonly replaced: ReadonlyArray<LoadedKey>
  readonly revision: (text: string) => string
}

const format = 1
const algorithm = "aes-256-gcm"
export const keyLength = 32
const idLength = 16
const nonceLength = 12
const tagLength = 16
const headLength = 1 + idLength

export const loadKey = (workspaceId: WorkspaceId, id: string, bytes: Uint8Array): LoadedKey => ({
  workspaceId,
  id,
  // Bytes would be made a key at each use, which takes three times as long as to decrypt.
  key: createSecretKey(bytes),
  head: Buffer.concat([Buffer.of(format), Buffer.from(id.replaceAll("-", ""), "hex")]),
  fingerprint: keyedHash(hashKey(bytes, "request-fingerprint"))
})

/** The key of the hashes that a data key makes for a purpose. */
export const hashKey = (bytes: Uint8Array, purpose: "request-fingerprint" | "revision"): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", bytes, "", `delivery/vault/${purpose}`, keyLength))

export const keyedHash = (bytes: Uint8Array) => {
  const key = createSecretKey(bytes)
  return (text: string): string => createHmac("sha256", key).update(text, "utf8").digest("base64url")
}

/** `reload` reads the keys again: another process may have replaced one since. */
export const makeCipher = (keys: KeySet, reload: Effect.Effect<KeySet>): ValueCipher => {
  const { current, revision } = keys
  const keyOf = ({ current, replaced }: KeySet, encrypted: Uint8Array): LoadedKey | undefined =>
    isUnder(current, encrypted) ? current : replaced.find((key) => isUnder(key, encrypted))
  const withKey = (encrypted: Uint8Array, use: (key: LoadedKey) => Effect.Effect<Redacted.Redacted>) => {
    const key = keyOf(keys, encrypted)
    // What is under no key at all is said by the one that encrypts now.
    return key === undefined ? Effect.flatMap(reload, (set) => use(keyOf(set, encrypted) ?? set.current)) : use(key)
  }
  const hasMade = ({ current, replaced }: KeySet, fingerprint: string, text: string): boolean =>
    [current, ...replaced].some((key) => key.fingerprint(text) === fingerprint)
  return {
    encrypt: (place, value) => encrypt(current, authenticated(current, place), value),
    decrypt: (place, encrypted) =>
      withKey(encrypted, (key) => decrypt(key, authenticated(key, place), encrypted, () => placeProblem(key, place))),
    seal: (purpose, secret) => seal(current, purpose, secret),
    open: (purpose, sealed) => withKey(sealed, (key) => open(key, purpose, sealed)),
    isCurrent: (encrypted) => isUnder(current, encrypted),
    fingerprint: current.fingerprint,
    isFingerprint: (fingerprint, text) =>
      hasMade(keys, fingerprint, text)
        ? Effect.succeed(true)
        : Effect.map(reload, (set) => hasMade(set, fingerprint, text)),
    revision
  }
}

/** Whether a data key is the one that it says it is encrypted under. */
const isUnder = ({ head }: LoadedKey, encrypted: Uint8Array): boolean =>
  encrypted.byteLength >= headLength && head.compare(encrypted, 0, headLength) === 0

/** Encrypts a secret of the workspace that is no value, for a purpose. */
export const seal = (key: LoadedKey, purpose: string, secret: Redacted.Redacted): Uint8Array =>
  encrypt(key, purposeOf(key, purpose), secret)

/** Decrypts what was sealed under the key for the purpose. */
export const open = (key: LoadedKey, purpose: string, sealed: Uint8Array): Effect.Effect<Redacted.Redacted> =>
  decrypt(
    key,
    purposeOf(key, purpose),
    sealed,
    () => `The stored ${purpose} of the workspace ${key.workspaceId} is not authentic: it was changed or moved.`
  )

const encrypt = ({ head, key }: LoadedKey, authenticated: Buffer, value: Redacted.Redacted): Uint8Array => {
  const nonce = randomBytes(nonceLength)
  const encryption = createCipheriv(algorithm, key, nonce, { authTagLength: tagLength })
  encryption.setAAD(authenticated)
  const text = encryption.update(Redacted.value(value), "utf8")
  return new Uint8Array(Buffer.concat([head, nonce, text, encryption.final(), encryption.getAuthTag()]))
}

const decrypt = ({ head, key }: LoadedKey, authenticated: Buffer, encrypted: Uint8Array, problem: () => string) =>
  Effect.orDie(
    Effect.try({
      try: () => {
        const blob = Buffer.from(encrypted.buffer, encrypted.byteOffset, encrypted.byteLength)
        if (blob.length < headLength + nonceLength + tagLength || !blob.subarray(0, headLength).equals(head)) {
          throw new Error("Another format or key.")
        }
        const nonce = blob.subarray(headLength, headLength + nonceLength)
        const decryption = createDecipheriv(algorithm, key, nonce, { authTagLength: tagLength })
        decryption.setAAD(authenticated)
        decryption.setAuthTag(blob.subarray(-tagLength))
        const text = decryption.update(blob.subarray(headLength + nonceLength, -tagLength))
        return Redacted.make(Buffer.concat([text, decryption.final()]).toString("utf8"))
      },
      // The cause is left out: it might contain parts of the value.
      catch: () => new NotAuthentic({ message: problem() })
    })
  )

const placeProblem = ({ workspaceId }: LoadedKey, place: VersionPlace): string =>
  `The stored value of the secret ${place.secretId} in the environment ${place.environmentId}, ` +
  `version ${place.version}, workspace ${workspaceId}, is not authentic: it was changed or moved.`

/** What another secret is bound to. */
const purposeOf = ({ id, workspaceId }: LoadedKey, purpose: string): Buffer =>
  Buffer.from(`sealed:${format}:${id}:${workspaceId}:${purpose}`)

/** What a value is bound to. */
const authenticated = ({ id, workspaceId }: LoadedKey, { environmentId, secretId, version }: VersionPlace): Buffer =>
  Buffer.from(`vault:${format}:${id}:${workspaceId}:${secretId}:${environmentId}:${version}`)

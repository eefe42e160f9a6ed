import type { WorkspaceId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Data, Effect, Layer, Redacted } from "effect"
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes
} from "node:crypto"
import { NextId } from "../ids/NextId.ts"
import { Keyring } from "../keys/Keyring.ts"
import { type DataKey, VaultKeysRepo } from "./VaultKeysRepo.ts"
import type { VersionPlace } from "./VaultRepo.ts"

/**
 * A value or data key in storage is not what was stored: it was changed, moved from another place, or encrypted under
 * another key. This is a fault: the request that meets it answers `Internal`, and the log names the place.
 */
export class NotAuthentic extends Data.TaggedError("NotAuthentic")<{ readonly message: string }> {}

/** Encrypts and decrypts the values of one workspace. */
export interface ValueCipher {
  readonly encrypt: (place: VersionPlace, value: Redacted.Redacted) => Uint8Array
  /** Dies with `NotAuthentic` where the value is not the one that was encrypted for the place. */
  readonly decrypt: (place: VersionPlace, encrypted: Uint8Array) => Effect.Effect<Redacted.Redacted>
  /** The same for other secrets of the workspace, which can be decrypted for the same purpose only. */
  readonly seal: (purpose: string, secret: Redacted.Redacted) => Uint8Array
  readonly open: (purpose: string, sealed: Uint8Array) => Effect.Effect<Redacted.Redacted>
  /** A keyed hash: equal texts have equal fingerprints, which say nothing of the text to whoever lacks the key. */
  readonly fingerprint: (text: string) => string
  /** The same under a key of its own, for what clients are told: no fingerprint of a body is ever among them. */
  readonly revision: (text: string) => string
}

/**
 * The data keys of workspaces (docs/contract.md, Vault). Each is made when it is first needed, and stored encrypted by
 * the keyring. Values are encrypted with AES-256-GCM and a random nonce: byte 1 is the format, then the data key's id
 * (16), nonce (12), ciphertext and tag (16). Authenticated with them: format, data key, workspace, secret, environment
 * and version, so that a value can be decrypted at its own place only.
 */
export class DataKeys extends Context.Service<
  DataKeys,
  {
    /**
     * The cipher of a workspace. Must be called outside of transactions: a key that is rolled back must not have
     * encrypted anything.
     */
    readonly cipher: (workspaceId: WorkspaceId) => Effect.Effect<ValueCipher>
  }
>()("@delivery/server/vault/DataKeys") {
  static readonly layer = Layer.effect(DataKeys, Effect.gen(make))
}

interface Dependencies {
  readonly repo: VaultKeysRepo["Service"]
  readonly keyring: Keyring["Service"]
  readonly nextId: NextId["Service"]
}

function* make() {
  const dependencies: Dependencies = { repo: yield* VaultKeysRepo, keyring: yield* Keyring, nextId: yield* NextId }
  return DataKeys.of({ cipher: cachedCipher(dependencies) })
}

/** Ciphers are kept as long as the process runs. */
const cachedCipher = (dependencies: Dependencies) => {
  const ciphers = new Map<WorkspaceId, ValueCipher>()
  const load = loadCipher(dependencies)
  return (workspaceId: WorkspaceId) =>
    Effect.suspend(() => {
      const known = ciphers.get(workspaceId)
      if (known !== undefined) return Effect.succeed(known)
      return Effect.tap(load(workspaceId), (cipher) => Effect.sync(() => ciphers.set(workspaceId, cipher)))
    })
}

const loadCipher = (dependencies: Dependencies) => {
  const { keyring, repo } = dependencies
  const create = createDataKey(dependencies)
  return Effect.fnUntraced(function* (workspaceId: WorkspaceId) {
    if ((yield* repo.dataKey(workspaceId)) === undefined) yield* create(workspaceId)
    const stored = yield* repo.dataKey(workspaceId)
    if (stored === undefined) return yield* Effect.die(new Error("No data key was stored."))
    const bytes = yield* Effect.catchTag(
      keyring.decrypt(dataKeyPurpose(stored), stored.sealed),
      "KeyringError",
      (error) => Effect.die(new NotAuthentic({ message: dataKeyProblem(stored, error) }))
    )
    return makeCipher(workspaceId, stored.id, bytes)
  })
}

/** Makes the data key of a workspace, unless it has one. */
const createDataKey = ({ keyring, nextId, repo }: Dependencies) =>
  Effect.fnUntraced(function* (workspaceId: WorkspaceId) {
    const id = yield* nextId<string>()
    yield* repo.insertDataKey({
      id,
      workspaceId,
      keyId: keyring.activeId,
      sealed: yield* keyring.encrypt(dataKeyPurpose({ id, workspaceId }), randomBytes(keyLength)),
      createdAt: timestamp(yield* Clock.currentTimeMillis)
    })
  })

/** The purpose that a data key is encrypted for. */
export const dataKeyPurpose = (key: Pick<DataKey, "id" | "workspaceId">): string =>
  `data-key:${key.id}:${key.workspaceId}`

/** Why a data key cannot be decrypted, for the log. */
export const dataKeyProblem = (
  key: Pick<DataKey, "id" | "workspaceId">,
  { keyId, reason }: { readonly keyId: string; readonly reason: "unknown_key" | "not_authentic" }
): string =>
  `The data key ${key.id} of the workspace ${key.workspaceId} cannot be decrypted: ` +
  (reason === "unknown_key"
    ? `VAULT_KEYS lacks the key ${keyId}.`
    : `it is not what was encrypted under the key ${keyId}.`)

const format = 1
const algorithm = "aes-256-gcm"
const keyLength = 32
const idLength = 16
const nonceLength = 12
const tagLength = 16
const headLength = 1 + idLength

/** A data key, ready to use. */
interface LoadedKey {
  readonly workspaceId: WorkspaceId
  readonly id: string
  readonly key: KeyObject
  /** What each encrypted value begins with: format and id. */
  readonly head: Buffer
}

const makeCipher = (workspaceId: WorkspaceId, id: string, bytes: Uint8Array): ValueCipher => {
  const head = Buffer.concat([Buffer.of(format), Buffer.from(id.replaceAll("-", ""), "hex")])
  // Bytes would be made a key at each use, which takes three times as long as to decrypt.
  const key: LoadedKey = { workspaceId, id, key: createSecretKey(bytes), head }
  const keyedHash = (purpose: string) => {
    const key = createSecretKey(Buffer.from(hkdfSync("sha256", bytes, "", `delivery/vault/${purpose}`, keyLength)))
    return (text: string) => createHmac("sha256", key).update(text, "utf8").digest("base64url")
  }
  return {
    encrypt: (place, value) => encrypt(key, authenticated(key, place), value),
    decrypt: (place, encrypted) => decrypt(key, authenticated(key, place), encrypted, () => placeProblem(key, place)),
    seal: (purpose, secret) => encrypt(key, purposeOf(key, purpose), secret),
    open: (purpose, sealed) =>
      decrypt(
        key,
        purposeOf(key, purpose),
        sealed,
        () => `The stored ${purpose} of the workspace ${workspaceId} is not authentic: it was changed or moved.`
      ),
    fingerprint: keyedHash("request-fingerprint"),
    revision: keyedHash("revision")
  }
}

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

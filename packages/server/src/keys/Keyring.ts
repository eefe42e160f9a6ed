import * as NodeChildProcessSpawner from "@effect/platform-node/NodeChildProcessSpawner"
import { Context, Data, Effect, FileSystem, Layer, Option, Path, Redacted } from "effect"
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto"
import { Settings, SettingsError, type VaultKey, type VaultKeys } from "../Config.ts"
import { makeDirectory } from "../database/Flush.ts"
import { read } from "./GivenKeys.ts"

/** What was encrypted cannot be decrypted: its key is not in the keyring, or it was not encrypted for this purpose. */
export class KeyringError extends Data.TaggedError("KeyringError")<{
  readonly reason: "unknown_key" | "not_authentic"
  /** The id of the key that it says it is encrypted under. */
  readonly keyId: string
}> {}

/**
 * Encrypts small secrets under the active key of `VAULT_KEYS` with AES-256-GCM (docs/contract.md, Vault). The result is
 * text that names its format and key, `v1:{key id}:{base64url of nonce, ciphertext and tag}`. It can be decrypted for the
 * same purpose only: the purpose is authenticated with it.
 */
export class Keyring extends Context.Service<
  Keyring,
  {
    /** The id of the key that encrypts. */
    readonly activeId: string
    /** The ids of all keys, the active one first. */
    readonly ids: ReadonlyArray<string>
    readonly encrypt: (purpose: string, secret: Uint8Array) => Effect.Effect<string>
    readonly decrypt: (purpose: string, encrypted: string) => Effect.Effect<Uint8Array, KeyringError>
    /** HMAC-SHA-256 in base64url, under a key that is derived from the active one for this purpose alone (HKDF). */
    readonly sign: (purpose: string, text: string) => string
    /** Whether one of the keys has signed the text for this purpose. Takes as long for any signature of its length. */
    readonly isSigned: (purpose: string, text: string, signature: string) => boolean
  }
>()("@delivery/server/keys/Keyring") {
  /** The keys of the settings; where there are none, a key made once in `DATA_DIR`/keys. */
  static readonly layer = Layer.effect(
    Keyring,
    Effect.gen(function* () {
      const { dataDir, vaultKeys } = yield* Settings
      return make(Option.isSome(vaultKeys) ? yield* read(vaultKeys.value) : [yield* generatedKey(dataDir)])
    })
  ).pipe(Layer.provide(NodeChildProcessSpawner.layer))

  /** A key that is gone with the process. */
  static readonly layerMemory = Layer.sync(Keyring, () => make([{ id: "memory", bytes: Redacted.make(newKey()) }]))
}

const format = "v1"
const cipher = "aes-256-gcm"
const nonceLength = 12
const tagLength = 16

const make = (keys: VaultKeys): Keyring["Service"] =>
  Keyring.of({
    activeId: keys[0].id,
    ids: keys.map((key) => key.id),
    encrypt: encrypt(keys[0]),
    decrypt: decrypt(keys),
    sign: (purpose, text) => signed(keys[0], purpose, text).toString("base64url"),
    isSigned: (purpose, text, signature) => {
      const given = Buffer.from(signature, "base64url")
      return (
        // Of several ways to write the same bytes, one counts.
        given.toString("base64url") === signature &&
        given.length === signatureLength &&
        keys.some((key) => timingSafeEqual(given, signed(key, purpose, text)))
      )
    }
  })

const signatureLength = 32

const signed = (key: VaultKey, purpose: string, text: string): Buffer => {
  const derived = hkdfSync("sha256", Redacted.value(key.bytes), "", `sign:${purpose}`, signatureLength)
  return createHmac("sha256", Buffer.from(derived)).update(text).digest()
}

const encrypt = (active: VaultKey) => (purpose: string, secret: Uint8Array) =>
  Effect.sync(() => {
    const head = `${format}:${active.id}:`
    const nonce = randomBytes(nonceLength)
    const encryption = createCipheriv(cipher, Redacted.value(active.bytes), nonce, { authTagLength: tagLength })
    encryption.setAAD(Buffer.from(head + purpose))
    const body = Buffer.concat([nonce, encryption.update(secret), encryption.final(), encryption.getAuthTag()])
    return head + body.toString("base64url")
  })

const decrypt = (keys: VaultKeys) => (purpose: string, encrypted: string) =>
  Effect.suspend(() => {
    const [form, keyId = "", text = ""] = encrypted.split(":")
    const notAuthentic = new KeyringError({ reason: "not_authentic", keyId })
    const body = Buffer.from(text, "base64url")
    if (form !== format || body.length < nonceLength + tagLength) return Effect.fail(notAuthentic)
    const key = keys.find((key) => key.id === keyId)
    if (key === undefined) return Effect.fail(new KeyringError({ reason: "unknown_key", keyId }))
    return Effect.try({
      try: () => {
        const nonce = body.subarray(0, nonceLength)
        const decryption = createDecipheriv(cipher, Redacted.value(key.bytes), nonce, { authTagLength: tagLength })
        decryption.setAAD(Buffer.from(`${form}:${keyId}:${purpose}`))
        decryption.setAuthTag(body.subarray(-tagLength))
        const secret = decryption.update(body.subarray(nonceLength, -tagLength))
        return new Uint8Array(Buffer.concat([secret, decryption.final()]))
      },
      catch: () => notAuthentic
    })
  })

/** The id of the key that it says it is encrypted under. */
export const keyIdOf = (encrypted: string): string => encrypted.split(":")[1] ?? ""

const newKey = (): Uint8Array => new Uint8Array(randomBytes(32))

const cannotStore = (dataDir: string, reason: string) =>
  new SettingsError({ message: `DATA_DIR: the vault key cannot be stored in ${dataDir}: ${reason}` })

/** The key in `DATA_DIR`/keys, made by the first start. Its file has the form of `VAULT_KEYS`. */
const generatedKey = Effect.fnUntraced(
  function* (dataDir: string) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const directory = path.join(dataDir, "keys")
    const file = path.join(directory, "vault.keys")

    // The key is made before the database, so that one without the other has lost it.
    const hasDatabase = yield* fs.exists(path.join(dataDir, "postgres"))
    if (!(yield* fs.exists(file))) {
      if (hasDatabase) {
        const missing = (yield* fs.exists(directory)) ? file : directory
        return yield* new SettingsError({
          message: `${path.resolve(missing)} is missing, and has the key that encrypts secrets of the database in DATA_DIR. Restore it from a back-up. If this server had VAULT_KEYS, set them again.`
        })
      }
      yield* Effect.try({
        try: () => makeDirectory(directory),
        catch: (cause) => cannotStore(dataDir, cause instanceof Error ? cause.message : String(cause))
      })
      const draft = `${file}.${randomBytes(6).toString("hex")}`
      yield* Effect.ensuring(
        Effect.gen(function* () {
          yield* Effect.scoped(
            Effect.gen(function* () {
              const opened = yield* fs.open(draft, { flag: "wx", mode: 0o600 })
              yield* opened.writeAll(Buffer.from(`local:${Buffer.from(newKey()).toString("base64")}\n`))
              yield* opened.sync
            })
          )
          // A link is made whole or not at all, and fails where another start was first.
          yield* Effect.catchReason(fs.link(draft, file), "PlatformError", "AlreadyExists", () => Effect.void)
          yield* Effect.scoped(Effect.flatMap(fs.open(directory), (opened) => opened.sync))
        }),
        Effect.ignore(fs.remove(draft))
      )
    }

    const match = /^([A-Za-z0-9._-]{1,40}):([A-Za-z0-9+/]{43}=)\s*$/.exec(yield* fs.readFileString(file))
    if (match?.[1] === undefined || match[2] === undefined) {
      return yield* new SettingsError({
        message: `DATA_DIR: ${file} does not contain a key (id:base64-of-32-bytes). Restore it from a back-up. Without it, what it encrypts is lost.`
      })
    }
    return { id: match[1], bytes: Redacted.make(new Uint8Array(Buffer.from(match[2], "base64"))) }
  },
  (effect, dataDir) =>
    Effect.catchTag(effect, "PlatformError", (error) => Effect.fail(cannotStore(dataDir, error.message)))
)

import { NodeFileSystem, NodePath } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Layer } from "effect"
import { randomBytes } from "node:crypto"
import { statSync } from "node:fs"
import { join } from "node:path"
import { Settings } from "../../src/Config.ts"
import { Keyring } from "../../src/keys/Keyring.ts"

const bytes = (text: string) => new TextEncoder().encode(text)
const key = (id: string) => `${id}:${randomBytes(32).toString("base64")}`

const platform = Layer.merge(NodeFileSystem.layer, NodePath.layer)

const over = (environment: Record<string, string>) =>
  Keyring.layer.pipe(Layer.provide(Settings.layer(environment)), Layer.provide(platform))

/** What the keyring with these settings does. */
const using = <A, E>(environment: Record<string, string>, use: (keyring: Keyring["Service"]) => Effect.Effect<A, E>) =>
  Effect.provide(Effect.flatMap(Keyring, use), over(environment), { local: true })

const directory = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped()).pipe(
  Effect.provide(platform)
)

describe("Keyring", () => {
  it.effect("decrypts what it encrypted, for the same purpose only", () =>
    Effect.gen(function* () {
      const keyring = yield* Keyring
      for (const secret of [new Uint8Array(), bytes("a"), new Uint8Array(randomBytes(10_000))]) {
        const encrypted = yield* keyring.encrypt("purpose", secret)
        assert.deepStrictEqual(yield* keyring.decrypt("purpose", encrypted), secret)
        assert.notStrictEqual(yield* keyring.encrypt("purpose", secret), encrypted)
        assert.strictEqual((yield* Effect.flip(keyring.decrypt("other", encrypted))).reason, "not_authentic")
      }
    }).pipe(Effect.provide(Keyring.layerMemory))
  )

  it.effect("rejects changed input", () =>
    Effect.gen(function* () {
      const keyring = yield* Keyring
      const encrypted = yield* keyring.encrypt("purpose", bytes("secret"))
      const [format, id, body] = encrypted.split(":") as [string, string, string]
      const blob = Buffer.from(body, "base64url")
      for (let i = 0; i < blob.length; i++) {
        const changed = Buffer.from(blob)
        changed[i]! ^= 1
        yield* Effect.flip(keyring.decrypt("purpose", `${format}:${id}:${changed.toString("base64url")}`))
      }
      for (const text of [
        "",
        "nonsense",
        `v2:${id}:${body}`,
        `${format}:${id}:`,
        `${format}:${id}:${body.slice(0, 20)}`,
        `${format}:${id}:${blob.subarray(0, -1).toString("base64url")}`
      ]) {
        assert.strictEqual((yield* Effect.flip(keyring.decrypt("purpose", text))).reason, "not_authentic", text)
      }
      assert.deepInclude(yield* Effect.flip(keyring.decrypt("purpose", `${format}:gone:${body}`)), {
        reason: "unknown_key",
        keyId: "gone"
      })
    }).pipe(Effect.provide(Keyring.layerMemory))
  )

  it.effect("signs under the first key, for one purpose, and knows the signatures of all", () =>
    Effect.gen(function* () {
      const [first, second] = [key("k1"), key("k2")]
      const old = yield* using({ VAULT_KEYS: first }, (keyring) => Effect.sync(() => keyring.sign("p", "text")))
      assert.match(old, /^[\w-]{43}$/)
      yield* using({ VAULT_KEYS: `${second},${first}` }, (keyring) =>
        Effect.sync(() => {
          assert.isTrue(keyring.isSigned("p", "text", old))
          assert.isTrue(keyring.isSigned("p", "text", keyring.sign("p", "text")))
          assert.notStrictEqual(keyring.sign("p", "text"), old)
          for (const [purpose, text, signature] of [
            ["q", "text", old],
            ["p", "texts", old],
            ["p", "text", ""],
            ["p", "text", `${old}=`],
            ["p", "text", `${old.slice(0, -1)}!`]
          ] as const) {
            assert.isFalse(keyring.isSigned(purpose, text, signature), `${purpose} ${text} ${signature}`)
          }
        })
      )
      yield* using({ VAULT_KEYS: second }, (keyring) =>
        Effect.sync(() => assert.isFalse(keyring.isSigned("p", "text", old)))
      )
    })
  )

  it.effect("encrypts under the first key and decrypts under any", () =>
    Effect.gen(function* () {
      const [first, second] = [key("k.1"), key("k-2")]
      const old = yield* using({ VAULT_KEYS: first }, (keyring) => keyring.encrypt("p", bytes("secret")))
      assert.match(old, /^v1:k\.1:/)
      yield* using({ VAULT_KEYS: `${second},${first}` }, (keyring) =>
        Effect.gen(function* () {
          assert.match(yield* keyring.encrypt("p", bytes("secret")), /^v1:k-2:/)
          assert.deepStrictEqual(yield* keyring.decrypt("p", old), bytes("secret"))
        })
      )
      yield* using({ VAULT_KEYS: second }, (keyring) =>
        Effect.gen(function* () {
          assert.strictEqual((yield* Effect.flip(keyring.decrypt("p", old))).reason, "unknown_key")
        })
      )
      yield* using({ VAULT_KEYS: key("k.1") }, (keyring) =>
        Effect.gen(function* () {
          assert.strictEqual((yield* Effect.flip(keyring.decrypt("p", old))).reason, "not_authentic")
        })
      )
    })
  )

  it.live("creates a key once if none is given, readable by its owner only", () =>
    Effect.gen(function* () {
      const dir = join(yield* directory, "not", "there")
      const settings = { DATA_DIR: dir }
      const encrypted = yield* Effect.forEach(
        Array.from({ length: 10 }),
        () => using(settings, (keyring) => keyring.encrypt("p", bytes("secret"))),
        { concurrency: "unbounded" }
      )
      yield* using(settings, (keyring) =>
        Effect.gen(function* () {
          for (const blob of encrypted) assert.deepStrictEqual(yield* keyring.decrypt("p", blob), bytes("secret"))
        })
      )
      const fs = yield* FileSystem.FileSystem
      assert.deepStrictEqual(yield* fs.readDirectory(join(dir, "keys")), ["vault.keys"])
      assert.strictEqual(statSync(join(dir, "keys")).mode & 0o777, 0o700)
      assert.strictEqual(statSync(join(dir, "keys", "vault.keys")).mode & 0o777, 0o600)
      // It may be given as VAULT_KEYS, when the database moves.
      const given = (yield* fs.readFileString(join(dir, "keys", "vault.keys"))).trim()
      yield* using({ VAULT_KEYS: given }, (keyring) =>
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* keyring.decrypt("p", encrypted[0]!), bytes("secret"))
        })
      )
    }).pipe(Effect.provide(platform))
  )

  it.live("reports in one line what is wrong with its file", () =>
    Effect.gen(function* () {
      const dir = yield* directory
      const fs = yield* FileSystem.FileSystem
      yield* fs.makeDirectory(join(dir, "keys"))
      yield* fs.writeFileString(join(dir, "keys", "vault.keys"), "local:short")
      const damaged = yield* Effect.flip(using({ DATA_DIR: dir }, () => Effect.void))
      assert.strictEqual(damaged._tag, "SettingsError")
      assert.match(
        damaged.message,
        /^DATA_DIR: .*vault\.keys does not contain a key \(id:base64-of-32-bytes\)\. Restore it/
      )
      yield* fs.writeFileString(join(dir, "file"), "")
      const impossible = yield* Effect.flip(using({ DATA_DIR: join(dir, "file") }, () => Effect.void))
      assert.match(impossible.message, /^DATA_DIR: the vault key cannot be stored in /)
    }).pipe(Effect.provide(platform))
  )
})

import { assert, describe, it } from "@effect/vitest"
import type { WorkspaceId } from "@delivery/domain/Ids"
import type { JsonWebKeySet } from "@delivery/domain/SystemApi"
import { timestamp } from "@delivery/domain/Timestamp"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { createLocalJWKSet, jwtVerify } from "jose"
import { randomBytes } from "node:crypto"
import { Settings } from "../../src/Config.ts"
import { Keyring } from "../../src/crypto/Keyring.ts"
import { SigningKeys } from "../../src/crypto/SigningKeys.ts"
import { SigningKeysRepo } from "../../src/crypto/SigningKeysRepo.ts"
import { MemoryStorage } from "../../src/storage/MemoryStorage.ts"
import { Fixtures } from "../../src/testing/Fixtures.ts"
import { newId } from "../identity/Scene.ts"
import { storages } from "./Scene.ts"
import { NodeFileSystem, NodePath } from "@effect/platform-node"

const layerServices = Fixtures.layer.pipe(
  Layer.provideMerge(SigningKeys.layer),
  Layer.provide(Keyring.layerMemory),
  Layer.provide(SigningKeysRepo.layerMemory),
  Layer.provide(MemoryStorage.layer),
  Layer.provide(Settings.layer({ BASE_URL: "https://delivery.example" }))
)

/** A run that starts at 12:00:00.123 and whose token ends an hour later. */
const start = Date.UTC(2026, 10, 21, 12, 0, 0, 123)
const expiresAt = timestamp(start + 3_600_000)
const fixture = { scope: "run-12-0a1b", url: "https://fixtures.example/api/", expiresAt }
const workspaceId = newId<WorkspaceId>()

/** What a deployment verifies tokens with. */
const verifier = ({ keys }: JsonWebKeySet) => createLocalJWKSet({ keys: [...keys] })

const access = Effect.gen(function* () {
  yield* TestClock.setTime(start)
  return yield* (yield* Fixtures).access({ workspaceId, number: 12 }, fixture)
})

describe("Fixtures", () => {
  it.effect("gives a token that the published keys verify, with all of its claims", () =>
    Effect.gen(function* () {
      const { token, ...rest } = yield* access
      assert.deepStrictEqual(rest, fixture)
      const jwks = yield* (yield* SigningKeys).jwks
      const keys = verifier(jwks)
      const { payload, protectedHeader } = yield* Effect.promise(() =>
        jwtVerify(token, keys, {
          issuer: "https://delivery.example",
          audience: fixture.url,
          algorithms: ["EdDSA"],
          currentDate: new Date(start)
        })
      )
      assert.deepStrictEqual(payload, {
        iss: "https://delivery.example",
        aud: fixture.url,
        sub: `${workspaceId}/12`,
        scope: "run-12-0a1b",
        iat: Math.floor(start / 1000),
        exp: Math.floor(Date.parse(expiresAt) / 1000)
      })
      assert.deepStrictEqual(protectedHeader, { alg: "EdDSA", kid: jwks.keys[0]!.kid, typ: "JWT" })
    }).pipe(Effect.provide(layerServices))
  )

  it.effect("gives a token that ends, and is for one Fixture API alone", () =>
    Effect.gen(function* () {
      const { token } = yield* access
      const keys = verifier(yield* (yield* SigningKeys).jwks)
      const verify = (options: object) =>
        Effect.promise(() =>
          jwtVerify(token, keys, options).then(
            () => "ok",
            (error: { code: string }) => error.code
          )
        )
      assert.strictEqual(yield* verify({ currentDate: new Date(Date.parse(expiresAt) - 1_000) }), "ok")
      assert.strictEqual(yield* verify({ currentDate: new Date(expiresAt) }), "ERR_JWT_EXPIRED")
      assert.strictEqual(
        yield* verify({ currentDate: new Date(start), audience: "https://other.example" }),
        "ERR_JWT_CLAIM_VALIDATION_FAILED"
      )
    }).pipe(Effect.provide(layerServices))
  )
})

const vaultKey = (id: string) => `${id}:${randomBytes(32).toString("base64")}`

for (const storage of storages) {
  describe(`SigningKeys on ${storage.name}`, () => {
    it.effect("are made once by servers that start at once, and kept", () =>
      Effect.gen(function* () {
        const keys = vaultKey("a")
        const server = (vaultKeys: string) =>
          Layer.build(
            SigningKeys.layer.pipe(
              Layer.provide(Keyring.layer),
              Layer.provide([Settings.layer({ VAULT_KEYS: vaultKeys }), NodeFileSystem.layer, NodePath.layer]),
              Layer.fresh
            )
          ).pipe(Effect.flatMap((context) => Effect.provideContext(SigningKeys, context)))
        const servers = yield* Effect.forEach(Array.from({ length: 8 }), () => server(keys), {
          concurrency: "unbounded"
        })
        const sets = yield* Effect.forEach(servers, (server) => server.jwks)
        for (const set of sets) assert.deepStrictEqual(set, sets[0]!)
        assert.strictEqual(sets[0]!.keys.length, 1)
        const published = verifier(sets[0]!)
        for (const server of servers) {
          const token = yield* server.sign({ sub: "x" })
          assert.strictEqual((yield* Effect.promise(() => jwtVerify(token, published))).payload.sub, "x")
        }

        // Once more, with the key no longer the active one, then without it, then with another of its name.
        const later = yield* server(`${vaultKey("b")},${keys}`)
        assert.deepStrictEqual(yield* later.jwks, sets[0]!)
        const without = yield* Effect.flip(server(vaultKey("b")))
        assert.match(without.message, /^VAULT_KEYS is wrong: it lacks the key a, /)
        const other = yield* Effect.flip(server(vaultKey("a")))
        assert.match(other.message, /^VAULT_KEYS is wrong: its key a is not the one /)

        const [stored] = yield* (yield* SigningKeysRepo).list
        assert.match(stored!.sealedPrivateKey, /^v1:a:/)
      }).pipe(Effect.provide(storage.layer))
    )
  })
}

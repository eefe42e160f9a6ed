import { assert, describe, it } from "@effect/vitest"
import type { WorkspaceId } from "@delivery/domain/Ids"
import type { JsonWebKeySet } from "@delivery/domain/SystemApi"
import { timestamp } from "@delivery/domain/Timestamp"
import { PgClient } from "@effect/sql-pg"
import { Clock, type Duration, Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from "jose"
import { randomBytes } from "node:crypto"
import { Settings } from "../../src/Config.ts"
import { layerMemoryStorage } from "../../src/App.ts"
import * as Files from "../../src/files/Files.ts"
import { SigningKeys } from "../../src/keys/SigningKeys.ts"
import * as Keys from "../../src/keys/Keys.ts"
import { SigningKeysRepo } from "../../src/keys/SigningKeysRepo.ts"
import * as StorageRoom from "../../src/storage/StorageRoom.ts"
import { Fixtures } from "../../src/runs/Fixtures.ts"
import { newId } from "../identity/Scene.ts"
import { eventually } from "../support/Eventually.ts"
import { sharedStorages } from "../support/Storages.ts"
import { layerRuns } from "./Services.ts"
import { NodeFileSystem, NodePath } from "@effect/platform-node"

const layerServices = layerRuns.pipe(
  Layer.provideMerge(Keys.layer),
  Layer.provide([layerMemoryStorage, Keys.layerMemoryKeyring, Files.layerMemory]),
  Layer.provide(Settings.layer({ BASE_URL: "https://delivery.example" })),
  Layer.provide(Layer.effectDiscard(Effect.suspend(() => TestClock.setTime(start))))
)

/** The keys, with the rounds in which they are replaced. */
const layerKeys = Layer.provideMerge(Keys.layerBackground, Keys.layer)

/** A run that starts at 12:00:00.123 and whose token ends an hour later. */
const start = Date.UTC(2026, 10, 21, 12, 0, 0, 123)
const expiresAt = timestamp(start + 3_600_000)
const fixture = { scope: "run-12-0a1b", url: "https://fixtures.example/api/", expiresAt }
const workspaceId = newId<WorkspaceId>()

/** What a deployment verifies tokens with. */
const verifier = ({ keys }: JsonWebKeySet) => createLocalJWKSet({ keys: [...keys] })

const access = Effect.gen(function* () {
  return yield* (yield* Fixtures).access({ workspaceId, number: 12 }, fixture)
})

describe("Fixtures", () => {
  it.effect("issues a token with all claims, which the published keys verify", () =>
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

  it.effect("issues a token that expires and is valid for one Fixture API", () =>
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

/** The clock of servers whose rounds are awaited: a server that sleeps has ended its round, whatever that took. */
const makeRounds = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  let sleeping = 0
  const sleep = (duration: Duration.Duration) =>
    Effect.suspend(() => {
      sleeping++
      return Effect.ensuring(
        clock.sleep(duration),
        Effect.sync(() => sleeping--)
      )
    })
  const ended = (servers: number) =>
    eventually(
      Effect.sync(() => sleeping),
      (count) => count === servers
    )
  return { layerClock: Layer.succeed(Clock.Clock, { ...clock, sleep }), ended }
})

describe("SigningKeys", () => {
  it.effect("are replaced after 30 days", () =>
    Effect.gen(function* () {
      const kids = Effect.gen(function* () {
        const rounds = yield* makeRounds
        return yield* Effect.gen(function* () {
          yield* rounds.ended(1)
          yield* TestClock.adjust("1 minute")
          yield* rounds.ended(1)
          return (yield* (yield* SigningKeys).jwks).keys.map((key) => key.kid)
        }).pipe(Effect.provide(Layer.provide(Layer.fresh(layerKeys), rounds.layerClock)))
      })
      const [first] = yield* kids
      yield* TestClock.adjust("29 days")
      assert.deepStrictEqual(yield* kids, [first])
      yield* TestClock.adjust("1 day")
      const replaced = yield* kids
      assert.strictEqual(replaced.length, 2)
      assert.strictEqual(replaced[1], first)
      yield* TestClock.adjust("7 hours")
      assert.deepStrictEqual(yield* kids, [replaced[0]])
    }).pipe(
      Effect.provide([
        Keys.layerMemory.pipe(Layer.provide(StorageRoom.layerMemoryTables)),
        Keys.layerMemoryKeyring,
        Settings.layer({})
      ])
    )
  )
})

const vaultKey = (id: string) => `${id}:${randomBytes(32).toString("base64")}`

/** The keys are those of the whole database, which other suites use too: they are put aside, and brought back. */
const alone = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const sql = yield* Effect.serviceOption(PgClient.PgClient)
    if (Option.isNone(sql)) return yield* test
    yield* sql.value`create table signing_keys_aside as select * from signing_keys`
    yield* sql.value`delete from signing_keys`
    return yield* Effect.ensuring(
      test,
      Effect.gen(function* () {
        yield* sql.value`delete from signing_keys`
        yield* sql.value`insert into signing_keys select * from signing_keys_aside`
        yield* sql.value`drop table signing_keys_aside`
      }).pipe(Effect.orDie)
    )
  })

for (const { layer: storage, name } of sharedStorages) {
  describe(`SigningKeys on ${name}`, () => {
    it.effect("are created once by servers that start at once, and stored", () =>
      Effect.gen(function* () {
        const keys = vaultKey("a")
        const server = (vaultKeys: string) =>
          Layer.build(
            Keys.layer.pipe(
              Layer.provide(Keys.layerKeyring),
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
        assert.match(without.message, /^VAULT_KEYS is invalid: it lacks the key a, /)
        const other = yield* Effect.flip(server(vaultKey("a")))
        assert.match(other.message, /^VAULT_KEYS is invalid: its key a is not the one /)

        const [stored] = yield* (yield* SigningKeysRepo).list
        assert.match(stored!.sealedPrivateKey, /^v1:a:/)
      }).pipe(Effect.scoped, alone, Effect.provide(storage))
    )

    it.effect("are replaced without invalidating tokens", () =>
      Effect.gen(function* () {
        const limit = 3_600_000
        const keyring = vaultKey("a")
        const rounds = yield* makeRounds
        const server = Layer.build(
          layerKeys.pipe(
            Layer.provide(Keys.layerKeyring),
            Layer.provide([
              Settings.layer({ VAULT_KEYS: keyring, RUN_LIMIT_MS: String(limit) }),
              NodeFileSystem.layer,
              NodePath.layer
            ]),
            Layer.provide(rounds.layerClock),
            Layer.fresh
          )
        ).pipe(Effect.flatMap((context) => Effect.provideContext(SigningKeys, context)))
        const [first, second] = [yield* server, yield* server]
        yield* rounds.ended(2)
        const kidOf = (token: string) => decodeProtectedHeader(token).kid!
        const kids = Effect.forEach([first, second], ({ jwks }) =>
          Effect.map(jwks, ({ keys }) => keys.map((key) => key.kid))
        )
        const sign = Effect.gen(function* () {
          const now = yield* Clock.currentTimeMillis
          return yield* Effect.forEach([first, second], ({ sign }) => sign({ exp: Math.floor((now + limit) / 1000) }))
        })
        const verify = (tokens: ReadonlyArray<string>) =>
          Effect.gen(function* () {
            const currentDate = new Date(yield* Clock.currentTimeMillis)
            for (const { jwks } of [first, second]) {
              const published = createLocalJWKSet({ keys: [...(yield* jwks).keys] })
              for (const token of tokens) yield* Effect.promise(() => jwtVerify(token, published, { currentDate }))
            }
          })
        /** Lets minutes pass, after which both servers publish and sign with these. */
        const pass = Effect.fnUntraced(function* (minutes: number, published: ReadonlyArray<string>, signing: string) {
          // In a database the round that the first of them begins takes longer than all of them.
          for (const part of [minutes - 1, 1]) {
            yield* TestClock.adjust(part * 60_000)
            yield* rounds.ended(2)
          }
          assert.deepStrictEqual(yield* kids, [published, published])
          assert.deepStrictEqual((yield* sign).map(kidOf), [signing, signing])
        })
        const [old] = (yield* sign).map(kidOf)
        const renewed = yield* first.rotate
        assert.notStrictEqual(renewed, old)
        const both = [renewed, old!]
        // Known to every server for minutes before any signs with it.
        yield* pass(1, both, old!)
        yield* pass(10, both, old!)
        const last = yield* sign
        yield* pass(5, both, renewed)
        yield* verify([...last, ...(yield* sign)])
        yield* pass(45, both, renewed)
        yield* verify([last[0]!])
        yield* pass(30, [renewed], renewed)
        yield* verify(yield* sign)
      }).pipe(Effect.scoped, alone, Effect.provide(storage))
    )
  })
}

import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Redacted } from "effect"
import { Settings } from "../../src/Config.ts"
import { hashToken, isToken, NewToken } from "../../src/ids/Tokens.ts"
import { ApiKeysRepo } from "../../src/identity/ApiKeysRepo.ts"
import { Bootstrap } from "../../src/identity/Bootstrap.ts"
import { MembersRepo } from "../../src/identity/MembersRepo.ts"
import { PersonsRepo } from "../../src/identity/PersonsRepo.ts"
import { layerServices, sharedStorages, storages } from "../support/Storages.ts"
import { addPerson, eventsOf, now } from "./Scene.ts"

/** A server's first step with these settings. */
const bootstrap = (environment: Readonly<Record<string, string>> = {}) =>
  Effect.map(Bootstrap, ({ made }) => made).pipe(
    Effect.provide(Layer.provide(Bootstrap.layer, Settings.layer(environment)), { local: true })
  )

/** What the key gives in the workspace. */
const authenticate = (apiKey: Redacted.Redacted, workspace: string) =>
  Effect.flatMap(ApiKeysRepo, (keys) => keys.authenticate(hashToken(Redacted.value(apiKey)), workspace))

/** As a server finds its database at its first start: with nothing in it. */
const layerEmptied = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* Effect.serviceOption(PgClient.PgClient)
    if (Option.isSome(sql)) yield* sql.value`truncate workspaces, persons cascade`
  })
)

for (const { layer, name } of sharedStorages) {
  const layerStorage = Layer.provideMerge(layerEmptied, layer)
  describe(`Bootstrap on ${name}`, () => {
    it.effect("creates a workspace with its owner and a key once, also if servers start at once", () =>
      Effect.gen(function* () {
        const persons = yield* PersonsRepo
        assert.isTrue(yield* persons.isEmpty)
        const starts = yield* Effect.all([bootstrap(), bootstrap(), bootstrap()], { concurrency: "unbounded" })
        const [made, ...others] = starts.flatMap(Option.toArray)
        assert.deepStrictEqual(others, [])
        assert.isFalse(yield* persons.isEmpty)
        const { apiKey, ...rest } = made!
        const authenticated = (yield* authenticate(apiKey, "main"))!
        assert.deepStrictEqual(rest, {
          workspace: "main",
          owner: authenticated.principal.id as never,
          ownerEmail: "owner@example.com",
          isGiven: false
        })
        assert.isTrue(isToken("ctk_", Redacted.value(apiKey)))
        const { id, kind, name } = authenticated.principal
        assert.deepStrictEqual([kind, name], ["user", "Owner"])
        assert.deepStrictEqual(authenticated.principal, { kind: "user", id: id as never, name, email: rest.ownerEmail })
        const workspace = authenticated.membership!
        assert.deepStrictEqual([workspace.slug, workspace.name, workspace.role], ["main", "main", "owner"])
        assert.lengthOf(yield* (yield* MembersRepo).list(workspace.id), 1)
        const events = yield* eventsOf(workspace)
        assert.deepStrictEqual(
          events.map((event) => [event.kind, event.actor, event.subjectType, event.subjectId, event.createdAt]),
          [["workspace_created", authenticated.principal, "workspace", workspace.id, yield* now]]
        )
        assert.isTrue(Option.isNone(yield* bootstrap()))
        assert.isTrue(Option.isNone(yield* bootstrap({ BOOTSTRAP_WORKSPACE: "other" })))
        assert.isUndefined((yield* authenticate(apiKey, "other"))?.membership)
      }).pipe(Effect.provide(Layer.provideMerge(layerServices, layerStorage)))
    )

    it.effect("creates one workspace if servers with different settings start at once", () =>
      Effect.gen(function* () {
        const starts = yield* Effect.forEach(
          ["a", "b", "c", "d", "e"],
          (name) => bootstrap({ BOOTSTRAP_WORKSPACE: name, BOOTSTRAP_OWNER_EMAIL: `${name}@example.com` }),
          { concurrency: "unbounded" }
        )
        assert.lengthOf(starts.flatMap(Option.toArray), 1)
      }).pipe(Effect.provide(Layer.provideMerge(layerServices, layerStorage)))
    )
  })
}

describe("Bootstrap", () => {
  const onMemory = Effect.provide(Layer.provideMerge(layerServices, storages.memory))

  it.effect("creates what the settings name, with the key from the settings", () =>
    Effect.gen(function* () {
      const apiKey = yield* (yield* NewToken)("ctk_")
      const environment = {
        BOOTSTRAP_WORKSPACE: "acme",
        BOOTSTRAP_OWNER_EMAIL: "Ana@Example.com",
        BOOTSTRAP_OWNER_NAME: " Ana Diaz ",
        BOOTSTRAP_API_KEY: apiKey
      }
      const made = Option.getOrThrow(yield* bootstrap(environment))
      const { apiKey: secret, ...rest } = made
      const authenticated = (yield* authenticate(secret, "acme"))!
      assert.deepStrictEqual(rest, {
        workspace: "acme",
        owner: authenticated.principal.id as never,
        ownerEmail: "ana@example.com",
        isGiven: true
      })
      assert.strictEqual(Redacted.value(secret), apiKey)
      assert.strictEqual(authenticated.membership?.role, "owner")
      assert.strictEqual(authenticated.principal.name, "Ana Diaz")
      assert.isTrue(Option.isNone(yield* bootstrap(environment)))
    }).pipe(onMemory)
  )

  it.effect("creates nothing if a person exists", () =>
    Effect.gen(function* () {
      yield* addPerson()
      assert.isTrue(Option.isNone(yield* bootstrap()))
    }).pipe(onMemory)
  )
})

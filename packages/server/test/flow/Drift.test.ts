import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Readiness } from "../../src/flow/Readiness.ts"
import { everyRole, now, refusal, unique, whoMay } from "../identity/Scene.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import { makeReadinessScene, newShop } from "./ReadinessScene.ts"

withServicesOnEachStorage("Drift", (it) => {
  it.effect("is told to every role", () =>
    Effect.gen(function* () {
      const readiness = yield* Readiness
      const scene = yield* makeReadinessScene
      const call = readiness.drift(unique("unknown"), unique("unknown"), undefined)
      assert.deepStrictEqual(yield* whoMay(scene, call), everyRole)
    })
  )

  it.effect("is of what the product loaded, and of nothing before it did", () =>
    Effect.gen(function* () {
      const shop = yield* newShop(yield* makeReadinessScene)
      yield* shop.set("KEPT", "kept")
      yield* shop.set("CHANGED", "1")
      assert.deepStrictEqual(yield* shop.drift(), { loadedAt: null, changed: [], missing: [] })
      yield* TestClock.adjust("1 hour")
      const loadedAt = yield* now
      yield* shop.load
      assert.deepStrictEqual(yield* shop.drift(), { loadedAt, changed: [], missing: [] })
      yield* shop.set("CHANGED", "2")
      yield* shop.set("CHANGED", "3")
      // In the same millisecond as the load: versions tell, and no clock.
      yield* shop.set("ADDED", "1")
      yield* shop.set("ELSEWHERE", "1", "staging")
      assert.deepStrictEqual(yield* shop.drift(), {
        loadedAt,
        changed: [
          { name: "ADDED", loaded: null, version: 1 },
          { name: "CHANGED", loaded: 1, version: 3 }
        ],
        missing: []
      })
      yield* TestClock.adjust("2 minutes")
      yield* shop.load
      assert.deepStrictEqual(yield* shop.drift(), { loadedAt: yield* now, changed: [], missing: [] })
    })
  )

  it.effect("names what was cleared, deleted, and made again", () =>
    Effect.gen(function* () {
      const shop = yield* newShop(yield* makeReadinessScene)
      for (const name of ["CLEARED", "DELETED", "MADE_AGAIN", "MADE_EMPTY", "RENAMED"]) yield* shop.set(name, "1")
      yield* shop.set("MADE_AGAIN", "2")
      yield* shop.set("NEVER_LOADED", "1")
      yield* shop.set("NEVER_LOADED", null)
      yield* shop.load
      yield* shop.set("CLEARED", null)
      for (const name of ["DELETED", "MADE_AGAIN", "MADE_EMPTY", "NEVER_LOADED"]) yield* shop.remove(name)
      yield* shop.set("MADE_AGAIN", "3")
      yield* shop.set("MADE_EMPTY", "1", "staging")
      yield* shop.rename("RENAMED", "OTHER")
      const changed = [
        { name: "CLEARED", loaded: 1, version: 2 },
        { name: "DELETED", loaded: 1, version: 0 },
        { name: "MADE_AGAIN", loaded: 2, version: 1 },
        { name: "MADE_EMPTY", loaded: 1, version: 0 }
      ]
      assert.deepStrictEqual((yield* shop.drift()).changed, changed)
      yield* TestClock.adjust("2 minutes")
      yield* shop.load
      assert.deepStrictEqual((yield* shop.drift()).changed, [])
    })
  )

  it.effect("is of the secrets alone that a product reads one by one", () =>
    Effect.gen(function* () {
      const shop = yield* newShop(yield* makeReadinessScene)
      yield* shop.set("READ", "1")
      yield* shop.set("UNREAD", "1")
      yield* shop.loadOne("READ")
      assert.deepStrictEqual((yield* shop.drift()).changed, [])
      yield* shop.set("READ", "2")
      yield* shop.set("UNREAD", "2")
      assert.deepStrictEqual((yield* shop.drift()).changed, [{ name: "READ", loaded: 1, version: 2 }])
      yield* shop.remove("READ")
      yield* shop.set("READ", "3")
      yield* shop.loadOne("READ")
      assert.deepStrictEqual((yield* shop.drift()).changed, [])
      // Once it has read all, it has no others.
      yield* shop.load
      yield* shop.set("ADDED", "1")
      yield* shop.loadOne("READ")
      assert.deepStrictEqual((yield* shop.drift()).changed, [{ name: "ADDED", loaded: null, version: 1 }])
    })
  )

  it.effect("names what is missing beside an environment, by default that of the policy", () =>
    Effect.gen(function* () {
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      yield* shop.set("BOTH", "1", "staging")
      yield* shop.set("BOTH", "1")
      yield* shop.set("HERE", "1")
      yield* shop.set("item10", "1", "staging")
      yield* shop.set("Item9", "1", "staging")
      yield* shop.set("CLEARED_HERE", "1", "staging")
      yield* shop.set("CLEARED_HERE", "1")
      yield* shop.set("CLEARED_HERE", null)
      yield* shop.set("CLEARED_THERE", "1", "staging")
      yield* shop.set("CLEARED_THERE", null, "staging")
      yield* shop.set("DELETED", "1", "staging")
      yield* shop.remove("DELETED")
      const other = yield* newShop(scene)
      yield* other.set("OTHER_PRODUCT", "1", "staging")
      assert.deepStrictEqual((yield* shop.drift()).missing, [])
      const missing = ["CLEARED_HERE", "Item9", "item10"].map((name) => ({ name, beside: "staging" }))
      assert.deepStrictEqual((yield* shop.drift("staging")).missing, missing)
      assert.deepStrictEqual((yield* shop.drift(scene.staging.id)).missing, missing)
      yield* shop.setPolicy({ from: "staging" })
      assert.deepStrictEqual((yield* shop.drift()).missing, missing)
      assert.strictEqual(yield* refusal(shop.drift("nowhere")), "NotFound")
      assert.strictEqual(yield* refusal(shop.drift("production")), "InvalidInput")
    })
  )
})

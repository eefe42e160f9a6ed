import { assert } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Audit } from "../../src/audit/Audit.ts"
import { Deployments } from "../../src/catalog/Deployments.ts"
import { ReleaseReadiness } from "../../src/catalog/ReleaseReadiness.ts"
import { ReleaseWaits } from "../../src/catalog/ReleaseWaits.ts"
import { DeploymentTokens } from "../../src/deploy/DeploymentTokens.ts"
import { Loads } from "../../src/deploy/Loads.ts"
import * as Flow from "../../src/flow/Flow.ts"
import { ReadinessRepo } from "../../src/flow/ReadinessRepo.ts"
import { asProduct } from "../deploy/Scene.ts"
import { as } from "../identity/Scene.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import { deploymentIn } from "../releases/Scene.ts"
import { makeReadinessScene, newShop } from "./ReadinessScene.ts"

const readinessOf = (shop: Effect.Success<ReturnType<typeof newShop>>) =>
  Effect.map(shop.production.history(), (releases) => releases.map(({ readiness, version }) => [version, readiness]))

/** What is said of a version that nobody has tested, nor released, where `critical` is asked for. */
const untested = {
  ready: false,
  reasons: [{ kind: "run_missing", count: 1 }],
  warnings: [{ kind: "version_unknown", count: 1 }],
  requires: ["critical"],
  runs: []
}

/** That the environment is frozen, of a policy that asks for no run. */
const frozen = { ready: false, reasons: [{ kind: "frozen", count: 1 }], warnings: [], requires: [], runs: [] }

withServicesOnEachStorage("The readiness of a release", (it) => {
  it.effect("is what the policy of then says, without what only some may see", () =>
    Effect.gen(function* () {
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      yield* shop.production.update({ version: "v1" })
      yield* shop.setPolicy({
        from: "staging",
        requires: [
          { coverage: "critical", severity: "block" },
          { coverage: "acceptance", severity: "warn" }
        ],
        drift: "block"
      })
      yield* shop.production.update({ version: "v1" })
      yield* shop.staging.update({ version: "v2" })
      yield* shop.tested("failed", "critical")
      yield* shop.ticket()
      yield* shop.ticket()
      yield* shop.ticket({ title: "Secret" }, true)
      yield* shop.ticket({ title: "Secret" }, true)
      yield* shop.load
      yield* shop.set("A", "1")
      yield* shop.production.update({ version: "v2" })
      yield* shop.production.update({ version: null })
      // What changes later changes no release.
      yield* shop.setPolicy({
        from: "staging",
        requires: [{ coverage: "critical", severity: "block" }],
        tickets: "off"
      })
      yield* shop.tested("passed", "critical")
      yield* shop.production.update({ version: "v2" })
      yield* shop.production.update({ version: "v3" }, scene.owner)
      assert.deepStrictEqual(yield* readinessOf(shop), [
        [
          "v3",
          {
            ready: false,
            reasons: [{ kind: "run_missing", count: 1 }],
            warnings: [
              { kind: "version_unknown", count: 1 },
              { kind: "drift", count: 1 }
            ],
            requires: ["critical"],
            runs: []
          }
        ],
        [
          "v2",
          {
            ready: true,
            reasons: [],
            warnings: [{ kind: "drift", count: 1 }],
            requires: ["critical"],
            runs: [2]
          }
        ],
        [null, null],
        [
          "v2",
          {
            ready: false,
            reasons: [
              { kind: "run_failed", count: 1 },
              { kind: "ticket_blocks", count: 3 },
              { kind: "drift", count: 1 }
            ],
            warnings: [{ kind: "run_missing", count: 1 }],
            requires: ["critical", "acceptance"],
            runs: [1]
          }
        ],
        ["v1", null],
        ["v0", null]
      ])
    })
  )

  it.effect("is kept where the product says itself what runs, and of concurrent changes", () =>
    Effect.gen(function* () {
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      yield* shop.setPolicy({ from: "staging", requires: [{ coverage: "critical", severity: "block" }] })
      yield* shop.staging.update({ version: "v1" })
      yield* shop.tested("passed", "critical")
      const { token } = yield* Effect.flatMap(DeploymentTokens, (tokens) =>
        tokens.create(shop.product.slug, scene.production.slug, { name: "deploy" })
      ).pipe(as(scene.owner))
      yield* Effect.flatMap(Loads, (loads) => loads.setVersion({ version: "v1" })).pipe(asProduct(token))
      const others = ["a", "b", "c", "d", "e", "f"]
      yield* Effect.forEach(others, (version) => shop.production.update({ version }), {
        concurrency: "unbounded",
        discard: true
      })
      const told = yield* readinessOf(shop)
      assert.deepStrictEqual(told.slice(-2), [
        ["v1", { ready: true, reasons: [], warnings: [], requires: ["critical"], runs: [1] }],
        ["v0", null]
      ])
      assert.sameDeepMembers(
        told.slice(0, -2),
        others.map((version) => [version, untested])
      )
    })
  )

  it.effect("neither fails nor delays a release for long", () =>
    Effect.gen(function* () {
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      yield* shop.setPolicy({ from: "staging", requires: [{ coverage: "critical", severity: "block" }] })
      const repo = yield* ReadinessRepo
      const asked = yield* Deferred.make<void>()
      const found = (policy: ReadinessRepo["Service"]["policy"]) =>
        Effect.flatMap(ReleaseReadiness, ({ find }) =>
          Effect.flatMap(target, (pair) => find(scene.workspace.id, pair, "v1"))
        ).pipe(
          Effect.provide(
            Layer.provide(Layer.fresh(Flow.layerReleaseReadiness), Layer.succeed(ReadinessRepo, { ...repo, policy }))
          )
        )
      const target = Effect.gen(function* () {
        const deployment = { ...(yield* shop.production.get), release: 1, locks: 0 }
        return { product: shop.product, environment: scene.production, deployment }
      })
      assert.deepStrictEqual(yield* found(repo.policy), untested)
      assert.isNull(yield* found(() => Effect.die(new Error("The database is gone"))))
      const slow = yield* Effect.forkChild(
        found(() => Effect.andThen(Deferred.succeed(asked, undefined), Effect.never))
      )
      yield* Deferred.await(asked)
      yield* TestClock.adjust("2 seconds")
      assert.isNull(yield* Fiber.join(slow))
    })
  )

  it.effect("is found while nothing is locked", () =>
    Effect.gen(function* () {
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      const made = yield* Effect.flatMap(DeploymentTokens, (tokens) =>
        tokens.create(shop.product.slug, scene.production.slug, { name: "deploy" })
      ).pipe(as(scene.owner))
      const [asked, goesOn] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const waiting = Layer.succeed(ReleaseReadiness, {
        find: () => Deferred.succeed(asked, undefined).pipe(Effect.andThen(Deferred.await(goesOn)), Effect.as(frozen))
      })
      const deployments = Layer.provide(Layer.fresh(Deployments.layer), [waiting, ReleaseWaits.layer])
      const loads = Layer.provide(Layer.fresh(Loads.layer), deployments)
      const late = yield* Effect.flatMap(Loads, ({ setVersion }) => setVersion({ version: "late" })).pipe(
        asProduct(made.token),
        Effect.provide(loads),
        Effect.flip,
        Effect.forkChild
      )
      yield* Deferred.await(asked)
      yield* deploymentIn(scene, shop.product, scene.production).update({ version: "first" })
      // It takes the row of the token, which the change needs: it is looked at after that.
      yield* Effect.flatMap(DeploymentTokens, (tokens) =>
        tokens.revoke([shop.product.slug, scene.production.slug, made.id])
      ).pipe(as(scene.owner))
      yield* Deferred.succeed(goesOn, undefined)
      assert.strictEqual((yield* Fiber.join(late))._tag, "Unauthorized")
      assert.deepStrictEqual(yield* readinessOf(shop), [
        ["first", null],
        ["v0", null]
      ])
    })
  )

  it.effect("is found of the version that runs, too, since another may come meanwhile", () =>
    Effect.gen(function* () {
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      const others = yield* Deployments
      const another = shop.production.update({ version: "v1" }).pipe(Effect.provideService(Deployments, others))
      const meanwhile = Layer.succeed(ReleaseReadiness, { find: () => Effect.as(Effect.orDie(another), frozen) })
      yield* shop.production
        .update({ version: "v0" })
        .pipe(Effect.provide(Layer.provide(Layer.fresh(Deployments.layer), [meanwhile, ReleaseWaits.layer])))
      assert.deepStrictEqual(yield* readinessOf(shop), [
        ["v0", frozen],
        ["v1", null],
        ["v0", null]
      ])
    })
  )

  it.effect("tells that nothing was required, and what only warned", () =>
    Effect.gen(function* () {
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      yield* shop.setPolicy({ from: "staging", requires: [{ coverage: "critical", severity: "warn" }] })
      yield* shop.staging.update({ version: "v1" })
      const run = yield* shop.tested("failed", "critical")
      yield* shop.production.update({ version: "v1" })
      yield* shop.setPolicy({ from: "staging", requires: [] })
      yield* shop.production.update({ version: "v0" })
      yield* shop.production.update({ version: "v1" })
      assert.deepStrictEqual((yield* readinessOf(shop)).slice(0, 3), [
        ["v1", { ready: true, reasons: [], warnings: [], requires: [], runs: [] }],
        ["v0", { ready: true, reasons: [], warnings: [], requires: [], runs: [] }],
        [
          "v1",
          {
            ready: true,
            reasons: [],
            warnings: [{ kind: "run_failed", count: 1 }],
            requires: ["critical"],
            runs: [run]
          }
        ]
      ])
    })
  )

  it.effect("is of a version that comes with a new deployment, too, and the audit keeps what a deleted one had", () =>
    Effect.gen(function* () {
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      yield* shop.setPolicy({ from: "staging", requires: [{ coverage: "critical", severity: "block" }] })
      yield* shop.production.update({ version: "bad" })
      const before = yield* readinessOf(shop)
      const remove = Effect.flatMap(Deployments, (deployments) =>
        deployments.delete(shop.product.slug, scene.production.slug)
      ).pipe(as(scene.member))
      yield* remove
      yield* shop.production.create("bad2")
      assert.deepStrictEqual(yield* readinessOf(shop), [["bad2", untested], ...before])
      yield* remove
      yield* shop.production.create()
      // What had no release takes none with it.
      yield* remove
      const { entries } = yield* (yield* Audit).list({ action: "deployment_deleted" }).pipe(as(scene.owner))
      const [bad2, bad] = entries.map(({ actor, changes, subject }) => [actor, subject.label, changes])
      const by = scene.member.principal
      const label = `${shop.product.name} in ${scene.production.name}`
      const removed = (field: string, from: string) => ({ field, from, to: null })
      assert.lengthOf(entries, 2)
      assert.deepStrictEqual(bad, [
        by,
        label,
        [removed("version", "bad"), removed("releases", "2"), removed("notReady", "1")]
      ])
      assert.deepStrictEqual(bad2, [
        by,
        label,
        [removed("version", "bad2"), removed("releases", "1"), removed("notReady", "1")]
      ])
    })
  )
})

import { PgClient } from "@effect/sql-pg"
import { assert } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Ref, Schedule } from "effect"
import { TestClock } from "effect/testing"
import { DataKeyRotation, type RotationStep } from "../../src/vault/DataKeyRotation.ts"
import { DataKeys } from "../../src/vault/DataKeys.ts"
import { Vault } from "../../src/vault/Vault.ts"
import * as VaultRoom from "../../src/vault/VaultRoom.ts"
import * as WebhooksRoom from "../../src/webhooks/WebhooksRoom.ts"
import { as } from "../identity/Scene.ts"
import { makeVaultScene, onPostgres, secret, statesOf, values } from "./Scene.ts"

/** `vault rotate --data-keys`, as a process of its own beside a server that goes on. */

onPostgres("Rotation of data keys", (it) => {
  const beside = <A, E>(effect: Effect.Effect<A, E, DataKeyRotation>) =>
    Effect.provide(effect, Layer.provide(VaultRoom.layerHost, WebhooksRoom.layerHost), { local: true })
  const remaining = beside(Effect.flatMap(DataKeyRotation, (rotation) => rotation.remaining))

  it.effect("encrypts every value anew, also those that a server writes under the key that it knew", () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const sql = yield* PgClient.PgClient
      const scene = yield* makeVaultScene
      const by = as(scene.member)
      const names = Array.from({ length: 70 }, (_, index) => `S${index}`)
      for (const name of names) {
        yield* vault.create("shop", { name, values: values({ staging: `${name}-1`, ci: `${name}-ci` }) }).pipe(by)
      }
      const { revision } = yield* Effect.flatMap(DataKeys, (keys) => keys.cipher(scene.workspace.id))
      const before = revision("names and versions")
      const generate = {
        products: ["shop"],
        environments: ["staging"],
        name: "G",
        generator: { type: "uuid" } as const,
        reveal: true,
        requestId: "before"
      }
      const generated = yield* vault.generate(generate).pipe(by)

      const waiting = yield* Deferred.make<void>()
      const steps = yield* Ref.make<ReadonlyArray<RotationStep>>([])
      const tell = (step: RotationStep) =>
        Effect.andThen(
          Ref.update(steps, (all) => [...all, step]),
          step.step === "waiting" ? Deferred.succeed(waiting, undefined) : Effect.void
        )
      const rotating = yield* Effect.forkChild(
        beside(Effect.flatMap(DataKeyRotation, ({ rotate }) => rotate({ isShared: true, tell })))
      )
      // The server writes meanwhile: it has not looked for another key since it made the first one.
      const writing = yield* Effect.forkChild(
        Effect.repeat(
          vault.update("shop", "S1", { values: values({ staging: "meanwhile" }) }).pipe(by),
          Schedule.recurs(20)
        )
      )
      yield* Deferred.await(waiting)
      yield* Fiber.join(writing)
      yield* vault.update("shop", "S0", { values: values({ staging: "late" }) }).pipe(by)
      assert.isAbove(yield* remaining, 0)
      // It reads what is under a key that it has never seen, and knows a request of before again.
      assert.strictEqual(statesOf(yield* vault.get("shop", "S69").pipe(by))["staging"], "S69-1@1")
      assert.deepStrictEqual(yield* vault.generate(generate).pipe(by), generated)

      yield* TestClock.adjust("75 seconds")
      yield* Fiber.join(rotating)
      assert.strictEqual(yield* remaining, 0)
      const told = yield* Ref.get(steps)
      assert.deepStrictEqual(
        told.map(({ step }) => step),
        ["replaced", "sealed", "waiting", "sealed"]
      )

      // A minute later the server writes under the new key, and its revisions are those of before.
      yield* vault.update("shop", "S2", { values: values({ staging: "new" }) }).pipe(by)
      assert.strictEqual(yield* remaining, 0)
      const after = yield* Effect.flatMap(DataKeys, (keys) => keys.cipher(scene.workspace.id))
      assert.strictEqual(after.revision("names and versions"), before)

      // Nothing needs the replaced key: another server starts without it.
      yield* sql`delete from vault_replaced_data_keys where workspace_id = ${scene.workspace.id}`
      const cipher = yield* Effect.flatMap(DataKeys, (keys) => keys.cipher(scene.workspace.id)).pipe(
        Effect.provide(VaultRoom.layerDataKeys, { local: true })
      )
      assert.strictEqual(cipher.revision("names and versions"), before)
      const rows = yield* sql<{ sealed: Uint8Array }>`select sealed from secret_versions
        where workspace_id = ${scene.workspace.id} and sealed is not null`
      assert.isTrue(rows.length >= 140 && rows.every(({ sealed }) => cipher.isCurrent(sealed)))
      for (const [name, value] of [
        ["S0", "late"],
        ["S1", "meanwhile"],
        ["S2", "new"],
        ["S68", "S68-1"]
      ] as const) {
        assert.match(statesOf(yield* vault.get("shop", name).pipe(by))["staging"]!, new RegExp(`^${value}@`))
      }
    })
  )

  it.effect("is safe for two at once, and again", () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const scene = yield* makeVaultScene
      const by = as(scene.member)
      yield* vault.create("shop", { name: "A", values: { staging: secret("kept") } }).pipe(by)
      const rotate = beside(
        Effect.flatMap(DataKeyRotation, ({ rotate }) => rotate({ isShared: false, tell: () => Effect.void }))
      )
      yield* Effect.all([rotate, rotate], { concurrency: "unbounded" })
      yield* rotate
      assert.strictEqual(yield* remaining, 0)
      assert.strictEqual(statesOf(yield* vault.get("shop", "A").pipe(by))["staging"], "kept@1")
    })
  )
})

import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { AuditRepo } from "../../src/audit/AuditRepo.ts"
import { RequestId } from "../../src/http/RequestId.ts"
import { Vault } from "../../src/vault/Vault.ts"
import { answer, as } from "../identity/Scene.ts"
import { makeVaultScene, onEachStorage, secret, values } from "./Scene.ts"

/** Every read of a value and every write leaves entries: who, which versions, in which request; never a value. */

onEachStorage("The audit of the vault", (it) => {
  it.effect("has every write, and every read that returned a value", () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const repo = yield* AuditRepo
      const { member, memberKey, viewer, workspace } = yield* makeVaultScene
      const entries = Effect.map(repo.find(workspace.id, {}, 1_000), (found) => found.toReversed())
      const rows = (call: Effect.Effect<unknown, { readonly _tag: string; readonly message: string }>) =>
        Effect.gen(function* () {
          const before = (yield* entries).length
          yield* answer(Effect.provideService(call, RequestId, "request-7"))
          return (yield* entries)
            .slice(before)
            .map(({ action, changes, environments, outcome, requestId, subjectLabel, subjectType, versions }) => {
              assert.deepStrictEqual([subjectType, outcome, requestId], ["secret", "allowed", "request-7"])
              const pairs = (environments ?? []).map((slug, index) => `${slug} ${versions![index]}`).toSorted()
              const renamed = (changes ?? []).map(({ from, to }) => `${from} to ${to}`)
              return `${action} ${subjectLabel}: ${[...pairs, ...renamed].join(", ")}`
            })
        })
      const create = { name: "A", values: values({ staging: "s", production: "p" }), requestId: "r" }
      assert.deepStrictEqual(yield* rows(vault.create("shop", create).pipe(as(member))), [
        "secret_created A of Shop: production 1, staging 1",
        "secret_read A of Shop: staging 1"
      ])
      const read = ["secret_read A of Shop: staging 1"]
      assert.deepStrictEqual(yield* rows(vault.create("shop", create).pipe(as(member))), read)
      assert.deepStrictEqual(yield* rows(vault.get("shop", "A").pipe(as(memberKey))), read)
      assert.deepStrictEqual(yield* rows(vault.get("shop", "A", ["staging", "ci"]).pipe(as(memberKey))), read)
      for (const call of [
        vault.get("shop", "A").pipe(as(viewer)),
        vault.get("shop", "NONE").pipe(as(member)),
        vault.get("shop", "A", []).pipe(as(member)),
        vault.get("shop", "A", ["ci", "production"]).pipe(as(member)),
        vault.list.pipe(as(member)),
        vault.listOfProduct("shop").pipe(as(member)),
        vault.versions({ product: "shop", name: "A", environment: "staging" }).pipe(as(member)),
        vault.create("shop", { name: "A" }).pipe(as(member)),
        vault.update("shop", "A", { expectedVersions: { staging: 7 } }).pipe(as(member)),
        vault.delete("shop", "NONE").pipe(as(member))
      ]) {
        assert.deepStrictEqual(yield* rows(call), [])
      }
      const update = { newName: "B", values: values({ staging: null, ci: "c" }) }
      assert.deepStrictEqual(yield* rows(vault.update("shop", "A", update).pipe(as(member))), [
        "secret_renamed B of Shop: A to B",
        "secret_changed B of Shop: ci 1, staging 2",
        "secret_read B of Shop: ci 1"
      ])
      const again = { values: values({ ci: "d" }), requestId: "again" }
      for (const expected of [["secret_changed B of Shop: ci 2"], []]) {
        assert.deepStrictEqual(yield* rows(vault.update("shop", "B", again, []).pipe(as(member))), expected)
      }
      assert.deepStrictEqual(
        yield* rows(vault.create("shop", { name: "C", values: values({ ci: "c" }) }, []).pipe(as(member))),
        ["secret_created C of Shop: ci 1"]
      )
      const bulk = { products: ["shop", "search"], environments: ["ci", "production"], name: "B" }
      assert.sameMembers(yield* rows(vault.assign({ ...bulk, value: secret("v") }).pipe(as(member))), [
        "secret_changed B of Shop: ci 3, production 2",
        "secret_created B of Search: ci 1, production 1"
      ])
      const generate = { ...bulk, generator: { type: "uuid" } as const, requestId: "g" }
      assert.sameMembers(yield* rows(vault.generate(generate).pipe(as(member))), [
        "secret_changed B of Shop: ci 4, production 3",
        "secret_changed B of Search: ci 2, production 2"
      ])
      const revealed = yield* rows(vault.generate({ ...generate, reveal: true, requestId: "h" }).pipe(as(member)))
      assert.strictEqual(revealed.length, 3)
      assert.match(revealed[2]!, /^secret_read B of (Search: ci 3|Shop: ci 5)$/)
      assert.deepStrictEqual(yield* rows(vault.delete("shop", "B").pipe(as(memberKey))), ["secret_deleted B of Shop: "])

      const all = yield* entries
      assert.sameDeepMembers(
        [...new Map(all.map(({ actor, actorId }) => [actorId, actor])).values()],
        [member.principal, memberKey.principal]
      )
      const credentials = new Map(all.map(({ actorId, credential }) => [actorId, credential]))
      assert.deepStrictEqual(credentials.get(memberKey.principal.id), {
        kind: "accountApiKey",
        id: memberKey.principal.id,
        lastFour: "wxyz"
      })
    })
  )
})

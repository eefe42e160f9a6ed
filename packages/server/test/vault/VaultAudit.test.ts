import type { WorkspaceId } from "@delivery/domain/Ids"
import { assert } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { RequestId } from "../../src/http/RequestId.ts"
import { Vault } from "../../src/vault/Vault.ts"
import { answer, as } from "../identity/Scene.ts"
import { makeVaultScene, onPostgres, secret, values } from "./Scene.ts"

/** Every read of a value and every write leaves a row: who, which versions, in which request; never a value. */

const auditOf = Effect.fnUntraced(function* (workspaceId: WorkspaceId) {
  const sql = yield* PgClient.PgClient
  return yield* sql<{
    action: string
    actorKind: string
    actorId: string
    name: string
    newName: string | null
    entries: string
    requestId: string
  }>`select action, actor_kind as "actorKind", actor_id as "actorId", name, new_name as "newName",
      (select coalesce(string_agg(p.slug || ' ' || e.slug || ' ' || (entry ->> 'version'), ', ' order by p.slug, e.slug), '')
        from jsonb_array_elements(a.entries) entry
        join products p on p.id = (entry ->> 'product')::uuid
        join environments e on e.id = (entry ->> 'environment')::uuid) as entries,
      request_id as "requestId"
    from vault_audit a where workspace_id = ${workspaceId} order by created_at, id`
})

onPostgres("The audit of the vault", (it) => {
  it.effect("records every write, and every read that returned a value", () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const { member, memberKey, viewer, workspace } = yield* makeVaultScene
      const rows = (call: Effect.Effect<unknown, { readonly _tag: string; readonly message: string }>) =>
        Effect.gen(function* () {
          const before = (yield* auditOf(workspace.id)).length
          yield* answer(Effect.provideService(call, RequestId, "request-7"))
          return (yield* auditOf(workspace.id)).slice(before).map(({ action, entries, name, newName, requestId }) => {
            assert.strictEqual(requestId, "request-7")
            return [action, newName === null ? name : `${name} to ${newName}`, entries].join(": ")
          })
        })
      const create = { name: "A", values: values({ staging: "s", production: "p" }), requestId: "r" }
      assert.deepStrictEqual(yield* rows(vault.create("shop", create).pipe(as(member))), [
        "create: A: shop production 1, shop staging 1",
        "read: A: shop staging 1"
      ])
      assert.deepStrictEqual(yield* rows(vault.create("shop", create).pipe(as(member))), ["read: A: shop staging 1"])
      assert.deepStrictEqual(yield* rows(vault.get("shop", "A").pipe(as(memberKey))), ["read: A: shop staging 1"])
      for (const call of [
        vault.get("shop", "A").pipe(as(viewer)),
        vault.get("shop", "NONE").pipe(as(member)),
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
        "update: A to B: shop ci 1, shop staging 2",
        "read: B: shop ci 1"
      ])
      const bulk = { products: ["shop", "search"], environments: ["ci", "production"], name: "B" }
      assert.deepStrictEqual(yield* rows(vault.assign({ ...bulk, value: secret("v") }).pipe(as(member))), [
        "assign: B: search ci 1, search production 1, shop ci 2, shop production 2"
      ])
      const generate = { ...bulk, generator: { type: "uuid" } as const, requestId: "g" }
      assert.deepStrictEqual(yield* rows(vault.generate(generate).pipe(as(member))), [
        "generate: B: search ci 2, search production 2, shop ci 3, shop production 3"
      ])
      const revealed = yield* rows(vault.generate({ ...generate, reveal: true, requestId: "h" }).pipe(as(member)))
      assert.strictEqual(revealed.length, 2)
      assert.match(revealed[1]!, /^read: B: (search ci 3|shop ci 4)$/)
      assert.deepStrictEqual(yield* rows(vault.delete("shop", "B").pipe(as(memberKey))), ["delete: B: "])

      const all = yield* auditOf(workspace.id)
      assert.sameMembers(
        [...new Set(all.map(({ actorId, actorKind }) => `${actorKind} ${actorId}`))],
        [`user ${member.principal.id}`, `apiKey ${memberKey.principal.id}`]
      )
    })
  )
})

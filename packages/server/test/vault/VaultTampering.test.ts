import type { EnvironmentId, SecretId } from "@delivery/domain/Ids"
import { assert } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Cause, Effect, Exit } from "effect"
import { DataKeys } from "../../src/vault/DataKeys.ts"
import { NotAuthentic } from "../../src/vault/ValueCipher.ts"
import * as VaultRoom from "../../src/vault/VaultRoom.ts"
import { Vault } from "../../src/vault/Vault.ts"
import { as } from "../identity/Scene.ts"
import { makeVaultScene, onPostgres, secret, statesOf, values } from "./Scene.ts"

/** Whatever is changed behind the service is noticed, named, and never answered as a value. */

onPostgres("Tampering with stored values", (it) => {
  const prepared = Effect.gen(function* () {
    const vault = yield* Vault
    const scene = yield* makeVaultScene
    const other = yield* makeVaultScene
    const all = (tag: string) => values({ staging: `${tag}-staging`, ci: `${tag}-ci` })
    const a = yield* vault.create("shop", { name: "A", values: all("first") }).pipe(as(scene.member))
    yield* vault.update("shop", "A", { values: all("a") }).pipe(as(scene.member))
    const b = yield* vault.create("shop", { name: "B", values: all("b") }).pipe(as(scene.member))
    const foreign = yield* vault.create("shop", { name: "A", values: all("foreign") }).pipe(as(other.member))
    return { scene, other, a: a.id, b: b.id, foreign: foreign.id }
  })

  interface Place {
    readonly secret: SecretId
    readonly environment: EnvironmentId
    readonly version: number
  }
  const at = ({ environment, secret, version }: Place) =>
    Effect.map(
      PgClient.PgClient,
      (sql) => sql`secret_id = ${secret} and environment_id = ${environment} and version = ${version}`
    )
  const sealedAt = (place: Place) =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const [row] = yield* sql<{ sealed: Uint8Array }>`select sealed from secret_versions where ${yield* at(place)}`
      return row!.sealed
    })
  const put = (place: Place, sealed: Uint8Array) =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      yield* sql`update secret_versions set sealed = ${sealed} where ${yield* at(place)}`
    })

  /** The read dies with an error that names the place, and holds no value. */
  const assertNoticed = <A, E, R>(read: Effect.Effect<A, E, R>, place: Place) =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(read)
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause), "the read fails")
      const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
      assert.instanceOf(error, NotAuthentic)
      for (const part of [place.secret, place.environment, `version ${place.version}`])
        assert.include(error.message, part)
      assert.notMatch(Cause.pretty((exit as Exit.Failure<A, E>).cause), /(a|b|first|foreign)-(staging|ci)/)
    })

  it.effect("detects a value moved between secrets, environments, versions and workspaces", () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const { a, b, foreign, other, scene } = yield* prepared
      const target = { secret: a, environment: scene.staging.id, version: 2 }
      const original = yield* sealedAt(target)
      const get = vault.get("shop", "A").pipe(as(scene.member))
      for (const from of [
        { ...target, secret: b, version: 1 },
        { ...target, environment: scene.ci.id },
        { ...target, version: 1 },
        { secret: foreign, environment: other.staging.id, version: 1 }
      ]) {
        yield* put(target, yield* sealedAt(from))
        yield* assertNoticed(get, target)
      }
      yield* put(target, original)
      assert.strictEqual(statesOf(yield* get)["staging"], "a-staging@2")
      // What nobody may read is not opened, so viewers still see names and versions.
      yield* put(target, yield* sealedAt({ ...target, version: 1 }))
      assert.strictEqual(statesOf(yield* vault.get("shop", "A").pipe(as(scene.viewer)))["staging"], "*@2")
    })
  )

  it.effect("detects any byte that was flipped, cut or added", () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const { a, scene } = yield* prepared
      const target = { secret: a, environment: scene.staging.id, version: 2 }
      const original = yield* sealedAt(target)
      const get = vault.get("shop", "A").pipe(as(scene.member))
      for (let i = 0; i < original.length; i++) {
        const changed = Uint8Array.from(original)
        changed[i]! ^= 1 << (i % 8)
        yield* put(target, changed)
        yield* assertNoticed(get, target)
      }
      for (const changed of [
        new Uint8Array(),
        original.subarray(0, 10),
        original.subarray(0, -1),
        Buffer.concat([original, Buffer.of(0)])
      ]) {
        yield* put(target, changed)
        yield* assertNoticed(get, target)
      }
      yield* put(target, original)
      yield* get
    })
  )

  it.effect("detects a replayed value that was moved, and one of the previous version", () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const { scene } = yield* prepared
      const generate = {
        products: ["shop"],
        environments: ["staging", "ci"],
        name: "G",
        generator: { type: "uuid" } as const,
        reveal: true,
        requestId: "r"
      }
      yield* vault.generate(generate).pipe(as(scene.member))
      const { id } = yield* vault.get("shop", "G").pipe(as(scene.member))
      const target = { secret: id, environment: scene.staging.id, version: 1 }
      yield* put(target, yield* sealedAt({ ...target, environment: scene.ci.id }))
      yield* assertNoticed(vault.generate(generate).pipe(as(scene.member)), target)
    })
  )

  it.effect("detects a data key that was changed or taken from another workspace", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const { other, scene } = yield* prepared
      const [own] = yield* sql<{ id: string; sealed: string }>`select id, sealed from vault_data_keys
        where workspace_id = ${scene.workspace.id}`
      const [foreign] = yield* sql<{ sealed: string }>`select sealed from vault_data_keys
        where workspace_id = ${other.workspace.id}`
      // A server that starts now has opened no key yet.
      const cipher = Effect.flatMap(DataKeys, (keys) => keys.cipher(scene.workspace.id)).pipe(
        Effect.provide(VaultRoom.layerDataKeys, { local: true })
      )
      const flipped = own!.sealed.replace(/.$/, (last) => (last === "A" ? "Q" : "A"))
      for (const sealed of [foreign!.sealed, flipped, own!.sealed.replace("v1:memory", "v1:other"), ""]) {
        yield* sql`update vault_data_keys set sealed = ${sealed} where id = ${own!.id}`
        const exit = yield* Effect.exit(cipher)
        const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
        assert.instanceOf(error, NotAuthentic)
        assert.include(error.message, own!.id)
      }
      yield* sql`update vault_data_keys set sealed = ${own!.sealed} where id = ${own!.id}`
      yield* cipher
    })
  )

  it.effect("gives equal values ciphertexts that have nothing in common", () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const sql = yield* PgClient.PgClient
      const { member, workspace } = yield* makeVaultScene
      const bulk = { products: ["shop", "search"], environments: ["staging", "ci", "production"], name: "A" }
      for (let i = 0; i < 10; i++) yield* vault.assign({ ...bulk, value: secret("equal") }).pipe(as(member))
      const rows = yield* sql<{ sealed: Uint8Array }>`select sealed from secret_versions
        where workspace_id = ${workspace.id}`
      const parts = (from: number, to?: number) =>
        new Set(rows.map(({ sealed }) => Buffer.from(sealed).subarray(from, to).toString("hex"))).size
      // Format and data key are the same in all; nonce, ciphertext and tag in none.
      assert.deepStrictEqual(
        [rows.length, parts(0, 17), parts(17, 29), parts(29, -16), parts(-16)],
        [60, 1, 60, 60, 60]
      )
    })
  )
})

import type { Caller } from "@delivery/domain/identity/Authorization"
import { assert } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted, Tracer } from "effect"
import { TestClock } from "effect/testing"
import { Deployments } from "../../src/catalog/Deployments.ts"
import { Environments } from "../../src/catalog/Environments.ts"
import { Products } from "../../src/catalog/Products.ts"
import { Vault } from "../../src/vault/Vault.ts"
import { answer, as, eventsOf, kindsOf } from "../identity/Scene.ts"
import { makeVaultScene, onPostgres, secret, statesOf, values } from "./Scene.ts"

/** Guards and replays under many writers at once. */

interface Refusal {
  readonly _tag: string
  readonly message: string
}

const deadlocks = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  yield* sql`select pg_stat_force_next_flush()`
  const [row] = yield* sql<{ deadlocks: number }>`select deadlocks::int from pg_stat_database
    where datname = current_database()`
  return row!.deadlocks
})

const times = <A, E, R>(count: number, call: (index: number) => Effect.Effect<A, E, R>) =>
  Effect.all(
    Array.from({ length: count }, (_, index) => call(index)),
    { concurrency: "unbounded" }
  )

onPostgres("The vault under concurrency", (it) => {
  it.effect(
    "lets exactly one of 32 writers with expectedVersions win each version",
    () =>
      Effect.gen(function* () {
        const vault = yield* Vault
        const { member } = yield* makeVaultScene
        yield* vault.create("shop", { name: "A" }).pipe(as(member))
        const rounds = 12
        for (let version = 0; version < rounds; version++) {
          const outcomes = yield* times(32, (writer) =>
            answer(
              vault
                .update("shop", "A", {
                  values: values({ staging: `${version} by ${writer}` }),
                  expectedVersions: { staging: version }
                })
                .pipe(as(member))
            )
          )
          assert.strictEqual(outcomes.filter((outcome) => outcome === "ok").length, 1, `version ${version}`)
          assert.strictEqual(outcomes.filter((outcome) => outcome === "Conflict version_mismatch").length, 31)
        }
        const page = yield* vault.versions({ product: "shop", name: "A", environment: "staging" }).pipe(as(member))
        assert.deepStrictEqual(
          page.map(({ version }) => version),
          Array.from({ length: rounds }, (_, i) => rounds - i)
        )
        assert.strictEqual(yield* deadlocks, 0)
      }),
    240_000
  )

  it.effect(
    "keeps versions gapless under writers that expect nothing",
    () =>
      Effect.gen(function* () {
        const vault = yield* Vault
        const { member } = yield* makeVaultScene
        yield* vault.create("shop", { name: "A" }).pipe(as(member))
        const shown = yield* times(64, (writer) =>
          vault.update("shop", "A", { values: values({ staging: `${writer}`, ci: `${writer}` }) }).pipe(as(member))
        )
        for (const slug of ["staging", "ci"]) {
          const versions = shown.map((one) => Number(statesOf(one)[slug]!.split("@")[1]))
          assert.deepStrictEqual(
            versions.toSorted((a, b) => a - b),
            Array.from({ length: 64 }, (_, i) => i + 1)
          )
        }
        // The value that each answer showed is the one it wrote.
        shown.forEach((one, writer) => assert.match(statesOf(one)["staging"]!, new RegExp(`^${writer}@`)))
      }),
    240_000
  )

  it.effect(
    "applies overlapping assignments one after the other, whole, without a deadlock",
    () =>
      Effect.gen(function* () {
        const vault = yield* Vault
        const { member } = yield* makeVaultScene
        const products = [["shop", "search"], ["search", "shop"], ["shop"], ["search"]]
        const environments = [["ci", "staging"], ["staging", "ci"], ["staging"], ["ci"]]
        const outcomes = yield* times(48, (writer) =>
          writer % 6 === 5
            ? vault
                .update("shop", "A", { values: values({ ci: `${writer}`, staging: `${writer}` }) })
                .pipe(as(member), answer)
            : vault
                .assign({
                  products: products[writer % 4]!,
                  environments: environments[(writer >> 1) % 4]!,
                  name: "A",
                  value: secret(`${writer}`)
                })
                .pipe(as(member), answer)
        )
        assert.deepStrictEqual(new Set(outcomes.filter((outcome) => outcome !== "NotFound")), new Set(["ok"]))
        for (const product of ["shop", "search"]) {
          for (const environment of ["ci", "staging"]) {
            const page = yield* vault.versions({ product, name: "A", environment }).pipe(as(member))
            assert.deepStrictEqual(
              page.map(({ version }) => version),
              Array.from({ length: page.length }, (_, i) => page.length - i)
            )
          }
        }
        assert.strictEqual(yield* deadlocks, 0)
      }),
    240_000
  )

  it.effect(
    "lets two secrets take each other's name at once without a deadlock",
    () =>
      Effect.gen(function* () {
        const vault = yield* Vault
        const { member } = yield* makeVaultScene
        for (const name of ["A", "B"]) yield* vault.create("shop", { name }).pipe(as(member))
        for (let round = 0; round < 30; round++) {
          const outcomes = yield* times(2, (index) => {
            const [name, newName] = index === 0 ? (["A", "B"] as const) : (["B", "A"] as const)
            return answer(vault.update("shop", name, { newName }).pipe(as(member)))
          })
          assert.deepStrictEqual(outcomes, ["Conflict name_in_use", "Conflict name_in_use"])
        }
        assert.strictEqual(yield* deadlocks, 0)
      }),
    240_000
  )

  it.effect(
    "survives a storm of all writes and of the catalog's, without a deadlock",
    () =>
      Effect.gen(function* () {
        const vault = yield* Vault
        const environments = yield* Environments
        const deployments = yield* Deployments
        const { admin, member, workspace } = yield* makeVaultScene
        const bulk = { products: ["shop", "search"], environments: ["staging", "ci", "production"] }
        const names = ["A", "B"]
        const unexpected = yield* times(160, (index) => {
          const name = names[index % 2]!
          const product = bulk.products[(index >> 1) % 2]!
          const calls: ReadonlyArray<Effect.Effect<unknown, Refusal, Caller>> = [
            vault.assign({ ...bulk, name, value: secret("x") }),
            vault.generate({ ...bulk, name, generator: { type: "uuid" } }),
            vault.create(product, { name, values: values({ ci: "1" }) }),
            vault.update(product, name, { values: values({ staging: "1" }), requestId: `r${index % 5}` }),
            vault.update(product, name, { newName: names[(index + 1) % 2]! }),
            vault.delete(product, name),
            vault.get(product, name),
            environments.update("production", { name: `Production ${index}` }),
            index % 3 === 0
              ? deployments.create({ product, environment: "staging" })
              : deployments.delete(product, "staging"),
            environments.archive("ci"),
            environments.restore("ci")
          ]
          return answer(calls[index % calls.length]!.pipe(as(index % 2 === 0 ? admin : member)))
        })
        const known =
          /^(ok|NotFound|Forbidden role_too_low|Conflict (archived|not_deployed|name_in_use|deployment_exists|request_id_reused))$/
        for (const outcome of unexpected) assert.match(outcome, known)
        assert.strictEqual(yield* deadlocks, 0)
        assert.isNotEmpty(yield* eventsOf(workspace))
      }),
    240_000
  )

  it.effect(
    "writes once for the same request 20 times at once, and answers each the same",
    () =>
      Effect.gen(function* () {
        const vault = yield* Vault
        const { member, workspace } = yield* makeVaultScene
        const created = yield* times(20, () =>
          vault.create("shop", { name: "A", values: values({ staging: "1" }), requestId: "r" }).pipe(as(member))
        )
        for (const one of created) assert.deepStrictEqual(one, created[0])
        const updated = yield* times(20, () =>
          vault.update("shop", "A", { newName: "B", values: values({ staging: "2" }), requestId: "r" }).pipe(as(member))
        )
        for (const one of updated) assert.deepStrictEqual(one, updated[0])
        assert.strictEqual(statesOf(updated[0]!)["staging"], "2@2")
        const bulk = { products: ["shop", "search"], environments: ["staging", "ci"], name: "B", requestId: "r" }
        const assigned = yield* times(20, () => vault.assign({ ...bulk, value: secret("3") }).pipe(as(member)))
        for (const one of assigned) assert.deepStrictEqual(one, assigned[0])
        const generated = yield* times(20, () =>
          vault
            .generate({ ...bulk, generator: { type: "token", bytes: 32, encoding: "hex" }, reveal: true })
            .pipe(as(member))
        )
        const shownBy = (one: (typeof generated)[number]) => one.generations.map(({ value }) => Redacted.value(value!))
        for (const one of generated) assert.deepStrictEqual(shownBy(one), shownBy(generated[0]!))
        const page = yield* vault.versions({ product: "shop", name: "B", environment: "staging" }).pipe(as(member))
        assert.deepStrictEqual(
          page.map(({ source, version }) => `${version} ${source}`),
          ["4 generation", "3 assignment", "2 edit", "1 edit"]
        )
        assert.deepStrictEqual((yield* kindsOf(workspace)).length, 7)

        // Of requests with one id and different bodies, one is performed.
        const mixed = yield* times(20, (index) =>
          answer(vault.create("shop", { name: `M${index % 4}`, requestId: "mixed" }).pipe(as(member)))
        )
        assert.deepStrictEqual(new Set(mixed), new Set(["ok", "Conflict request_id_reused"]))
        assert.strictEqual((yield* vault.listOfProduct("shop").pipe(as(member))).secrets.length, 2)
      }),
    240_000
  )

  it.effect(
    "writes a thousand pairs of the largest values at once, and reads them back",
    () =>
      Effect.gen(function* () {
        const vault = yield* Vault
        const products = yield* Products
        const environments = yield* Environments
        const { admin, member } = yield* makeVaultScene
        const refs = Array.from({ length: 32 }, (_, i) => `p${i}`)
        for (const slug of refs) {
          yield* products.create({ slug, name: slug, type: "library" }).pipe(as(admin))
          yield* environments.create({ slug, name: slug, class: "non-production" }).pipe(as(admin))
        }
        let statements = 0
        const tracer = Tracer.make({
          span: (options) => {
            if (options.kind === "client") statements++
            return new Tracer.NativeSpan(options)
          }
        })
        const value = "é".repeat(32_768)
        const bulk = { products: refs.slice(0, 32), environments: refs.slice(0, 31), name: "BIG" }
        const assigned = yield* vault
          .assign({ ...bulk, value: secret(value) })
          .pipe(as(member), Effect.withTracer(tracer))
        assert.strictEqual(assigned.assignments.length, 992)
        assert.isAbove(statements, 0)
        // A statement writes dozens of pairs.
        assert.isBelow(statements, 40)
        const read = yield* vault.get("p31", "BIG").pipe(as(member))
        assert.strictEqual(statesOf(read)["p30"], `${value}@1`)
      }).pipe(TestClock.withLive),
    240_000
  )

  it.effect(
    "decides a change of class against a write that runs",
    () =>
      Effect.gen(function* () {
        const vault = yield* Vault
        const environments = yield* Environments
        const { admin, member } = yield* makeVaultScene
        for (let round = 0; round < 10; round++) {
          const name = `S${round}`
          const [opened] = yield* Effect.all(
            [
              answer(environments.update("production", { class: "non-production" }).pipe(as(admin))),
              vault.create("shop", { name, values: values({ production: "p" }) }).pipe(as(member))
            ],
            { concurrency: "unbounded" }
          )
          const shown = statesOf(yield* vault.get("shop", name).pipe(as(member)))["production"]
          // Either the class changed first and the value is an ordinary one, or it did not change.
          assert.strictEqual(shown, opened === "ok" ? "p@1" : "*@1", opened)
          yield* vault.delete("shop", name).pipe(as(member))
          yield* environments.update("production", { class: "production" }).pipe(as(admin))
        }
      }),
    240_000
  )
})

import type { Caller } from "@delivery/domain/identity/Authorization"
import { assert } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { Deployments } from "../../src/catalog/Deployments.ts"
import { Environments } from "../../src/catalog/Environments.ts"
import { EnvironmentsRepo } from "../../src/catalog/EnvironmentsRepo.ts"
import { ProductsRepo } from "../../src/catalog/ProductsRepo.ts"
import { Vault } from "../../src/vault/Vault.ts"
import { VaultRepo } from "../../src/vault/VaultRepo.ts"
import {
  addAccountKey,
  answer,
  as,
  eventsOf,
  membersAndUp,
  everyRole,
  refusal,
  unique,
  whoMay
} from "../identity/Scene.ts"
import { makeVaultScene, onEachStorage, secret, statesOf, values } from "./Scene.ts"

/** The rules of the vault (docs/contract.md, Vault), on every storage. */

const day = 24 * 3_600_000

onEachStorage("Vault", (it) => {
  it.effect("creates a secret with values, and answers those that may be read", () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const { ci, member, shop, viewer, workspace } = yield* makeVaultScene
      const created = yield* vault
        .create("shop", {
          name: "DATABASE_URL",
          values: values({ staging: "s", production: "p", [ci.id]: null })
        })
        .pipe(as(member))
      assert.deepStrictEqual(statesOf(created), { ci: "-@0 none", production: "*@1", staging: "s@1" })
      assert.deepStrictEqual(created.product, { id: shop.id, slug: "shop", name: "Shop" })
      const {
        environments: [first, , third]
      } = created
      assert.deepStrictEqual([first!.updatedAt, first!.updatedBy], [null, null])
      assert.strictEqual(third!.updatedBy?.kind, "user")
      assert.deepStrictEqual(yield* vault.get("shop", "DATABASE_URL").pipe(as(member)), created)
      assert.deepStrictEqual(statesOf(yield* vault.get(shop.id, "DATABASE_URL").pipe(as(viewer))), {
        ci: "*@0 none",
        production: "*@1",
        staging: "*@1"
      })
      const event = (yield* eventsOf(workspace)).find(({ kind }) => kind === "secret_created")
      assert.strictEqual(event?.subjectLabel, "DATABASE_URL of Shop")
      assert.deepStrictEqual(event?.changes.map(({ field }) => field).toSorted(), [
        "environments.production.version",
        "environments.staging.version"
      ])
    })
  )

  it.effect("counts a version for each write, of an equal value too, and never goes back", () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const { member } = yield* makeVaultScene
      yield* vault.create("shop", { name: "A" }).pipe(as(member))
      const write = (value: string | null) =>
        Effect.map(
          vault.update("shop", "A", { values: values({ staging: value }) }).pipe(as(member)),
          (shown) => statesOf(shown)["staging"]
        )
      assert.deepStrictEqual(yield* Effect.forEach([null, "x", "x", null, null, "", "y"], write), [
        "-@0 none",
        "x@1",
        "x@2",
        "-@3 none",
        "-@4 none",
        "@5",
        "y@6"
      ])
      const path = { product: "shop", name: "A", environment: "staging" }
      const page = yield* vault.versions(path).pipe(as(member))
      assert.deepStrictEqual(
        page.map(({ hasValue, version }) => [version, hasValue]),
        [
          [6, true],
          [5, true],
          [4, false],
          [3, false],
          [2, true],
          [1, true]
        ]
      )
      assert.deepStrictEqual(
        (yield* vault.versions(path, 3).pipe(as(member))).map(({ version }) => version),
        [2, 1]
      )
      assert.deepStrictEqual(yield* vault.versions({ ...path, environment: "ci" }).pipe(as(member)), [])
    })
  )

  it.effect("pages versions by a hundred", () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const { member } = yield* makeVaultScene
      yield* vault.create("shop", { name: "A" }).pipe(as(member))
      yield* Effect.forEach(
        Array.from({ length: 120 }, (_, i) => i),
        (i) => vault.update("shop", "A", { values: values({ staging: `v${i}` }) }).pipe(as(member))
      )
      const path = { product: "shop", name: "A", environment: "staging" }
      const first = yield* vault.versions(path).pipe(as(member))
      assert.strictEqual(first.length, 100)
      assert.strictEqual(first.at(-1)!.version, 21)
      assert.deepStrictEqual(
        (yield* vault.versions(path, 21).pipe(as(member))).map(({ version }) => version),
        Array.from({ length: 20 }, (_, i) => 20 - i)
      )
    })
  )

  it.effect("keeps values byte for byte", () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const { member } = yield* makeVaultScene
      const texts = ["", " ", "\n", "a\u0000b", "Ünïcode 🚀", "\u{10FFFF}", "\uFEFFbom", "x".repeat(65_536), "é\u0301"]
      yield* vault.create("shop", { name: "A" }).pipe(as(member))
      for (const text of texts) {
        const shown = yield* vault.update("shop", "A", { values: values({ staging: text }) }).pipe(as(member))
        const { value } = shown.environments.find(({ environment }) => environment.slug === "staging")!
        assert.strictEqual(Redacted.value(value!), text)
      }
    })
  )

  it.effect("writes nothing if a version differs from the expected one, and names the current versions", () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const { member, staging } = yield* makeVaultScene
      yield* vault.create("shop", { name: "A", values: values({ staging: "1", ci: "1" }) }).pipe(as(member))
      const before = yield* vault.get("shop", "A").pipe(as(member))
      const error = yield* Effect.flip(
        vault
          .update("shop", "A", {
            newName: "B",
            values: values({ ci: "2" }),
            expectedVersions: { staging: 0, ci: 1, production: 7 }
          })
          .pipe(as(member))
      )
      assert.deepStrictEqual(error._tag === "Conflict" && { reason: error.reason, current: error.current }, {
        reason: "version_mismatch",
        current: { staging: 1, production: 0 }
      })
      assert.deepStrictEqual(yield* vault.get("shop", "A").pipe(as(member)), before)
      const updated = yield* vault
        .update("shop", "A", {
          values: values({ ci: "2" }),
          expectedVersions: { [staging.id]: 1, ci: 1, production: 0 }
        })
        .pipe(as(member))
      assert.strictEqual(statesOf(updated)["ci"], "2@2")
    })
  )

  it.effect("makes an earlier version the next one, also where its value may not be read", () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const { member, viewer } = yield* makeVaultScene
      yield* vault
        .create("shop", { name: "A", values: values({ staging: "s1", production: "p1", ci: "c1" }) })
        .pipe(as(member))
      yield* vault
        .update("shop", "A", { values: values({ staging: "s2", production: "p2", ci: null }) })
        .pipe(as(member))
      const update = (input: Parameters<typeof vault.update>[2]) => vault.update("shop", "A", input).pipe(as(member))
      const restored = yield* update({ restore: { staging: 1, production: 1 }, values: values({ ci: "c3" }) })
      assert.deepStrictEqual(statesOf(restored), { ci: "c3@3", production: "*@3", staging: "s1@3" })
      // A version that cleared the value clears it again.
      assert.strictEqual(statesOf(yield* update({ restore: { ci: 2 } }))["ci"], "-@4 none")
      assert.strictEqual(statesOf(yield* update({ restore: { production: 3 } }))["production"], "*@4")

      const before = yield* vault.get("shop", "A").pipe(as(member))
      assert.strictEqual(yield* refusal(update({ restore: { staging: 9 } })), "InvalidInput")
      assert.strictEqual(
        yield* refusal(update({ restore: { staging: 1 }, values: values({ staging: "x" }) })),
        "InvalidInput"
      )
      assert.strictEqual(
        yield* refusal(update({ restore: { staging: 1 }, expectedVersions: { staging: 2 } })),
        "Conflict version_mismatch"
      )
      assert.strictEqual(
        yield* refusal(vault.update("shop", "A", { restore: { staging: 1 } }).pipe(as(viewer))),
        "Forbidden role_too_low"
      )
      assert.deepStrictEqual(yield* vault.get("shop", "A").pipe(as(member)), before)
    })
  )

  it.effect("answers the values that are asked for, and reads no other", () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const { ci, member } = yield* makeVaultScene
      const all = values({ staging: "s", ci: "c", production: "p" })
      const created = yield* vault.create("shop", { name: "A", values: all }, []).pipe(as(member))
      const shown = (answer: typeof created) =>
        Object.fromEntries(
          answer.environments.map(({ environment, value, valueHidden }) => [
            environment.slug,
            valueHidden ? "hidden" : value && Redacted.value(value)
          ])
        )
      const none = { ci: "hidden", production: "hidden", staging: "hidden" }
      assert.deepStrictEqual(shown(created), none)
      assert.deepStrictEqual(
        created.environments.map(({ hasValue }) => hasValue),
        [true, true, true]
      )
      const asked: ReadonlyArray<readonly [ReadonlyArray<string> | undefined, Record<string, string>]> = [
        [undefined, { ci: "c", production: "hidden", staging: "s" }],
        [[], none],
        [["staging"], { ...none, staging: "s" }],
        [[ci.id, "production"], { ...none, ci: "c" }]
      ]
      for (const [refs, expected] of asked) {
        assert.deepStrictEqual(shown(yield* vault.get("shop", "A", refs).pipe(as(member))), expected)
        assert.deepStrictEqual(shown(yield* vault.update("shop", "A", {}, refs).pipe(as(member))), expected)
      }
      const { message } = yield* Effect.flip(vault.get("shop", "A", ["nowhere"]).pipe(as(member)))
      assert.strictEqual(message, 'values: there is no environment "nowhere" that you can see.')
    })
  )

  it.effect("renames a secret with all its versions", () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const { member, workspace } = yield* makeVaultScene
      const { id } = yield* vault.create("shop", { name: "A", values: values({ staging: "1" }) }).pipe(as(member))
      yield* vault.create("shop", { name: "C" }).pipe(as(member))
      assert.strictEqual(
        yield* refusal(vault.update("shop", "A", { newName: "C" }).pipe(as(member))),
        "Conflict name_in_use"
      )
      const renamed = yield* vault.update("shop", "A", { newName: "B", values: values({ ci: "c" }) }).pipe(as(member))
      assert.deepStrictEqual([renamed.id, renamed.name, statesOf(renamed)["staging"]], [id, "B", "1@1"])
      assert.strictEqual(yield* refusal(vault.get("shop", "A").pipe(as(member))), "NotFound")
      assert.deepStrictEqual(yield* vault.update("shop", "B", { newName: "B" }).pipe(as(member)), renamed)
      // Case counts.
      yield* vault.create("shop", { name: "b" }).pipe(as(member))
      assert.deepStrictEqual(
        (yield* eventsOf(workspace))
          .filter((event) => event.subjectId === id)
          .map(({ changes, kind }) => [kind, changes]),
        [
          ["secret_created", [{ field: "environments.staging.version", from: null, to: "1" }]],
          ["secret_renamed", [{ field: "name", from: "A", to: "B" }]],
          ["secret_changed", [{ field: "environments.ci.version", from: null, to: "1" }]]
        ]
      )
    })
  )

  it.effect("frees the name of a deleted secret at once, and restarts at version 1", () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const { member } = yield* makeVaultScene
      const { id } = yield* vault.create("shop", { name: "A", values: values({ staging: "old" }) }).pipe(as(member))
      assert.strictEqual(yield* refusal(vault.create("shop", { name: "A" }).pipe(as(member))), "Conflict name_in_use")
      yield* vault.delete("shop", "A").pipe(as(member))
      assert.strictEqual(yield* refusal(vault.delete("shop", "A").pipe(as(member))), "NotFound")
      const path = { product: "shop", name: "A", environment: "staging" }
      assert.strictEqual(yield* refusal(vault.versions(path).pipe(as(member))), "NotFound")
      const again = yield* vault.create("shop", { name: "A", values: values({ staging: "new" }) }).pipe(as(member))
      assert.notStrictEqual(again.id, id)
      assert.deepStrictEqual(statesOf(again)["staging"], "new@1")
      assert.strictEqual((yield* vault.versions(path).pipe(as(member))).length, 1)
    })
  )

  it.effect("lists secrets without values, by name, then product name", () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const { ci, member, viewer } = yield* makeVaultScene
      const environments = yield* EnvironmentsRepo
      for (const name of ["item10", "item2", "B"]) {
        yield* vault.create("shop", { name, values: values({ ci: "x" }) }).pipe(as(member))
      }
      yield* vault.create("search", { name: "item2" }).pipe(as(member))
      const listed = yield* vault.list.pipe(as(viewer))
      assert.deepStrictEqual(
        listed.secrets.map(({ name, product }) => `${name} ${product.slug}`),
        ["B shop", "item2 search", "item2 shop", "item10 shop"]
      )
      assert.deepStrictEqual(
        listed.environments.map(({ slug }) => slug),
        ["ci", "production", "staging"]
      )
      assert.notInclude(JSON.stringify(listed), 'value"')
      const ofProduct = yield* vault.listOfProduct("search").pipe(as(viewer))
      assert.deepStrictEqual(
        ofProduct.secrets.map(({ name }) => name),
        ["item2"]
      )

      // Archived environments stay where a listed secret has a version.
      yield* environments.update({ ...ci, archivedAt: ci.updatedAt })
      assert.deepStrictEqual(
        (yield* vault.list.pipe(as(viewer))).environments.map(({ slug }) => slug),
        ["ci", "production", "staging"]
      )
      const without = yield* vault.listOfProduct("search").pipe(as(viewer))
      assert.deepStrictEqual(
        without.environments.map(({ slug }) => slug),
        ["production", "staging"]
      )
      assert.deepStrictEqual(
        without.secrets[0]!.environments.map(({ environment }) => environment.slug),
        ["production", "staging"]
      )
    })
  )

  it.effect("assigns one value to all pairs and creates missing secrets", () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const { ci, member, shop, workspace } = yield* makeVaultScene
      yield* vault.create("shop", { name: "A", values: values({ ci: "1" }) }).pipe(as(member))
      const assigned = yield* vault
        .assign({
          products: ["shop", "search", shop.id],
          environments: ["ci", "production", ci.id],
          name: "A",
          value: secret("v")
        })
        .pipe(as(member))
      assert.deepStrictEqual(
        assigned.assignments.map(
          (pair) => `${pair.product.slug} ${pair.environment.slug} ${pair.version} ${pair.hasValue} ${pair.created}`
        ),
        [
          "search ci 1 true true",
          "search production 1 true true",
          "shop ci 2 true false",
          "shop production 1 true false"
        ]
      )
      assert.deepStrictEqual(statesOf(yield* vault.get("shop", "A").pipe(as(member))), {
        ci: "v@2",
        production: "*@1",
        staging: "-@0 none"
      })
      const cleared = yield* vault
        .assign({ products: ["search"], environments: ["staging", "ci"], name: "A", value: null })
        .pipe(as(member))
      assert.deepStrictEqual(
        cleared.assignments.map(({ hasValue, version }) => [version, hasValue]),
        [
          [2, false],
          [0, false]
        ]
      )
      const made = yield* vault
        .assign({ products: ["search"], environments: ["ci"], name: "NEW", value: null })
        .pipe(as(member))
      assert.deepStrictEqual(
        made.assignments.map(({ created, version }) => [version, created]),
        [[0, true]]
      )
      assert.deepStrictEqual(
        (yield* eventsOf(workspace)).map(({ kind, subjectLabel }) => `${kind} ${subjectLabel}`).toSorted(),
        [
          "secret_changed A of Search",
          "secret_changed A of Shop",
          "secret_created A of Search",
          "secret_created A of Shop",
          "secret_created NEW of Search"
        ]
      )
      const [latest] = yield* vault.versions({ product: "shop", name: "A", environment: "ci" }).pipe(as(member))
      assert.strictEqual(latest!.source, "assignment")
    })
  )

  it.effect(
    "generates one value for each environment, shared by its products, shown on request outside of production",
    () =>
      Effect.gen(function* () {
        const vault = yield* Vault
        const { ci, member } = yield* makeVaultScene
        const body = {
          products: ["shop", "search"],
          environments: ["ci", "production", "staging", ci.id],
          name: "KEY",
          generator: { type: "token", bytes: 32, encoding: "hex" }
        } as const
        const shown = yield* vault.generate({ ...body, reveal: true }).pipe(as(member))
        const byEnvironment = new Map(shown.generations.map((one) => [one.environment.slug, one]))
        const of = (slug: string) => byEnvironment.get(slug)!
        assert.deepStrictEqual([...byEnvironment.keys()], ["ci", "production", "staging"])
        assert.isNull(of("production").value)
        assert.match(Redacted.value(of("ci").value!), /^[0-9a-f]{64}$/)
        assert.notStrictEqual(Redacted.value(of("ci").value!), Redacted.value(of("staging").value!))
        for (const product of ["shop", "search"]) {
          const stored = statesOf(yield* vault.get(product, "KEY").pipe(as(member)))
          assert.strictEqual(stored["ci"], `${Redacted.value(of("ci").value!)}@1`)
          assert.strictEqual(stored["staging"], `${Redacted.value(of("staging").value!)}@1`)
        }
        const hidden = yield* vault.generate(body).pipe(as(member))
        assert.deepStrictEqual(
          hidden.generations.map(({ value }) => value),
          [null, null, null]
        )
        assert.deepStrictEqual(
          hidden.generations[0]!.assignments.map(({ product, version }) => [product.slug, version]),
          [
            ["search", 2],
            ["shop", 2]
          ]
        )
        const pair = yield* vault.generate({ ...body, generator: { type: "ed25519" } }).pipe(as(member))
        for (const { publicKey } of pair.generations) assert.include(publicKey!, "BEGIN PUBLIC KEY")
      })
  )

  it.effect("replays a request with the same id, and rejects a different body", () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const { admin, member, memberKey, workspace } = yield* makeVaultScene
      const body = { name: "A", values: values({ staging: "1", production: "2" }), requestId: "r" }
      const first = yield* vault.create("shop", body).pipe(as(member))
      yield* vault.update("shop", "A", { newName: "B", values: values({ staging: "2" }) }).pipe(as(member))
      const events = (yield* eventsOf(workspace)).length
      assert.deepStrictEqual(yield* vault.create("shop", body).pipe(as(member)), first)
      // Keys in another order, values equal.
      const reordered = { requestId: "r", values: values({ production: "2", staging: "1" }), name: "A" }
      assert.deepStrictEqual(yield* vault.create("shop", reordered).pipe(as(member)), first)
      assert.strictEqual((yield* eventsOf(workspace)).length, events)
      for (const other of [
        { ...body, name: "C" },
        { ...body, values: values({ staging: "other", production: "2" }) },
        { ...body, values: values({ staging: "1" }) },
        { name: "A", requestId: "r" }
      ]) {
        assert.strictEqual(yield* refusal(vault.create("shop", other).pipe(as(member))), "Conflict request_id_reused")
      }
      assert.strictEqual(yield* refusal(vault.create("search", body).pipe(as(member))), "Conflict request_id_reused")
      // The id counts for the caller and the operation.
      yield* vault.create("search", body).pipe(as(admin))
      yield* vault.create("search", { ...body, name: "K" }).pipe(as(memberKey))
      yield* vault.update("search", "A", { requestId: "r" }).pipe(as(member))

      const update = { newName: "D", values: values({ staging: "3" }), requestId: "u" }
      const updated = yield* vault.update("shop", "B", update).pipe(as(member))
      assert.deepStrictEqual(yield* vault.update("shop", "B", update).pipe(as(member)), updated)
      const assign = {
        products: ["shop", "search"],
        environments: ["ci"],
        name: "D",
        value: secret("x"),
        requestId: "r"
      }
      const assigned = yield* vault.assign(assign).pipe(as(member))
      assert.deepStrictEqual(yield* vault.assign(assign).pipe(as(member)), assigned)
      const generate = {
        products: ["shop"],
        environments: ["ci", "production"],
        name: "G",
        generator: { type: "ed25519" } as const,
        reveal: true,
        requestId: "r"
      }
      const generated = yield* vault.generate(generate).pipe(as(member))
      yield* vault.generate({ ...generate, requestId: "other" }).pipe(as(member))
      assert.deepStrictEqual(yield* vault.generate(generate).pipe(as(member)), generated)
      assert.deepStrictEqual(
        yield* refusal(vault.generate({ ...generate, reveal: false }).pipe(as(member))),
        "Conflict request_id_reused"
      )
    })
  )

  it.effect("does not replay a value that may no longer be read", () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const environments = yield* Environments
      const { admin, ci, member, production } = yield* makeVaultScene
      const body = { name: "A", values: values({ staging: "s", ci: "c", production: "p" }), requestId: "r" }
      const generate = {
        products: ["shop"],
        environments: ["ci", "staging"],
        name: "G",
        generator: { type: "uuid" } as const,
        reveal: true,
        requestId: "r"
      }
      const first = yield* vault.create("shop", body).pipe(as(member))
      yield* vault.generate(generate).pipe(as(member))
      yield* environments.update("ci", { class: "production" }).pipe(as(admin))
      assert.deepStrictEqual(statesOf(yield* vault.create("shop", body).pipe(as(member))), {
        ci: "*@1",
        production: "*@1",
        staging: "s@1"
      })
      const generated = yield* vault.generate(generate).pipe(as(member))
      assert.deepStrictEqual(
        generated.generations.map(({ environment, value }) => [environment.slug, value === null]),
        [
          ["ci", true],
          ["staging", false]
        ]
      )
      // Cleared, production may become readable, but what was hidden stays hidden.
      yield* vault.update("shop", "A", { values: values({ production: null }) }).pipe(as(member))
      yield* environments.update(production.id, { class: "non-production" }).pipe(as(admin))
      assert.strictEqual(statesOf(yield* vault.create("shop", body).pipe(as(member)))["production"], "*@1 none")
      assert.strictEqual(
        yield* refusal(environments.update(ci.id, { class: "non-production" }).pipe(as(admin))),
        "Conflict holds_secrets"
      )
      yield* vault.delete("shop", "A").pipe(as(member))
      const deleted = yield* vault.create("shop", body).pipe(as(member))
      assert.strictEqual(deleted.id, first.id)
      assert.deepStrictEqual(statesOf(deleted), { ci: "*@1", production: "*@1 none", staging: "*@1" })
    })
  )

  it.effect("leaves the id of a failed request free, and forgets ids after a day", () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const { member } = yield* makeVaultScene
      yield* vault.create("shop", { name: "A" }).pipe(as(member))
      const update = { values: values({ staging: "1" }), requestId: "r" }
      assert.strictEqual(
        yield* refusal(vault.update("shop", "A", { ...update, expectedVersions: { staging: 4 } }).pipe(as(member))),
        "Conflict version_mismatch"
      )
      assert.strictEqual(statesOf(yield* vault.update("shop", "A", update).pipe(as(member)))["staging"], "1@1")
      yield* TestClock.adjust(day - 1)
      assert.strictEqual(statesOf(yield* vault.update("shop", "A", update).pipe(as(member)))["staging"], "1@1")
      yield* TestClock.adjust(1)
      assert.strictEqual(statesOf(yield* vault.update("shop", "A", update).pipe(as(member)))["staging"], "1@2")
    })
  )

  it.effect("detaches values with a deleted deployment, and brings them back with the next", () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const deployments = yield* Deployments
      const { member } = yield* makeVaultScene
      const create = { name: "A", values: values({ staging: "s", ci: "c" }), requestId: "r" }
      yield* vault.create("shop", create).pipe(as(member))
      const get = vault.get("shop", "A").pipe(as(member))
      const deployed = Effect.map(get, ({ environments }) =>
        environments.map((one) => `${one.environment.slug} ${one.deployed}`)
      )
      yield* deployments.create({ product: "shop", environment: "staging" }).pipe(as(member))
      assert.deepStrictEqual(yield* deployed, ["ci false", "production false", "staging true"])
      yield* deployments.delete("shop", "staging").pipe(as(member))
      assert.deepStrictEqual(statesOf(yield* get), { ci: "c@1", production: "*@0 none", staging: "*@1" })
      assert.deepStrictEqual(yield* deployed, ["ci false", "production false", "staging false"])
      assert.strictEqual(statesOf(yield* vault.create("shop", create).pipe(as(member)))["staging"], "*@1")
      const write = { values: values({ ci: "2", staging: "2" }) }
      assert.strictEqual(yield* refusal(vault.update("shop", "A", write).pipe(as(member))), "Conflict not_deployed")
      const bulk = { products: ["search", "shop"], environments: ["staging"], name: "A" }
      assert.strictEqual(
        yield* refusal(vault.assign({ ...bulk, value: null }).pipe(as(member))),
        "Conflict not_deployed"
      )
      assert.strictEqual(
        yield* refusal(vault.generate({ ...bulk, generator: { type: "uuid" } }).pipe(as(member))),
        "Conflict not_deployed"
      )
      assert.strictEqual(
        yield* refusal(vault.create("shop", { name: "B", values: values({ staging: "x" }) }).pipe(as(member))),
        "Conflict not_deployed"
      )
      assert.strictEqual(yield* refusal(vault.get("search", "A").pipe(as(member))), "NotFound")
      yield* vault.update("shop", "A", { values: values({ ci: "2" }) }).pipe(as(member))
      assert.strictEqual(
        (yield* vault.versions({ product: "shop", name: "A", environment: "staging" }).pipe(as(member))).length,
        1
      )
      yield* deployments.create({ product: "shop", environment: "staging" }).pipe(as(member))
      assert.deepStrictEqual(statesOf(yield* get), { ci: "2@2", production: "*@0 none", staging: "s@1" })
    })
  )

  it.effect("rejects writes to archived products and environments, and allows reads", () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const { member, search, shop, staging } = yield* makeVaultScene
      yield* vault.create("shop", { name: "A", values: values({ staging: "s", ci: "c" }) }).pipe(as(member))
      const at = staging.updatedAt
      yield* (yield* EnvironmentsRepo).update({ ...staging, archivedAt: at })
      const update = (plain: Record<string, string>) =>
        vault.update("shop", "A", { values: values(plain) }).pipe(as(member))
      assert.strictEqual(yield* refusal(update({ ci: "2", staging: "2" })), "Conflict archived")
      yield* update({ ci: "2" })
      assert.strictEqual(
        yield* refusal(
          vault.assign({ products: ["shop"], environments: ["staging"], name: "A", value: null }).pipe(as(member))
        ),
        "Conflict archived"
      )
      assert.strictEqual(statesOf(yield* vault.get("shop", "A").pipe(as(member)))["staging"], "s@1")
      yield* (yield* ProductsRepo).update({ ...shop, archivedAt: at })
      for (const write of [
        update({ ci: "3" }),
        vault.update("shop", "A", { newName: "B" }).pipe(as(member)),
        vault.create("shop", { name: "B" }).pipe(as(member)),
        vault.delete("shop", "A").pipe(as(member)),
        vault
          .generate({ products: [search.id, "shop"], environments: ["ci"], name: "B", generator: { type: "uuid" } })
          .pipe(as(member))
      ]) {
        assert.strictEqual(yield* Effect.map(answer(write), String), "Conflict archived")
      }
      assert.strictEqual(statesOf(yield* vault.get("shop", "A").pipe(as(member)))["ci"], "2@2")
      assert.strictEqual((yield* vault.list.pipe(as(member))).secrets.length, 1)
    })
  )

  it.effect("answers NotFound for what does not exist, and names it", () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const other = yield* makeVaultScene
      const { member } = yield* makeVaultScene
      yield* vault.create("shop", { name: "A" }).pipe(as(member))
      yield* vault.create("shop", { name: "FOREIGN" }).pipe(as(other.member))
      const describeError = <A, R>(call: Effect.Effect<A, { readonly _tag: string; readonly message: string }, R>) =>
        Effect.map(Effect.flip(call), ({ _tag, message }) => `${_tag} ${message}`)
      const unknown = { products: ["shop"], environments: ["staging"], name: "A", value: null }
      const cases = [
        [vault.get("none", "A"), 'NotFound There is no product "none" that you can see.'],
        [vault.get("shop", "none"), "NotFound The secret does not exist."],
        [vault.get("shop", "a"), "NotFound The secret does not exist."],
        [vault.get("shop", "FOREIGN"), "NotFound The secret does not exist."],
        [vault.get(other.shop.id, "FOREIGN"), `NotFound There is no product "${other.shop.id}" that you can see.`],
        [vault.listOfProduct("a b"), "NotFound The product does not exist."],
        [vault.create("none", { name: "B" }), 'NotFound There is no product "none" that you can see.'],
        [
          vault.create("shop", { name: "B", values: values({ nowhere: "x" }) }),
          "NotFound values: there is no such environment that you can see."
        ],
        [
          vault.update("shop", "A", { values: values({ [other.staging.id]: "x" }) }),
          "NotFound values: there is no such environment that you can see."
        ],
        [
          vault.update("shop", "A", { values: values({ "not a ref": "x" }) }),
          "NotFound values: there is no such environment that you can see."
        ],
        [
          vault.update("shop", "A", { expectedVersions: { nowhere: 1 } }),
          "NotFound expectedVersions: there is no such environment that you can see."
        ],
        [
          vault.assign({ ...unknown, products: ["shop", "none"] }),
          "NotFound products: there is no such product that you can see."
        ],
        [
          vault.assign({ ...unknown, environments: ["none"] }),
          "NotFound environments: there is no such environment that you can see."
        ],
        [
          vault.versions({ product: "shop", name: "A", environment: "none" }),
          'NotFound There is no environment "none" that you can see.'
        ],
        [vault.versions({ product: "shop", name: "none", environment: "ci" }), "NotFound The secret does not exist."],
        [
          vault.versions({ product: "none", name: "A", environment: "ci" }),
          'NotFound There is no product "none" that you can see.'
        ],
        [vault.delete("shop", "none"), "NotFound The secret does not exist."]
      ] as const
      for (const [call, expected] of cases) {
        assert.strictEqual(yield* describeError(call as (typeof cases)[0][0]).pipe(as(member)), expected)
      }
    })
  )

  it.effect("rejects what no schema can: an environment named twice, no class of characters, too many pairs", () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const { member, outsider, staging } = yield* makeVaultScene
      yield* vault.create("shop", { name: "A" }).pipe(as(member))
      const twice = values({ staging: "1", [staging.id]: "1" })
      assert.strictEqual(
        yield* refusal(vault.create("shop", { name: "B", values: twice }).pipe(as(member))),
        "InvalidInput"
      )
      assert.strictEqual(
        yield* refusal(
          vault.update("shop", "A", { expectedVersions: { staging: 0, [staging.id]: 0 } }).pipe(as(member))
        ),
        "InvalidInput"
      )
      const many = Array.from({ length: 32 }, (_, i) => `ref-${i}`)
      // The form of a request is checked before the workspace.
      assert.strictEqual(
        yield* refusal(vault.assign({ products: many, environments: many, name: "A", value: null }).pipe(as(outsider))),
        "InvalidInput"
      )
      const classes = { lowercase: false, uppercase: false, digits: false, symbols: false }
      assert.strictEqual(
        yield* refusal(
          vault
            .generate({
              products: ["shop"],
              environments: ["ci"],
              name: "A",
              generator: { type: "password", length: 8, ...classes }
            })
            .pipe(as(outsider))
        ),
        "InvalidInput"
      )
    })
  )

  it.effect("lets members write and read, viewers see names and versions, and nobody read production", () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const scene = yield* makeVaultScene
      const { callers, member, workspace } = scene
      const canaries = { production: unique("canary-production"), staging: unique("canary-staging") }
      yield* vault.create("shop", { name: "A", values: values(canaries) }).pipe(as(member))

      const bulk = { products: ["shop"], environments: ["staging", "production"] }
      const fresh = () => unique("NAME")
      const calls: ReadonlyArray<
        readonly [name: string, call: Effect.Effect<unknown, Refusal, Caller>, who: Record<string, string>]
      > = [
        ["list", vault.list, everyRole],
        ["listOfProduct", vault.listOfProduct("shop"), everyRole],
        ["get", vault.get("shop", "A"), everyRole],
        ["versions", vault.versions({ product: "shop", name: "A", environment: "staging" }), everyRole],
        [
          "create",
          Effect.suspend(() => vault.create("shop", { name: fresh(), values: values(canaries) })),
          membersAndUp
        ],
        ["update", vault.update("shop", "A", { values: values(canaries) }), membersAndUp],
        ["assign", vault.assign({ ...bulk, name: "B", value: secret(canaries.production) }), membersAndUp],
        ["generate", vault.generate({ ...bulk, name: "G", generator: { type: "uuid" }, reveal: true }), membersAndUp],
        ["delete", vault.delete("shop", "NONE"), membersAndUp]
      ]
      for (const [name, call, who] of calls) assert.deepStrictEqual(yield* whoMay(scene, call), who, name)

      const owners = { ...callers, ownerless: yield* addAccountKey(workspace, "admin") }
      for (const [role, caller] of Object.entries(owners)) {
        for (const [name, call] of calls) {
          const result = yield* Effect.exit(call.pipe(as(caller))) as Effect.Effect<unknown>
          const text = JSON.stringify(result, (_, part: unknown) => part, 0) + JSON.stringify(revealed(result))
          assert.notInclude(text, canaries.production, `${name} by ${role}`)
          if (role.startsWith("viewer") || role === "outsider") {
            assert.notInclude(text, canaries.staging, `${name} by ${role}`)
          }
        }
      }
      const read = yield* vault.get("shop", "A").pipe(as(member))
      assert.include(JSON.stringify(revealed(read)), canaries.staging)
    })
  )

  it.effect("erases deleted secrets after 30 days, and no others", () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const repo = yield* VaultRepo
      const { member, staging, workspace } = yield* makeVaultScene
      // What other tests left.
      yield* TestClock.adjust(40 * day)
      yield* vault.erase
      const { id } = yield* vault
        .create("shop", { name: "A", values: values({ staging: "1", ci: "1" }), requestId: "r" })
        .pipe(as(member))
      const { id: kept } = yield* vault.create("shop", { name: "B", values: values({ staging: "1" }) }).pipe(as(member))
      yield* vault.delete("shop", "A").pipe(as(member))
      const inStorage = (secretId: typeof id) =>
        Effect.map(
          repo.find(workspace.id, { secretId, versions: [{ environmentId: staging.id, version: 1, shown: true }] }),
          ({ secrets, versions }) => [secrets.length, versions.length]
        )
      yield* TestClock.adjust(30 * day)
      // The request of a day ago goes; the secret stays until its 30 days are over.
      assert.strictEqual(yield* vault.erase, 1)
      assert.deepStrictEqual(yield* inStorage(id), [1, 1])
      yield* TestClock.adjust(1)
      const erased = yield* Effect.all([vault.erase, vault.erase, vault.erase], { concurrency: "unbounded" })
      assert.strictEqual(
        erased.reduce((sum, count) => sum + count, 0),
        1
      )
      assert.deepStrictEqual(yield* inStorage(id), [0, 0])
      assert.deepStrictEqual(yield* inStorage(kept), [1, 1])
      assert.strictEqual(yield* vault.erase, 0)
    })
  )

  it.effect("keeps environments that hold values in production", () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const environments = yield* Environments
      const { admin, member } = yield* makeVaultScene
      yield* vault.create("shop", { name: "A", values: values({ production: "p" }) }).pipe(as(member))
      const open = environments.update("production", { class: "non-production", name: "Open" }).pipe(as(admin))
      assert.strictEqual(yield* refusal(open), "Conflict holds_secrets")
      yield* environments.update("production", { name: "Prod" }).pipe(as(admin))
      yield* environments.update("staging", { class: "production" }).pipe(as(admin))
      yield* environments.update("staging", { class: "non-production" }).pipe(as(admin))
      yield* vault.update("shop", "A", { values: values({ production: null }) }).pipe(as(member))
      yield* open
      yield* environments.update("production", { class: "production" }).pipe(as(admin))
      yield* vault.update("shop", "A", { values: values({ production: "p" }) }).pipe(as(member))
      yield* vault.delete("shop", "A").pipe(as(member))
      yield* open
    })
  )

  it.effect("has nobody restore what was production's into an environment that is so no longer", () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const environments = yield* Environments
      const { admin, member } = yield* makeVaultScene
      const write = (value: string | null) =>
        vault.update("shop", "A", { values: values({ production: value }) }).pipe(as(member))
      yield* vault.create("shop", { name: "A", values: values({ production: "p1", ci: "c1" }) }).pipe(as(member))
      yield* write("p2")
      yield* write(null)
      yield* environments.update("production", { class: "non-production" }).pipe(as(admin))
      const restore = (version: number) =>
        vault.update("shop", "A", { restore: { production: version } }).pipe(as(member))
      for (const version of [1, 2]) {
        assert.match(statesOf(yield* restore(version))["production"]!, /^-@\d none$/)
      }
      assert.deepStrictEqual(statesOf(yield* vault.get("shop", "A").pipe(as(member))), {
        ci: "c1@1",
        production: "-@5 none",
        staging: "-@0 none"
      })
      // What is written from now on is read, and restored, as anywhere.
      yield* write("open")
      yield* write("next")
      assert.strictEqual(statesOf(yield* restore(6))["production"], "open@8")
    })
  )
})

interface Refusal {
  readonly _tag: string
  readonly message: string
}

/** The same with what is redacted laid open, as the wire would carry it. */
const revealed = (part: unknown): unknown => {
  if (Redacted.isRedacted(part)) return Redacted.value(part)
  if (Array.isArray(part)) return part.map(revealed)
  if (typeof part !== "object" || part === null) return part
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, revealed(value)]))
}

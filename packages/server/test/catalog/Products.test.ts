import { assert } from "@effect/vitest"
import type { Archived } from "@delivery/domain/Archived"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { DeploymentsRepo } from "../../src/catalog/DeploymentsRepo.ts"
import { Products } from "../../src/catalog/Products.ts"
import {
  adminsAndUp,
  answer,
  as,
  assertChain,
  everyRole,
  eventsOf,
  kindsOf,
  makeScene,
  newId,
  now,
  refusal,
  type Scene,
  unique,
  whoMay
} from "../identity/Scene.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import { addDeployment, addEnvironment, addProduct } from "./Rows.ts"

withServicesOnEachStorage("Products", (it, storageName) => {
  const create = Effect.fnUntraced(function* ({ admin }: Scene, fields: { name?: string; slug?: string } = {}) {
    const slug = unique("shop")
    return yield* (yield* Products).create({ slug, name: "Shop", type: "service", ...fields }).pipe(as(admin))
  })

  it.effect("checks the role before it finds the product", () =>
    Effect.gen(function* () {
      const products = yield* Products
      const scene = yield* makeScene
      const unknown = unique("unknown")
      const make = Effect.suspend(() => products.create({ slug: unique("shop"), name: "Shop", type: "app" }))
      assert.deepStrictEqual(yield* whoMay(scene, products.list()), everyRole)
      assert.deepStrictEqual(yield* whoMay(scene, products.get(unknown)), everyRole)
      assert.deepStrictEqual(yield* whoMay(scene, make), adminsAndUp)
      assert.deepStrictEqual(yield* whoMay(scene, products.update(unknown, { name: "New" })), adminsAndUp)
      assert.deepStrictEqual(yield* whoMay(scene, products.archive(unknown)), adminsAndUp)
      assert.deepStrictEqual(yield* whoMay(scene, products.restore(unknown)), adminsAndUp)
    })
  )

  it.effect("creates a product, finds it by slug and id, and records an event", () =>
    Effect.gen(function* () {
      const products = yield* Products
      const { admin, viewer, workspace } = yield* makeScene
      const slug = unique("shop")
      const input = { slug, name: "Web Shop", type: "website", repository: "acme/shop", baseBranch: "trunk" } as const
      const made = yield* products.create(input).pipe(as(admin))
      const at = yield* now
      const expected = { ...input, id: made.id, archived: false, archivedAt: null, createdAt: at, updatedAt: at }
      assert.deepStrictEqual(made, expected)
      assert.deepStrictEqual(yield* products.get(slug).pipe(as(viewer)), expected)
      assert.deepStrictEqual(yield* products.get(made.id).pipe(as(viewer)), expected)
      const [event, ...more] = yield* eventsOf(workspace)
      assert.strictEqual(event?.kind, "product_created")
      assert.deepStrictEqual(event?.actor, admin.principal)
      assert.deepStrictEqual(
        [event?.subjectType, event?.subjectId, event?.subjectLabel, event?.subjectPath],
        ["product", made.id, "Web Shop", `products/${slug}`]
      )
      assert.deepStrictEqual(more, [])
    })
  )

  it.effect("creates a product without a repository, or with null", () =>
    Effect.gen(function* () {
      const products = yield* Products
      const { adminKey } = yield* makeScene
      for (const type of ["website", "api", "app", "library", "service"] as const) {
        for (const repository of [{}, { repository: null }]) {
          const made = yield* products
            .create({ slug: unique("shop"), name: "Shop", type, ...repository })
            .pipe(as(adminKey))
          assert.deepStrictEqual([made.type, made.repository], [type, null])
        }
      }
    })
  )

  it.effect("finds no products of other workspaces", () =>
    Effect.gen(function* () {
      const products = yield* Products
      const { owner } = yield* makeScene
      const foreign = yield* create(yield* makeScene)
      for (const ref of [foreign.slug, foreign.id, newId(), "", "No Slug"]) {
        for (const call of [
          products.get(ref),
          products.update(ref, { name: "Mine" }),
          products.archive(ref),
          products.restore(ref)
        ]) {
          const error = yield* Effect.flip(call.pipe(as(owner)))
          assert.deepStrictEqual(
            [error._tag, error.message],
            ["NotFound", `There is no product "${ref}" that you can see.`]
          )
        }
      }
      assert.deepStrictEqual(yield* products.list("include").pipe(as(owner)), [])
    })
  )

  it.effect("lists products by name, with the archived filter", () =>
    Effect.gen(function* () {
      const products = yield* Products
      const scene = yield* makeScene
      for (const name of ["Zebra", "shop 10", "Shop 2", "Äpfel", "apfel"]) yield* create(scene, { name })
      for (const name of ["Old 10", "old 9"]) {
        yield* products.archive((yield* create(scene, { name })).id).pipe(as(scene.admin))
      }
      const names = (archived?: Archived) =>
        Effect.map(products.list(archived).pipe(as(scene.viewer)), (listed) => listed.map((product) => product.name))
      const present = ["apfel", "Äpfel", "Shop 2", "shop 10", "Zebra"]
      assert.deepStrictEqual(yield* names(), present)
      assert.deepStrictEqual(yield* names("exclude"), present)
      assert.deepStrictEqual(yield* names("only"), ["old 9", "Old 10"])
      assert.deepStrictEqual(yield* names("include"), [
        "apfel",
        "Äpfel",
        "old 9",
        "Old 10",
        "Shop 2",
        "shop 10",
        "Zebra"
      ])
    })
  )

  it.effect("changes the fields that are sent, and records the changes", () =>
    Effect.gen(function* () {
      const products = yield* Products
      const scene = yield* makeScene
      const made = yield* create(scene)
      const slug = unique("moved")
      for (const [input, change] of [
        [{ name: "Renamed" }, { field: "name", from: "Shop", to: "Renamed" }],
        [{ type: "website" }, { field: "type", from: "service", to: "website" }],
        [{ repository: "acme/shop" }, { field: "repository", from: null, to: "acme/shop" }],
        [
          { repository: null, name: "Renamed" },
          { field: "repository", from: "acme/shop", to: null }
        ],
        [{ baseBranch: "trunk" }, { field: "baseBranch", from: "main", to: "trunk" }],
        [{ slug }, { field: "slug", from: made.slug, to: slug }]
      ] as const) {
        const before = yield* products.get(made.id).pipe(as(scene.viewer))
        yield* TestClock.adjust("1 minute")
        const changed = yield* products.update(made.id, input).pipe(as(scene.adminKey))
        assert.deepStrictEqual(changed, { ...before, ...input, updatedAt: yield* now })
        assert.deepStrictEqual(yield* products.get(made.id).pipe(as(scene.viewer)), changed)
        const event = (yield* eventsOf(scene.workspace)).at(-1)
        assert.strictEqual(event?.kind, "product_updated")
        assert.deepStrictEqual(event?.actor, scene.adminKey.principal as never)
        assert.deepStrictEqual(event?.changes, [change])
        assert.deepStrictEqual(
          [event?.subjectId, event?.subjectLabel, event?.subjectPath],
          [made.id, changed.name, `products/${changed.slug}`]
        )
      }
      assert.strictEqual(yield* refusal(products.get(made.slug).pipe(as(scene.viewer))), "NotFound")
      assert.strictEqual((yield* products.get(slug).pipe(as(scene.viewer))).id, made.id)
    })
  )

  it.effect("changes and records nothing if nothing differs", () =>
    Effect.gen(function* () {
      const products = yield* Products
      const scene = yield* makeScene
      const made = yield* create(scene)
      yield* TestClock.adjust("1 minute")
      const same = { slug: made.slug, name: made.name, type: made.type, repository: null, baseBranch: "main" }
      for (const input of [{}, same]) {
        assert.deepStrictEqual(yield* products.update(made.slug, input).pipe(as(scene.admin)), made)
      }
      assert.deepStrictEqual(yield* kindsOf(scene.workspace), ["product_created"])
    })
  )

  it.effect("refuses a slug in use, also by an archived product, and changes nothing", () =>
    Effect.gen(function* () {
      const products = yield* Products
      const scene = yield* makeScene
      const [one, archived] = [yield* create(scene), yield* create(scene)]
      yield* products.archive(archived.id).pipe(as(scene.admin))
      const before = yield* eventsOf(scene.workspace)
      for (const { slug } of [one, archived]) {
        assert.strictEqual(yield* refusal(create(scene, { slug })), "Conflict slug_in_use")
      }
      const move = products.update(one.id, { slug: archived.slug, name: "Moved" })
      assert.strictEqual(yield* refusal(move.pipe(as(scene.admin))), "Conflict slug_in_use")
      assert.deepStrictEqual(yield* products.get(one.id).pipe(as(scene.viewer)), one)
      assert.lengthOf(yield* products.list("include").pipe(as(scene.viewer)), 2)
      assert.deepStrictEqual(yield* eventsOf(scene.workspace), before)
      yield* create(yield* makeScene, { slug: one.slug })
    })
  )

  it.effect("gives a slug to one of many concurrent requests", () =>
    Effect.gen(function* () {
      const scene = yield* makeScene
      const slug = unique("wanted")
      const answers = yield* Effect.all(
        Array.from({ length: 8 }, () => answer(create(scene, { slug }))),
        {
          concurrency: "unbounded"
        }
      )
      assert.deepStrictEqual(answers.toSorted(), [...Array.from({ length: 7 }, () => "Conflict slug_in_use"), "ok"])
      assert.deepStrictEqual(yield* kindsOf(scene.workspace), ["product_created"])
    })
  )

  it.effect("refuses a type that needs a base URL while a deployment has none", () =>
    Effect.gen(function* () {
      const products = yield* Products
      const { admin, workspace } = yield* makeScene
      const product = yield* addProduct(workspace.id, { type: "app" })
      yield* addDeployment(product, yield* addEnvironment(workspace.id))
      const archived = yield* addEnvironment(workspace.id, { archivedAt: yield* now })
      const without = yield* addDeployment(product, archived, { baseUrl: null })
      const update = (input: Parameters<typeof products.update>[1]) =>
        products.update(product.slug, input).pipe(as(admin))

      for (const type of ["website", "api"] as const) {
        assert.strictEqual(yield* refusal(update({ type, name: "Renamed" })), "Conflict needs_base_url")
      }
      assert.deepStrictEqual(yield* eventsOf(workspace), [])
      assert.strictEqual((yield* products.get(product.id).pipe(as(admin))).name, product.name)
      yield* update({ type: "library" })
      yield* update({ name: "Renamed" })
      yield* (yield* DeploymentsRepo).delete(without.id, yield* now)
      assert.strictEqual((yield* update({ type: "website" })).type, "website")
      assert.strictEqual((yield* update({ type: "api" })).type, "api")
    })
  )

  it.effect("archives and restores once each, and records an event", () =>
    Effect.gen(function* () {
      const products = yield* Products
      const scene = yield* makeScene
      const made = yield* create(scene)
      assert.deepStrictEqual(yield* products.restore(made.id).pipe(as(scene.admin)), made)
      yield* TestClock.adjust("1 minute")
      const archivedAt = yield* now
      const archived = yield* products.archive(made.id).pipe(as(scene.admin))
      assert.deepStrictEqual(archived, { ...made, archived: true, archivedAt, updatedAt: archivedAt })
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* products.archive(made.slug).pipe(as(scene.admin)), archived)
      assert.deepStrictEqual(yield* products.get(made.id).pipe(as(scene.viewer)), archived)
      const restored = yield* products.restore(made.slug).pipe(as(scene.admin))
      assert.deepStrictEqual(restored, { ...made, updatedAt: yield* now })
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* products.restore(made.id).pipe(as(scene.admin)), restored)
      const events = yield* eventsOf(scene.workspace)
      assert.deepStrictEqual(
        events.map((event) => [event.kind, event.subjectId, event.changes]),
        [
          ["product_created", made.id, []],
          ["product_archived", made.id, []],
          ["product_restored", made.id, []]
        ]
      )
    })
  )

  it.effect("changes archived products too", () =>
    Effect.gen(function* () {
      const products = yield* Products
      const scene = yield* makeScene
      const { id } = yield* create(scene)
      const archived = yield* products.archive(id).pipe(as(scene.admin))
      yield* TestClock.adjust("1 minute")
      const changed = yield* products.update(id, { name: "Renamed" }).pipe(as(scene.admin))
      assert.deepStrictEqual(changed, { ...archived, name: "Renamed", updatedAt: yield* now })
    })
  )

  it.effect("moves updatedAt on every change, also within one millisecond", () =>
    Effect.gen(function* () {
      const products = yield* Products
      const scene = yield* makeScene
      const { id, updatedAt } = yield* create(scene)
      const moments = [updatedAt]
      for (const change of [products.update(id, { name: "One" }), products.archive(id), products.restore(id)]) {
        moments.push((yield* change.pipe(as(scene.admin))).updatedAt)
      }
      assert.lengthOf(new Set(moments), 4)
      assert.deepStrictEqual(moments.toSorted(), moments)
    })
  )

  it.effect("loses no concurrent change", () =>
    Effect.gen(function* () {
      const products = yield* Products
      const scene = yield* makeScene
      const made = yield* create(scene)
      const inputs = Array.from(
        { length: 20 },
        (_, n) => [{ slug: unique("moved") }, { name: `Shop ${n}` }, { repository: `acme/${n}` }][n % 3]!
      )
      yield* Effect.all(
        inputs.map((input) => products.update(made.id, input).pipe(as(scene.admin))),
        {
          concurrency: "unbounded"
        }
      )
      const events = (yield* eventsOf(scene.workspace)).filter((event) => event.kind === "product_updated")
      assert.lengthOf(events, 20)
      assertChain(events, { ...made }, { ...(yield* products.get(made.id).pipe(as(scene.viewer))) })
    })
  )

  it.effect("archives once under concurrent requests", () =>
    Effect.gen(function* () {
      const products = yield* Products
      const scene = yield* makeScene
      const made = yield* create(scene)
      yield* Effect.all(
        Array.from({ length: 6 }, () => products.archive(made.id).pipe(as(scene.admin))),
        {
          concurrency: "unbounded"
        }
      )
      assert.deepStrictEqual(yield* kindsOf(scene.workspace), ["product_created", "product_archived"])
    })
  )

  // The memory storage checks no values.
  if (storageName !== "memory") {
    it.effect("changes nothing if the event cannot be stored", () =>
      Effect.gen(function* () {
        const products = yield* Products
        const scene = yield* makeScene
        const made = yield* create(scene)
        const unknownKind = { ...scene.admin, principal: { ...scene.admin.principal, kind: "robot" as never } }
        for (const call of [
          products.create({ slug: unique("shop"), name: "Second", type: "app" }),
          products.update(made.id, { name: "Renamed" }),
          products.archive(made.id)
        ]) {
          assert.strictEqual((yield* Effect.exit(call.pipe(as(unknownKind))))._tag, "Failure")
        }
        assert.deepStrictEqual(yield* products.list("include").pipe(as(scene.viewer)), [made])
      })
    )
  }
})

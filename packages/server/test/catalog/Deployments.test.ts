import { assert } from "@effect/vitest"
import type { UpdateDeployment } from "@delivery/domain/catalog/Deployment"
import type { Archived } from "@delivery/domain/Archived"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Deployments } from "../../src/catalog/Deployments.ts"
import { DeploymentsRepo } from "../../src/catalog/DeploymentsRepo.ts"
import type { EnvironmentRow } from "../../src/catalog/EnvironmentsRepo.ts"
import { Environments } from "../../src/catalog/Environments.ts"
import { Products } from "../../src/catalog/Products.ts"
import type { ProductRow } from "../../src/catalog/ProductsRepo.ts"
import {
  answer,
  as,
  assertChain,
  everyRole,
  eventsOf,
  kindsOf,
  makeScene,
  membersAndUp,
  newId,
  now,
  refusal,
  unique,
  whoMay
} from "../identity/Scene.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import { addDeployment, addEnvironment, addProduct } from "./Rows.ts"

withServicesOnEachStorage("Deployments", (it, storageName) => {
  /** A workspace with a product and an environment that are not deployed yet. */
  const makePair = Effect.fnUntraced(function* (fields: Partial<ProductRow> = {}) {
    const scene = yield* makeScene
    const product = yield* addProduct(scene.workspace.id, { name: "Shop", ...fields })
    const environment = yield* addEnvironment(scene.workspace.id, { name: "Staging", emoji: "🧪" })
    return { ...scene, product, environment }
  })

  const makeDeployed = Effect.fnUntraced(function* (fields: Partial<ProductRow> = {}) {
    const pair = yield* makePair(fields)
    const { environment, member, product } = pair
    const deployment = yield* (yield* Deployments)
      .create({
        product: product.slug,
        environment: environment.slug,
        baseUrl: "https://shop.example",
        version: "1"
      })
      .pipe(as(member))
    const update = (input: UpdateDeployment) =>
      Effect.flatMap(Deployments, (deployments) => deployments.update(product.slug, environment.slug, input)).pipe(
        as(member)
      )
    const get = Effect.flatMap(Deployments, (deployments) => deployments.get(product.slug, environment.slug)).pipe(
      as(member)
    )
    return { ...pair, deployment, update, get }
  })

  const productRef = ({ id, name, slug, type }: ProductRow) => ({ id, slug, name, type, archived: false })
  const environmentRef = ({ class: class_, emoji, id, name, slug }: EnvironmentRow) => ({
    id,
    slug,
    name,
    class: class_,
    emoji,
    archived: false
  })

  it.effect("checks the role before it finds anything", () =>
    Effect.gen(function* () {
      const deployments = yield* Deployments
      const scene = yield* makeScene
      const [product, environment] = [unique("unknown"), unique("unknown")]
      const input = { product, environment, baseUrl: null }
      assert.deepStrictEqual(yield* whoMay(scene, deployments.list({})), everyRole)
      assert.deepStrictEqual(yield* whoMay(scene, deployments.list({ product })), everyRole)
      assert.deepStrictEqual(yield* whoMay(scene, deployments.get(product, environment)), everyRole)
      assert.deepStrictEqual(yield* whoMay(scene, deployments.create(input)), membersAndUp)
      assert.deepStrictEqual(yield* whoMay(scene, deployments.update(product, environment, {})), membersAndUp)
      assert.deepStrictEqual(
        yield* whoMay(scene, deployments.update(product, environment, { baseUrl: null })),
        membersAndUp
      )
      assert.deepStrictEqual(yield* whoMay(scene, deployments.delete(product, environment)), membersAndUp)
    })
  )

  it.effect("deploys a product in an environment, by slug or id, and records an event", () =>
    Effect.gen(function* () {
      const deployments = yield* Deployments
      for (const by of ["slug", "id"] as const) {
        const { environment, memberKey, product, viewer, workspace } = yield* makePair({ type: "website" })
        const target = {
          baseUrl: "https://shop.example/a?b#c",
          fixtureUrl: "https://fixtures.example",
          version: "9fceb02"
        }
        const made = yield* deployments
          .create({ product: product[by], environment: environment[by], ...target })
          .pipe(as(memberKey))
        const at = yield* now
        assert.deepStrictEqual(made, {
          id: made.id,
          product: productRef(product),
          environment: environmentRef(environment),
          ...target,
          versionUpdatedAt: at,
          active: true,
          createdAt: at,
          updatedAt: at
        })
        assert.deepStrictEqual(yield* deployments.get(product.slug, environment.id).pipe(as(viewer)), made)
        assert.deepStrictEqual(yield* deployments.get(product.id, environment.slug).pipe(as(viewer)), made)
        const [event, ...more] = yield* eventsOf(workspace)
        assert.strictEqual(event?.kind, "deployment_created")
        assert.deepStrictEqual(event?.actor, memberKey.principal as never)
        assert.deepStrictEqual(
          [event?.subjectType, event?.subjectId, event?.subjectLabel, event?.subjectPath],
          ["deployment", made.id, "Shop in Staging", `deployments/${product.slug}/${environment.slug}`]
        )
        assert.deepStrictEqual(event?.changes, [{ field: "version", from: null, to: "9fceb02" }])
        assert.deepStrictEqual(more, [])
      }
    })
  )

  it.effect("requires a base URL only for websites and APIs", () =>
    Effect.gen(function* () {
      const deployments = yield* Deployments
      for (const type of ["website", "api", "app", "library", "service"] as const) {
        const { environment, member, product, workspace } = yield* makePair({ type })
        const refs = { product: product.slug, environment: environment.slug }
        for (const input of [refs, { ...refs, baseUrl: null }]) {
          const create = deployments.create(input).pipe(as(member))
          if (type === "website" || type === "api") {
            const error = yield* Effect.flip(create)
            assert.strictEqual(error._tag, "InvalidInput")
            assert.deepStrictEqual(error._tag === "InvalidInput" && error.issues.map((issue) => issue.path), [
              ["baseUrl"]
            ])
            assert.deepStrictEqual(yield* eventsOf(workspace), [])
          } else {
            const made = yield* create
            assert.deepStrictEqual([made.baseUrl, made.fixtureUrl, made.version], [null, null, null])
            yield* deployments.delete(product.slug, environment.slug).pipe(as(member))
          }
        }
      }
    })
  )

  it.effect("names the field whose object does not exist", () =>
    Effect.gen(function* () {
      const deployments = yield* Deployments
      const { environment, member, product } = yield* makePair()
      const foreign = yield* makePair()
      const create = (product: string, environment: string) =>
        Effect.map(
          Effect.flip(deployments.create({ product, environment }).pipe(as(member))),
          ({ _tag, message }) => `${_tag} ${message}`
        )
      for (const ref of [
        unique("unknown"),
        newId(),
        foreign.product.id,
        foreign.product.slug,
        "No slug",
        environment.slug
      ]) {
        assert.match(yield* create(ref, environment.slug), /^NotFound product:/)
      }
      for (const ref of [unique("unknown"), newId(), foreign.environment.id, "No slug", product.slug]) {
        assert.match(yield* create(product.slug, ref), /^NotFound environment:/)
      }
    })
  )

  it.effect("refuses a second deployment of a pair and changes nothing", () =>
    Effect.gen(function* () {
      const deployments = yield* Deployments
      const { deployment, environment, get, member, product, workspace } = yield* makeDeployed()
      const again = deployments.create({ product: product.id, environment: environment.id, version: "2" })
      assert.strictEqual(yield* refusal(again.pipe(as(member))), "Conflict deployment_exists")
      assert.deepStrictEqual(yield* get, deployment)
      assert.deepStrictEqual(yield* kindsOf(workspace), ["deployment_created"])
    })
  )

  it.effect("creates one deployment of a pair under concurrent requests", () =>
    Effect.gen(function* () {
      const deployments = yield* Deployments
      const { environment, member, product, workspace } = yield* makePair()
      const create = deployments.create({ product: product.slug, environment: environment.slug }).pipe(as(member))
      const answers = yield* Effect.all(
        Array.from({ length: 8 }, () => answer(create)),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(answers.toSorted(), [
        ...Array.from({ length: 7 }, () => "Conflict deployment_exists"),
        "ok"
      ])
      assert.deepStrictEqual(yield* kindsOf(workspace), ["deployment_created"])
    })
  )

  it.effect("refuses new deployments and changes while product or environment is archived", () =>
    Effect.gen(function* () {
      const deployments = yield* Deployments
      const products = yield* Products
      const environments = yield* Environments
      for (const what of ["product", "environment"] as const) {
        const { admin, deployment, environment, get, member, product, update, workspace } = yield* makeDeployed()
        const [id, other] = [workspace.id, what === "product" ? yield* addEnvironment(workspace.id) : undefined]
        const fresh = {
          product: other === undefined ? (yield* addProduct(id)).slug : product.slug,
          environment: other?.slug ?? environment.slug
        }
        const set = (archived: boolean) =>
          what === "product"
            ? products[archived ? "archive" : "restore"](product.id).pipe(as(admin))
            : environments[archived ? "archive" : "restore"](environment.id).pipe(as(admin))
        yield* set(true)
        const before = yield* eventsOf(workspace)
        const create = deployments.create(fresh).pipe(as(member))
        assert.strictEqual(yield* refusal(create), "Conflict archived")
        assert.strictEqual(yield* refusal(update({ version: "2" })), "Conflict archived")
        const shown = { ...deployment, active: false, [what]: { ...deployment[what], archived: true } }
        assert.deepStrictEqual(yield* get, shown)
        assert.deepStrictEqual(yield* eventsOf(workspace), before)
        yield* set(false)
        assert.deepStrictEqual(yield* get, deployment)
        yield* update({ version: "2" })
        yield* create
        yield* set(true)
        yield* deployments.delete(product.slug, environment.slug).pipe(as(member))
        assert.strictEqual(yield* refusal(get), "NotFound")
      }
    })
  )

  it.effect("finds only deployments of the workspace", () =>
    Effect.gen(function* () {
      const deployments = yield* Deployments
      const { environment, member, product, workspace } = yield* makeDeployed()
      const foreign = yield* makeDeployed()
      const alone = yield* addProduct(workspace.id)
      for (const [p, e] of [
        [alone.slug, environment.slug],
        [unique("unknown"), environment.slug],
        [product.slug, unique("unknown")],
        [foreign.product.slug, foreign.environment.slug],
        [foreign.product.id, foreign.environment.id],
        [product.id, foreign.environment.id],
        ["", ""],
        ["No slug", environment.slug]
      ] as const) {
        for (const call of [
          deployments.get(p, e),
          deployments.update(p, e, { version: "2" }),
          deployments.update(p, e, { baseUrl: null }),
          deployments.delete(p, e)
        ]) {
          const error = yield* Effect.flip(Effect.asVoid(call.pipe(as(member))))
          assert.deepStrictEqual(
            [error._tag, error.message],
            ["NotFound", `There is no deployment "${p}/${e}" that you can see.`]
          )
        }
      }
    })
  )

  it.effect("changes the fields that are sent, and records the changes", () =>
    Effect.gen(function* () {
      const { deployment, environment, get, member, product, update, workspace } = yield* makeDeployed()
      for (const [input, change] of [
        [
          { baseUrl: "https://other.example" },
          { field: "baseUrl", from: "https://shop.example", to: "https://other.example" }
        ],
        [
          { fixtureUrl: "https://fixtures.example" },
          { field: "fixtureUrl", from: null, to: "https://fixtures.example" }
        ],
        [{ fixtureUrl: null }, { field: "fixtureUrl", from: "https://fixtures.example", to: null }],
        [
          { baseUrl: null, version: "1" },
          { field: "baseUrl", from: "https://other.example", to: null }
        ]
      ] as const) {
        const before = yield* get
        yield* TestClock.adjust("1 minute")
        const changed = yield* update(input)
        assert.deepStrictEqual(changed, { ...before, ...input, updatedAt: yield* now })
        assert.deepStrictEqual(yield* get, changed)
        const event = (yield* eventsOf(workspace)).at(-1)
        assert.strictEqual(event?.kind, "deployment_updated")
        assert.deepStrictEqual(event?.actor, member.principal)
        assert.deepStrictEqual(event?.changes, [change])
        assert.deepStrictEqual(
          [event?.subjectType, event?.subjectId, event?.subjectLabel, event?.subjectPath],
          ["deployment", deployment.id, "Shop in Staging", `deployments/${product.slug}/${environment.slug}`]
        )
        assert.strictEqual(event?.createdAt, changed.updatedAt)
      }
    })
  )

  it.effect("moves versionUpdatedAt when the version changes, and only then", () =>
    Effect.gen(function* () {
      const { deployment, update } = yield* makeDeployed()
      let versionUpdatedAt = deployment.versionUpdatedAt
      for (const [input, moves] of [
        [{ baseUrl: "https://other.example" }, false],
        [{ version: "1", fixtureUrl: "https://fixtures.example" }, false],
        [{ version: "2" }, true],
        [{ version: "2" }, false],
        [{ fixtureUrl: null }, false],
        [{ version: null }, true],
        [{ version: null, baseUrl: null }, false],
        [{ version: "2", baseUrl: "https://shop.example" }, true]
      ] as const) {
        yield* TestClock.adjust("1 minute")
        if (moves) versionUpdatedAt = yield* now
        assert.strictEqual((yield* update(input)).versionUpdatedAt, versionUpdatedAt, JSON.stringify(input))
      }
    })
  )

  it.effect("changes and records nothing if nothing differs", () =>
    Effect.gen(function* () {
      const { deployment, update, workspace } = yield* makeDeployed()
      yield* TestClock.adjust("1 minute")
      const { baseUrl, fixtureUrl, version } = deployment
      for (const input of [{}, { version }, { baseUrl, fixtureUrl, version }]) {
        assert.deepStrictEqual(yield* update(input), deployment)
      }
      assert.deepStrictEqual(yield* kindsOf(workspace), ["deployment_created"])
    })
  )

  it.effect("moves updatedAt on every change, also within one millisecond", () =>
    Effect.gen(function* () {
      const { deployment, update } = yield* makeDeployed()
      const moments = [deployment.updatedAt]
      for (const version of ["2", "3", "4"]) moments.push((yield* update({ version })).updatedAt)
      assert.lengthOf(new Set(moments), 4)
      assert.deepStrictEqual(moments.toSorted(), moments)
    })
  )

  it.effect("clears the base URL only of products that need none", () =>
    Effect.gen(function* () {
      for (const type of ["website", "api"] as const) {
        const { deployment, get, update, workspace } = yield* makeDeployed({ type })
        const error = yield* Effect.flip(update({ baseUrl: null, version: "2" }))
        assert.strictEqual(error._tag, "InvalidInput")
        assert.deepStrictEqual(error._tag === "InvalidInput" && error.issues.map((issue) => issue.path), [["baseUrl"]])
        assert.deepStrictEqual(yield* get, deployment)
        assert.deepStrictEqual(yield* kindsOf(workspace), ["deployment_created"])
        yield* update({ baseUrl: "https://other.example" })
      }
      const { update } = yield* makeDeployed({ type: "library" })
      assert.isNull((yield* update({ baseUrl: null })).baseUrl)
    })
  )

  it.effect("never leaves a website without a base URL under concurrent changes", () =>
    Effect.gen(function* () {
      const products = yield* Products
      const deployments = yield* Deployments
      for (const act of ["clears", "deploys"] as const) {
        for (let i = 0; i < 5; i++) {
          const { admin, environment, member, product, update } =
            act === "clears" ? yield* makeDeployed() : { ...(yield* makePair()), update: undefined }
          const change =
            update?.({ baseUrl: null }) ??
            deployments.create({ product: product.slug, environment: environment.slug }).pipe(as(member))
          const answers = yield* Effect.all(
            [answer(change), answer(products.update(product.slug, { type: "website" }).pipe(as(admin)))],
            { concurrency: "unbounded" }
          )
          assert.include(
            [
              ["ok", "Conflict needs_base_url"],
              ["InvalidInput", "ok"]
            ].map(String),
            String(answers)
          )
        }
      }
    })
  )

  it.effect("loses no concurrent change", () =>
    Effect.gen(function* () {
      const { deployment, get, update, workspace } = yield* makeDeployed()
      const inputs = Array.from(
        { length: 20 },
        (_, n) =>
          [
            { version: `v${n}` },
            { baseUrl: n % 2 === 0 ? `https://shop.example/${n}` : null },
            { fixtureUrl: `https://fixtures.example/${n}` }
          ][n % 3]!
      )
      yield* Effect.all(
        inputs.map((input) => update(input)),
        { concurrency: "unbounded" }
      )
      const events = (yield* eventsOf(workspace)).filter((event) => event.kind === "deployment_updated")
      assertChain(
        events.filter((event) => event.changes.length > 0),
        { ...deployment },
        { ...(yield* get) }
      )
      const changes = events.flatMap((event) => event.changes)
      // Two clearings with nothing between them are one change.
      for (const input of inputs) {
        const [[field, to]] = Object.entries(input) as [[string, string | null]]
        if (to !== null)
          assert.lengthOf(
            changes.filter((change) => change.field === field && change.to === to),
            1
          )
      }
    })
  )

  it.effect("deletes once, records an event, and lets the pair be deployed again", () =>
    Effect.gen(function* () {
      const deployments = yield* Deployments
      const { deployment, environment, get, member, product, update, workspace } = yield* makeDeployed()
      yield* update({ version: "2" })
      const remove = deployments.delete(product.id, environment.slug).pipe(as(member))
      yield* remove
      assert.strictEqual(yield* refusal(remove), "NotFound")
      assert.strictEqual(yield* refusal(get), "NotFound")
      assert.strictEqual(yield* refusal(update({ version: "2" })), "NotFound")
      assert.deepStrictEqual(yield* deployments.list({ archived: "include" }).pipe(as(member)), [])
      yield* TestClock.adjust("1 minute")
      const input = { product: product.slug, environment: environment.slug }
      const again = yield* deployments.create(input).pipe(as(member))
      assert.notStrictEqual(again.id, deployment.id)
      assert.strictEqual(again.createdAt, yield* now)
      assert.deepStrictEqual(yield* get, again)
      yield* remove
      const events = yield* eventsOf(workspace)
      const version = (from: string | null, to: string | null) => [{ field: "version", from, to }]
      const first = deployment.version
      assert.deepStrictEqual(
        events.map((event) => [event.kind, event.subjectId, event.subjectLabel, event.changes]),
        [
          ["deployment_created", deployment.id, "Shop in Staging", first === null ? [] : version(null, first)],
          ["deployment_updated", deployment.id, "Shop in Staging", version(first, "2")],
          ["deployment_deleted", deployment.id, "Shop in Staging", version("2", null)],
          ["deployment_created", again.id, "Shop in Staging", []],
          ["deployment_deleted", again.id, "Shop in Staging", []]
        ]
      )
    })
  )

  it.effect("deletes a deployment once under concurrent requests", () =>
    Effect.gen(function* () {
      const deployments = yield* Deployments
      const { environment, member, product, workspace } = yield* makeDeployed()
      const remove = deployments.delete(product.slug, environment.slug).pipe(as(member))
      const answers = yield* Effect.all(
        Array.from({ length: 6 }, () => answer(remove)),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(answers.toSorted(), [...Array.from({ length: 5 }, () => "NotFound"), "ok"])
      assert.deepStrictEqual(yield* kindsOf(workspace), ["deployment_created", "deployment_deleted"])
    })
  )

  it.effect("lists by product name and environment name, with filters", () =>
    Effect.gen(function* () {
      const deployments = yield* Deployments
      const { viewer, workspace } = yield* makeScene
      const { id } = workspace
      const [shop10, shop2, old] = [
        yield* addProduct(id, { name: "shop 10" }),
        yield* addProduct(id, { name: "Shop 2" }),
        yield* addProduct(id, { name: "Old", archivedAt: yield* now })
      ]
      const [staging, live, gone] = [
        yield* addEnvironment(id, { name: "Staging" }),
        yield* addEnvironment(id, { name: "live" }),
        yield* addEnvironment(id, { name: "Gone", archivedAt: yield* now })
      ]
      for (const [product, environment] of [
        [shop10, staging],
        [shop2, staging],
        [shop2, live],
        [shop10, live],
        [shop2, gone],
        [old, live],
        [old, gone]
      ] as const) {
        yield* addDeployment(product, environment)
      }
      const foreign = yield* makeDeployed()
      const list = (filter: { product?: string; environment?: string; archived?: Archived }) =>
        Effect.map(deployments.list(filter).pipe(as(viewer)), (listed) =>
          listed.map(({ environment, product }) => `${product.name} in ${environment.name}`)
        )
      const active = ["Shop 2 in live", "Shop 2 in Staging", "shop 10 in live", "shop 10 in Staging"]
      const inactive = ["Old in Gone", "Old in live", "Shop 2 in Gone"]
      assert.deepStrictEqual(yield* list({}), active)
      assert.deepStrictEqual(yield* list({ archived: "exclude" }), active)
      assert.deepStrictEqual(yield* list({ archived: "only" }), inactive)
      assert.deepStrictEqual(yield* list({ archived: "include" }), [...inactive, ...active])
      assert.deepStrictEqual(yield* list({ product: shop2.slug }), ["Shop 2 in live", "Shop 2 in Staging"])
      assert.deepStrictEqual(yield* list({ product: shop2.id, archived: "include" }), [
        "Shop 2 in Gone",
        "Shop 2 in live",
        "Shop 2 in Staging"
      ])
      assert.deepStrictEqual(yield* list({ environment: live.id }), ["Shop 2 in live", "shop 10 in live"])
      assert.deepStrictEqual(yield* list({ environment: live.slug, archived: "only" }), ["Old in live"])
      assert.deepStrictEqual(yield* list({ product: shop10.slug, environment: live.slug }), ["shop 10 in live"])
      assert.deepStrictEqual(yield* list({ product: shop10.slug, environment: gone.slug }), [])
      const message = (filter: { product?: string; environment?: string }) =>
        Effect.map(Effect.flip(deployments.list(filter).pipe(as(viewer))), (error) => error.message)
      for (const ref of [unique("unknown"), newId(), foreign.product.slug, foreign.product.id, ""]) {
        assert.match(yield* message({ product: ref }), /^product:/)
        assert.match(yield* message({ environment: ref, product: shop2.slug }), /^environment:/)
      }
      assert.match(yield* message({ environment: foreign.environment.id }), /^environment:/)
    })
  )

  it.effect("resolves the product and environment of a body for other rooms", () =>
    Effect.gen(function* () {
      const deployments = yield* Deployments
      const { deployment, environment, product, workspace } = yield* makeDeployed()
      const other = yield* addEnvironment(workspace.id, { archivedAt: yield* now })
      const found = yield* deployments.target(workspace.id, product.slug, environment.id)
      assert.deepStrictEqual(found.product, productRef(product))
      assert.deepStrictEqual(found.environment, environmentRef(environment))
      assert.strictEqual(found.deployment?.id, deployment.id)
      const none = yield* deployments.target(workspace.id, product.slug, other.slug)
      assert.deepStrictEqual(none, {
        product: productRef(product),
        environment: { ...environmentRef(other), archived: true },
        deployment: undefined
      })
      const missing = Effect.flip(deployments.target(workspace.id, unique("unknown"), environment.slug))
      assert.match((yield* missing).message, /^product:/)
      assert.deepStrictEqual(yield* deployments.resolveRefs(workspace.id, {}), {
        productId: undefined,
        environmentId: undefined
      })
      assert.deepStrictEqual(
        yield* deployments.resolveRefs(workspace.id, { product: product.slug, environment: other.id }),
        { productId: product.id, environmentId: other.id }
      )
    })
  )

  // The memory storage checks no values.
  if (storageName !== "memory") {
    it.effect("changes nothing if the event cannot be stored", () =>
      Effect.gen(function* () {
        const deployments = yield* Deployments
        const { deployment, environment, get, member, product, workspace } = yield* makeDeployed()
        const unknownKind = { ...member, principal: { ...member.principal, kind: "robot" as never } }
        const second = yield* addEnvironment(workspace.id)
        for (const call of [
          deployments.create({ product: product.slug, environment: second.slug }),
          deployments.update(product.slug, environment.slug, { version: "2" }),
          deployments.update(product.slug, environment.slug, { baseUrl: null }),
          deployments.delete(product.slug, environment.slug)
        ]) {
          assert.strictEqual((yield* Effect.exit(Effect.asVoid(call.pipe(as(unknownKind)))))._tag, "Failure")
        }
        assert.deepStrictEqual(yield* get, deployment)
        assert.lengthOf(yield* (yield* DeploymentsRepo).list(workspace.id, {}), 1)
      })
    )
  }
})

import { assert, expect } from "@effect/vitest"
import type { DeploymentId, EventId, WorkspaceId } from "@delivery/domain/Ids"
import { Effect } from "effect"
import { DeploymentsRepo } from "../../src/catalog/DeploymentsRepo.ts"
import { EnvironmentsRepo } from "../../src/catalog/EnvironmentsRepo.ts"
import { ProductsRepo } from "../../src/catalog/ProductsRepo.ts"
import type { StoredEvent } from "../../src/events/EventsRepo.ts"
import { addPerson, addWorkspace, assertHolds, eventsOf, minute, newId, unique } from "../identity/Scene.ts"
import { onEachStorage } from "../support/Storages.ts"
import {
  addDeployment,
  addEnvironment,
  addProduct,
  deploymentRow,
  environmentRow,
  productRow,
  stateOf
} from "./Rows.ts"

/** What no path, body or filter can name an object by. */
const impossibleRefs = ["", " ", "Shop", "a b", "a--b", "-a", "shop/../x", "0197A1B2-0000-7000-8000-0000000000D1", "ü"]

onEachStorage("Catalog repositories", (it) => {
  it.describe("ProductsRepo", () => {
    it.effect("finds a product of the workspace by slug and by id as it was stored", () =>
      Effect.gen(function* () {
        const products = yield* ProductsRepo
        const [workspace, other] = [yield* addWorkspace(), yield* addWorkspace()]
        const product = yield* addProduct(workspace.id, {
          name: "Ünïcode 🚀 'quoted'",
          type: "library",
          repository: "acme/shop",
          baseBranch: "trunk/ü",
          archivedAt: "2026-02-03T04:05:06.789Z",
          updatedAt: minute(2)
        })
        yield* addProduct(workspace.id)
        for (const find of [products.find, products.lock]) {
          assert.deepStrictEqual(yield* find(workspace.id, product.slug), product)
          assert.deepStrictEqual(yield* find(workspace.id, product.id), product)
          assert.isUndefined(yield* find(other.id, product.slug))
          assert.isUndefined(yield* find(other.id, product.id))
          assert.isUndefined(yield* find(workspace.id, unique("unknown")))
          assert.isUndefined(yield* find(workspace.id, newId()))
          for (const ref of impossibleRefs) assert.isUndefined(yield* find(workspace.id, ref), ref)
        }
      })
    )

    it.effect("updates every field of one product", () =>
      Effect.gen(function* () {
        const products = yield* ProductsRepo
        const { id } = yield* addWorkspace()
        const [product, other] = [yield* addProduct(id, { repository: "acme/shop" }), yield* addProduct(id)]
        const changed = {
          ...product,
          slug: unique("renamed"),
          name: "Renamed",
          type: "website",
          repository: null,
          baseBranch: "develop",
          archivedAt: minute(3),
          updatedAt: minute(4)
        } as const
        yield* products.update(changed)
        assert.deepStrictEqual(yield* products.find(id, product.id), changed)
        assert.isUndefined(yield* products.find(id, product.slug))
        assert.deepStrictEqual(yield* products.find(id, other.id), other)
      })
    )

    it.effect("allows a slug once among the products of a workspace", () =>
      Effect.gen(function* () {
        const products = yield* ProductsRepo
        const [workspace, elsewhere] = [yield* addWorkspace(), yield* addWorkspace()]
        const [product, other] = [
          yield* addProduct(workspace.id, { archivedAt: minute(1) }),
          yield* addProduct(workspace.id)
        ]
        const inserted = yield* Effect.flip(products.insert(productRow(workspace.id, { slug: product.slug })))
        assert.strictEqual(inserted.constraint, "products_slug_key")
        const updated = yield* Effect.flip(products.update({ ...other, slug: product.slug }))
        assert.strictEqual(updated.constraint, "products_slug_key")
        assert.deepStrictEqual(yield* products.find(workspace.id, other.id), other)
        yield* products.update(product)
        yield* addProduct(elsewhere.id, { slug: product.slug })
      })
    )

    it.effect("lists the workspace's products, archived ones too", () =>
      Effect.gen(function* () {
        const products = yield* ProductsRepo
        const [workspace, other] = [yield* addWorkspace(), yield* addWorkspace()]
        const rows = [yield* addProduct(workspace.id), yield* addProduct(workspace.id, { archivedAt: minute(1) })]
        yield* addProduct(other.id)
        assert.sameDeepMembers([...(yield* products.list(workspace.id))], rows)
        assert.deepStrictEqual(yield* products.list(newId<WorkspaceId>()), [])
      })
    )

    it.effect("locks a product for one transaction at a time", () =>
      Effect.gen(function* () {
        const { id } = yield* addWorkspace()
        const { slug } = yield* addProduct(id)
        yield* assertHolds((yield* ProductsRepo).lock(id, slug))
      })
    )
  })

  it.describe("EnvironmentsRepo", () => {
    it.effect("finds an environment of the workspace by slug and by id as it was stored", () =>
      Effect.gen(function* () {
        const environments = yield* EnvironmentsRepo
        const [workspace, other] = [yield* addWorkspace(), yield* addWorkspace()]
        const environment = yield* addEnvironment(workspace.id, {
          name: "Ünïcode 🚀 'quoted'",
          class: "production",
          emoji: "👩‍🚀",
          archivedAt: "2026-02-03T04:05:06.789Z",
          updatedAt: minute(2)
        })
        yield* addEnvironment(workspace.id)
        for (const find of [environments.find, environments.lock]) {
          assert.deepStrictEqual(yield* find(workspace.id, environment.slug), environment)
          assert.deepStrictEqual(yield* find(workspace.id, environment.id), environment)
          assert.isUndefined(yield* find(other.id, environment.slug))
          assert.isUndefined(yield* find(other.id, environment.id))
          assert.isUndefined(yield* find(workspace.id, unique("unknown")))
          assert.isUndefined(yield* find(workspace.id, newId()))
          for (const ref of impossibleRefs) assert.isUndefined(yield* find(workspace.id, ref), ref)
        }
      })
    )

    it.effect("updates every field of one environment", () =>
      Effect.gen(function* () {
        const environments = yield* EnvironmentsRepo
        const { id } = yield* addWorkspace()
        const [environment, other] = [yield* addEnvironment(id, { emoji: "🧪" }), yield* addEnvironment(id)]
        const changed = {
          ...environment,
          slug: unique("renamed"),
          name: "Renamed",
          class: "production",
          emoji: null,
          archivedAt: minute(3),
          updatedAt: minute(4)
        } as const
        yield* environments.update(changed)
        assert.deepStrictEqual(yield* environments.find(id, environment.id), changed)
        assert.isUndefined(yield* environments.find(id, environment.slug))
        assert.deepStrictEqual(yield* environments.find(id, other.id), other)
      })
    )

    it.effect("allows a slug once among the environments of a workspace", () =>
      Effect.gen(function* () {
        const environments = yield* EnvironmentsRepo
        const [workspace, elsewhere] = [yield* addWorkspace(), yield* addWorkspace()]
        const [environment, other] = [
          yield* addEnvironment(workspace.id, { archivedAt: minute(1) }),
          yield* addEnvironment(workspace.id)
        ]
        const { slug } = environment
        const inserted = yield* Effect.flip(environments.insert(environmentRow(workspace.id, { slug })))
        assert.strictEqual(inserted.constraint, "environments_slug_key")
        const updated = yield* Effect.flip(environments.update({ ...other, slug }))
        assert.strictEqual(updated.constraint, "environments_slug_key")
        assert.deepStrictEqual(yield* environments.find(workspace.id, other.id), other)
        yield* environments.update(environment)
        yield* addEnvironment(elsewhere.id, { slug })
      })
    )

    it.effect("lists the workspace's environments, archived ones too", () =>
      Effect.gen(function* () {
        const environments = yield* EnvironmentsRepo
        const [workspace, other] = [yield* addWorkspace(), yield* addWorkspace()]
        const rows = [
          yield* addEnvironment(workspace.id),
          yield* addEnvironment(workspace.id, { archivedAt: minute(1) })
        ]
        yield* addEnvironment(other.id)
        assert.sameDeepMembers([...(yield* environments.list(workspace.id))], rows)
        assert.deepStrictEqual(yield* environments.list(newId<WorkspaceId>()), [])
      })
    )

    it.effect("locks an environment for one transaction at a time", () =>
      Effect.gen(function* () {
        const { id } = yield* addWorkspace()
        const { slug } = yield* addEnvironment(id)
        yield* assertHolds((yield* EnvironmentsRepo).lock(id, slug))
      })
    )
  })

  it.describe("DeploymentsRepo", () => {
    /** A deployed pair in a workspace of its own. */
    const deployed = Effect.gen(function* () {
      const workspace = yield* addWorkspace()
      const product = yield* addProduct(workspace.id)
      const environment = yield* addEnvironment(workspace.id)
      const deployment = yield* addDeployment(product, environment)
      return { workspace, product, environment, deployment }
    })

    const event = Effect.fnUntraced(function* (workspaceId: WorkspaceId) {
      const stored: StoredEvent = {
        id: newId<EventId>(),
        workspaceId,
        kind: "deployment_updated",
        actor: { kind: "user", id: (yield* addPerson()).id },
        subjectType: "deployment",
        subjectId: newId(),
        subjectLabel: unique("label"),
        subjectPath: "deployments/shop/staging",
        changes: [{ field: "version", from: null, to: "2" }],
        teamIds: null,
        createdAt: minute(1)
      }
      return stored
    })

    it.effect("finds product, environment and deployment, or what exists of them", () =>
      Effect.gen(function* () {
        const deployments = yield* DeploymentsRepo
        const { deployment, environment, product, workspace } = yield* deployed
        const foreign = yield* deployed
        const alone = {
          product: yield* addProduct(workspace.id, { type: "website", archivedAt: minute(1) }),
          environment: yield* addEnvironment(workspace.id, { class: "production", emoji: "🚀", archivedAt: minute(2) })
        }
        yield* addDeployment(product, alone.environment)

        const productCases = [
          [product.slug, product],
          [product.id, product],
          [alone.product.slug, alone.product],
          [foreign.product.slug, undefined],
          [foreign.product.id, undefined],
          [unique("unknown"), undefined],
          [newId(), undefined],
          ...impossibleRefs.map((ref) => [ref, undefined] as const)
        ] as const
        const environmentCases = [
          [environment.slug, environment],
          [environment.id, environment],
          [foreign.environment.slug, undefined],
          [foreign.environment.id, undefined],
          [newId(), undefined],
          ["Not a slug", undefined]
        ] as const
        for (const [productRef, expectedProduct] of productCases) {
          for (const [environmentRef, expectedEnvironment] of environmentCases) {
            const found = yield* deployments.target(workspace.id, productRef, environmentRef)
            const at = `${productRef} in ${environmentRef}`
            assert.strictEqual(found.product?.id, expectedProduct?.id, at)
            assert.strictEqual(found.environment?.id, expectedEnvironment?.id, at)
            const isDeployed = expectedProduct === product && expectedEnvironment === environment
            assert.strictEqual(found.deployment?.id, isDeployed ? deployment.id : undefined, at)
          }
        }

        const { id, name, slug } = alone.product
        expect((yield* deployments.target(workspace.id, id, alone.environment.id)).product).toMatchObject({
          id,
          slug,
          name,
          type: "website",
          archivedAt: minute(1)
        })
        expect((yield* deployments.target(workspace.id, id, alone.environment.id)).environment).toMatchObject({
          id: alone.environment.id,
          slug: alone.environment.slug,
          name: alone.environment.name,
          class: "production",
          emoji: "🚀",
          archivedAt: minute(2)
        })
        const none = yield* deployments.target(workspace.id, id, alone.environment.id)
        assert.isUndefined(none.deployment)
      })
    )

    it.effect("finds a deployment as it was stored", () =>
      Effect.gen(function* () {
        const deployments = yield* DeploymentsRepo
        const { id } = yield* addWorkspace()
        const [product, environment] = [yield* addProduct(id), yield* addEnvironment(id)]
        const row = yield* addDeployment(product, environment, {
          baseUrl: null,
          fixtureUrl: "https://fixtures.example/ü?x='1'",
          version: "Ünïcode 🚀",
          versionUpdatedAt: minute(1),
          createdAt: minute(2),
          updatedAt: "2026-02-03T04:05:06.789Z"
        })
        const found = (yield* deployments.target(id, product.slug, environment.slug)).deployment
        assert.deepStrictEqual(stateOf(found!), stateOf(row))
        const [listed] = yield* deployments.list(id, {})
        assert.deepStrictEqual(stateOf(listed!.deployment), stateOf(row))
        assert.strictEqual(listed!.product.id, product.id)
        assert.strictEqual(listed!.environment.id, environment.id)
      })
    )

    it.effect("allows one deployment per pair until it is deleted", () =>
      Effect.gen(function* () {
        const deployments = yield* DeploymentsRepo
        const { deployment, environment, product, workspace } = yield* deployed
        const again = deploymentRow(product, environment)
        const error = yield* Effect.flip(deployments.insert(again))
        assert.strictEqual(error.constraint, "deployments_pair_key")
        yield* addDeployment(product, yield* addEnvironment(workspace.id))
        yield* addDeployment(yield* addProduct(workspace.id), environment)

        const current = Effect.map(
          deployments.target(workspace.id, product.slug, environment.slug),
          (found) => found.deployment?.id
        )
        assert.isTrue(yield* deployments.delete(deployment.id, minute(1)))
        assert.isUndefined(yield* current)
        assert.isFalse(yield* deployments.delete(deployment.id, minute(2)))
        yield* deployments.insert(again)
        assert.strictEqual(yield* current, again.id)
        assert.isFalse(yield* deployments.delete(deployment.id, minute(3)))
        assert.strictEqual(yield* current, again.id)
        assert.isTrue(yield* deployments.delete(again.id, minute(3)))
        yield* addDeployment(product, environment)
        assert.isFalse(yield* deployments.delete(newId<DeploymentId>(), minute(4)))
      })
    )

    it.effect("updates a deployment and stores the event, if it is unchanged since it was read", () =>
      Effect.gen(function* () {
        const deployments = yield* DeploymentsRepo
        const { deployment, environment, product, workspace } = yield* deployed
        const other = yield* addDeployment(product, yield* addEnvironment(workspace.id))
        const recorded = yield* event(workspace.id)
        const after = {
          ...deployment,
          baseUrl: null,
          fixtureUrl: "https://fixtures.example",
          version: "2",
          release: deployment.release + 1,
          versionUpdatedAt: minute(1),
          updatedAt: minute(2)
        }
        assert.isTrue(yield* deployments.update({ before: deployment, after, event: recorded }))
        const listed = yield* deployments.list(workspace.id, {})
        assert.sameDeepMembers(
          listed.map((pair) => stateOf(pair.deployment)),
          [after, other].map(stateOf)
        )
        const { actor: _, teamIds: __, ...rest } = recorded
        expect(yield* eventsOf(workspace)).toMatchObject([rest])
        expect((yield* deployments.target(workspace.id, product.slug, environment.slug)).product).toMatchObject({
          id: product.id
        })
      })
    )

    it.effect("neither updates nor stores the event if another change came first or the deployment is deleted", () =>
      Effect.gen(function* () {
        const deployments = yield* DeploymentsRepo
        const { deployment, environment, product, workspace } = yield* deployed
        const first = { ...deployment, version: "1", updatedAt: minute(1) }
        const second = { ...deployment, version: "2", updatedAt: minute(2) }
        const current = Effect.map(
          deployments.target(workspace.id, product.slug, environment.slug),
          (found) => found.deployment?.version
        )
        assert.isTrue(
          yield* deployments.update({ before: deployment, after: first, event: yield* event(workspace.id) })
        )
        assert.isFalse(
          yield* deployments.update({ before: deployment, after: second, event: yield* event(workspace.id) })
        )
        assert.strictEqual(yield* current, "1")
        assert.isTrue(yield* deployments.delete(deployment.id, minute(3)))
        assert.isFalse(yield* deployments.update({ before: first, after: second, event: yield* event(workspace.id) }))
        assert.isUndefined(yield* current)
        const unknown = { ...first, id: newId<DeploymentId>() }
        assert.isFalse(
          yield* deployments.update({
            before: unknown,
            after: { ...second, id: unknown.id },
            event: yield* event(workspace.id)
          })
        )
        assert.lengthOf(yield* eventsOf(workspace), 1)
      })
    )

    it.effect("lists the workspace's deployments by product and environment", () =>
      Effect.gen(function* () {
        const deployments = yield* DeploymentsRepo
        const { id } = yield* addWorkspace()
        const [p1, p2] = [yield* addProduct(id, { archivedAt: minute(1) }), yield* addProduct(id)]
        const [e1, e2] = [yield* addEnvironment(id), yield* addEnvironment(id, { archivedAt: minute(1) })]
        const d11 = yield* addDeployment(p1, e1)
        const d12 = yield* addDeployment(p1, e2)
        const d21 = yield* addDeployment(p2, e1)
        const gone = yield* addDeployment(p2, e2)
        yield* deployments.delete(gone.id, minute(1))
        yield* deployed
        const listed = (filter: Parameters<typeof deployments.list>[1]) =>
          Effect.map(deployments.list(id, filter), (pairs) => pairs.map((pair) => pair.deployment.id))

        assert.sameMembers(yield* listed({}), [d11.id, d12.id, d21.id])
        assert.sameMembers(yield* listed({ productId: undefined, environmentId: undefined }), [d11.id, d12.id, d21.id])
        assert.sameMembers(yield* listed({ productId: p1.id }), [d11.id, d12.id])
        assert.sameMembers(yield* listed({ environmentId: e1.id }), [d11.id, d21.id])
        assert.deepStrictEqual(yield* listed({ productId: p1.id, environmentId: e2.id }), [d12.id])
        assert.deepStrictEqual(yield* listed({ productId: p2.id, environmentId: e2.id }), [])
        const [pair] = yield* deployments.list(id, { productId: p1.id, environmentId: e2.id })
        expect(pair).toMatchObject({
          product: { id: p1.id, slug: p1.slug, name: p1.name, type: p1.type, archivedAt: minute(1) },
          environment: { id: e2.id, slug: e2.slug, name: e2.name, class: e2.class, emoji: null, archivedAt: minute(1) }
        })
      })
    )

    it.effect("finds whether a deployment of the product has no base URL", () =>
      Effect.gen(function* () {
        const deployments = yield* DeploymentsRepo
        const { environment, product, workspace } = yield* deployed
        const other = yield* addProduct(workspace.id)
        yield* addDeployment(other, environment, { baseUrl: null })
        assert.isFalse(yield* deployments.someWithoutBaseUrl(product.id))
        assert.isTrue(yield* deployments.someWithoutBaseUrl(other.id))
        const without = yield* addDeployment(product, yield* addEnvironment(workspace.id), { baseUrl: null })
        assert.isTrue(yield* deployments.someWithoutBaseUrl(product.id))
        yield* deployments.delete(without.id, minute(1))
        assert.isFalse(yield* deployments.someWithoutBaseUrl(product.id))
      })
    )
  })
})

import type { CreateDeployment, Deployment, UpdateDeployment } from "@delivery/domain/catalog/Deployment"
import type { EnvironmentRef } from "@delivery/domain/catalog/Environment"
import { needsBaseUrl, type ProductRef } from "@delivery/domain/catalog/Product"
import type { Archived } from "@delivery/domain/Doc"
import { Conflict, type Forbidden, InvalidInput, NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { DeploymentId, EnvironmentId, ProductId, WorkspaceId } from "@delivery/domain/Ids"
import { byName } from "@delivery/domain/Order"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { nextId } from "../ids/NextId.ts"
import { changesBetween, Events } from "../events/Events.ts"
import { anyRole, atLeast } from "../access/Access.ts"
import { nextUpdate } from "../storage/NextUpdate.ts"
import { Storage } from "../storage/Storage.ts"
import { type DeployedPair, type DeploymentState, DeploymentsRepo, type Pair } from "./DeploymentsRepo.ts"
import { EnvironmentsRepo } from "./EnvironmentsRepo.ts"
import { ProductsRepo } from "./ProductsRepo.ts"

/** A product and an environment that exist, and the deployment if there is one. */
export interface DeploymentTarget {
  readonly product: ProductRef
  readonly environment: EnvironmentRef
  readonly deployment: DeploymentState | undefined
}

/** Deployments (service document, Deployments; contract, section 4). */
export class Deployments extends Context.Service<
  Deployments,
  {
    readonly list: (filter: {
      readonly product?: string | undefined
      readonly environment?: string | undefined
      readonly archived?: Archived | undefined
    }) => Effect.Effect<ReadonlyArray<Deployment>, NotFound, Caller>
    readonly create: (
      input: CreateDeployment
    ) => Effect.Effect<Deployment, InvalidInput | NotFound | Forbidden | Conflict, Caller>
    readonly get: (product: string, environment: string) => Effect.Effect<Deployment, NotFound, Caller>
    readonly update: (
      product: string,
      environment: string,
      input: UpdateDeployment
    ) => Effect.Effect<Deployment, InvalidInput | NotFound | Forbidden | Conflict, Caller>
    readonly delete: (product: string, environment: string) => Effect.Effect<void, NotFound | Forbidden, Caller>
    /** What a body that names a product and an environment means. `NotFound` names the field. */
    readonly target: (
      workspaceId: WorkspaceId,
      product: string,
      environment: string
    ) => Effect.Effect<DeploymentTarget, NotFound>
    /** The ids that filters name by slug or id. `NotFound` names the field. */
    readonly resolveRefs: (
      workspaceId: WorkspaceId,
      refs: { readonly product?: string | undefined; readonly environment?: string | undefined }
    ) => Effect.Effect<
      { readonly productId?: ProductId | undefined; readonly environmentId?: EnvironmentId | undefined },
      NotFound
    >
  }
>()("@delivery/server/catalog/Deployments") {
  static readonly layer = Layer.effect(
    Deployments,
    Effect.gen(function* () {
      const random = yield* SecureRandom.SecureRandom
      const storage = yield* Storage
      const repo = yield* DeploymentsRepo
      const products = yield* ProductsRepo
      const environments = yield* EnvironmentsRepo
      const events = yield* Events

      const target = Effect.fnUntraced(function* (workspaceId: WorkspaceId, product: string, environment: string) {
        const found = yield* repo.target(workspaceId, product, environment)
        if (found.product === undefined) return yield* NotFound.reference("product")
        if (found.environment === undefined) return yield* NotFound.reference("environment")
        return { ...refs({ product: found.product, environment: found.environment }), deployment: found.deployment }
      })

      /** The deployment that a path names. */
      const deployed = Effect.fnUntraced(function* (workspaceId: WorkspaceId, product: string, environment: string) {
        const found = yield* repo.target(workspaceId, product, environment)
        if (found.product === undefined || found.environment === undefined || found.deployment === undefined) {
          return yield* NotFound.of("deployment")
        }
        return { product: found.product, environment: found.environment, deployment: found.deployment }
      })

      const resolveRefs: Deployments["Service"]["resolveRefs"] = Effect.fnUntraced(function* (
        workspaceId,
        { environment, product }
      ) {
        const productId = product === undefined ? undefined : (yield* products.find(workspaceId, product))?.id
        if (product !== undefined && productId === undefined) return yield* NotFound.reference("product")
        const environmentId =
          environment === undefined ? undefined : (yield* environments.find(workspaceId, environment))?.id
        if (environment !== undefined && environmentId === undefined) return yield* NotFound.reference("environment")
        return { productId, environmentId }
      })

      const update = Effect.fnUntraced(function* (productRef: string, environmentRef: string, input: UpdateDeployment) {
        const by = yield* atLeast("member")
        const pair = yield* deployed(by.workspace.id, productRef, environmentRef)
        if (input.baseUrl === null && needsBaseUrl(pair.product.type)) return yield* baseUrlNeeded(pair.product.type)
        if (!isActive(pair)) return yield* archived(pair)
        const before = pair.deployment
        const changed = { ...before, ...input }
        const changes = changesBetween(before, changed, "baseUrl", "fixtureUrl", "version")
        if (changes.length === 0) return shown(pair)
        const now = yield* nextUpdate(before)
        const after = {
          ...changed,
          versionUpdatedAt: changed.version === before.version ? before.versionUpdatedAt : now,
          updatedAt: now
        }
        const event = yield* events.make(by, { kind: "deployment_updated", subject: subjectOf(pair, after), changes })
        if (!(yield* repo.update(before, after, event))) return undefined
        return shown({ ...pair, deployment: after })
      })

      return Deployments.of({
        target,
        resolveRefs,

        list: Effect.fn("Deployments.list")(function* ({ archived = "exclude", ...filter }) {
          const { workspace } = yield* anyRole
          const found = yield* repo.list(workspace.id, yield* resolveRefs(workspace.id, filter))
          return found
            .filter((pair) => archived === "include" || (archived === "only") === !isActive(pair))
            .map(shown)
            .toSorted((a, b) => byName(a.product, b.product) || byName(a.environment, b.environment))
        }),

        create: Effect.fn("Deployments.create")(
          function* (input: CreateDeployment) {
            const by = yield* atLeast("member")
            return yield* storage
              .transaction(
                Effect.gen(function* () {
                  // Holds the product, so that its type cannot come to need a baseUrl meanwhile.
                  yield* products.lock(by.workspace.id, input.product)
                  const found = yield* repo.target(by.workspace.id, input.product, input.environment)
                  if (found.product === undefined) return yield* NotFound.reference("product")
                  if (found.environment === undefined) return yield* NotFound.reference("environment")
                  const pair = { product: found.product, environment: found.environment }
                  const baseUrl = input.baseUrl ?? null
                  if (baseUrl === null && needsBaseUrl(pair.product.type))
                    return yield* baseUrlNeeded(pair.product.type)
                  if (!isActive(pair)) return yield* archived(pair)
                  const now = timestamp(yield* Clock.currentTimeMillis)
                  const deployment: DeploymentState = {
                    id: yield* nextId<DeploymentId>(),
                    baseUrl,
                    fixtureUrl: input.fixtureUrl ?? null,
                    version: input.version ?? null,
                    versionUpdatedAt: now,
                    createdAt: now,
                    updatedAt: now
                  }
                  yield* repo.insert({
                    ...deployment,
                    workspaceId: by.workspace.id,
                    productId: pair.product.id,
                    environmentId: pair.environment.id
                  })
                  yield* events.record(by, { kind: "deployment_created", subject: subjectOf(pair, deployment) })
                  return shown({ ...pair, deployment })
                })
              )
              .pipe(
                Effect.catchTag("UniqueViolation", () =>
                  Effect.fail(
                    new Conflict({
                      message: "The product already has a deployment in this environment.",
                      reason: "deployment_exists"
                    })
                  )
                )
              )
          },
          Effect.provideService(SecureRandom.SecureRandom, random)
        ),

        get: Effect.fn("Deployments.get")(function* (product: string, environment: string) {
          const { workspace } = yield* anyRole
          return shown(yield* deployed(workspace.id, product, environment))
        }),

        update: Effect.fn("Deployments.update")(function* (
          product: string,
          environment: string,
          input: UpdateDeployment
        ) {
          const { workspace } = yield* anyRole
          const first = input.baseUrl === null ? undefined : yield* update(product, environment, input)
          if (first !== undefined) return first
          // Where another change came first, this one waits for its turn: of many at once, each would mostly fail.
          const inTurn = storage.transaction(
            Effect.andThen(products.lock(workspace.id, product), update(product, environment, input))
          )
          for (;;) {
            const updated = yield* inTurn
            if (updated !== undefined) return updated
          }
        }),

        delete: Effect.fn("Deployments.delete")(function* (product: string, environment: string) {
          const by = yield* atLeast("member")
          const pair = yield* deployed(by.workspace.id, product, environment)
          yield* storage.transaction(
            Effect.gen(function* () {
              const now = timestamp(yield* Clock.currentTimeMillis)
              if (!(yield* repo.delete(pair.deployment.id, now))) return yield* NotFound.of("deployment")
              yield* events.record(by, { kind: "deployment_deleted", subject: subjectOf(pair, pair.deployment) })
            })
          )
        })
      })
    })
  )
}

const isActive = ({ environment, product }: Pair): boolean =>
  product.archivedAt === null && environment.archivedAt === null

const archived = ({ product }: Pair) =>
  new Conflict({
    message: `The ${product.archivedAt === null ? "environment" : "product"} is archived.`,
    reason: "archived"
  })

const baseUrlNeeded = (type: string) => InvalidInput.at("baseUrl", `A product of the type ${type} needs one.`)

const refs = ({ environment, product }: Pair): { product: ProductRef; environment: EnvironmentRef } => ({
  product: {
    id: product.id,
    slug: product.slug,
    name: product.name,
    type: product.type,
    archived: product.archivedAt !== null
  },
  environment: {
    id: environment.id,
    slug: environment.slug,
    name: environment.name,
    class: environment.class,
    emoji: environment.emoji,
    archived: environment.archivedAt !== null
  }
})

const shown = (pair: DeployedPair): Deployment => ({
  id: pair.deployment.id,
  ...refs(pair),
  baseUrl: pair.deployment.baseUrl,
  fixtureUrl: pair.deployment.fixtureUrl,
  version: pair.deployment.version,
  versionUpdatedAt: pair.deployment.versionUpdatedAt,
  active: isActive(pair),
  createdAt: pair.deployment.createdAt,
  updatedAt: pair.deployment.updatedAt
})

const subjectOf = (pair: Pair, deployment: { readonly id: DeploymentId }) => ({
  type: "deployment",
  id: deployment.id,
  label: `${pair.product.name} in ${pair.environment.name}`,
  path: `deployments/${pair.product.slug}/${pair.environment.slug}`
})

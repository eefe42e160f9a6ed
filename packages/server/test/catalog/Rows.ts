import type { DeploymentId, EnvironmentId, ProductId, WorkspaceId } from "@delivery/domain/Ids"
import { Effect, Schema } from "effect"
import {
  type DeploymentRow,
  deployments,
  DeploymentsRepo,
  type DeploymentState,
  stateProperties
} from "../../src/catalog/DeploymentsRepo.ts"
import { type EnvironmentRow, EnvironmentsRepo } from "../../src/catalog/EnvironmentsRepo.ts"
import { type ProductRow, ProductsRepo } from "../../src/catalog/ProductsRepo.ts"
import type { Table } from "../../src/storage/Table.ts"
import { minute, newId, unique } from "../identity/Scene.ts"

/** Stored products, environments and deployments for tests. */

/** Null for every nullable column of a table, so that a new one changes no test. */
const nulls = <Row extends object>({ columns }: Table<Row>): Row =>
  Object.fromEntries(
    Object.entries<{ readonly isNullable: boolean }>(columns)
      .filter(([, { isNullable }]) => isNullable)
      .map(([property]) => [property, null])
  ) as Row

/** Null for every nullable field of an answer, so that a new one changes no test but its own. */
export const unset = <Fields extends Readonly<Record<string, Schema.Top>>>({ fields }: { readonly fields: Fields }) =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([, field]) => Schema.is(field)(null))
      .map(([name]) => [name, null])
  ) as { readonly [Name in keyof Fields as null extends Fields[Name]["Type"] ? Name : never]: null }

export const productRow = (workspaceId: WorkspaceId, fields: Partial<ProductRow> = {}): ProductRow => {
  const slug = unique("product")
  return {
    id: newId<ProductId>(),
    workspaceId,
    slug,
    name: slug,
    type: "service",
    repository: null,
    baseBranch: "main",
    archivedAt: null,
    createdAt: minute(0),
    updatedAt: minute(0),
    ...fields
  }
}

export const environmentRow = (workspaceId: WorkspaceId, fields: Partial<EnvironmentRow> = {}): EnvironmentRow => {
  const slug = unique("environment")
  return {
    id: newId<EnvironmentId>(),
    workspaceId,
    slug,
    name: slug,
    class: "non-production",
    emoji: null,
    approvals: false,
    archivedAt: null,
    createdAt: minute(0),
    updatedAt: minute(0),
    ...fields
  }
}

export const deploymentRow = (
  product: ProductRow,
  environment: EnvironmentRow,
  fields: Partial<DeploymentRow> = {}
): DeploymentRow => ({
  ...nulls(deployments),
  id: newId<DeploymentId>(),
  workspaceId: product.workspaceId,
  productId: product.id,
  environmentId: environment.id,
  baseUrl: "https://shop.example",
  versionUpdatedAt: minute(0),
  release: (fields.version ?? null) === null ? 0 : 1,
  locks: 0,
  createdAt: minute(0),
  updatedAt: minute(0),
  ...fields
})

/** What is read of a deployment. The memory storage gives its whole row. */
export const stateOf = (deployment: DeploymentState) =>
  Object.fromEntries(stateProperties.map((property) => [property, deployment[property]])) as {
    [Property in keyof DeploymentState]: DeploymentState[Property]
  }

export const addProduct = Effect.fnUntraced(function* (workspaceId: WorkspaceId, fields: Partial<ProductRow> = {}) {
  const product = productRow(workspaceId, fields)
  yield* (yield* ProductsRepo).insert(product)
  return product
})

export const addEnvironment = Effect.fnUntraced(function* (
  workspaceId: WorkspaceId,
  fields: Partial<EnvironmentRow> = {}
) {
  const environment = environmentRow(workspaceId, fields)
  yield* (yield* EnvironmentsRepo).insert(environment)
  return environment
})

export const addDeployment = Effect.fnUntraced(function* (
  product: ProductRow,
  environment: EnvironmentRow,
  fields: Partial<DeploymentRow> = {}
) {
  const deployment = deploymentRow(product, environment, fields)
  const { release, version, versionUpdatedAt } = deployment
  yield* (yield* DeploymentsRepo).insert(
    deployment,
    release === 0
      ? undefined
      : {
          workspaceId: product.workspaceId,
          deploymentId: deployment.id,
          number: release,
          overrideReason: null,
          readiness: null,
          productId: product.id,
          environmentId: environment.id,
          version,
          actorKind: null,
          actorId: null,
          at: versionUpdatedAt,
          commits: []
        }
  )
  return deployment
})

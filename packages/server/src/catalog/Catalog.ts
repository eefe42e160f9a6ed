import { Layer } from "effect"
import { Approvals } from "./Approvals.ts"
import * as ApprovalsMemory from "./ApprovalsMemory.ts"
import { approvals } from "./ApprovalsRepo.ts"
import * as ApprovalsSql from "./ApprovalsSql.ts"
import * as CatalogHttp from "./CatalogHttp.ts"
import { Deployments } from "./Deployments.ts"
import { deployments } from "./DeploymentsRepo.ts"
import * as DeploymentsMemory from "./DeploymentsMemory.ts"
import * as DeploymentsSql from "./DeploymentsSql.ts"
import { Environments } from "./Environments.ts"
import * as EnvironmentsMemory from "./EnvironmentsMemory.ts"
import { environments } from "./EnvironmentsRepo.ts"
import * as EnvironmentsSql from "./EnvironmentsSql.ts"
import { Products } from "./Products.ts"
import * as ProductsMemory from "./ProductsMemory.ts"
import { products } from "./ProductsRepo.ts"
import * as ProductsSql from "./ProductsSql.ts"
import { commitMentions, deploymentReleases, versionCommits } from "./ReleaseRows.ts"
import { ReleaseWaits } from "./ReleaseWaits.ts"
import { WriteApprovals } from "./WriteApprovals.ts"

/** The catalog: products, environments, and what is deployed where. */

export const tables = [
  products,
  environments,
  approvals,
  deployments,
  deploymentReleases,
  versionCommits,
  commitMentions
]

export const layerSql = Layer.mergeAll(
  ProductsSql.layer,
  EnvironmentsSql.layer,
  ApprovalsSql.layer,
  DeploymentsSql.layer
)

export const layerMemory = Layer.mergeAll(
  ProductsMemory.layer,
  EnvironmentsMemory.layer,
  ApprovalsMemory.layer,
  DeploymentsMemory.layer
)

/** Needs `SecretHoldings`, `DeploymentLocks`, `DeploymentEnds` and `ReleaseReadiness`, which the vault, the runs, deploy and flow supply. */
export const layer = Layer.mergeAll(
  Products.layer,
  Environments.layer,
  Approvals.layer,
  Layer.provide(Deployments.layer, ReleaseWaits.layer)
).pipe(Layer.provideMerge(WriteApprovals.layer))

export const layerHttp = CatalogHttp.layer

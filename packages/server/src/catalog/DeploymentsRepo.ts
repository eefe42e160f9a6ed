import type { EnvironmentRef } from "@delivery/domain/catalog/Environment"
import type { ProductRef } from "@delivery/domain/catalog/Product"
import type { DeploymentId, EnvironmentId, ProductId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import type { StoredEvent } from "../events/EventsRepo.ts"
import type { UniqueViolation } from "../storage/Sql.ts"
import { instant, integer, nullable, type Row, table, text, uuid } from "../storage/Table.ts"
import type { EnvironmentRow } from "./EnvironmentsRepo.ts"
import type { ProductRow } from "./ProductsRepo.ts"
import type { NewRelease } from "./ReleaseRows.ts"

/** The deployments of each workspace. The row of a deleted one stays, so that it is known that the pair was deployed. */
export const deployments = table("deployments", {
  id: uuid<DeploymentId>(),
  workspaceId: uuid<WorkspaceId>(),
  productId: uuid<ProductId>(),
  environmentId: uuid<EnvironmentId>(),
  baseUrl: nullable(text()),
  fixtureUrl: nullable(text()),
  version: nullable(text()),
  versionUpdatedAt: instant(),
  /** The number of the newest release; 0 where there is none. */
  release: integer(),
  /** How many locked runs have taken the deployment, whether they still run or not. */
  locks: integer(),
  createdAt: instant(),
  updatedAt: instant(),
  deletedAt: nullable(instant())
})

export type DeploymentRow = Row<typeof deployments>

const unread = ["workspaceId", "productId", "environmentId", "deletedAt"] as const

/** What is read of a deployment beside its product and environment. */
export type DeploymentState = Omit<DeploymentRow, (typeof unread)[number]>

/**
 * Its properties. A list is sensitive to each column of its rows (`pnpm bench`, 20 deployments): all of the table but those
 * that its product and environment say, or that are null.
 */
export const stateProperties = (Object.keys(deployments.columns) as ReadonlyArray<keyof DeploymentRow>).filter(
  (property): property is keyof DeploymentState => !(unread as ReadonlyArray<string>).includes(property)
)

/** The parts of a product and an environment that deployments show. */
export interface Pair {
  readonly product: Pick<ProductRow, "id" | "slug" | "name" | "type" | "archivedAt">
  readonly environment: Pick<EnvironmentRow, "id" | "slug" | "name" | "class" | "emoji" | "archivedAt">
}

/** A pair as answers show it. */
export const presentRefs = ({ environment, product }: Pair): { product: ProductRef; environment: EnvironmentRef } => ({
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

export interface DeployedPair extends Pair {
  readonly deployment: DeploymentState
}

/** A product and an environment, and their deployment if there is one. */
export interface DeployablePair extends Pair {
  readonly deployment: DeploymentState | undefined
}

/** A product, an environment and their deployment, each undefined if it does not exist. */
export interface Target {
  readonly product: Pair["product"] | undefined
  readonly environment: Pair["environment"] | undefined
  readonly deployment: DeploymentState | undefined
}

/** A change of a deployment, with what is stored beside it. */
export interface DeploymentChange {
  readonly before: DeploymentState
  readonly after: DeploymentState
  readonly event: StoredEvent
  /** Of a change of the version. */
  readonly release?: NewRelease | undefined
  /** Whether no locked run may have taken the deployment since `before` was read. */
  readonly isFree?: boolean | undefined
}

/** Where releases are numbered, whichever deployments there were. */
export type ReleasePlace = Pick<DeploymentRow, "workspaceId" | "productId" | "environmentId">

export interface EndedDeployment {
  readonly version: string | null
  readonly releases: number
  readonly notReady: number
}

/** Stores deployments. A pair of product and environment has one at most. */
export class DeploymentsRepo extends Context.Service<
  DeploymentsRepo,
  {
    /** With its first release, if it is made with a version. In a transaction. */
    readonly insert: (deployment: DeploymentRow, release?: NewRelease) => Effect.Effect<void, UniqueViolation>
    /**
     * Stores the change, its event and its release in one statement if `updatedAt` is unchanged; false if another change
     * came first or the deployment is deleted. False, too, if `isFree` and a locked run has taken the deployment since.
     */
    readonly update: (change: DeploymentChange) => Effect.Effect<boolean>
    /** False if it was deleted already. */
    readonly delete: (id: DeploymentId, at: Timestamp) => Effect.Effect<boolean>
    /** What a deleted deployment leaves: its last version, how many releases it had, and of how many readiness said no. */
    readonly ended: (id: DeploymentId) => Effect.Effect<EndedDeployment>
    /** The largest number of a release that there ever was at the place; 0 where there was none. */
    readonly lastRelease: (place: ReleasePlace) => Effect.Effect<number>
    /** The product and the environment, by slug or id, and their deployment. */
    readonly target: (workspaceId: WorkspaceId, product: string, environment: string) => Effect.Effect<Target>
    readonly list: (
      workspaceId: WorkspaceId,
      filter: { readonly productId?: ProductId | undefined; readonly environmentId?: EnvironmentId | undefined }
    ) => Effect.Effect<ReadonlyArray<DeployedPair>>
    /** Why the release that runs went out against the policy; null where nobody said so. */
    readonly overrideOf: (deployment: Pick<DeploymentState, "id" | "release">) => Effect.Effect<string | null>
    readonly someWithoutBaseUrl: (productId: ProductId) => Effect.Effect<boolean>
  }
>()("@delivery/server/catalog/DeploymentsRepo") {}

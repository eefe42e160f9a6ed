import type { EnvironmentRef } from "@delivery/domain/catalog/Environment"
import type { ProductRef } from "@delivery/domain/catalog/Product"
import type { Actor } from "@delivery/domain/identity/Actor"
import type { DeploymentId, ProductId, TicketId, WorkspaceId } from "@delivery/domain/Ids"
import type { ReleaseReadiness } from "@delivery/domain/catalog/ReleaseReadiness"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import type { ReleasePlace } from "../catalog/DeploymentsRepo.ts"
import type { CommitRow } from "../catalog/ReleaseRows.ts"
import type { Spelled } from "../catalog/Spellings.ts"
import type { Viewer } from "../planning/Viewer.ts"
import type { ProductVersion } from "../runs/TestRunsRepo.ts"

/** Where a page of a history begins. */
export interface HistoryCursor {
  /** Only releases numbered below it; with a deployment, only of that one. */
  readonly before?: number | undefined
  /** Only releases of this deployment and of those before it. */
  readonly deployment?: DeploymentId | undefined
}

/** A release of a deployment, without its commits. */
export interface FoundRelease {
  readonly number: number
  readonly version: string | null
  readonly previous: string | null
  readonly deployment: { readonly id: DeploymentId; readonly deletedAt: Timestamp | null }
  readonly at: Timestamp
  readonly by: Actor
  readonly passed: number
  readonly failed: number
  readonly rolledBackTo: number | null
  readonly override: string | null
  readonly readiness: ReleaseReadiness | null
}

/** A ticket that a commit names, as it is named now. */
export interface NamedTicket {
  readonly id: TicketId
  readonly key: string
  readonly number: number
  readonly title: string
}

export interface FoundCommit extends Omit<CommitRow, "workspaceId"> {
  /** Those that the viewer sees, in no order. */
  readonly tickets: ReadonlyArray<NamedTicket>
}

/** How much of commits is read. */
export interface CommitBounds {
  /** How many of them. */
  readonly count: number
  /** How many characters of each subject. */
  readonly subject: number
}

/** What was or is live in a deployment, of which a deleted one stays known. */
export interface LiveRelease {
  readonly deploymentId: DeploymentId
  readonly product: ProductRef
  readonly environment: EnvironmentRef
  readonly number: number
  readonly version: string
  readonly at: Timestamp
  /** When the next release or the end of the deployment came; null while it is live. */
  readonly until: Timestamp | null
}

/** A deployment, and which of its releases first had the commit that it has now, however it is written; null where it has none. */
export interface DeployedVersion {
  readonly deploymentId: DeploymentId
  readonly product: ProductRef
  readonly environment: EnvironmentRef
  readonly origin: number | null
}

/** Finds what the changes of versions have stored. A commit's tickets are found for a viewer. */
export class ReleasesRepo extends Context.Service<
  ReleasesRepo,
  {
    /**
     * Those of all deployments that there were at the place, at most `limit`: the deployment that there is first, then the one
     * that was deleted last, and of each its newest release first.
     */
    readonly history: (
      place: ReleasePlace,
      cursor: HistoryCursor,
      limit: number
    ) => Effect.Effect<ReadonlyArray<FoundRelease>>
    /** Whether there is or was a deployment at the place: any, or that one. */
    readonly wasDeployed: (place: ReleasePlace, deployment: DeploymentId | undefined) => Effect.Effect<boolean>
    /** The versions, each with those that are the same commit, itself among them, as far as a deployment of the product had them. */
    readonly spelled: (
      workspaceId: WorkspaceId,
      versions: ReadonlyArray<ProductVersion>
    ) => Effect.Effect<ReadonlyArray<Spelled>>
    /** The first commits of each of the versions, in the order in which they were told. */
    readonly commits: (
      viewer: Viewer,
      versions: ReadonlyArray<ProductVersion>,
      bounds: CommitBounds
    ) => Effect.Effect<ReadonlyArray<FoundCommit>>
    /** The newest commits that name the ticket by an identifier that the viewer sees, in the order in which they were told. */
    readonly commitsNaming: (
      viewer: Viewer,
      ticket: TicketId,
      bounds: CommitBounds
    ) => Effect.Effect<ReadonlyArray<FoundCommit>>
    /** The versions of all commits that do so, each once. */
    readonly versionsNaming: (viewer: Viewer, ticket: TicketId) => Effect.Effect<ReadonlyArray<ProductVersion>>
    /** Every release of the versions, oldest first. */
    readonly releasesOf: (
      workspaceId: WorkspaceId,
      versions: ReadonlyArray<ProductVersion>
    ) => Effect.Effect<ReadonlyArray<LiveRelease>>
    /** The active deployments of the products. */
    readonly deployed: (
      workspaceId: WorkspaceId,
      products: ReadonlyArray<ProductId>
    ) => Effect.Effect<ReadonlyArray<DeployedVersion>>
  }
>()("@delivery/server/releases/ReleasesRepo") {}

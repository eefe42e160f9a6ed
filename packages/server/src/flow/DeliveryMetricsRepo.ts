import type { CommitOfPeriod, ReleaseOfPeriod } from "@delivery/domain/flow/DeliveryMetrics"
import type { ProductId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"

/** Of which releases the measures are: those to production environments, of a product or of all. */
export interface MetricsScope {
  readonly workspaceId: WorkspaceId
  readonly productId: ProductId | undefined
  /** Inclusive. */
  readonly from: Timestamp
  /** Exclusive. */
  readonly until: Timestamp
}

/** Finds what the measures of delivery are made of, in what the changes of versions have stored. */
export class DeliveryMetricsRepo extends Context.Service<
  DeliveryMetricsRepo,
  {
    /** The releases of the period that have a version, with what rolled them back: the next one with a version, where the deployment first had that before theirs. In no order. */
    readonly releases: (scope: MetricsScope) => Effect.Effect<ReadonlyArray<ReleaseOfPeriod>>
    /** The commits with a time that first came to production in the period, each SHA of a product once. In no order. */
    readonly commits: (scope: MetricsScope) => Effect.Effect<ReadonlyArray<CommitOfPeriod>>
  }
>()("@delivery/server/flow/DeliveryMetricsRepo") {}

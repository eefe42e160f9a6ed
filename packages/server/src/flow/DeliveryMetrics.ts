import { NotFound } from "@delivery/domain/Errors"
import { deliveryMetrics, type DeliveryMetrics as Measures } from "@delivery/domain/flow/DeliveryMetrics"
import type { Caller } from "@delivery/domain/identity/Authorization"
import { dayOf, daysBefore } from "@delivery/domain/runs/CaseFigures"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { anyRole } from "../access/Access.ts"
import { ProductsRepo } from "../catalog/ProductsRepo.ts"
import { periodOf } from "../runs/cases/Cases.ts"
import { Storage } from "../storage/Storage.ts"
import { DeliveryMetricsRepo } from "./DeliveryMetricsRepo.ts"

/** The query of the measures. */
export interface MetricsQuery {
  readonly product?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** How often, how fast and how safely a workspace releases (docs/contract.md, Delivery metrics). */
export class DeliveryMetrics extends Context.Service<
  DeliveryMetrics,
  {
    /** Of the days from `from` to `to`, both inclusive. */
    readonly get: (query: MetricsQuery) => Effect.Effect<Measures, NotFound, Caller>
  }
>()("@delivery/server/flow/DeliveryMetrics") {
  static readonly layer = Layer.effect(DeliveryMetrics, Effect.gen(make))
}

interface Dependencies {
  readonly repo: DeliveryMetricsRepo["Service"]
  readonly products: ProductsRepo["Service"]
  readonly storage: Storage["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    repo: yield* DeliveryMetricsRepo,
    products: yield* ProductsRepo,
    storage: yield* Storage
  }
  return DeliveryMetrics.of({ get: get(dependencies) })
}

const get = ({ products, repo, storage }: Dependencies) =>
  Effect.fn("DeliveryMetrics.get")(function* (query: MetricsQuery) {
    const { workspace } = yield* anyRole
    const product = query.product === undefined ? undefined : yield* products.find(workspace.id, query.product)
    if (query.product !== undefined && product === undefined) {
      return yield* NotFound.reference("product", query.product)
    }
    const days = periodOf(query, dayOf(timestamp(yield* Clock.currentTimeMillis)))
    const scope = {
      workspaceId: workspace.id,
      productId: product?.id,
      from: `${days.from}T00:00:00.000Z`,
      until: `${daysBefore(days.to, -1)}T00:00:00.000Z`
    }
    const found = yield* storage.snapshot(Effect.all({ releases: repo.releases(scope), commits: repo.commits(scope) }))
    return deliveryMetrics(days, found.releases, found.commits)
  })

import { DeliveryApi } from "@delivery/domain/Api"
import { Effect } from "effect"
import { handlersOf } from "../../http/Handlers.ts"
import { Cases } from "./Cases.ts"

/** Handlers of tests over time. */
export const layer = handlersOf(DeliveryApi, "cases", (handlers) =>
  Effect.map(Cases, (cases) =>
    handlers
      .handle("list", ({ params, query }) => cases.list(params.product, query))
      .handle("get", ({ params, query }) => cases.get(params.product, params.caseId, query))
      .handle("errors", ({ params }) => cases.errors(params.run))
      .handle("trends", ({ params, query }) => cases.trends(params.product, query))
  )
)

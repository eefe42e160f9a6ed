import { DeliveryApi } from "@delivery/domain/Api"
import { Effect, Layer } from "effect"
import { handlersOf } from "../http/Handlers.ts"
import { ListTurns } from "../http/ListTurns.ts"
import { DeliveryMetrics } from "./DeliveryMetrics.ts"
import { Readiness } from "./Readiness.ts"

/** The handlers of readiness and of the delivery metrics. */
export const layer = Layer.merge(
  handlersOf(DeliveryApi, "readiness", (handlers) =>
    Effect.map(Effect.all([Readiness, ListTurns]), ([readiness, turns]) =>
      handlers
        // Of what keeps a version back there may be thousands.
        .handle("get", ({ params, query }) =>
          Effect.andThen(turns.take, readiness.get(params.product, params.environment, query.version))
        )
        .handle("policy", ({ params }) => readiness.policy(params.product, params.environment))
        .handle("setPolicy", ({ params, payload }) => readiness.setPolicy(params.product, params.environment, payload))
        .handle("drift", ({ params, query }) =>
          Effect.andThen(turns.take, readiness.drift(params.product, params.environment, query.beside))
        )
    )
  ),

  handlersOf(DeliveryApi, "metrics", (handlers) =>
    Effect.map(DeliveryMetrics, (metrics) => handlers.handle("delivery", ({ query }) => metrics.get(query)))
  )
)

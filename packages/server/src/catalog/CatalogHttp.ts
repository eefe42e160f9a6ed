import { DeliveryApi } from "@delivery/domain/Api"
import { Effect, Layer } from "effect"
import { answerRefused } from "../http/ArrivedBodies.ts"
import { handlersOf } from "../http/Handlers.ts"
import { Approvals } from "./Approvals.ts"
import { Deployments } from "./Deployments.ts"
import { Environments } from "./Environments.ts"
import { Products } from "./Products.ts"

/** The handlers of products, environments and deployments. */
export const layer = Layer.mergeAll(
  handlersOf(DeliveryApi, "products", (handlers) =>
    Effect.map(Products, (products) =>
      handlers
        .handle("list", ({ query }) => Effect.map(products.list(query.archived), (products) => ({ products })))
        .handle("create", ({ payload }) => products.create(payload))
        .handle("get", ({ params }) => products.get(params.product))
        .handle("update", ({ params, payload }) => products.update(params.product, payload))
        .handle("archive", ({ params }) => products.archive(params.product))
        .handle("restore", ({ params }) => products.restore(params.product))
    )
  ),

  handlersOf(DeliveryApi, "environments", (handlers) =>
    Effect.map(Environments, (environments) =>
      handlers
        .handle("list", ({ query }) =>
          Effect.map(environments.list(query.archived), (environments) => ({ environments }))
        )
        .handle("create", ({ payload }) => environments.create(payload))
        .handle("get", ({ params }) => environments.get(params.environment))
        .handle("update", ({ params, payload }) => environments.update(params.environment, payload))
        .handle("archive", ({ params }) => environments.archive(params.environment))
        .handle("restore", ({ params }) => environments.restore(params.environment))
    )
  ),

  handlersOf(DeliveryApi, "approvals", (handlers) =>
    Effect.map(Approvals, (approvals) =>
      handlers
        .handle("list", ({ query }) => approvals.list(query))
        .handle("request", ({ payload }) => approvals.request(payload))
        .handle("get", ({ params }) => approvals.get(params.approval))
        .handle("approve", ({ params }) => approvals.approve(params.approval))
        .handle("reject", ({ params, payload }) => approvals.reject(params.approval, payload?.reason))
        .handle("end", ({ params }) => approvals.end(params.approval))
    )
  ),

  handlersOf(DeliveryApi, "deployments", (handlers) =>
    Effect.map(Deployments, (deployments) =>
      handlers
        .handle("list", ({ query }) => Effect.map(deployments.list(query), (deployments) => ({ deployments })))
        .handle("create", ({ payload }) => deployments.create(payload))
        .handle("get", ({ params }) => deployments.get(params.product, params.environment))
        .handle("update", ({ params, payload }) =>
          answerRefused(deployments.update(params.product, params.environment, payload))
        )
        .handle("delete", ({ params }) => deployments.delete(params.product, params.environment))
    )
  )
)

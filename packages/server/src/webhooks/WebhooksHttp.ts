import { DeliveryApi } from "@delivery/domain/Api"
import { Effect } from "effect"
import { handlersOf } from "../http/Handlers.ts"
import { Webhooks } from "./Webhooks.ts"

export const layer = handlersOf(DeliveryApi, "webhooks", (handlers) =>
  Effect.map(Webhooks, (webhooks) =>
    handlers
      .handle("list", () => Effect.map(webhooks.list, (webhooks) => ({ webhooks })))
      .handle("create", ({ payload }) => webhooks.create(payload))
      .handle("get", ({ params }) => webhooks.get(params.webhook))
      .handle("update", ({ params, payload }) => webhooks.update(params.webhook, payload))
      .handle("delete", ({ params }) => webhooks.delete(params.webhook))
      .handle("rotate", ({ params, payload }) => webhooks.rotate(params.webhook, payload ?? undefined))
      .handle("test", ({ params }) => webhooks.test(params.webhook))
      .handle("deliveries", ({ params, query }) => webhooks.deliveries(params.webhook, query.cursor))
      .handle("redeliver", ({ params }) => webhooks.redeliver(params.webhook, params.delivery))
  )
)

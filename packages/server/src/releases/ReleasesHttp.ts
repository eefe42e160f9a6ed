import { DeliveryApi } from "@delivery/domain/Api"
import { Effect } from "effect"
import { handlersOf } from "../http/Handlers.ts"
import { Releases } from "./Releases.ts"

export const layer = handlersOf(DeliveryApi, "releases", (handlers) =>
  Effect.map(Releases, (releases) =>
    handlers
      .handle("history", ({ params, query }) => releases.history(params.product, params.environment, query.before))
      .handle("version", ({ params }) => releases.version(params.product, params.version))
      .handle("trace", ({ params }) => releases.trace(params.ticket))
  )
)

import { DeliveryApi } from "@delivery/domain/Api"
import { Effect } from "effect"
import { handlersOf } from "../http/Handlers.ts"
import { Mutes } from "./Mutes.ts"

export const layer = handlersOf(DeliveryApi, "mutes", (handlers) =>
  Effect.map(Mutes, (mutes) =>
    handlers
      .handle("list", ({ query }) => Effect.map(mutes.list(query.product), (found) => ({ mutes: found })))
      .handle("set", ({ params, payload }) => mutes.set(params.ticket, payload))
      .handle("end", ({ params }) => mutes.end(params.ticket))
  )
)

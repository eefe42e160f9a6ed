import { DeliveryApi } from "@delivery/domain/Api"
import { Effect } from "effect"
import { handlersOf } from "../http/Handlers.ts"
import { Retries } from "./Retries.ts"

/** Handlers of retries. */
export const layer = handlersOf(DeliveryApi, "retries", (handlers) =>
  Effect.map(Retries, (retries) =>
    handlers
      .handle("start", ({ params, payload }) => retries.start(params.run, payload))
      .handle("finish", ({ params, payload }) => retries.finish(params.run, params.retry, payload))
  )
)

import { DeliveryApi } from "@delivery/domain/Api"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Retries } from "./Retries.ts"

/** Handlers of retries. */
export const RetriesHttp = HttpApiBuilder.group(DeliveryApi, "retries", (handlers) =>
  Effect.map(Retries, (retries) =>
    handlers
      .handle("start", ({ params, payload }) => retries.start(params.run, payload))
      .handle("finish", ({ params, payload }) => retries.finish(params.run, params.retry, payload))
  )
)

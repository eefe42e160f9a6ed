import { DeliveryApi } from "@delivery/domain/Api"
import { TooManyRequests } from "@delivery/domain/Errors"
import { Effect, Option } from "effect"
import { handlersOf } from "../http/Handlers.ts"
import { failFor } from "../http/RetryAfter.ts"
import { TokenExchange } from "./TokenExchange.ts"
import { TokenReports } from "./TokenReports.ts"

/** The handlers of reported tokens, and of tokens of CI. */
export const layer = handlersOf(DeliveryApi, "tokens", (handlers) =>
  Effect.gen(function* () {
    const reports = yield* TokenReports
    const { exchange } = yield* TokenExchange
    return handlers
      .handle("report", ({ payload, request }) => {
        const address = Option.getOrElse(request.remoteAddress, () => "")
        return Effect.catchTag(reports.report(payload.token, address), "Throttled", ({ retryAfter }) => {
          const message = `Too many reports of tokens. Nothing has ended. Try again in ${retryAfter} s.`
          return failFor(retryAfter, new TooManyRequests({ message }))
        })
      })
      .handle("exchange", ({ payload }) => exchange(payload))
  })
)

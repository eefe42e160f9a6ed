import { DeliveryApi } from "@delivery/domain/Api"
import { Effect } from "effect"
import { handlersOf } from "../http/Handlers.ts"
import { browser, refuse } from "./Cookies.ts"
import { Logins } from "./Logins.ts"

/** The handlers of sign-ins of the command line. */
export const layer = handlersOf(DeliveryApi, "logins", (handlers) =>
  Effect.map(Logins, (logins) =>
    handlers
      .handle("get", ({ params }) => logins.get(params.login))
      .handle("decide", ({ params, payload }) =>
        browser.pipe(
          Effect.flatMap(({ address }) => logins.decide(params.login, payload, address)),
          Effect.catchTag("Throttled", refuse)
        )
      )
      .handle("start", ({ payload }) =>
        browser.pipe(
          Effect.flatMap(({ address }) => logins.start(payload, address)),
          Effect.catchTag("Throttled", refuse)
        )
      )
      .handle("program", ({ params }) => logins.program(params.login))
      .handle("redeem", ({ params, payload }) =>
        browser.pipe(
          Effect.flatMap(({ address }) => logins.redeem(params.login, payload, address)),
          Effect.catchTag("Throttled", refuse)
        )
      )
  )
)

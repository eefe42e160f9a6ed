import { DeliveryApi } from "@delivery/domain/Api"
import { Unavailable } from "@delivery/domain/SystemApi"
import { Effect } from "effect"
import { handlersOf } from "./http/Handlers.ts"
import { SigningKeys } from "./keys/SigningKeys.ts"
import { Storage } from "./storage/Storage.ts"

const ok = { status: "ok" } as const

/** Handlers of the server itself: they need no key. Migrations have run before the socket listens. */
export const layer = handlersOf(DeliveryApi, "system", (handlers) =>
  Effect.gen(function* () {
    const storage = yield* Storage
    const signingKeys = yield* SigningKeys
    return handlers
      .handle("health", () => Effect.succeed(ok))
      .handle("ready", () =>
        storage.ping.pipe(
          Effect.timeout("2 seconds"),
          Effect.as(ok),
          Effect.catchCause(() => Effect.fail(new Unavailable({ message: "The database does not answer." })))
        )
      )
      .handle("jwks", () => signingKeys.jwks)
  })
)

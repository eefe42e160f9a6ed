import { DeployAuthorization, DeployCaller } from "@delivery/domain/deploy/DeployAuthorization"
import { Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { onceArrived } from "../http/ArrivedBodies.ts"
import { makeCallerOf } from "./DeployAuthentication.ts"

/** Authenticates what products call: by the token of their deployment, and by nothing else. */
export const layer = Layer.effect(
  DeployAuthorization,
  Effect.gen(function* () {
    const callerOf = yield* makeCallerOf
    return DeployAuthorization.of({
      deploymentToken: Effect.fnUntraced(function* (httpEffect) {
        const { headers } = yield* HttpServerRequest.HttpServerRequest
        const caller = yield* onceArrived(callerOf(headers), () => false)
        return yield* Effect.provideService(httpEffect, DeployCaller, caller)
      })
    })
  })
)

import { DeployAuthorization } from "@delivery/domain/deploy/DeployAuthorization"
import { SecretRef } from "@delivery/domain/vault/Secret"
import { Effect, Layer, Option, Schema } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { onceArrived } from "../http/ArrivedBodies.ts"
import { makeCallerOf, type Wanted } from "./DeployAuthentication.ts"

/** Authenticates what products call: by the token of their deployment, and by nothing else. */
export const layer = Layer.effect(
  DeployAuthorization,
  Effect.gen(function* () {
    const callerOf = yield* makeCallerOf
    return DeployAuthorization.of({
      deploymentToken: Effect.fnUntraced(function* (httpEffect, { endpoint }) {
        const { headers } = yield* HttpServerRequest.HttpServerRequest
        const { name = "" } = yield* HttpRouter.params
        const caller = yield* onceArrived(callerOf(headers, wantedBy(endpoint.identifier, name)), () => false)
        return yield* Effect.provideContext(httpEffect, caller)
      })
    })
  })
)

const secretRef = Schema.decodeUnknownOption(SecretRef)

/** What an endpoint reads, by the name that its handler has. One that is none reads nothing: the handler refuses it. */
const wantedBy = (endpoint: string, name: string): Wanted | undefined => {
  if (endpoint === "secrets") return { name: undefined }
  const ref = endpoint === "secret" ? secretRef(name) : Option.none()
  return Option.isSome(ref) ? { name: ref.value } : undefined
}

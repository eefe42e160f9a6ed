import { AgentAuthorization } from "@delivery/domain/agents/AgentAuthorization"
import { Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { Settings } from "../Config.ts"
import { onceArrived } from "../http/ArrivedBodies.ts"
import { asAgent, challenge, makeAuthenticate } from "./AgentAuthentication.ts"

/**
 * Authenticates what agents call: by access token, and by nothing else. Sign-ins by the server's URL have none of it: their
 * tokens are for `/agent/mcp` alone.
 */
export const layer = Layer.effect(
  AgentAuthorization,
  Effect.gen(function* () {
    const { baseUrl } = yield* Settings
    const authenticate = yield* makeAuthenticate
    const unauthorized = challenge(baseUrl)
    return AgentAuthorization.of({
      agentToken: Effect.fnUntraced(function* (httpEffect) {
        const { headers } = yield* HttpServerRequest.HttpServerRequest
        const found = yield* onceArrived(authenticate(headers), (found) => found === undefined)
        return found === undefined || found.computer === null ? unauthorized : yield* asAgent(found)(httpEffect)
      })
    })
  })
)

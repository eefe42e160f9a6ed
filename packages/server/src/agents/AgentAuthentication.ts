import { AgentCaller } from "@delivery/domain/agents/AgentAuthorization"
import { Unauthorized } from "@delivery/domain/Errors"
import { Caller } from "@delivery/domain/identity/Authorization"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect } from "effect"
import { type Headers, HttpServerResponse } from "effect/http"
import { hashToken, isToken } from "../ids/Tokens.ts"
import { errorResponse } from "../http/ErrorResponse.ts"
import { recognized } from "../http/RateLimits.ts"
import { agentName } from "../access/ActorRows.ts"
import { AgentUsage } from "./AgentUsage.ts"
import { insufficientScope } from "./AgentWrites.ts"
import { scopeOf } from "./SignIns.ts"
import { type AuthenticatedAgent, SignInsRepo } from "./SignInsRepo.ts"

interface RecognizedAgent extends AuthenticatedAgent {
  readonly tokenHash: string
  readonly lastFour: string
}

/**
 * Looks up the agent whose access token is sent, on every request, and notes that it was seen. Undefined where no valid
 * token is sent, or another credential beside it.
 */
export const makeAuthenticate = Effect.gen(function* () {
  const repo = yield* SignInsRepo
  const usage = yield* AgentUsage
  return Effect.fnUntraced(function* (headers: Headers.Headers) {
    const token = /^Bearer +(\S+)$/i.exec(headers["authorization"] ?? "")?.[1] ?? ""
    if (!isToken("atk_", token) || (headers["x-api-key"] ?? token) !== token) return undefined
    const tokenHash = hashToken(token)
    const found = yield* repo.authenticate(tokenHash, timestamp(yield* Clock.currentTimeMillis))
    if (found === undefined) return undefined
    yield* recognized(found.person.id)
    if (found.computer !== null) yield* usage.note(found.computer.id)
    return { ...found, tokenHash, lastFour: token.slice(-4) }
  })
})

/** Runs an effect with the agent as its caller. */
export const asAgent = (recognizedAgent: RecognizedAgent) => {
  const { agent, computer, lastFour, membership, person, scope, signInId, tokenHash } = recognizedAgent
  const credential = { kind: "agent", id: signInId, lastFour } as const
  const ref = { id: agent.id, name: agentName(agent), person }
  return <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(
      Effect.provideService(Caller, { principal: { kind: "agent", ...ref }, membership, credential }),
      Effect.provideService(AgentCaller, {
        agent: ref,
        workspace: membership,
        computer,
        tokenHash,
        scope: scopeOf(membership.role, scope)
      })
    )
}

/** The 401 where an access token is needed. It says where clients get one (RFC 9728, section 5.1). */
export const challenge = (baseUrl: string) => {
  const { _tag, message } = Unauthorized.agent
  return HttpServerResponse.jsonUnsafe(
    { _tag, message },
    { status: 401, headers: { "www-authenticate": `Bearer ${hints(baseUrl)}` } }
  )
}

/** The 403 where a token of a wider scope would do (RFC 6750, section 3.1). */
export const scopeChallenge = (baseUrl: string) =>
  HttpServerResponse.setHeader(
    errorResponse(insufficientScope, 403),
    "www-authenticate",
    `Bearer error="insufficient_scope", ${hints(baseUrl)}`
  )

const hints = (baseUrl: string) =>
  `resource_metadata="${baseUrl}/.well-known/oauth-protected-resource/agent/mcp", scope="read write"`

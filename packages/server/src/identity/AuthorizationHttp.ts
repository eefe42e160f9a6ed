import { Unauthorized } from "@delivery/domain/Errors"
import {
  Authorization,
  Caller,
  OptionalAuthorization,
  OptionalCaller,
  sessionCookie
} from "@delivery/domain/identity/Authorization"
import { type Context, Effect, Layer } from "effect"
import { type Headers, HttpServerRequest, HttpServerResponse } from "effect/http"
import { hashToken, isToken } from "../ids/Tokens.ts"
import { errorResponse } from "../http/ErrorResponse.ts"
import { recognized } from "../http/RateLimits.ts"
import { ApiKeysRepo } from "./ApiKeysRepo.ts"
import { ApiKeyUsage } from "./ApiKeyUsage.ts"
import { workspaceOfPath } from "./Credentials.ts"
import { makeAuthenticateSession } from "./SessionAuthentication.ts"

/**
 * Authenticates every request with an API key, or with the cookie of a session where it has none: one look-up gives the
 * caller and the membership in the path's workspace.
 */
export const layer = Layer.effect(
  Authorization,
  Effect.gen(function* () {
    const callerOf = yield* makeCallerOf
    const decide: Decide = Effect.fnUntraced(function* (httpEffect) {
      const { cookies, headers } = yield* HttpServerRequest.HttpServerRequest
      const caller = yield* Effect.match(callerOf(headers, cookies), {
        onFailure: (error) => errorResponse(error, statuses[error._tag]),
        onSuccess: (caller) => caller ?? refused
      })
      return HttpServerResponse.isHttpServerResponse(caller)
        ? caller
        : yield* Effect.provideService(httpEffect, Caller, caller)
    })
    return Authorization.of({ bearer: decide, apiKey: decide, session: decide })
  })
)

/** Decides by all schemes, as the first that is asked: for a failure, the others would be asked, one after the other. */
type Decide = Context.Service.Shape<typeof Authorization>["bearer"]

const statuses = { Unauthorized: 401, Forbidden: 403, TooManyRequests: 429 } as const

const refused = errorResponse(Unauthorized.generic, 401)

/** The same for endpoints that need no credential. One that is shown must be valid. */
export const layerOptional = Layer.effect(
  OptionalAuthorization,
  Effect.gen(function* () {
    const callerOf = yield* makeCallerOf
    return OptionalAuthorization.of(
      Effect.fnUntraced(function* (httpEffect) {
        const { cookies, headers } = yield* HttpServerRequest.HttpServerRequest
        return yield* Effect.provideService(httpEffect, OptionalCaller, { caller: yield* callerOf(headers, cookies) })
      })
    )
  })
)

/** Who calls: by the key in a header, or else by the cookie; undefined where the request shows neither. */
const makeCallerOf = Effect.gen(function* () {
  const authenticated = authenticate(yield* ApiKeysRepo, yield* ApiKeyUsage)
  const authenticatedSession = yield* makeAuthenticateSession
  return (headers: Headers.Headers, cookies: Readonly<Record<string, string | undefined>>) => {
    const token = shownToken(headers)
    if (token !== undefined) return authenticated(token)
    const session = cookies[sessionCookie]
    return session === undefined ? Effect.undefined : authenticatedSession(session)
  }
})

/** Undefined where the request shows no credential; empty where what it shows can be none. */
const shownToken = (headers: Headers.Headers): string | undefined => {
  const { authorization, "x-api-key": key } = headers
  if (authorization === undefined) return key
  const token = /^bearer +(.+)$/i.exec(authorization)?.[1] ?? ""
  return key === undefined || key === token ? token : ""
}

const authenticate = (keys: ApiKeysRepo["Service"], usage: ApiKeyUsage["Service"]) =>
  Effect.fnUntraced(function* (token: string) {
    if (!isToken("ctk_", token)) return yield* Effect.fail(Unauthorized.generic)
    const caller = yield* keys.authenticate(hashToken(token), yield* workspaceOfPath)
    if (caller === undefined) return yield* Effect.fail(Unauthorized.generic)
    yield* usage.note(caller.keyId)
    yield* recognized(caller.principal.id)
    const { keyId, membership, principal, scopes } = caller
    const kind = principal.kind === "apiKey" ? ("accountApiKey" as const) : ("apiKey" as const)
    return { principal, membership, credential: { kind, id: keyId, lastFour: token.slice(-4), scopes } }
  })

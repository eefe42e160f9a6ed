import { Unauthorized } from "@delivery/domain/Errors"
import {
  Authorization,
  Caller,
  OptionalAuthorization,
  OptionalCaller,
  sessionCookie
} from "@delivery/domain/identity/Authorization"
import { Effect, Layer, Redacted } from "effect"
import { type Headers, HttpServerRequest } from "effect/http"
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
    const authenticated = authenticate(yield* ApiKeysRepo, yield* ApiKeyUsage)
    const authenticatedSession = yield* makeAuthenticateSession
    return Authorization.of({
      bearer: Effect.fnUntraced(function* (httpEffect, { credential }) {
        const { headers } = yield* HttpServerRequest.HttpServerRequest
        if (headers.authorization === undefined) return yield* Effect.fail(Unauthorized.generic)
        const token = Redacted.value(credential)
        const other = headers["x-api-key"]
        if (token === "" || (other !== undefined && other !== token)) return refused
        const caller = yield* Effect.catchTag(authenticated(token), "Unauthorized", () => Effect.undefined)
        return caller === undefined ? refused : yield* Effect.provideService(httpEffect, Caller, caller)
      }),
      apiKey: Effect.fnUntraced(function* (httpEffect, { credential }) {
        const { headers } = yield* HttpServerRequest.HttpServerRequest
        // With both headers, the bearer scheme has decided already.
        if (headers.authorization !== undefined) return yield* Effect.fail(Unauthorized.generic)
        return yield* Effect.provideService(httpEffect, Caller, yield* authenticated(Redacted.value(credential)))
      }),
      session: Effect.fnUntraced(function* (httpEffect, { credential }) {
        return yield* Effect.provideService(httpEffect, Caller, yield* authenticatedSession(Redacted.value(credential)))
      })
    })
  })
)

/** An answer, where a failure would have the other schemes tried: none of them counts beside the bearer's header. */
const refused = errorResponse(Unauthorized.generic, 401)

/** The same for endpoints that need no credential. One that is shown must be valid. */
export const layerOptional = Layer.effect(
  OptionalAuthorization,
  Effect.gen(function* () {
    const authenticated = authenticate(yield* ApiKeysRepo, yield* ApiKeyUsage)
    const authenticatedSession = yield* makeAuthenticateSession
    return OptionalAuthorization.of(
      Effect.fnUntraced(function* (httpEffect) {
        const { cookies, headers } = yield* HttpServerRequest.HttpServerRequest
        const token = shownToken(headers)
        const session = cookies[sessionCookie]
        const caller =
          token !== undefined
            ? yield* authenticated(token)
            : session !== undefined
              ? yield* authenticatedSession(session)
              : undefined
        return yield* Effect.provideService(httpEffect, OptionalCaller, { caller })
      })
    )
  })
)

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

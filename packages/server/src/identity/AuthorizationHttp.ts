import { type TooManyRequests, Unauthorized } from "@delivery/domain/Errors"
import {
  Authorization,
  Caller,
  OptionalAuthorization,
  OptionalCaller,
  sessionCookie
} from "@delivery/domain/identity/Authorization"
import { isId, isSlug } from "@delivery/domain/Text"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { type Headers, type HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Settings } from "../Config.ts"
import { type Asked, CurrentCaller } from "../events/CurrentCaller.ts"
import { hashToken, isToken } from "../ids/Tokens.ts"
import { CallerNow, onceArrived } from "../http/ArrivedBodies.ts"
import { errorResponse } from "../http/ErrorResponse.ts"
import { recognized } from "../http/RateLimits.ts"
import { ApiKeysRepo, type Authenticated } from "./ApiKeysRepo.ts"
import { ApiKeyUsage } from "./ApiKeyUsage.ts"
import { workspaceOfPath } from "./Credentials.ts"
import { makeAuthenticateSession, sessionTimes } from "./SessionAuthentication.ts"
import { SessionsRepo } from "./SessionsRepo.ts"
import { SessionUsage } from "./SessionUsage.ts"

/**
 * Authenticates every request with an API key, or with the cookie of a session where it has none: one look-up gives the
 * caller and the membership in the path's workspace.
 */
export const layer = Layer.effect(
  Authorization,
  Effect.gen(function* () {
    const callerOf = yield* makeCallerOf
    const decide: Decide = (httpEffect) =>
      Effect.contextWith((context: Context.Context<Effect.Services<ReturnType<typeof callerOf>>>) => {
        const { cookies, headers } = Context.get(context, HttpServerRequest.HttpServerRequest)
        const decision = Effect.match(callerOf(headers, cookies), {
          onFailure: (error) => errorResponse(error, statuses[error._tag]),
          onSuccess: (caller) => caller ?? refused
        })
        return Effect.flatMap(onceArrived(decision, HttpServerResponse.isHttpServerResponse), (caller) =>
          HttpServerResponse.isHttpServerResponse(caller)
            ? Effect.succeed(caller)
            : Effect.updateContext(httpEffect, (now: Context.Context<never>) =>
                Context.add(Context.add(now, Caller, caller), CallerNow, Effect.provideContext(decision, context))
              )
        )
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
        const caller = yield* onceArrived(callerOf(headers, cookies), (caller) => caller === undefined)
        return yield* Effect.provideService(httpEffect, OptionalCaller, { caller })
      })
    )
  })
)

/** Implements the events' `CurrentCaller`. */
export const layerCurrentCaller = Layer.effect(
  CurrentCaller,
  Effect.gen(function* () {
    const keys = yield* ApiKeysRepo
    const sessions = yield* SessionsRepo
    const usage = yield* SessionUsage
    const settings = yield* Settings
    const { expiresMillis, sudoUntil } = sessionTimes(settings)
    const ofKey = (token: string, workspace: string) =>
      Effect.map(keys.authenticate(hashToken(token), workspace), (found) => found && callerOfKey(found, token))
    const ofSession = Effect.fnUntraced(function* (token: string, workspace: string) {
      const found = yield* sessions.authenticate({ tokenHash: hashToken(token), workspace })
      if (found === undefined) return undefined
      const { membership, person, session } = found
      const lastSeenAt = usage.latest(session.id, session.lastSeenAt)
      if (expiresMillis({ createdAt: session.createdAt, lastSeenAt }) <= (yield* Clock.currentTimeMillis))
        return undefined
      const { id, lastFour } = session
      return {
        principal: { kind: "user" as const, ...person },
        membership,
        credential: { kind: "session" as const, id, lastFour, sudoUntil: sudoUntil(session) }
      }
    })
    const { idleMillis, maxMillis } = settings.sessions
    return CurrentCaller.of({
      of: (asked) => {
        const { isSession, token, workspace } = shownBy(asked)
        return isSession ? ofSession(token, workspace) : ofKey(token, workspace)
      },
      keyOf: (asked) => shownBy(asked).tokenHash,
      state: Effect.fnUntraced(function* (all) {
        const now = yield* Clock.currentTimeMillis
        const [ofKey, ofSession] = shownByAll(all)
        const ofKeys = keys.state(ofKey)
        const ofSessions = sessions.state(ofSession, {
          seenAfter: timestamp(now - idleMillis),
          createdAfter: timestamp(now - maxMillis)
        })
        return (yield* Effect.all([ofKeys, ofSessions])).join(" ")
      })
    })
  })
)

interface Shown {
  readonly isSession: boolean
  readonly token: string
  readonly tokenHash: string
  readonly workspace: string
}

const shownBy = (asked: Asked): Shown => {
  const { cookies, headers } = asked.request
  const key = shownToken(headers)
  const token = key ?? cookies[sessionCookie] ?? ""
  const workspace = isId(asked.workspace) || isSlug(asked.workspace) ? asked.workspace : ""
  return { isSession: key === undefined, token, tokenHash: hashToken(token), workspace }
}

/** The same list is asked about again and again: its keys and its sessions. */
const shownLists = new WeakMap<ReadonlyArray<Asked>, readonly [ReadonlyArray<Shown>, ReadonlyArray<Shown>]>()

const shownByAll = (all: ReadonlyArray<Asked>) => {
  const known = shownLists.get(all)
  if (known !== undefined) return known
  const shown = all.map(shownBy)
  const made = [shown.filter(({ isSession }) => !isSession), shown.filter(({ isSession }) => isSession)] as const
  shownLists.set(all, made)
  return made
}

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

const authenticate =
  (keys: ApiKeysRepo["Service"], usage: ApiKeyUsage["Service"]) =>
  (token: string): Effect.Effect<Caller["Service"], Unauthorized | TooManyRequests, HttpRouter.RouteContext> => {
    if (!isToken("ctk_", token)) return Effect.fail(Unauthorized.generic)
    const found = Effect.flatMap(workspaceOfPath, (workspace) => keys.authenticate(hashToken(token), workspace))
    return Effect.flatMap(found, (caller): Effect.Effect<Caller["Service"], Unauthorized | TooManyRequests> =>
      caller === undefined
        ? Effect.fail(Unauthorized.generic)
        : Effect.as(
            Effect.andThen(usage.note(caller.keyId), recognized(caller.principal.id)),
            callerOfKey(caller, token)
          )
    )
  }

const callerOfKey = ({ keyId, membership, principal, scopes }: Authenticated, token: string) => {
  const kind = principal.kind === "apiKey" ? ("accountApiKey" as const) : ("apiKey" as const)
  return { principal, membership, credential: { kind, id: keyId, lastFour: token.slice(-4), scopes } }
}

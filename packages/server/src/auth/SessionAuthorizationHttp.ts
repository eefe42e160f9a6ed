import { NoOtherSites, OwnPages, SessionAuthorization } from "@delivery/domain/auth/SessionAuthorization"
import { Forbidden, Unauthorized } from "@delivery/domain/Errors"
import { Caller } from "@delivery/domain/identity/Authorization"
import { Effect, Layer, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { Settings } from "../Config.ts"
import { onceArrived } from "../http/ArrivedBodies.ts"
import { insecureBaseUrl, isFromOwnPage, keepsCookies } from "../http/OwnPages.ts"
import { makeAuthenticateSession } from "../identity/SessionAuthentication.ts"

/** Authenticates by the cookie of a session alone. */
const layerSession = Layer.effect(
  SessionAuthorization,
  Effect.gen(function* () {
    const { baseUrl } = yield* Settings
    const authenticated = yield* makeAuthenticateSession
    const isOffered = keepsCookies(baseUrl)
    return SessionAuthorization.of({
      session: Effect.fnUntraced(function* (httpEffect, { credential }) {
        if (!isOffered) return yield* Effect.fail(insecureBaseUrl)
        const now = Effect.catchTag(authenticated(Redacted.value(credential)), "Unauthorized", () =>
          Effect.fail(Unauthorized.session)
        )
        const caller = yield* onceArrived(now, () => false)
        return yield* Effect.provideService(httpEffect, Caller, caller)
      })
    })
  })
)

type Request = HttpServerRequest.HttpServerRequest

/** Lets the requests through that may be made, where browsers sign in at all. */
const only = (mayBeMade: (request: Request, baseUrl: string) => boolean) =>
  Effect.map(Settings, ({ baseUrl }) => {
    const isOffered = keepsCookies(baseUrl)
    return <A, E, R>(httpEffect: Effect.Effect<A, E, R>) =>
      Effect.gen(function* () {
        if (!isOffered) return yield* insecureBaseUrl
        const request = yield* HttpServerRequest.HttpServerRequest
        return mayBeMade(request, baseUrl) ? yield* httpEffect : yield* Forbidden.crossSite
      })
  })

/** Signing a visitor in as somebody else is an attack too, so it takes a page of the service. */
const layerOwnPages = Layer.effect(
  OwnPages,
  Effect.map(only(isFromOwnPage), (through) => OwnPages.of(through))
)

/** Programs say neither from which site nor from which origin they call; browsers say one of them. */
const isFromProgram = ({ headers }: Request): boolean =>
  headers["sec-fetch-site"] === undefined && headers["origin"] === undefined

const layerNoOtherSites = Layer.effect(
  NoOtherSites,
  Effect.map(
    only((request, baseUrl) => isFromProgram(request) || isFromOwnPage(request, baseUrl)),
    (through) => NoOtherSites.of(through)
  )
)

export const layer = Layer.mergeAll(layerSession, layerOwnPages, layerNoOtherSites)

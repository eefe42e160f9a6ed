import type { SignInPurpose } from "@delivery/domain/auth/SingleSignOn"
import { Forbidden } from "@delivery/domain/Errors"
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { makeAuthenticateSession } from "../identity/SessionAuthentication.ts"
import { browser, refuse, withCookie } from "./Cookies.ts"
import { Identities } from "./Identities.ts"
import { flowMillis, SingleSignOn, type TravellingBrowser } from "./SingleSignOn.ts"

/** The cookie of a browser that goes to a provider. `Lax` lets it come along when the provider sends the browser back. */
const flowCookie = "__Host-delivery_flow"

const cookieOptions = { secure: true, httpOnly: true, sameSite: "lax", path: "/", maxAge: flowMillis } as const

const travelling = Effect.zipWith(
  browser,
  HttpServerRequest.HttpServerRequest,
  (browser, { cookies }): TravellingBrowser => ({ ...browser, secret: cookies[flowCookie] })
)

interface ToProvider {
  readonly params: { readonly provider: string }
  readonly query: { readonly purpose?: SignInPurpose; readonly returnTo?: string }
}

interface FromProvider {
  readonly params: { readonly provider: string }
}

/**
 * Whether a page of another site sends the browser. It could have signed the browser in at the provider with an account of
 * its own before: then that account would become one of the victim's. Browsers say where a request comes from.
 */
const isFromElsewhere = ({ headers }: HttpServerRequest.HttpServerRequest): boolean => {
  const site = headers["sec-fetch-site"]
  return site !== undefined && site !== "same-origin"
}

/**
 * Whether a page of another site loads the address into itself, as an image or a frame, instead of sending the browser there.
 * It would use up the attempts of the visitor's network.
 */
const isEmbedded = ({ headers }: HttpServerRequest.HttpServerRequest): boolean => {
  const [site, destination] = [headers["sec-fetch-site"], headers["sec-fetch-dest"]]
  return (site === "cross-site" || site === "same-site") && destination !== undefined && destination !== "document"
}

const notEmbedded = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
  isEmbedded(request) ? Effect.fail(Forbidden.crossSite) : Effect.void
)

/** The handlers of single sign-on. */
export const singleSignOnHandlers = Effect.gen(function* () {
  const singleSignOn = yield* SingleSignOn
  const identities = yield* Identities
  const authenticated = yield* makeAuthenticateSession
  /** Whose session the browser has; undefined without one that works. */
  const sessionOf = ({ token }: TravellingBrowser) => Effect.catch(authenticated(token ?? ""), () => Effect.undefined)
  return {
    identities: () => Effect.map(identities.list, (identities) => ({ identities })),
    deleteIdentity: ({ params }: { readonly params: { readonly identity: string } }) =>
      identities.remove(params.identity),
    startSingleSignOn: ({ params, query }: ToProvider) =>
      Effect.gen(function* () {
        yield* notEmbedded
        const from = yield* travelling
        const { purpose = "sign-in", returnTo } = query
        const as = purpose === "sign-in" ? undefined : yield* sessionOf(from)
        if (as !== undefined && isFromElsewhere(yield* HttpServerRequest.HttpServerRequest)) {
          return yield* Forbidden.crossSite
        }
        const started = yield* singleSignOn.start(params.provider, { purpose, returnTo }, from, as)
        const response = HttpServerResponse.redirect(started.location, { status: 303 })
        return "secret" in started
          ? HttpServerResponse.setCookieUnsafe(response, flowCookie, started.secret, cookieOptions)
          : response
      }).pipe(Effect.catchTag("Throttled", refuse)),
    finishSingleSignOn: ({ params }: FromProvider) =>
      Effect.gen(function* () {
        yield* notEmbedded
        const from = yield* travelling
        const { url } = yield* HttpServerRequest.HttpServerRequest
        const answer = new URLSearchParams(url.includes("?") ? url.slice(url.indexOf("?") + 1) : "")
        const finished = yield* singleSignOn.finish(params.provider, answer, from, yield* sessionOf(from))
        if (finished.begun !== undefined) yield* withCookie(finished.begun)
        return HttpServerResponse.redirect(finished.location, { status: 303 })
      }).pipe(Effect.catchTag("Throttled", refuse))
  }
})

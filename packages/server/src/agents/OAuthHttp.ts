import { DeliveryApi } from "@delivery/domain/Api"
import { TooManyRequests } from "@delivery/domain/Errors"
import { Effect, Option } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { Throttled } from "../auth/Throttles.ts"
import { errorResponse } from "../http/ErrorResponse.ts"
import { handlersOf } from "../http/Handlers.ts"
import { AuthorizationCodes } from "./AuthorizationCodes.ts"
import { Authorizations } from "./Authorizations.ts"
import { maxDocuments, maxRegistrations, OAuthClients } from "./OAuthClients.ts"
import { OAuthFailure, type OAuthForm, SignIns } from "./SignIns.ts"

const malformed = (description: string) => new OAuthFailure({ status: 400, error: "invalid_request", description })

/** The fields of a form-encoded body. An empty field counts as missing; none may be repeated (RFC 6749, section 3.2). */
const formOf = Effect.fnUntraced(function* (
  request: HttpServerRequest.HttpServerRequest
): Effect.fn.Return<OAuthForm, OAuthFailure> {
  const type = request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase()
  if (type !== "application/x-www-form-urlencoded") {
    return yield* malformed("The body must be application/x-www-form-urlencoded.")
  }
  const unreadable = malformed("The body could not be read, or is larger than 64 KiB.")
  const text = yield* Effect.mapError(request.text, () => unreadable)
  const fields = new URLSearchParams(text)
  const names = new Set(fields.keys())
  if (names.size < fields.size) return yield* malformed("A field must not be repeated.")
  return (name) => fields.get(name) || undefined
})

const tooMany = (what: string, { retryAfter }: Throttled) =>
  HttpServerResponse.setHeader(
    errorResponse(
      new TooManyRequests({
        message: `Too many ${what} in an hour from one network address. Try again in ${retryAfter} s.`
      }),
      429
    ),
    "retry-after",
    String(retryAfter)
  )

const registrations = `registrations: at most ${maxRegistrations}`
const documents = `documents of clients: at most ${maxDocuments}`

const addressOf = ({ remoteAddress }: HttpServerRequest.HttpServerRequest) => Option.getOrElse(remoteAddress, () => "")

const queryOf = ({ url }: HttpServerRequest.HttpServerRequest) => {
  const start = url.indexOf("?")
  return new URLSearchParams(start === -1 ? "" : url.slice(start + 1))
}

/** The client's own page need not learn what the address before it was. */
const unreferred = { "referrer-policy": "no-referrer" }

/** The value of a JSON body. */
const jsonOf = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
  const type = request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase()
  if (type !== "application/json") return yield* malformed("The body must be application/json.")
  return yield* Effect.mapError(request.json, () => malformed("The body is not JSON, or is larger than 64 KiB."))
})

const toResponse = <R>(
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse, OAuthFailure, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, R> =>
  answer.pipe(
    Effect.catchTag("OAuthFailure", ({ description, error, status }) =>
      Effect.succeed(HttpServerResponse.jsonUnsafe({ error, error_description: description }, { status }))
    ),
    // For caches of HTTP/1.0, as RFC 6749 asks.
    Effect.map(HttpServerResponse.setHeader("pragma", "no-cache"))
  )

/** Handlers of the OAuth endpoints, whose errors have the form of RFC 6749. */
export const layer = handlersOf(DeliveryApi, "oauth", (handlers) =>
  Effect.gen(function* () {
    const signIns = yield* SignIns
    const clients = yield* OAuthClients
    const authorizations = yield* Authorizations
    const codes = yield* AuthorizationCodes
    const tokensFor = (form: OAuthForm) =>
      form("grant_type") === "authorization_code" ? codes.exchange(form) : signIns.refresh(form)
    return handlers
      .handle("authorizationServer", () => Effect.succeed(signIns.authorizationServer))
      .handle("protectedResource", () => Effect.succeed(signIns.protectedResource))
      .handle("mcpProtectedResource", () => Effect.succeed(signIns.protectedResource))
      .handleRaw("authorize", ({ request }) =>
        authorizations.request(queryOf(request), addressOf(request)).pipe(
          Effect.map((location) => HttpServerResponse.empty({ status: 303, headers: { ...unreferred, location } })),
          Effect.catchTag("Throttled", (throttled) => Effect.succeed(tooMany(documents, throttled))),
          toResponse
        )
      )
      .handleRaw("token", ({ request }) =>
        formOf(request).pipe(
          Effect.flatMap(tokensFor),
          Effect.map((tokens) => HttpServerResponse.jsonUnsafe(tokens)),
          toResponse
        )
      )
      .handleRaw("revoke", ({ request }) =>
        formOf(request).pipe(
          Effect.flatMap(signIns.revoke),
          Effect.as(HttpServerResponse.empty({ status: 200 })),
          toResponse
        )
      )
      .handleRaw("register", ({ request }) =>
        jsonOf(request).pipe(
          Effect.flatMap((metadata) => clients.register(metadata, addressOf(request))),
          Effect.map((client) => HttpServerResponse.jsonUnsafe(client, { status: 201 })),
          Effect.catchTag("Throttled", (throttled) => Effect.succeed(tooMany(registrations, throttled))),
          toResponse
        )
      )
  })
)

import { DeliveryApi } from "@delivery/domain/Api"
import { TooManyRequests } from "@delivery/domain/Errors"
import { Effect, Option } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { errorResponse } from "../http/ErrorResponse.ts"
import { handlersOf } from "../http/Handlers.ts"
import { maxRegistrations, OAuthClients } from "./OAuthClients.ts"
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
  const text = yield* Effect.mapError(request.text, () => malformed("The body could not be read, or is too large."))
  const fields = new URLSearchParams(text)
  const names = [...fields.keys()]
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined) return yield* malformed("A field must not be repeated.")
  return (name) => fields.get(name) || undefined
})

const tooMany = (retryAfter: number) =>
  HttpServerResponse.setHeader(
    errorResponse(
      new TooManyRequests({
        message: `Too many registrations: at most ${maxRegistrations} in an hour from one network address. Try again in ${retryAfter} s.`
      }),
      429
    ),
    "retry-after",
    String(retryAfter)
  )

/** The value of a JSON body. */
const jsonOf = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
  const type = request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase()
  if (type !== "application/json") return yield* malformed("The body must be application/json.")
  return yield* Effect.mapError(request.json, () => malformed("The body is not JSON, or is too large."))
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
    return handlers
      .handle("authorizationServer", () => Effect.succeed(signIns.authorizationServer))
      .handle("protectedResource", () => Effect.succeed(signIns.protectedResource))
      .handle("mcpProtectedResource", () => Effect.succeed(signIns.protectedResource))
      .handleRaw("token", ({ request }) =>
        formOf(request).pipe(
          Effect.flatMap(signIns.refresh),
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
          Effect.flatMap((metadata) =>
            clients.register(
              metadata,
              Option.getOrElse(request.remoteAddress, () => "")
            )
          ),
          Effect.map((client) => HttpServerResponse.jsonUnsafe(client, { status: 201 })),
          Effect.catchTag("Throttled", ({ retryAfter }) => Effect.succeed(tooMany(retryAfter))),
          toResponse
        )
      )
  })
)

import { Effect, type Redacted } from "effect"
import { type HttpClientError, HttpClientRequest, type HttpClientResponse } from "effect/http"

type Sending = Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>

/**
 * Sends requests with a credential, if there is one, as their bearer token. Answers and errors hold the request without
 * it: Node prints all fields of an error that nobody catches, headers included, and such output ends up in the logs of CI.
 */
export const sendWith = (token: Redacted.Redacted | undefined) => {
  const withToken =
    token === undefined
      ? (request: HttpClientRequest.HttpClientRequest) => request
      : HttpClientRequest.bearerToken(token)
  return (
    request: HttpClientRequest.HttpClientRequest,
    send: (request: HttpClientRequest.HttpClientRequest) => Sending
  ): Sending =>
    send(withToken(request)).pipe(
      Effect.tap((response) => Effect.sync(() => forgetToken(response))),
      Effect.tapError((error) =>
        Effect.sync(() => {
          forgetToken(error.reason)
          if (error.response !== undefined) forgetToken(error.response)
        })
      )
    )
}

/** A response may hold another one that it wraps, and the platform's own, which may lead to the request, too. */
const forgetToken = (holder: Holder): void => {
  const value = HttpClientRequest.removeHeader(holder.request, "authorization")
  Object.defineProperty(holder, "request", { value, enumerable: true })
  if (holder.source !== undefined) Object.defineProperty(holder, "source", { enumerable: false })
  if (holder.original !== undefined) forgetToken(holder.original)
}

interface Holder {
  readonly request: HttpClientRequest.HttpClientRequest
  readonly source?: unknown
  readonly original?: Holder
}

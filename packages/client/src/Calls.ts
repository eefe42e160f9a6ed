import { Context, Effect, Option, Predicate } from "effect"
import {
  FetchHttpClient,
  HttpClient,
  HttpClientError,
  type HttpClientRequest,
  type HttpClientResponse
} from "effect/http"
import { noAnswerReason } from "@delivery/domain/NoAnswer"

/** The request behind an error of a call: of a call that sent several, the last one. */
export interface CallDetails {
  readonly method: string
  /** Without the query. */
  readonly path: string
  /** Absent where there was no answer. */
  readonly status?: number
  /** The id by which the service's logs name the request. Absent where there was no answer. */
  readonly requestId?: string
}

/** What every error of a call has, where a request was sent. */
export interface Called {
  readonly call?: CallDetails
}

/** Which request failed, if the error is one of a call. */
export const callOf = (error: unknown): CallDetails | undefined =>
  Predicate.hasProperty(error, "call") ? (error.call as CallDetails) : undefined

/** What one call has sent and received last. */
interface Exchange {
  request?: HttpClientRequest.HttpClientRequest
  response?: HttpClientResponse.HttpClientResponse
}

const CurrentExchange = Context.Reference<Exchange | undefined>("@delivery/client/CurrentExchange", {
  defaultValue: () => undefined
})

/** The error with why there was no answer in its message, which is else in its cause alone. */
const explained = (error: HttpClientError.HttpClientError): HttpClientError.HttpClientError => {
  const { reason } = error
  if (reason._tag !== "TransportError" || reason.description !== undefined || reason.cause === undefined) return error
  const { cause, request } = reason
  return new HttpClientError.HttpClientError({
    reason: new HttpClientError.TransportError({ request, cause, description: noAnswerReason(cause) })
  })
}

/** Browsers tell of none but that it is one, by the status 0. */
const redirects: ReadonlySet<number> = new Set([0, 301, 302, 303, 307, 308])

/** A key is for its address and for no other: fetch would go on to the other one without it, and be refused there. */
const withoutRedirects = Effect.provideServiceEffect(
  FetchHttpClient.RequestInit,
  Effect.map(Effect.serviceOption(FetchHttpClient.RequestInit), (init) => ({
    redirect: "manual" as const,
    ...Option.getOrUndefined(init)
  }))
)

const refuseRedirect = (
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError> => {
  if (!redirects.has(response.status)) return Effect.succeed(response)
  const { request } = response
  const { location = "" } = response.headers
  const description = URL.canParse(location, request.url)
    ? `it redirects to ${new URL(location, request.url).origin}`
    : "it redirects to another address"
  const reason = new HttpClientError.StatusCodeError({ request, response, description })
  return Effect.fail(new HttpClientError.HttpClientError({ reason }))
}

const direct = (client: HttpClient.HttpClient): HttpClient.HttpClient =>
  HttpClient.transform(client, (sending) => Effect.mapError(withoutRedirects(sending), explained))

/** Says why there was no answer, and follows no redirect. */
export const explaining = (client: HttpClient.HttpClient): HttpClient.HttpClient =>
  HttpClient.transform(direct(client), Effect.tap(refuseRedirect))

/** Does the same, and notes what calls send and receive. */
export const noting = (client: HttpClient.HttpClient): HttpClient.HttpClient =>
  HttpClient.transform(direct(client), (sending, request) =>
    Effect.flatMap(CurrentExchange, (exchange) => {
      if (exchange === undefined) return sending
      exchange.request = request
      delete exchange.response
      return sending.pipe(
        Effect.tap((response) => Effect.sync(() => void (exchange.response = response))),
        Effect.tap(refuseRedirect)
      )
    })
  )

/** The call with its request in its errors. */
export const withCall = <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    const exchange: Exchange = {}
    return call.pipe(
      Effect.tapError((error) => Effect.sync(() => tell(error, exchange))),
      Effect.provideService(CurrentExchange, exchange)
    )
  })

const tell = (error: unknown, { request, response }: Exchange): void => {
  if (request === undefined || !(error instanceof Error) || !Object.isExtensible(error)) return
  const requestId = response?.headers["x-request-id"]
  const value: CallDetails = {
    method: request.method,
    path: new URL(request.url, "http://service").pathname,
    ...(response === undefined ? {} : { status: response.status }),
    ...(requestId === undefined ? {} : { requestId })
  }
  Object.defineProperty(error, "call", { value, enumerable: true, configurable: true })
}

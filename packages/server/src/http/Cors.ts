import { Option } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"

/** Which pages of other origins may call the service (docs/contract.md, Running the server). */

/** What a page may send and read beyond what browsers allow any page. */
const methods = "GET, HEAD, POST, PUT, PATCH, DELETE"
const requestHeaders =
  "Accept, Authorization, Content-Type, If-None-Match, Last-Event-ID, Range, X-API-Key, X-Request-Id"
const responseHeaders =
  "Content-Disposition, Content-Range, ETag, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id"

/** How long, in seconds, a browser keeps the answer of a preflight: after that a changed setting is known. */
const maxAge = "600"

export interface Cors {
  /** The answer of a preflight of a page that may call; it needs no credential. */
  readonly preflight: (
    request: HttpServerRequest.HttpServerRequest
  ) => Option.Option<HttpServerResponse.HttpServerResponse>
  /** The answer with what lets the page that asked read it. */
  readonly readable: (
    request: HttpServerRequest.HttpServerRequest,
    response: HttpServerResponse.HttpServerResponse
  ) => HttpServerResponse.HttpServerResponse
}

/** Caches may not give a page the answer that another one got. */
const varying = (vary: string | undefined): string => (vary === undefined ? "Origin" : `${vary}, Origin`)

/**
 * For pages of these origins. `Access-Control-Allow-Credentials` is never sent, so browsers show such pages no answer to a
 * request with a cookie.
 *
 * @param isClosed Requests that are for no page of another origin, whatever the setting says.
 */
export const corsOf = (
  origins: ReadonlyArray<string>,
  isClosed: (request: HttpServerRequest.HttpServerRequest) => boolean
): Cors => {
  const allowed = new Set(origins)
  const originOf = (request: HttpServerRequest.HttpServerRequest): string | undefined => {
    const { origin } = request.headers
    return origin !== undefined && allowed.has(origin) && !isClosed(request) ? origin : undefined
  }
  return {
    preflight: (request) => {
      const isPreflight = request.method === "OPTIONS" && request.headers["access-control-request-method"] !== undefined
      return isPreflight && originOf(request) !== undefined
        ? Option.some(
            HttpServerResponse.empty({
              status: 204,
              headers: {
                "access-control-allow-methods": methods,
                "access-control-allow-headers": requestHeaders,
                "access-control-max-age": maxAge
              }
            })
          )
        : Option.none()
    },
    readable: (request, response) => {
      if (allowed.size === 0) return response
      const origin = originOf(request)
      return HttpServerResponse.setHeaders(response, {
        vary: varying(response.headers["vary"]),
        ...(origin === undefined
          ? {}
          : { "access-control-allow-origin": origin, "access-control-expose-headers": responseHeaders })
      })
    }
  }
}

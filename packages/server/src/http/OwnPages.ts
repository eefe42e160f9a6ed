import { Forbidden } from "@delivery/domain/Errors"
import type { HttpServerRequest } from "effect/http"
import { isThisComputer } from "../SettingValues.ts"

/** Which pages of browsers may make requests with a cookie (docs/contract.md, Sessions). */

/** Whether browsers keep the cookie of a session: by https, and on this computer. */
export const keepsCookies = (baseUrl: string): boolean => {
  const { hostname, protocol } = new URL(baseUrl)
  return protocol === "https:" || isThisComputer(hostname)
}

export const insecureBaseUrl = new Forbidden({
  message: "Browsers cannot sign in here: BASE_URL is http, and not this computer. Serve it by https.",
  reason: "insecure_base_url"
})

/**
 * Whether a request that changes something comes from a page of the service. Browsers say where a request comes from, and
 * pages cannot change what they say; others say nothing, and are refused.
 */
export const isFromOwnPage = (request: HttpServerRequest.HttpServerRequest, baseUrl: string): boolean => {
  if (isSafe(request.method)) return true
  const site = request.headers["sec-fetch-site"]
  return site === undefined ? request.headers["origin"] === new URL(baseUrl).origin : site === "same-origin"
}

const isSafe = (method: string): boolean => method === "GET" || method === "HEAD" || method === "OPTIONS"

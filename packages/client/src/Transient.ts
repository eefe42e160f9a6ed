import { Internal, TooManyRequests } from "@delivery/domain/Errors"
import { Unavailable } from "@delivery/domain/SystemApi"
import { HttpClient, HttpClientError } from "effect/http"

/**
 * Whether the same call may succeed a moment later: there was no answer, or the server answered 408, 429, 500, 502, 503
 * or 504. If the call changes something, no answer does not mean that nothing has changed.
 */
export const isTransient = (error: unknown): boolean => {
  if (error instanceof Internal || error instanceof TooManyRequests || error instanceof Unavailable) return true
  if (HttpClient.isTransientError(error)) return true
  return (
    HttpClientError.isHttpClientError(error) &&
    error.response !== undefined &&
    HttpClient.isTransientResponse(error.response)
  )
}

import { isTransient } from "@delivery/client"
import { HttpClientError } from "effect/http"
import { setTimeout } from "node:timers/promises"

/** The message of an error, and those of its causes, on one line. */
export const lineOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  if (HttpClientError.isHttpClientError(error) && error.reason._tag === "DecodeError") {
    return `something else than the service answered (${error.reason.response.status})`
  }
  // If a connection fails on every address of a host, the error has a code and no message.
  const message = error.message || ("code" in error ? String(error.code) : error.name)
  const request = "requestId" in error ? ` (request ${String(error.requestId)})` : ""
  const line = message.replaceAll(/\s+/g, " ").trim() + request
  return error.cause === undefined || isExplained(error) ? line : `${line}: ${lineOf(error.cause)}`
}

/** Whether the message has what the cause says. */
const isExplained = (error: Error): boolean =>
  HttpClientError.isHttpClientError(error) && error.reason.description !== undefined

/** Whether a call may succeed a moment later. This includes calls that took longer than their time limit. */
export const isPassing = (error: unknown): boolean =>
  isTransient(error) || (error instanceof Error && error.name === "TimeoutError")

/**
 * Repeats a call until it succeeds, with a pause before each further try. Fails with the first error that will not pass, with
 * the last one, or with the reason of `signal` as soon as that aborts.
 */
export const withRetries = async <A>(
  call: (signal: AbortSignal) => Promise<A>,
  options: {
    readonly timeoutMillis: number
    readonly pauses: ReadonlyArray<number>
    readonly signal?: AbortSignal | undefined
  }
): Promise<A> => {
  const [pause, ...pauses] = options.pauses
  const { signal } = options
  const timeout = AbortSignal.timeout(options.timeoutMillis)
  try {
    return await call(signal === undefined ? timeout : AbortSignal.any([timeout, signal]))
  } catch (error) {
    signal?.throwIfAborted()
    if (pause === undefined || !isPassing(error)) throw error
  }
  await setTimeout(pause, undefined, signal === undefined ? {} : { signal }).catch((error: unknown) => {
    throw signal?.reason ?? error
  })
  return withRetries(call, { ...options, pauses })
}

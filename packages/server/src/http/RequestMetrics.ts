import { type Cause, Effect, Exit } from "effect"
import { HttpRouter, HttpServerError, HttpServerRequest } from "effect/http"
import { endpointOf } from "./Endpoints.ts"
import * as Metrics from "../telemetry/Metrics.ts"

/** Around the whole router, outside of all that shapes answers: counts requests and measures their duration. */
export const layer = HttpRouter.middleware(
  Effect.gen(function* () {
    const context = yield* Effect.context<never>()
    const requests = memoized((key) => {
      const [endpoint = "", status = ""] = key.split(" ")
      return Metrics.httpRequests(endpoint, status)
    })
    const times = memoized(Metrics.httpRequestSeconds)
    let inFlight = 0
    yield* Metrics.observe(Metrics.httpRequestsInFlight, () => inFlight)

    return (httpEffect) =>
      Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ method, url }) => {
        const endpoint = endpointOf(method, url).name
        const started = performance.now()
        inFlight++
        return Effect.onExit(httpEffect, (exit) =>
          Effect.sync(() => {
            inFlight--
            const status = Exit.isSuccess(exit) ? exit.value.status : statusOf(exit.cause)
            requests(`${endpoint} ${status}`).updateUnsafe(1, context)
            times(endpoint).updateUnsafe((performance.now() - started) / 1000, context)
          })
        )
      })
  }),
  { global: true }
)

/** A request that nobody waits for any longer; otherwise the server stopped before it was answered. */
const statusOf = (cause: Cause.Cause<unknown>): number =>
  cause.reasons.some((reason) => reason._tag === "Interrupt" && reason.annotations.has(HttpServerError.ClientAbort.key))
    ? 499
    : 503

const memoized = <A>(make: (key: string) => A): ((key: string) => A) => {
  const made = new Map<string, A>()
  return (key) => {
    const known = made.get(key)
    if (known !== undefined) return known
    const value = make(key)
    made.set(key, value)
    return value
  }
}

import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Context, Effect, type Fiber, Layer, Schedule } from "effect"
import type { HttpServerRequest } from "effect/http"
import { Settings } from "../Config.ts"
import { httpRequestsOverdue, observeCounter } from "../telemetry/Metrics.ts"
import type { Endpoint } from "./Endpoints.ts"
import { hasBody } from "./SlowClients.ts"

/** A request that is being answered. */
export interface RequestTime {
  /** Whether it took too long: then its fiber was interrupted here, and by nobody before. */
  isOver: boolean
  /** Milliseconds that it had taken at the last check. */
  taken: number
  /** Undefined once its body has arrived. */
  body: { readonly complete: boolean } | undefined
}

/**
 * Limits the time of a whole request to `REQUEST_LIMIT_MS`. Each of its waits has a limit of its own, but a request may
 * do many things one after the other. One that takes longer is interrupted as if its client had gone: its transaction is
 * rolled back, and the answer is `Internal`.
 *
 * Only the server's own time counts: not the time in which the body arrives, which `SlowClients.ts` limits, and not what
 * runs `untimed`, such as the wait for a lease or a message. Uploads take as long as their client needs; the answer of a
 * download has begun. One check of all requests costs less than a timer for each.
 */
export class RequestTimes extends Context.Service<
  RequestTimes,
  {
    /** Starts the time of a request, which the current fiber answers. Undefined for a request without a limit. */
    readonly begin: (
      fiber: Fiber.Fiber<unknown, unknown>,
      request: HttpServerRequest.HttpServerRequest,
      endpoint: Endpoint
    ) => RequestTime | undefined
    readonly end: (fiber: Fiber.Fiber<unknown, unknown>) => void
    /** Runs a part of the current request whose time does not count. */
    readonly untimed: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  }
>()("@delivery/server/http/RequestTimes") {
  static readonly layer = Layer.effect(
    RequestTimes,
    Effect.gen(function* () {
      const { requestLimitMillis } = yield* Settings
      const times = new Map<Fiber.Fiber<unknown, unknown>, RequestTime>()
      const interval = Math.min(1_000, requestLimitMillis / 4)
      let checkedAt = performance.now()
      let overdue = 0
      yield* observeCounter(httpRequestsOverdue, () => overdue)

      yield* Effect.sync(() => {
        const now = performance.now()
        // Time in which the process was blocked does not count for the requests.
        const elapsed = Math.min(now - checkedAt, 2 * interval)
        checkedAt = now
        for (const [fiber, time] of times) {
          if (time.body !== undefined) {
            if (time.body.complete) time.body = undefined
            continue
          }
          time.taken += elapsed
          if (time.taken < requestLimitMillis) continue
          times.delete(fiber)
          time.isOver = true
          overdue++
          fiber.interruptUnsafe()
        }
      }).pipe(Effect.repeat(Schedule.spaced(interval)), Effect.forkScoped)

      return RequestTimes.of({
        begin: (fiber, request, { isStreamed }) => {
          if (isStreamed) return undefined
          const time: RequestTime = {
            isOver: false,
            taken: 0,
            body: hasBody(request) ? NodeHttpServerRequest.toIncomingMessage(request) : undefined
          }
          times.set(fiber, time)
          return time
        },
        end: (fiber) => void times.delete(fiber),
        untimed: (effect) =>
          Effect.withFiber((fiber) => {
            const time = times.get(fiber)
            if (time === undefined) return effect
            times.delete(fiber)
            return Effect.ensuring(
              effect,
              Effect.sync(() => void times.set(fiber, time))
            )
          })
      })
    })
  )
}

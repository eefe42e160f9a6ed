import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Context, Effect, type Fiber, Layer, Schedule } from "effect"
import type { HttpServerRequest } from "effect/http"
import { Settings } from "../Config.ts"
import { httpRequestsOverdue, observeCounter } from "../telemetry/Metrics.ts"
import { isStreamed } from "./EndpointTraits.ts"
import { hasBody } from "./SlowClients.ts"

/** A request that is on its way to its answer. */
export interface RequestTime {
  /** Whether it took too long: its fiber is interrupted, and nobody else did that before. */
  isOver: boolean
  /** Milliseconds that it has taken, as far as anyone has looked. */
  taken: number
  /** Undefined once its body is there. */
  body: { readonly complete: boolean } | undefined
}

/**
 * Bounds a request as a whole by `REQUEST_LIMIT_MS`, where each of its waits is bounded by itself: a request may do many
 * things one after the other. One that takes longer is interrupted as if its client had gone, so what it did in a
 * transaction is rolled back, and answers `Internal`.
 *
 * No time of the server's, and not counted: while the body is on its way, which `SlowClients.ts` bounds; while the
 * request waits for a lease or a message. Uploads take as long as their client; what is downloaded has begun to be
 * answered. MCP answers in a form of its own (`agents/AgentTools.ts`). One look at all requests costs less than a timer
 * for each.
 */
export class RequestTimes extends Context.Service<
  RequestTimes,
  {
    /** From here on the request takes time, in the fiber that answers it. Undefined where it has no bound. */
    readonly begin: (
      fiber: Fiber.Fiber<unknown, unknown>,
      request: HttpServerRequest.HttpServerRequest
    ) => RequestTime | undefined
    readonly end: (fiber: Fiber.Fiber<unknown, unknown>) => void
    /** Time that the running request does not take. */
    readonly aside: <A, E, R>(wait: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  }
>()("@delivery/server/http/RequestTimes") {
  static readonly layer = Layer.effect(
    RequestTimes,
    Effect.gen(function* () {
      const { requestLimitMillis } = yield* Settings
      const times = new Map<Fiber.Fiber<unknown, unknown>, RequestTime>()
      const interval = Math.min(1_000, requestLimitMillis / 4)
      let lookedAt = performance.now()
      let overdue = 0
      yield* observeCounter(httpRequestsOverdue, () => overdue)

      yield* Effect.sync(() => {
        const now = performance.now()
        // No request is to blame for a process that stood still.
        const elapsed = Math.min(now - lookedAt, 2 * interval)
        lookedAt = now
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
        begin: (fiber, request) => {
          if (isStreamed(request) || request.url.startsWith("/agent/mcp")) return undefined
          const time: RequestTime = {
            isOver: false,
            taken: 0,
            body: hasBody(request) ? NodeHttpServerRequest.toIncomingMessage(request) : undefined
          }
          times.set(fiber, time)
          return time
        },
        end: (fiber) => void times.delete(fiber),
        aside: (wait) =>
          Effect.withFiber((fiber) => {
            const time = times.get(fiber)
            if (time === undefined) return wait
            times.delete(fiber)
            return Effect.ensuring(
              wait,
              Effect.sync(() => void times.set(fiber, time))
            )
          })
      })
    })
  )
}

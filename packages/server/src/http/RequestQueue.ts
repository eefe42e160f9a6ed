import { TooManyRequests } from "@delivery/domain/Errors"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Clock, Context, Effect, Layer, Schedule } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { httpRequestsWaiting, observe } from "../telemetry/Metrics.ts"
import { errorResponse } from "./ErrorResponse.ts"
import { RequestTimes } from "./RequestTimes.ts"
import { hasBody, isFile } from "./SlowClients.ts"

/** How many requests a process works on at once, and how long others wait for their turn. */
export interface RequestLimits {
  /** Requests at once: some times as many as the pool can have statements of, so that it is never idle. */
  readonly atOnce: number
  /** Milliseconds until a request of a burst that waits for its turn is refused. */
  readonly waitMillis: number
  /** Milliseconds for which requests have waited without a pause when it is no burst any more. */
  readonly burstMillis: number
  /** Milliseconds until a request is refused from then on. */
  readonly overloadWaitMillis: number
  /** Milliseconds until a request whose body is still on its way no longer counts. */
  readonly bodyMillis: number
}

/** The limits of a server (docs/operations.md). Tests shorten them. */
export const RequestLimits = Context.Reference<RequestLimits>("@delivery/server/http/RequestLimits", {
  defaultValue: () => ({
    atOnce: 256,
    waitMillis: 10_000,
    burstMillis: 10_000,
    overloadWaitMillis: 1_000,
    bodyMillis: 1_000
  })
})

/**
 * Bounds what an overload costs: requests beyond those that are worked on wait in the order in which they came, and are
 * refused where that takes too long, before anything of them has happened. A burst is served to its end, if late. Once
 * it lasts, it is an overload: then an answer is late by a second at most, and nobody is served whose client has long
 * gone.
 */
export class RequestQueue extends Context.Service<
  RequestQueue,
  {
    /** Answers the request when it is its turn. Probes and uploads, which take as long as their client, are always. */
    readonly work: <E, R>(
      request: HttpServerRequest.HttpServerRequest,
      answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
    ) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
    /** Lets others have the turn of a request that waits for something else than the server, which is no time of its. */
    readonly aside: <A, E, R>(wait: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  }
>()("@delivery/server/http/RequestQueue") {
  static readonly layer = Layer.effect(
    RequestQueue,
    Effect.gen(function* () {
      const { atOnce, bodyMillis, burstMillis, overloadWaitMillis, waitMillis } = yield* RequestLimits
      const clock = yield* Clock.Clock
      const times = yield* RequestTimes
      const waiting = new Set<Waiting>()
      const receiving = new Set<Receiving>()
      let working = 0
      /** When nobody waited. */
      let idleAt = clock.currentTimeMillisUnsafe()
      yield* observe(httpRequestsWaiting, () => waiting.size)

      const leave = () => {
        working--
        for (const next of waiting) {
          if (working >= atOnce) return
          waiting.delete(next)
          working++
          next.decide(true)
        }
      }

      yield* Effect.sync(() => {
        const now = clock.currentTimeMillisUnsafe()
        if (waiting.size === 0) idleAt = now
        const patience = now - idleAt < burstMillis ? waitMillis : overloadWaitMillis
        for (const next of waiting) {
          if (now - next.since < patience) break
          waiting.delete(next)
          next.decide(false)
        }
        for (const body of receiving) {
          if (body.request.complete) receiving.delete(body)
          else if (now - body.since >= bodyMillis) {
            receiving.delete(body)
            body.counts = false
            leave()
          }
        }
      }).pipe(Effect.repeat(Schedule.spaced("100 millis")), Effect.forkScoped)

      /** Whether it became the request's turn. */
      const turn = Effect.suspend(() => {
        let isDecided = false
        let next: Waiting
        return Effect.callback<boolean>((resume) => {
          next = {
            since: clock.currentTimeMillisUnsafe(),
            decide: (isTurn) => {
              isDecided = isTurn
              resume(Effect.succeed(isTurn))
            }
          }
          waiting.add(next)
        }).pipe(
          Effect.onInterrupt(() =>
            Effect.sync(() => {
              waiting.delete(next)
              if (isDecided) leave()
            })
          )
        )
      })

      const worked = <E, R>(
        request: HttpServerRequest.HttpServerRequest,
        answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
      ) => {
        if (!hasBody(request)) return Effect.ensuring(answer, Effect.sync(leave))
        const incoming = NodeHttpServerRequest.toIncomingMessage(request)
        const body: Receiving = { request: incoming, since: clock.currentTimeMillisUnsafe(), counts: true }
        receiving.add(body)
        return Effect.ensuring(
          answer,
          Effect.sync(() => {
            receiving.delete(body)
            if (body.counts) leave()
          })
        )
      }

      return RequestQueue.of({
        work: (request, answer) => {
          if (always.has(request.url) || isFile(request)) return answer
          return Effect.uninterruptibleMask((restore) => {
            if (working < atOnce) {
              working++
              return worked(request, restore(answer))
            }
            return Effect.flatMap(restore(turn), (isTurn) =>
              isTurn ? worked(request, restore(answer)) : Effect.sync(busy)
            )
          })
        },
        aside: (wait) =>
          Effect.suspend(() => {
            leave()
            return Effect.ensuring(
              times.aside(wait),
              Effect.sync(() => void working++)
            )
          })
      })
    })
  )
}

interface Waiting {
  readonly since: number
  readonly decide: (isTurn: boolean) => void
}

/** A request that is worked on while its body is on its way. */
interface Receiving {
  readonly request: { readonly complete: boolean }
  readonly since: number
  counts: boolean
}

/** What probes ask for. */
const always = new Set(["/health", "/ready", "/metrics"])

const busy = () => {
  const message = "The server has too much to do. Try again in 1 s."
  return HttpServerResponse.setHeader(errorResponse(new TooManyRequests({ message }), 429), "retry-after", "1")
}

import { TooManyRequests } from "@delivery/domain/Errors"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Clock, Context, Effect, Layer, Schedule } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { httpRequestsWaiting, observe } from "../telemetry/Metrics.ts"
import { errorResponse } from "./ErrorResponse.ts"
import { RequestTimes } from "./RequestTimes.ts"
import type { Endpoint } from "./Endpoints.ts"
import { hasBody } from "./SlowClients.ts"

/** How many requests a process works on at once, and how long others wait for their turn. */
export interface RequestLimits {
  /** Requests at once: several times as many as the pool can run statements, so that the pool is never idle. */
  readonly atOnce: number
  /** Milliseconds that a request may wait for its turn during a burst, before it is refused. */
  readonly waitMillis: number
  /** Milliseconds of uninterrupted waiting after which a burst counts as an overload. */
  readonly burstMillis: number
  /** Milliseconds that a request may wait during an overload, before it is refused. */
  readonly overloadWaitMillis: number
  /** Milliseconds until a request whose body is still arriving no longer counts. */
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
 * Limits the cost of an overload. Requests beyond those that are worked on wait in the order of their arrival. They are
 * refused if that takes too long, before they have changed anything. A burst is served to its end, if late. A burst that
 * lasts is an overload: then answers are late by a second at most, and no request is served whose client gave up long ago.
 */
export class RequestQueue extends Context.Service<
  RequestQueue,
  {
    /** Answers the request when it is its turn: at once for probes, and for uploads, which take as long as their client. */
    readonly work: <E, R>(
      request: HttpServerRequest.HttpServerRequest,
      endpoint: Endpoint,
      answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
    ) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
    /** Gives the turn of the current request to others while it waits. The wait does not count as its time. */
    readonly releaseWhile: <A, E, R>(wait: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  }
>()("@delivery/server/http/RequestQueue") {
  static readonly layer = Layer.effect(RequestQueue, Effect.gen(make))
}

function* make() {
  const limits = yield* RequestLimits
  const times = yield* RequestTimes
  const clock = yield* Clock.Clock
  const turns = new Turns(limits, () => clock.currentTimeMillisUnsafe())
  yield* observe(httpRequestsWaiting, () => turns.waiting.size)
  yield* Effect.sync(() => turns.check()).pipe(Effect.repeat(Schedule.spaced("100 millis")), Effect.forkScoped)
  return RequestQueue.of({
    work: work(turns),
    releaseWhile: (wait) =>
      Effect.suspend(() => {
        turns.leave()
        return Effect.ensuring(
          times.untimed(wait),
          Effect.sync(() => turns.reenter())
        )
      })
  })
}

/** The requests in progress, and those that wait. One class, since every method changes the same few counters. */
class Turns {
  readonly waiting = new Set<Waiting>()
  readonly #receiving = new Set<Receiving>()
  readonly #limits: RequestLimits
  readonly #now: () => number
  #working = 0
  /** When nobody waited last. */
  #idleAt: number

  constructor(limits: RequestLimits, now: () => number) {
    this.#limits = limits
    this.#now = now
    this.#idleAt = now()
  }

  /** Whether a request may be worked on at once; it is, then. */
  enter(): boolean {
    if (this.#working >= this.#limits.atOnce) return false
    this.#working++
    return true
  }

  leave(): void {
    this.#working--
    for (const next of this.waiting) {
      if (!this.enter()) return
      this.waiting.delete(next)
      next.decide(true)
    }
  }

  /** A request that gave up its turn is worked on again, even if the others are as many as allowed. */
  reenter(): void {
    this.#working++
  }

  /** Refuses requests that have waited too long, and frees the turns of those whose bodies take too long. */
  check(): void {
    const { bodyMillis, burstMillis, overloadWaitMillis, waitMillis } = this.#limits
    const now = this.#now()
    if (this.waiting.size === 0) this.#idleAt = now
    const maxWait = now - this.#idleAt < burstMillis ? waitMillis : overloadWaitMillis
    for (const next of this.waiting) {
      if (now - next.since < maxWait) break
      this.waiting.delete(next)
      next.decide(false)
    }
    for (const body of this.#receiving) {
      if (body.request.complete) this.#receiving.delete(body)
      else if (now - body.since >= bodyMillis) {
        this.#receiving.delete(body)
        body.counts = false
        this.leave()
      }
    }
  }

  /** Whether it became the request's turn. */
  readonly turn: Effect.Effect<boolean> = Effect.suspend(() => {
    let isDecided = false
    let next: Waiting
    return Effect.callback<boolean>((resume) => {
      next = {
        since: this.#now(),
        decide: (isTurn) => {
          isDecided = isTurn
          resume(Effect.succeed(isTurn))
        }
      }
      this.waiting.add(next)
    }).pipe(
      Effect.onInterrupt(() =>
        Effect.sync(() => {
          this.waiting.delete(next)
          if (isDecided) this.leave()
        })
      )
    )
  })

  /** The answer of a request whose turn it is. */
  answer<E, R>(
    request: HttpServerRequest.HttpServerRequest,
    answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
  ): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R> {
    if (!hasBody(request)) {
      return Effect.ensuring(
        answer,
        Effect.sync(() => this.leave())
      )
    }
    const incoming = NodeHttpServerRequest.toIncomingMessage(request)
    const body: Receiving = { request: incoming, since: this.#now(), counts: true }
    this.#receiving.add(body)
    return Effect.ensuring(
      answer,
      Effect.sync(() => {
        this.#receiving.delete(body)
        if (body.counts) this.leave()
      })
    )
  }
}

const work =
  (turns: Turns): RequestQueue["Service"]["work"] =>
  (request, { isMetrics, isProbe, isStreamed }, answer) => {
    if (isProbe || isMetrics || isStreamed) return answer
    return Effect.uninterruptibleMask((restore) => {
      if (turns.enter()) return turns.answer(request, restore(answer))
      return Effect.flatMap(restore(turns.turn), (isTurn) =>
        isTurn ? turns.answer(request, restore(answer)) : Effect.sync(busy)
      )
    })
  }

interface Waiting {
  readonly since: number
  readonly decide: (isTurn: boolean) => void
}

/** A request that is worked on while its body is arriving. */
interface Receiving {
  readonly request: { readonly complete: boolean }
  readonly since: number
  counts: boolean
}

const busy = () => {
  const message = "The server has too many requests. Try again in 1 s."
  return HttpServerResponse.setHeader(errorResponse(new TooManyRequests({ message }), 429), "retry-after", "1")
}

import { TooManyRequests } from "@delivery/domain/Errors"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Clock, Context, Effect, Layer, Schedule } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { httpRequestsWaiting, observe } from "../telemetry/Metrics.ts"
import { errorResponse } from "./ErrorResponse.ts"
import { RequestTimes } from "./RequestTimes.ts"
import { isProbe, isStreamed } from "./EndpointTraits.ts"
import { hasBody } from "./SlowClients.ts"

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
  static readonly layer = Layer.effect(RequestQueue, Effect.gen(make))
}

function* make() {
  const limits = yield* RequestLimits
  const times = yield* RequestTimes
  const clock = yield* Clock.Clock
  const turns = new Turns(limits, () => clock.currentTimeMillisUnsafe())
  yield* observe(httpRequestsWaiting, () => turns.waiting.size)
  yield* Effect.sync(() => turns.look()).pipe(Effect.repeat(Schedule.spaced("100 millis")), Effect.forkScoped)
  return RequestQueue.of({
    work: work(turns),
    aside: (wait) =>
      Effect.suspend(() => {
        turns.leave()
        return Effect.ensuring(
          times.aside(wait),
          Effect.sync(() => turns.comeBack())
        )
      })
  })
}

/** Which requests are worked on, and which wait for their turn. */
class Turns {
  readonly waiting = new Set<Waiting>()
  readonly #receiving = new Set<Receiving>()
  readonly #limits: RequestLimits
  readonly #now: () => number
  #working = 0
  /** When nobody waited. */
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

  /** A request that let others have its turn is worked on again, however many are by now. */
  comeBack(): void {
    this.#working++
  }

  /** Refuses those that have waited too long, and gives the turns of requests away whose bodies take too long. */
  look(): void {
    const { bodyMillis, burstMillis, overloadWaitMillis, waitMillis } = this.#limits
    const now = this.#now()
    if (this.waiting.size === 0) this.#idleAt = now
    const patience = now - this.#idleAt < burstMillis ? waitMillis : overloadWaitMillis
    for (const next of this.waiting) {
      if (now - next.since < patience) break
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
  worked<E, R>(
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
  (request, answer) => {
    if (isProbe(request) || request.url === "/metrics" || isStreamed(request)) return answer
    return Effect.uninterruptibleMask((restore) => {
      if (turns.enter()) return turns.worked(request, restore(answer))
      return Effect.flatMap(restore(turns.turn), (isTurn) =>
        isTurn ? turns.worked(request, restore(answer)) : Effect.sync(busy)
      )
    })
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

const busy = () => {
  const message = "The server has too much to do. Try again in 1 s."
  return HttpServerResponse.setHeader(errorResponse(new TooManyRequests({ message }), 429), "retry-after", "1")
}

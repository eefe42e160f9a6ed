import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Caller } from "@delivery/domain/identity/Authorization"
import { Context, Data, Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { maxBodyBytes } from "./BodyLimits.ts"
import { endpointOf } from "./Endpoints.ts"
import { hasBody } from "./SlowClients.ts"

/**
 * Who calls is decided when the headers are there, so that nobody else's body is read. A client can let the body follow minutes
 * later, and what was decided may be over by then: it is decided again once the body has arrived (docs/contract.md, Order of
 * checks).
 */

/** Whether the body of the request is yet to arrive, and its handler does not read it as it does. */
const isAwaited = (request: HttpServerRequest.HttpServerRequest): boolean =>
  hasBody(request) && !NodeHttpServerRequest.toIncomingMessage(request).complete && !isReadLater(request)

const isReadLater = ({ headers, method, url }: HttpServerRequest.HttpServerRequest): boolean => {
  const { isLarge, isStreamed } = endpointOf(method, url)
  return isStreamed || (isLarge && !(Number(headers["content-length"] ?? Number.NaN) <= maxBodyBytes))
}

/** Decides by the effect, and again where the body had to be waited for. What is wrong with the body, the handler meets. */
export const onceArrived = <A, E, R>(
  decide: Effect.Effect<A, E, R>,
  isRefused: (decided: A) => boolean
): Effect.Effect<A, E, R | HttpServerRequest.HttpServerRequest> =>
  Effect.contextWith((context: Context.Context<R | HttpServerRequest.HttpServerRequest>) => {
    const request = Context.get(context, HttpServerRequest.HttpServerRequest)
    if (!isAwaited(request)) return decide
    return Effect.flatMap(decide, (decided) =>
      isRefused(decided) || !isAwaited(request)
        ? Effect.succeed(decided)
        : Effect.andThen(Effect.ignore(request.text), decide)
    )
  })

/** Who calls, decided again, for a handler that has read a body itself or has waited: the caller, or the answer to one who is refused. */
export const CallerNow = Context.Reference<
  Effect.Effect<Caller["Service"] | HttpServerResponse.HttpServerResponse> | undefined
>("@delivery/server/http/CallerNow", { defaultValue: () => undefined })

/** Whoever called is refused by now, with this answer. */
export class RefusedNow extends Data.TaggedError("RefusedNow")<{
  readonly answer: HttpServerResponse.HttpServerResponse
}> {}

/** Runs for the caller as decided again; fails where who called has lost access meanwhile. */
export const asCallerNow = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | RefusedNow, R> =>
  Effect.flatMap(CallerNow, (now): Effect.Effect<A, E | RefusedNow, R> =>
    now === undefined
      ? effect
      : Effect.flatMap(now, (caller): Effect.Effect<A, E | RefusedNow, R> =>
          HttpServerResponse.isHttpServerResponse(caller)
            ? Effect.fail(new RefusedNow({ answer: caller }))
            : Effect.provideService(effect, Caller, caller)
        )
  )

/** Answers whoever is refused by now. */
export const answerRefused = <A, E, R>(
  effect: Effect.Effect<A, E | RefusedNow, R>
): Effect.Effect<A | HttpServerResponse.HttpServerResponse, E, R> =>
  Effect.catch(effect, (error): Effect.Effect<HttpServerResponse.HttpServerResponse, E> =>
    error instanceof RefusedNow ? Effect.succeed(error.answer) : Effect.fail(error)
  )

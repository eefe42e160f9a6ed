import { DeliveryApi } from "@delivery/domain/Api"
import { maxFollowed } from "@delivery/domain/events/Event"
import { TooManyRequests, Unauthorized } from "@delivery/domain/Errors"
import { Caller } from "@delivery/domain/identity/Authorization"
import { Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { errorResponse } from "../http/ErrorResponse.ts"
import { handlersOf } from "../http/Handlers.ts"
import { failFor } from "../http/RetryAfter.ts"
import { CurrentCaller } from "./CurrentCaller.ts"
import { EventPages } from "./EventPages.ts"
import { EventStreams } from "./EventStreams.ts"

export const layer = handlersOf(DeliveryApi, "events", (handlers) =>
  Effect.gen(function* () {
    const pages = yield* EventPages
    const streams = yield* EventStreams
    const callers = yield* CurrentCaller
    return handlers
      .handle("list", ({ params, query, request }) =>
        Effect.flatMap(Caller, ({ membership }) =>
          // By its id: the slug of the path may come to belong to another workspace while the call waits.
          pages.list(query, callers.of({ request, workspace: membership?.id ?? params.slug }))
        ).pipe(
          Effect.catchTags({
            Unauthorized: () => Effect.succeed(errorResponse(Unauthorized.generic, 401)),
            FollowsTooOften: followsTooOften
          })
        )
      )
      .handle("stream", ({ headers, params, query, request }) => {
        const after = headers["last-event-id"] ?? query.after
        const from = after === undefined ? query : { ...query, after }
        return streams.follow(from, { request, workspace: params.slug }).pipe(
          Effect.map((text) =>
            HttpServerResponse.stream(Stream.encodeText(text), {
              contentType: "text/event-stream",
              headers: unbuffered
            })
          ),
          Effect.catchTag("FollowsTooOften", followsTooOften)
        )
      })
  })
)

/** Seconds after which it is worth trying again: another of the caller's calls may have ended. */
const retryAfter = 5

const followsTooOften = () =>
  failFor(
    retryAfter,
    new TooManyRequests({
      message:
        `You follow events in ${maxFollowed} streams and waiting calls already, which is the limit. ` +
        `End one of them, or try again in ${retryAfter} s.`
    })
  )

/** Asks proxies to pass on what comes as it comes. */
const unbuffered = { "x-accel-buffering": "no" }

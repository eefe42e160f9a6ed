import { DeliveryApi } from "@delivery/domain/Api"
import { Unauthorized } from "@delivery/domain/Errors"
import { Caller } from "@delivery/domain/identity/Authorization"
import { Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { errorResponse } from "../http/ErrorResponse.ts"
import { handlersOf } from "../http/Handlers.ts"
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
        ).pipe(Effect.catchTag("Unauthorized", () => Effect.succeed(errorResponse(Unauthorized.generic, 401))))
      )
      .handle("stream", ({ headers, params, query, request }) => {
        const after = headers["last-event-id"] ?? query.after
        const from = after === undefined ? query : { ...query, after }
        return Effect.map(streams.follow(from, { request, workspace: params.slug }), (text) =>
          HttpServerResponse.stream(Stream.encodeText(text), { contentType: "text/event-stream", headers: unbuffered })
        )
      })
  })
)

/** Asks proxies to pass on what comes as it comes. */
const unbuffered = { "x-accel-buffering": "no" }

import type { DeliveryApi } from "@delivery/domain/Api"
import { Event, type EventsPage } from "@delivery/domain/events/Event"
import { Clock, Effect, Random, type Schema, Stream } from "effect"
import { Sse } from "effect/encoding"
import { HttpClientError } from "effect/http"
import type { HttpApiClient } from "effect/http-api"
import type { CallError } from "./Files.ts"
import { isTransient } from "./Transient.ts"

interface EventFilter {
  /** Kinds of events, separated by commas. Those that do not exist match nothing. */
  readonly kinds?: string
  /** The id of what it happened to. */
  readonly subject?: string
}

/** Which events: the slug or id of the workspace, and where to begin. */
export interface EventsRequest {
  readonly params: { readonly slug: string }
  readonly query?: EventFilter & {
    /** The `before` of a page: only events before it, newest first. Not with `after`. */
    readonly before?: string
    /** The `after` of a page, or `0` for the first event: only events after it, oldest first. */
    readonly after?: string
    /** 1 to 200; 50 unless told. */
    readonly limit?: number
    /** Seconds to wait where there is no event after `after`: 0 to 25. */
    readonly wait?: number
  }
}

/** The same for a stream. */
export interface EventStreamRequest {
  readonly params: { readonly slug: string }
  readonly query?: EventFilter & {
    /** A cursor, or `0` for the first event. Without one, from now on. */
    readonly after?: string
  }
}

/** An event, and the cursor behind it: whoever keeps it can go on there. */
export interface FollowedEvent {
  readonly cursor: string
  readonly event: Event
}

type List = typeof DeliveryApi.groups.events.endpoints.list
type Follow = typeof DeliveryApi.groups.events.endpoints.stream

export type EventsError = CallError<List>
export type EventStreamError = CallError<Follow> | HttpClientError.HttpClientError | Schema.SchemaError | Sse.SseError

/** What happened in a workspace. */
export interface EventCalls {
  /** A page of events, with the cursors of the pages beside it. */
  readonly list: (request: EventsRequest) => Effect.Effect<EventsPage, EventsError>
  /**
   * All events as they happen, each once. The stream connects again when its connection ends, at most 5 s later, and goes on
   * where it was. It fails when it is refused, such as by 401 when the key has ended.
   */
  readonly stream: (
    request: EventStreamRequest
  ) => Effect.Effect<Stream.Stream<FollowedEvent, EventStreamError>, EventsError>
}

/** The derived methods of the endpoints. */
interface Ask {
  readonly list: HttpApiClient.Client.Method<List, never, never>
  readonly stream: HttpApiClient.Client.Method<Follow, never, never>
}

/** The server sends a comment every 15 s. A connection on which nothing comes for so long is gone. */
const silence = "45 seconds"

/** Milliseconds until it connects again: doubled with each connection that fails or is cut sooner than the first, up to the longest. */
const firstPause = 250
const longestPause = 5_000

export const makeEvents = (ask: Ask): EventCalls => ({
  list: ({ params, query = {} }) => ask.list({ params, query }),
  stream: Effect.fnUntraced(function* ({ params, query: { after, ...filter } = {} }) {
    // Known before it connects for the first time, so that it misses nothing if that takes several attempts.
    const first = after ?? (yield* ask.list({ params, query: { limit: 1 } })).after
    return Stream.suspend(() => follow(ask, params, filter, first))
  })
})

const follow = (
  ask: Ask,
  params: EventStreamRequest["params"],
  query: EventFilter,
  first: string
): Stream.Stream<FollowedEvent, EventStreamError> => {
  let cursor = first
  let pause = firstPause
  let connectedAt = Number.POSITIVE_INFINITY
  const connected = Effect.gen(function* () {
    const headers = { "last-event-id": cursor }
    const answer = yield* ask.stream({ params, query, headers, responseMode: "decoded-and-response" })
    connectedAt = yield* Clock.currentTimeMillis
    return answer
  })
  const received = Stream.unwrap(Effect.map(connected, ([, { stream }]) => eventsOf(stream))).pipe(
    Stream.map((followed) => {
      cursor = followed.cursor
      pause = firstPause
      return followed
    }),
    Stream.catchIf(isInterruption, () => Stream.empty)
  )
  const rest = Effect.gen(function* () {
    if ((yield* Clock.currentTimeMillis) - connectedAt >= firstPause) pause = firstPause
    connectedAt = Number.POSITIVE_INFINITY
    const millis = pause * (0.5 + (yield* Random.next) / 2)
    pause = Math.min(longestPause, pause * 2)
    yield* Effect.sleep(millis)
  })
  return Stream.forever(Stream.concat(received, Stream.fromEffectDrain(rest)))
}

const eventsOf = (bytes: Stream.Stream<Uint8Array, HttpClientError.HttpClientError>) =>
  bytes.pipe(
    Stream.timeout(silence),
    Stream.decodeText,
    Stream.pipeThroughChannel(Sse.decodeDataSchema(Event)),
    Stream.map(({ data, id }) => ({ cursor: id ?? "0", event: data })),
    // The server never asks to wait.
    Stream.catchIf(
      (error) => error instanceof Sse.Retry,
      () => Stream.empty
    )
  )

/** The connection broke, or the server cannot answer now: the same call may succeed a moment later. */
const isInterruption = (error: unknown): boolean =>
  isTransient(error) || (HttpClientError.isHttpClientError(error) && error.response?.status === 200)

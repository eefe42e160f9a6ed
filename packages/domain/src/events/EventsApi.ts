import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { eventKinds } from "./EventKinds.ts"
import { doc, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Streams } from "../Endpoint.ts"
import { InvalidInput, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { NoStore } from "../NoStore.ts"
import { WholeInQuery } from "../Numbers.ts"
import { OneOf, Ref, undocumented } from "../Text.ts"
import { isEventCursor } from "./Cursor.ts"
import { Event, eventsPageSize, EventsPage, exampleCursor, exampleStream, maxFollowed } from "./Event.ts"

/** The most events of a page. */
const maxLimit = 200

/** The longest wait of one call, in seconds. */
const maxWait = 25

const Cursor = Schema.String.check(
  Schema.makeFilter<string>((text) => isEventCursor(text) || "Expected a cursor of this list", {
    toJsonSchema: undocumented
  })
)

const kindsMessage = "Expected kinds of events, separated by commas"

const Kinds = Schema.String.check(
  Schema.isPattern(/^[a-z_]{1,60}(,[a-z_]{1,60}){0,99}$/, { message: kindsMessage, toJsonSchema: undocumented })
)

const after = Schema.optionalKey(
  Cursor.annotate({
    description: "The `after` of a page, or `0` for the first event: only events after it, oldest first.",
    examples: ["0"]
  })
)
const kinds = Schema.optionalKey(
  Kinds.annotate({
    description: `Only these kinds, separated by commas. Kinds that do not exist match nothing. There are ${eventKinds.map((kind) => `\`${kind}\``).join(", ")}.`,
    examples: ["deployment_updated,run_finished"]
  })
)
const subject = Schema.optionalKey(
  Ref.annotate({
    description: "Only events of the subject with this id.",
    examples: ["0197a1b2-0000-7000-8000-0000000000f1"]
  })
)

/** Cursors that go together, though each is optional. */
const isOneWay = Schema.makeFilter<{ readonly before?: unknown; readonly after?: unknown; readonly wait?: unknown }>(
  (query) => {
    if ("before" in query && "after" in query) return "Expected either before or after"
    return !("wait" in query) || "after" in query || "Expected after, which wait needs"
  },
  { toJsonSchema: undocumented }
)

const listQuery = Schema.Struct({
  before: Schema.optionalKey(
    Cursor.annotate({
      description: "The `before` of a page: only events before it, newest first.",
      examples: [exampleCursor]
    })
  ),
  after,
  kinds,
  subject,
  limit: Schema.optionalKey(
    WholeInQuery(1, maxLimit, `How many events: 1 to ${maxLimit}, by default ${eventsPageSize}.`, "100")
  ),
  wait: Schema.optionalKey(
    WholeInQuery(
      0,
      maxWait,
      `How many seconds to wait for an event if there is none after \`after\`: 0 to ${maxWait}, by default 0.`,
      "25"
    )
  )
}).check(isOneWay)

export type EventsQuery = typeof listQuery.Type

const streamQuery = {
  after,
  kinds,
  subject,
  notifications: Schema.optionalKey(
    OneOf(["true", "false"]).annotate({
      description:
        "`true`: also tell when you mark notifications read or unread, wherever you do, by an `event` named `notifications` without an `id`, whose `data` is `{}`. Nobody else is told of it. Default: only events.",
      examples: ["true"]
    })
  )
}

export type EventStreamQuery = Omit<EventsQuery, "before" | "limit" | "wait"> & {
  readonly notifications?: "true" | "false"
}

/** One event of the stream. Its id is the cursor behind it. */
const SentEvent = Schema.Struct({
  id: Schema.String,
  event: Schema.optional(Schema.String),
  data: Schema.fromJsonString(Event)
})

/** What a client reads: text, of which the schema of an event says nothing. */
const described = { schema: { type: "string" as const }, example: exampleStream }

const tooMany = `One person or account API key can have ${maxFollowed} streams and waiting calls open at once at each process of the server: one more is 429, with \`Retry-After\`.`

/** What happened in a workspace (docs/contract.md, Events). */
export class EventsApi extends HttpApiGroup.make("events")
  .add(
    HttpApiEndpoint.get("list", `${workspacePath}/events`, {
      params: { slug: WorkspaceRef },
      query: listQuery,
      success: EventsPage,
      error: [NotFound, InvalidInput]
    }).annotateMerge(
      doc(
        "read",
        "List events",
        `Lists what happened in the workspace. Without a cursor and with \`before\`, the newest events come first. With \`after\`, the oldest come first.

Each answer has two cursors: \`before\` goes on to older events, \`after\` to newer ones. A reader who always sends the last \`after\` gets every event that they may see, and each of them once. With \`after\`, an event may come a moment later than its change: first, all changes that began before it must be done.

With \`wait\`, a call that finds no event answers as soon as there is one, or when the time is over. A server that is stopping answers at once: call again. ${tooMany}

A cursor is good in its workspace alone, for any filter. One that names no event of the workspace is 400.

Secrets appear by name, never by value. Events of a private team appear only to those who see the team at the time of the call. Any role may call this.`
      )
    ),
    HttpApiEndpoint.get("stream", `${workspacePath}/events/stream`, {
      params: { slug: WorkspaceRef },
      query: streamQuery,
      headers: {
        "last-event-id": Schema.optionalKey(
          Cursor.annotate({
            description: "The id of the last event that was received. It is stronger than `after`.",
            examples: [exampleCursor]
          })
        )
      },
      success: HttpApiSchema.StreamSse({ events: SentEvent }).annotate({
        description:
          "Server-sent events. Each has the cursor behind it as `id`, and an event as `data`, in one line. Comments keep the connection open."
      }),
      error: [NotFound, InvalidInput]
    })
      .annotate(Streams, true)
      .middleware(NoStore)
      .annotateMerge(
        doc(
          "read",
          "Follow events",
          `Sends events as they happen, oldest first, as server-sent events (\`text/event-stream\`). It begins after \`Last-Event-ID\` or \`after\`, and without either with what happens from now on. A browser sends \`Last-Event-ID\` by itself when it connects again.

The stream begins with a comment, and sends another one every 15 seconds. A comment comes with the cursor of its time as \`id\`, so a client that connects again goes on there.

The stream ends when the credential of the request ends, or the membership of its caller. It also ends when the session of the request gets another token (by \`POST /auth/v1/sudo\`), and when the server stops: connect again. ${tooMany} Events of a private team are sent only to those who see the team at that time. Any role may call this.`,
          { responses: { 200: { content: { "text/event-stream": described } } } }
        )
      )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({ title: "Events", description: "What happened in the workspace, and who did it." })
  ) {}

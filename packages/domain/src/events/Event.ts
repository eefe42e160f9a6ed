import { Schema } from "effect"
import { Actor } from "../identity/Actor.ts"
import { EventId, PersonId } from "../Ids.ts"
import { Timestamp } from "../Timestamp.ts"

/** A field that changed. Its values are short texts for people, or null. */
export const Change = Schema.Struct({
  field: Schema.String.annotate({ description: "The name of the field, as in the JSON of the subject." }),
  from: Schema.NullOr(Schema.String).annotate({
    description: "The value before, as a short text for people; null if there was none."
  }),
  to: Schema.NullOr(Schema.String).annotate({
    description: "The value after, as a short text for people; null if there is none."
  })
}).annotate({
  identifier: "Change",
  description: "A field that changed, with its values before and after.",
  examples: [{ field: "version", from: "9fceb02", to: "a1b2c3d" }]
})
export type Change = typeof Change.Type

const example = {
  id: EventId.make("0197a1b2-0000-7000-8000-0000000000a1"),
  kind: "deployment_updated",
  actor: {
    kind: "user" as const,
    id: PersonId.make("0197a1b2-0000-7000-8000-000000000001"),
    name: "Ana Diaz",
    email: "ana@example.com"
  },
  subject: {
    type: "deployment",
    id: "0197a1b2-0000-7000-8000-0000000000f1",
    label: "Shop in Staging",
    url: "http://localhost:4000/w/main/deployments/shop/staging"
  },
  changes: [{ field: "version", from: "9fceb02", to: "a1b2c3d" }],
  createdAt: "2026-11-21T09:30:00.000Z"
}

/** Something that happened in a workspace (docs/contract.md, Events). */
export const Event = Schema.Struct({
  id: EventId,
  kind: Schema.String.annotate({
    description: "What happened, as a noun and a verb, such as `deployment_updated` or `run_finished`."
  }),
  actor: Actor,
  subject: Schema.Struct({
    type: Schema.String.annotate({ description: "The type of the subject, which is the noun of the kind." }),
    id: Schema.String,
    label: Schema.String.annotate({ description: "The name of the subject at that time, for people." }),
    url: Schema.String.annotate({
      description: "The page of the subject on the website; 404 where the server has none."
    })
  }),
  changes: Schema.Array(Change).annotate({
    description: "The fields that changed. Empty for kinds that change no fields."
  }),
  createdAt: Timestamp
}).annotate({
  identifier: "Event",
  description: "Something that happened in a workspace.",
  examples: [example]
})
export type Event = typeof Event.Type

/** A cursor, as the API description shows it. */
export const exampleCursor = "0197a1b2-0000-7000-8000-0000000000a0"

/** A stream of events, as the API description shows it. */
export const exampleStream = `:\nid: ${exampleCursor}\n\nid: ${example.id}\ndata: ${JSON.stringify(example)}\n\n`

/** How many events a page has unless the request says otherwise. */
export const eventsPageSize = 50

/** How many streams and waiting calls of one person or account API key are open at once at a process, at most. */
export const maxFollowed = 64

/** Some events, and where the pages beside them begin (docs/contract.md, Events). */
export const EventsPage = Schema.Struct({
  events: Schema.Array(Event),
  before: Schema.NullOr(Schema.String).annotate({
    description: "Send it as `before` for the events before these; null if there are none."
  }),
  after: Schema.String.annotate({
    description: "Send it as `after` for the events after these. Keep it also when the page is empty."
  })
}).annotate({
  identifier: "Events",
  description: "A page of events, with the cursors of the pages beside it.",
  examples: [{ events: [example], before: example.id, after: example.id }]
})
export type EventsPage = typeof EventsPage.Type

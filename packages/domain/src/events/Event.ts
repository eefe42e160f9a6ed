import { Schema } from "effect"
import { Actor } from "../identity/Actor.ts"
import { EventId, PersonId } from "../Ids.ts"
import { Timestamp } from "../Timestamp.ts"

/** A field that an event changed; values are short texts for people, or null. */
export const Change = Schema.Struct({
  field: Schema.String.annotate({ description: "The name of the field, as in the subject's own JSON." }),
  from: Schema.NullOr(Schema.String).annotate({ description: "A short text for people; null for none." }),
  to: Schema.NullOr(Schema.String).annotate({ description: "A short text for people; null for none." })
}).annotate({
  identifier: "Change",
  description: "A field that changed.",
  examples: [{ field: "version", from: "9fceb02", to: "a1b2c3d" }]
})
export type Change = typeof Change.Type

/** Something that happened in a workspace (docs/contract.md, Events). */
export const Event = Schema.Struct({
  id: EventId,
  kind: Schema.String.annotate({ description: "`noun_verb`, such as `deployment_updated` or `run_finished`." }),
  actor: Actor,
  subject: Schema.Struct({
    type: Schema.String.annotate({ description: "The noun of the kind." }),
    id: Schema.String,
    label: Schema.String.annotate({ description: "The subject's name for people, as it was then." }),
    url: Schema.String.annotate({ description: "The subject's page on the website." })
  }),
  changes: Schema.Array(Change).annotate({ description: "The fields that changed, for kinds that change fields." }),
  createdAt: Timestamp
}).annotate({
  identifier: "Event",
  description: "Something that happened in a workspace.",
  examples: [
    {
      id: EventId.make("0197a1b2-0000-7000-8000-0000000000a1"),
      kind: "deployment_updated",
      actor: {
        kind: "user",
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
  ]
})
export type Event = typeof Event.Type

/** The length of the events list. */
export const eventsPageSize = 50

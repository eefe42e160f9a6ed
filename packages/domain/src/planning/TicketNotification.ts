import { Schema } from "effect"
import { Actor } from "../identity/Actor.ts"
import { CommentId, NotificationId, PersonId, TicketId } from "../Ids.ts"
import { OneOf } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"

/** How many notifications the list has. */
export const ticketNotificationsPageSize = 100

/** How much of a comment a notification shows, in characters. */
export const maxNotifiedComment = 2_000

export const TicketNotificationKind = OneOf(["ticket_assigned", "ticket_mentioned", "ticket_commented"]).annotate({
  identifier: "TicketNotificationKind",
  description:
    "What happened. `ticket_assigned`: somebody made you the owner of the ticket. `ticket_mentioned`: a comment, or the description or plan of the ticket, mentions you. `ticket_commented`: somebody commented on a ticket that you or one of your agents own, or that you created.",
  examples: ["ticket_assigned"]
})
export type TicketNotificationKind = typeof TicketNotificationKind.Type

/** A notification of a person about a ticket (docs/contract.md, Ticket notifications). */
export const TicketNotification = Schema.Struct({
  id: NotificationId,
  kind: TicketNotificationKind,
  ticket: Schema.Struct({ id: TicketId, identifier: Schema.String, title: Schema.String }),
  comment: Schema.NullOr(
    Schema.Struct({
      id: CommentId,
      body: Schema.String.annotate({ description: "The first 2,000 characters of the comment, in Markdown." })
    })
  ).annotate({ description: "The comment as it is now; null if the notification is not about a comment." }),
  /** Who assigned the ticket, wrote the text or commented. */
  actor: Actor,
  readAt: Schema.NullOr(Timestamp).annotate({
    description: "When the notification was read; null while it is unread."
  }),
  createdAt: Timestamp
}).annotate({
  identifier: "TicketNotification",
  description: "A notification about a ticket. The ticket and the comment are shown as they are now.",
  examples: [
    {
      id: NotificationId.make("0197a1b2-0000-7000-8000-0000000000e7"),
      kind: "ticket_mentioned",
      ticket: {
        id: TicketId.make("0197a1b2-0000-7000-8000-000000000e31"),
        identifier: "ENG-12",
        title: "Pay by card"
      },
      comment: {
        id: CommentId.make("0197a1b2-0000-7000-8000-000000000e41"),
        body: "[@Ana](user:0197a1b2-0000-7000-8000-000000000001) can you look at this?"
      },
      actor: {
        kind: "user",
        id: PersonId.make("0197a1b2-0000-7000-8000-000000000002"),
        name: "Ben Okoye",
        email: "ben@example.com"
      },
      readAt: null,
      createdAt: "2026-11-21T09:30:00.000Z"
    }
  ]
})
export type TicketNotification = typeof TicketNotification.Type

import { Schema } from "effect"
import { Body } from "../Body.ts"
import { Actor } from "../identity/Actor.ts"
import { CommentId, NotificationId, PersonId, TicketId } from "../Ids.ts"
import { OneOf } from "../Text.ts"
import { Timestamp, TimestampInput, timestamp } from "../Timestamp.ts"

/** How many notifications a page has. */
export const ticketNotificationsPageSize = 100

/** As far as unread ones are counted. */
export const maxUnreadCount = 1_000

/** How much of a comment a notification shows, in characters. */
export const maxNotifiedComment = 2_000

/** How much of the line that mentions somebody a notification shows, in characters. */
export const maxExcerpt = 300

export const TicketNotificationKind = OneOf([
  "ticket_assigned",
  "ticket_mentioned",
  "ticket_commented",
  "ticket_mute_ended"
]).annotate({
  identifier: "TicketNotificationKind",
  description:
    "What happened. `ticket_assigned`: somebody made you the owner of the ticket. `ticket_mentioned`: a comment, or the description or plan of the ticket, mentions you. `ticket_commented`: somebody commented on a ticket that you or one of your agents own, that you created, or that you have commented on. `ticket_mute_ended`: the time is over for which an open ticket muted tests, and they count again; of a ticket that you or one of your agents own, or whose tests you or one of your agents muted.",
  examples: ["ticket_assigned"]
})
export type TicketNotificationKind = typeof TicketNotificationKind.Type

const example = {
  id: NotificationId.make("0197a1b2-0000-7000-8000-0000000000e7"),
  kind: "ticket_mentioned" as const,
  ticket: {
    id: TicketId.make("0197a1b2-0000-7000-8000-000000000e31"),
    identifier: "ENG-12",
    title: "Pay by card"
  },
  comment: {
    id: CommentId.make("0197a1b2-0000-7000-8000-000000000e41"),
    body: "[@Ana](user:0197a1b2-0000-7000-8000-000000000001) can you look at this?"
  },
  excerpt: null,
  actor: {
    kind: "user" as const,
    id: PersonId.make("0197a1b2-0000-7000-8000-000000000002"),
    name: "Ben Okoye",
    email: "ben@example.com"
  },
  readAt: null,
  createdAt: "2026-11-21T09:30:00.000Z"
}

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
  excerpt: Schema.NullOr(Schema.String).annotate({
    description: `Of a mention in the description or plan of the ticket: the line that mentions you, as it is now, at most ${maxExcerpt} characters of it, in Markdown. Null if the notification is about something else, or if the ticket does not mention you any more.`,
    examples: ["[@Ana](user:0197a1b2-0000-7000-8000-000000000001) knows the old provider."]
  }),
  /** Who assigned the ticket, wrote the text or commented; of a mute that is over, who muted. */
  actor: Actor,
  readAt: Schema.NullOr(Timestamp).annotate({
    description:
      "When the notification was read, or when the ticket that it says was assigned to you was given to another; null while it is unread."
  }),
  createdAt: Timestamp
}).annotate({
  identifier: "TicketNotification",
  description: "A notification about a ticket. The ticket and the comment are shown as they are now.",
  examples: [example]
})
export type TicketNotification = typeof TicketNotification.Type

/** A page of notifications about tickets. */
export const TicketNotifications = Schema.Struct({
  notifications: Schema.Array(TicketNotification),
  nextCursor: Schema.NullOr(Schema.String).annotate({
    description: "Send it as `cursor`, with the same `unread`, to get the next page. Null on the last page."
  }),
  unreadCount: Schema.Int.annotate({
    description:
      "How many of your notifications about tickets are unread, on whatever page. 1000 stands for 1,000 or more."
  })
}).annotate({
  identifier: "TicketNotifications",
  description: "Your notifications about tickets, newest first.",
  examples: [{ notifications: [example], nextCursor: null, unreadCount: 1 }]
})
export type TicketNotifications = typeof TicketNotifications.Type

export const ReadTicketNotifications = Schema.Struct({
  read: Schema.Int.annotate({ description: "How many notifications were unread and are read now." }),
  readAt: Schema.NullOr(Timestamp).annotate({
    description: "When these were read, and no others: send it to mark them unread again. Null if none was unread."
  })
}).annotate({
  identifier: "ReadTicketNotifications",
  description: "How many notifications about tickets were marked as read, and the time by which that is taken back.",
  examples: [{ read: 3, readAt: "2026-11-21T09:30:00.000Z" }]
})
export type ReadTicketNotifications = typeof ReadTicketNotifications.Type

export const UnreadTicketNotifications = Body({
  readAt: TimestampInput.annotate({
    description: "The `readAt` of the notifications, as marking them read has answered it.",
    examples: ["2026-11-21T09:30:00.000Z"]
  })
}).annotate({
  identifier: "UnreadTicketNotifications",
  description: "Which notifications about tickets to mark as unread: those that were read at this time.",
  examples: [{ readAt: "2026-11-21T09:30:00.000Z" }]
})
export type UnreadTicketNotifications = typeof UnreadTicketNotifications.Type

/** Where a page goes on: behind a notification, whether or not it is still there. */
export interface TicketNotificationPlace {
  readonly createdAt: Timestamp
  readonly id: NotificationId
}

/** Thirteen digits end in the year 2286: a year of more than four is no timestamp of the contract. */
const cursorPattern = /^(\d{1,13})-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

export const ticketNotificationCursor = ({ createdAt, id }: TicketNotificationPlace): string =>
  `${Date.parse(createdAt)}-${id}`

/** Undefined for what is no cursor. */
export const ticketNotificationPlace = (cursor: string): TicketNotificationPlace | undefined => {
  const [, millis, id] = cursorPattern.exec(cursor) ?? []
  return id === undefined ? undefined : { createdAt: timestamp(Number(millis)), id: NotificationId.make(id) }
}

import { Schema } from "effect"
import { NotificationId } from "../Ids.ts"
import { OneOf } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"
import { AgentMessage, exampleMessage } from "./Message.ts"

/** How many notifications the list has. */
export const notificationsPageSize = 100

export const NotificationKind = OneOf(["message_received", "message_completed", "message_declined"]).annotate({
  identifier: "NotificationKind",
  description:
    "What happened. `message_received`: somebody sent a message to one of your agents. `message_completed`: an agent completed a message that you sent. `message_declined`: a message that you sent was declined.",
  examples: ["message_completed"]
})
export type NotificationKind = typeof NotificationKind.Type

/** A notification of a member about a message to an agent (docs/contract.md, Notifications). */
export const Notification = Schema.Struct({
  id: NotificationId,
  kind: NotificationKind,
  message: AgentMessage,
  readAt: Schema.NullOr(Timestamp).annotate({
    description: "When the notification was read; null while it is unread."
  }),
  createdAt: Timestamp
}).annotate({
  identifier: "Notification",
  description: "A notification about a message to an agent. The message is shown as it is now.",
  examples: [
    {
      id: NotificationId.make("0197a1b2-0000-7000-8000-0000000000e6"),
      kind: "message_received",
      message: exampleMessage,
      readAt: null,
      createdAt: "2026-11-21T09:30:00.000Z"
    }
  ]
})
export type Notification = typeof Notification.Type

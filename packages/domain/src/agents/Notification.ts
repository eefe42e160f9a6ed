import { Schema } from "effect"
import { NotificationId } from "../Ids.ts"
import { OneOf } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"
import { AgentMessage, exampleMessage } from "./Message.ts"

/** The length of the notifications list. */
export const notificationsPageSize = 100

export const NotificationKind = OneOf(["message_received", "message_completed", "message_declined"]).annotate({
  identifier: "NotificationKind",
  description:
    "`message_received`: someone sent a message to one of your agents; the others: an agent completed a message you sent, or it was declined.",
  examples: ["message_completed"]
})
export type NotificationKind = typeof NotificationKind.Type

/** What a member is told about a message to an agent (docs/contract.md, Notifications). */
export const Notification = Schema.Struct({
  id: NotificationId,
  kind: NotificationKind,
  message: AgentMessage,
  readAt: Schema.NullOr(Timestamp).annotate({ description: "Null while unread." }),
  createdAt: Timestamp
}).annotate({
  identifier: "Notification",
  description: "What a member is told about a message to an agent; the message is shown as it is now.",
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

import type { AgentMessage } from "@delivery/domain/agents/Message"
import type { Event } from "@delivery/domain/events/Event"
import type { Comment } from "@delivery/domain/planning/Comment"
import { replyId } from "./anchors.ts"

/** What people and agents said about a ticket and changed of it, in the order in which they did. Pure. */

export type Said =
  | { readonly kind: "comment"; readonly id: string; readonly at: string; readonly comment: Comment }
  | { readonly kind: "event"; readonly id: string; readonly at: string; readonly event: Event }
  | { readonly kind: "message" | "reply"; readonly id: string; readonly at: string; readonly message: AgentMessage }

export const saidOf = (
  comments: ReadonlyArray<Comment>,
  messages: ReadonlyArray<AgentMessage>,
  events: ReadonlyArray<Event>
): ReadonlyArray<Said> =>
  [
    // That somebody commented is told by the comment.
    ...events
      .filter(({ kind }) => kind !== "ticket_commented")
      .map((event): Said => ({ kind: "event", id: event.id, at: event.createdAt, event })),
    ...comments.map((comment): Said => ({ kind: "comment", id: comment.id, at: comment.createdAt, comment })),
    ...messages.flatMap((message): ReadonlyArray<Said> => {
      const { completedAt, createdAt, declinedAt, id } = message
      const endedAt = completedAt ?? declinedAt
      const asked: Said = { kind: "message", id, at: createdAt, message }
      return endedAt === null ? [asked] : [asked, { kind: "reply", id: replyId(id), at: endedAt, message }]
    })
  ].toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at) || (a.id < b.id ? -1 : 1))

import type { AgentMessage } from "@delivery/domain/agents/Message"
import type { Comment } from "@delivery/domain/planning/Comment"

/** What people and agents said about a ticket, in the order in which they did. Pure. */

export type Said =
  | { readonly kind: "comment"; readonly id: string; readonly at: string; readonly comment: Comment }
  | { readonly kind: "message" | "reply"; readonly id: string; readonly at: string; readonly message: AgentMessage }

export const saidOf = (comments: ReadonlyArray<Comment>, messages: ReadonlyArray<AgentMessage>): ReadonlyArray<Said> =>
  [
    ...comments.map((comment): Said => ({ kind: "comment", id: comment.id, at: comment.createdAt, comment })),
    ...messages.flatMap((message): ReadonlyArray<Said> => {
      const { completedAt, createdAt, declinedAt, id } = message
      const endedAt = completedAt ?? declinedAt
      const asked: Said = { kind: "message", id, at: createdAt, message }
      return endedAt === null ? [asked] : [asked, { kind: "reply", id: `${id}-reply`, at: endedAt, message }]
    })
  ].toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at) || (a.id < b.id ? -1 : 1))

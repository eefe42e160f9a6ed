import type { AgentMessage } from "@delivery/domain/agents/Message"
import type { Comment } from "@delivery/domain/planning/Comment"

/** What people and agents said about a ticket, in the order in which they did. Pure. */

export type Said =
  | { readonly kind: "comment"; readonly id: string; readonly at: string; readonly comment: Comment }
  | { readonly kind: "message"; readonly id: string; readonly at: string; readonly message: AgentMessage }

/** A mention's message says what its comment says, and is left out until the agent has replied. */
const isShown = ({ commentId, reply }: AgentMessage): boolean => commentId === null || reply !== null

export const saidOf = (comments: ReadonlyArray<Comment>, messages: ReadonlyArray<AgentMessage>): ReadonlyArray<Said> =>
  [
    ...comments.map((comment): Said => ({ kind: "comment", id: comment.id, at: comment.createdAt, comment })),
    ...messages
      .filter(isShown)
      .map((message): Said => ({ kind: "message", id: message.id, at: message.createdAt, message }))
  ].toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at) || (a.id < b.id ? -1 : 1))

import { Schema } from "effect"
import { Body } from "../Body.ts"
import { Person } from "../identity/Actor.ts"
import { AgentId, CommentId, ComputerId, MessageId, PersonId, TicketId } from "../Ids.ts"
import { atLeast, isId, OneOf, Ref, Text, undocumented } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"
import { AgentRef, ComputerRef } from "./Agent.ts"

/** Longest note of a message and longest reply to it, in UTF-16 code units. */
export const maxNote = 10_000

/** Longest reason of a decline, in UTF-16 code units. */
export const maxReason = 2_000

/** How much of a comment the note of a mention holds, in characters. */
export const maxMentionNote = 2_000

/** The length of the messages list. */
export const messagesPageSize = 100

/** Milliseconds after which a computer that was not seen leaves its messages to the agent's other computers. */
export const unseenMillis = 600_000

/** What an agent is asked to do with a ticket. */
export const Ask = OneOf(["draft", "refine", "plan", "build", "mention"]).annotate({
  identifier: "Ask",
  description: "What the agent is asked to do with the ticket; `mention`: a comment names it.",
  examples: ["build"]
})
export type Ask = typeof Ask.Type

/** The states of a message; `completed` and `declined` are ends. */
export const MessageStatus = OneOf(["queued", "delivered", "completed", "declined"]).annotate({
  identifier: "MessageStatus",
  description: "`queued` in the inbox, `delivered` to the agent, `completed` or `declined` at the end.",
  examples: ["queued"]
})
export type MessageStatus = typeof MessageStatus.Type

/** A ticket as messages show it. */
export const MessageTicket = Schema.Struct({
  id: TicketId,
  identifier: Schema.String,
  title: Schema.String
}).annotate({
  identifier: "MessageTicket",
  description: "A ticket as messages show it.",
  examples: [{ id: TicketId.make("0197a1b2-0000-7000-8000-000000000e31"), identifier: "ENG-12", title: "Pay by card" }]
})

export const exampleMessage = {
  id: MessageId.make("0197a1b2-0000-7000-8000-0000000000e5"),
  agent: {
    id: AgentId.make("0197a1b2-0000-7000-8000-0000000000e1"),
    name: "Claude",
    person: {
      id: PersonId.make("0197a1b2-0000-7000-8000-000000000001"),
      name: "Ana Diaz",
      email: "ana@example.com"
    }
  },
  computer: { id: ComputerId.make("0197a1b2-0000-7000-8000-0000000000e2"), name: "ana-laptop" },
  ticket: {
    id: TicketId.make("0197a1b2-0000-7000-8000-000000000e31"),
    identifier: "ENG-12",
    title: "Pay by card"
  },
  ask: "build",
  note: "Please begin with Visa.",
  commentId: null,
  sender: {
    id: PersonId.make("0197a1b2-0000-7000-8000-000000000002"),
    name: "Ben Ode",
    email: "ben@example.com"
  },
  status: "queued",
  reply: null,
  createdAt: "2026-11-21T09:30:00.000Z",
  deliveredAt: null,
  completedAt: null,
  declinedAt: null
} as const

/** Something a person asks of an agent (docs/contract.md, Messages). */
export const AgentMessage = Schema.Struct({
  id: MessageId,
  agent: AgentRef,
  computer: Schema.NullOr(ComputerRef).annotate({
    description: "Where it is to be done: the computer that was named, or that routing chose; null for any."
  }),
  ticket: MessageTicket,
  ask: Ask,
  note: Schema.NullOr(Schema.String).annotate({
    description: "Markdown, by the sender; of a mention the first 2,000 characters of the comment."
  }),
  commentId: Schema.NullOr(CommentId).annotate({ description: "The comment of a mention." }),
  sender: Person,
  status: MessageStatus,
  reply: Schema.NullOr(Schema.String).annotate({
    description: "The reply of the agent on completion, or the reason of a decline."
  }),
  createdAt: Timestamp,
  deliveredAt: Schema.NullOr(Timestamp),
  completedAt: Schema.NullOr(Timestamp),
  declinedAt: Schema.NullOr(Timestamp)
}).annotate({
  identifier: "AgentMessage",
  description: "Something a person asks of an agent.",
  examples: [exampleMessage]
})
export type AgentMessage = typeof AgentMessage.Type

const idFilter = (description: string) =>
  Schema.String.check(
    Schema.makeFilter<string>((text) => isId(text) || "Expected an id", { toJsonSchema: undocumented })
  ).annotate({ description })

/** `agent` of the list of messages. */
export const AgentFilter = idFilter("Only messages to this agent, by id.")

export const SendMessage = Body({
  agent: Ref.annotate({ description: "The id of an agent." }),
  ticket: Ref.annotate({ description: "The identifier, in any case, or the id of a ticket that you see." }),
  ask: OneOf(["draft", "refine", "plan", "build"]).annotate({
    description: "What the agent is to do with the ticket.",
    examples: ["build"]
  }),
  note: Schema.optionalKey(Schema.NullOr(Text(maxNote)).annotate({ description: "Markdown." })),
  computer: Schema.optionalKey(
    Schema.NullOr(Ref).annotate({ description: "The id of a computer of the agent; without it, routing chooses." })
  )
}).annotate({
  identifier: "SendMessage",
  description: "A message to an agent.",
  examples: [
    {
      agent: "0197a1b2-0000-7000-8000-0000000000e1",
      ticket: "ENG-12",
      ask: "build",
      note: "Please begin with Visa."
    }
  ]
})
export type SendMessage = typeof SendMessage.Type

/** A decline by the agent's person, who need not say why. */
export const DeclineMessage = Body({
  reason: Schema.optionalKey(Schema.NullOr(Text(maxReason)).annotate({ description: "Why, for the sender." }))
}).annotate({
  identifier: "DeclineMessage",
  description: "Why a message is declined.",
  examples: [{ reason: "ENG-7 comes first." }]
})
export type DeclineMessage = typeof DeclineMessage.Type

/** A decline by the agent, which says why. */
export const AgentDecline = Body({
  reason: Text(maxReason).check(atLeast(1)).annotate({ description: "Why, for the sender." })
}).annotate({
  identifier: "AgentDecline",
  description: "Why the agent declines a message.",
  examples: [{ reason: "The repository is not checked out here." }]
})
export type AgentDecline = typeof AgentDecline.Type

/** What the agent answers when it is done. */
export const CompleteMessage = Body({
  reply: Text(maxNote).check(atLeast(1)).annotate({ description: "Markdown, for the sender." })
}).annotate({
  identifier: "CompleteMessage",
  description: "The reply of an agent that is done.",
  examples: [{ reply: "Done in acme/shop#42." }]
})
export type CompleteMessage = typeof CompleteMessage.Type

/** How many messages an agent takes at once. */
export const TakeMessages = Body({
  limit: Schema.optionalKey(
    Schema.Int.check(
      Schema.makeFilter<number>((limit) => (limit >= 1 && limit <= 10) || "Expected a whole number from 1 to 10", {
        toJsonSchema: () => ({ minimum: 1, maximum: 10 })
      })
    ).annotate({ description: "At most so many messages.", default: 1 })
  )
}).annotate({
  identifier: "TakeMessages",
  description: "How many messages to take.",
  examples: [{ limit: 1 }]
})
export type TakeMessages = typeof TakeMessages.Type

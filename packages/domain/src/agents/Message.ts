import { Schema } from "effect"
import { Body } from "../Body.ts"
import { Person } from "../identity/Actor.ts"
import { AgentId, CommentId, ComputerId, MessageId, PersonId, TicketId } from "../Ids.ts"
import { maxNumber } from "../Numbers.ts"
import { atLeast, isId, OneOf, Ref, Text, undocumented } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"
import { AgentRef, ComputerRef } from "./Agent.ts"

/** The longest note of a message, and the longest reply to it, in characters. */
export const maxNote = 10_000

/** The longest reason of a decline, in characters. */
export const maxReason = 2_000

/** How many characters of a comment the note of a mention has. */
export const maxMentionNote = 2_000

/** How many messages the list has. */
export const messagesPageSize = 100

/**
 * How many messages of one sender may wait in the inbox of one agent: half of what lists of the inbox and of notifications show, so
 * that nobody alone can hide what others send.
 */
export const maxQueued = 50

/** How long a computer may be unseen before other computers of the agent get its messages: milliseconds. */
export const unseenMillis = 600_000

/** What a message asks an agent to do with a ticket. */
export const Ask = OneOf(["draft", "refine", "plan", "build", "mention"]).annotate({
  identifier: "Ask",
  description: "What the agent is asked to do with the ticket. `mention` means that a comment mentions the agent.",
  examples: ["build"]
})
export type Ask = typeof Ask.Type

/** The states of a message; `completed` and `declined` are final. */
export const MessageStatus = OneOf(["queued", "delivered", "completed", "declined"]).annotate({
  identifier: "MessageStatus",
  description:
    "The status of a message: `queued` in the inbox, `delivered` to the agent, and finally `completed` or `declined`.",
  examples: ["queued"]
})
export type MessageStatus = typeof MessageStatus.Type

/** A ticket, in the short form that messages have. */
export const MessageTicket = Schema.Struct({
  id: TicketId,
  identifier: Schema.String,
  title: Schema.String
}).annotate({
  identifier: "MessageTicket",
  description: "A ticket, in the short form that messages have.",
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
  note: "Please start with Visa.",
  commentId: null,
  sender: {
    id: PersonId.make("0197a1b2-0000-7000-8000-000000000002"),
    name: "Ben Ode",
    email: "ben@example.com"
  },
  status: "queued",
  reply: null,
  evidence: null,
  createdAt: "2026-11-21T09:30:00.000Z",
  deliveredAt: null,
  completedAt: null,
  declinedAt: null
} as const

const Evidence = Schema.Struct({
  run: Schema.Int.annotate({ description: "The number of the run." })
}).annotate({
  identifier: "MessageEvidence",
  description: "The run that shows what was done.",
  examples: [{ run: 12 }]
})

/** A message: what a person asks of an agent (docs/contract.md, Messages). */
export const AgentMessage = Schema.Struct({
  id: MessageId,
  agent: AgentRef,
  computer: Schema.NullOr(ComputerRef).annotate({
    description: "The computer that should do it: the one that the sender named, or that routing chose; null for any."
  }),
  ticket: MessageTicket,
  ask: Ask,
  note: Schema.NullOr(Schema.String).annotate({
    description:
      "What the sender wrote, in Markdown; null for nothing. For a mention, the first 2,000 characters of the comment."
  }),
  commentId: Schema.NullOr(CommentId).annotate({
    description: "The comment that mentions the agent; null for other messages."
  }),
  sender: Person,
  status: MessageStatus,
  reply: Schema.NullOr(Schema.String).annotate({
    description: "The reply of the agent when it completed the message, or the reason of the decline; null before."
  }),
  evidence: Schema.NullOr(Evidence).annotate({
    description: "The run that the agent named when it completed the message; null for none."
  }),
  createdAt: Timestamp,
  deliveredAt: Schema.NullOr(Timestamp),
  completedAt: Schema.NullOr(Timestamp),
  declinedAt: Schema.NullOr(Timestamp)
}).annotate({
  identifier: "AgentMessage",
  description: "What a person asks of an agent, about one ticket.",
  examples: [exampleMessage]
})
export type AgentMessage = typeof AgentMessage.Type

const idFilter = (description: string) =>
  Schema.String.check(
    Schema.makeFilter<string>((text) => isId(text) || "Expected an id", { toJsonSchema: undocumented })
  ).annotate({ description })

/** The filter `agent` of the list of messages. */
export const AgentFilter = idFilter("Only messages to this agent, by id.")

export const SendMessage = Body({
  agent: Ref.annotate({ description: "The agent to ask, by id." }),
  ticket: Ref.annotate({ description: "The ticket, by identifier (in any case) or id. You must see it." }),
  ask: OneOf(["draft", "refine", "plan", "build"]).annotate({
    description: "What the agent should do with the ticket.",
    examples: ["build"]
  }),
  note: Schema.optionalKey(
    Schema.NullOr(Text(maxNote)).annotate({ description: "What you want to say to the agent, in Markdown." })
  ),
  computer: Schema.optionalKey(
    Schema.NullOr(Ref).annotate({ description: "A computer of the agent, by id. Without it, the service chooses one." })
  )
}).annotate({
  identifier: "SendMessage",
  description: "A message to an agent.",
  examples: [
    {
      agent: "0197a1b2-0000-7000-8000-0000000000e1",
      ticket: "ENG-12",
      ask: "build",
      note: "Please start with Visa."
    }
  ]
})
export type SendMessage = typeof SendMessage.Type

/** A decline by the person of the agent, who need not give a reason. */
export const DeclineMessage = Body({
  reason: Schema.optionalKey(Schema.NullOr(Text(maxReason)).annotate({ description: "The reason, for the sender." }))
}).annotate({
  identifier: "DeclineMessage",
  description: "Why the message is declined.",
  examples: [{ reason: "ENG-7 comes first." }]
})
export type DeclineMessage = typeof DeclineMessage.Type

/** A decline by the agent, which must give a reason. */
export const AgentDecline = Body({
  reason: Text(maxReason).check(atLeast(1)).annotate({ description: "The reason, for the sender." })
}).annotate({
  identifier: "AgentDecline",
  description: "Why the agent declines the message.",
  examples: [{ reason: "The repository is not checked out here." }]
})
export type AgentDecline = typeof AgentDecline.Type

/** The reply of an agent that is done. */
export const CompleteMessage = Body({
  reply: Text(maxNote).check(atLeast(1)).annotate({ description: "The reply to the sender, in Markdown." }),
  evidence: Schema.optionalKey(
    Schema.NullOr(
      Body({
        run: Schema.Int.check(
          Schema.isBetween(
            { minimum: 1, maximum: maxNumber },
            { message: `Expected a whole number from 1 to ${maxNumber}` }
          )
        ).annotate({ description: "The number of the run." })
      })
    ).annotate({ description: "The run that shows what was done; null for none." })
  )
}).annotate({
  identifier: "CompleteMessage",
  description: "The reply of an agent that has done what was asked.",
  examples: [{ reply: "Done in acme/shop#42." }]
})
export type CompleteMessage = typeof CompleteMessage.Type

/** How many messages to take at once. */
export const TakeMessages = Body({
  limit: Schema.optionalKey(
    Schema.Int.check(
      Schema.makeFilter<number>((limit) => (limit >= 1 && limit <= 10) || "Expected a whole number from 1 to 10", {
        toJsonSchema: () => ({ minimum: 1, maximum: 10 })
      })
    ).annotate({ description: "How many messages to take at most: 1 to 10.", default: 1 })
  )
}).annotate({
  identifier: "TakeMessages",
  description: "How many messages to take.",
  examples: [{ limit: 1 }]
})
export type TakeMessages = typeof TakeMessages.Type

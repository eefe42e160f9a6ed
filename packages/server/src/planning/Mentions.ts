import type { Conflict } from "@delivery/domain/Errors"
import type { AgentId, CommentId, TeamId, TicketId } from "@delivery/domain/Ids"
import { Context, type Effect } from "effect"
import type { Access } from "../access/Access.ts"

/** A comment in which a person mentions agents. */
export interface AgentMention {
  readonly by: Access
  readonly ticket: {
    readonly id: TicketId
    readonly teamId: TeamId
    readonly identifier: string
    readonly title: string
  }
  readonly comment: { readonly id: CommentId; readonly body: string }
  /** Agents that the comment never mentioned before, and whose persons see the ticket. Never empty. */
  readonly agentIds: ReadonlyArray<AgentId>
}

/**
 * Notifies agents that a comment mentions: each gets one message of the ask `mention` (docs/contract.md, Comments). The
 * agents room supplies it.
 */
export class AgentMentions extends Context.Service<
  AgentMentions,
  {
    /** Called in the transaction that stores the comment. Fails where an agent has too many messages of the person. */
    readonly mentioned: (mention: AgentMention) => Effect.Effect<void, Conflict>
  }
>()("@delivery/server/planning/AgentMentions") {}

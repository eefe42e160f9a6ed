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
  /** Those that the comment did not mention before, and whose persons see the ticket. Never empty. */
  readonly agentIds: ReadonlyArray<AgentId>
}

/**
 * What comments ask of whoever keeps messages to agents: each agent that a person mentions gets one message of the ask
 * `mention` (contract, section 8). The agents room answers.
 */
export class AgentMentions extends Context.Service<
  AgentMentions,
  {
    /** Called in the transaction that stores the comment. */
    readonly mentioned: (mention: AgentMention) => Effect.Effect<void>
  }
>()("@delivery/server/planning/AgentMentions") {}

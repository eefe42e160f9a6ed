import type { AgentId, TeamId, WorkspaceId } from "@delivery/domain/Ids"
import { Context, type Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"

/** What the ends of agents ask of whoever keeps messages (contract, section 9). `Messages` answers. */
export class WaitingMessages extends Context.Service<
  WaitingMessages,
  {
    /**
     * Declines what waits in the inboxes of the agents, whoever sees it, and says of which teams' tickets that was.
     * Called in the transaction of what ends them.
     */
    readonly decline: (
      by: { readonly workspace: { readonly id: WorkspaceId }; readonly actor: ActorRef },
      agents: ReadonlyArray<AgentId>,
      reason: string
    ) => Effect.Effect<ReadonlyArray<{ readonly teamId: TeamId }>>
  }
>()("@delivery/server/agents/WaitingMessages") {}

import type { AgentId, TeamId, WorkspaceId } from "@delivery/domain/Ids"
import { Context, type Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"

/** Declines the queued messages of agents that end (docs/contract.md, Agents). `Messages` supplies it. */
export class WaitingMessages extends Context.Service<
  WaitingMessages,
  {
    /**
     * Declines the queued messages of the agents, whoever sees them, and returns the teams of the tickets. Called in
     * the transaction that ends the agents.
     */
    readonly decline: (
      by: { readonly workspace: { readonly id: WorkspaceId }; readonly actor: ActorRef },
      agents: ReadonlyArray<AgentId>,
      reason: string
    ) => Effect.Effect<ReadonlyArray<{ readonly teamId: TeamId }>>
  }
>()("@delivery/server/agents/WaitingMessages") {}

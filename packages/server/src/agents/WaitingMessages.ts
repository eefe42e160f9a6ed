import type { AgentId, ComputerId, WorkspaceId } from "@delivery/domain/Ids"
import { Context, Effect, Layer } from "effect"
import type { ActorRef } from "../identity/Access.ts"

/** What sign-ins and sessions ask of whoever keeps messages (contract, section 9). */
export class WaitingMessages extends Context.Service<
  WaitingMessages,
  {
    /** Declines what waits in the inboxes of the agents, and how much. Called in the transaction of what ends them. */
    readonly decline: (
      by: { readonly workspace: { readonly id: WorkspaceId }; readonly actor: ActorRef },
      agents: ReadonlyArray<AgentId>,
      reason: string
    ) => Effect.Effect<number>
    /** How many messages wait for the agent at the computer. */
    readonly count: (agent: AgentId, computer: ComputerId) => Effect.Effect<number>
  }
>()("@delivery/server/agents/WaitingMessages") {
  /** Where there are no messages, none waits. */
  static readonly layerNone = Layer.succeed(
    WaitingMessages,
    WaitingMessages.of({ decline: () => Effect.succeed(0), count: () => Effect.succeed(0) })
  )
}

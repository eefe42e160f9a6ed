import type { ComputerId } from "@delivery/domain/Ids"
import { Context, Effect, Layer } from "effect"
import { makeWriteBehind, type WriteBehind } from "../storage/WriteBehind.ts"
import { AgentsRepo } from "./AgentsRepo.ts"

/** `lastSeenAt` of computers: written at most a second later, and what is not yet written is merged when it is read. */
export class AgentUsage extends Context.Service<AgentUsage, WriteBehind<ComputerId>>()(
  "@delivery/server/agents/AgentUsage"
) {
  static readonly layer = Layer.effect(
    AgentUsage,
    Effect.flatMap(AgentsRepo, (repo) =>
      makeWriteBehind<ComputerId>(
        "agent_usage",
        "The times at which computers were last seen could not be stored.",
        repo.touchComputers
      )
    )
  )
}

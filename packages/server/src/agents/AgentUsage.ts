import type { ComputerId } from "@delivery/domain/Ids"
import { Context, Effect, Layer } from "effect"
import { makeWriteBehind, type WriteBehind } from "../storage/WriteBehind.ts"
import { AgentsRepo } from "./AgentsRepo.ts"

/** `lastSeenAt` of computers, written behind by at most a second; reading merges what is not yet written. */
export class AgentUsage extends Context.Service<AgentUsage, WriteBehind<ComputerId>>()(
  "@delivery/server/agents/AgentUsage"
) {
  static readonly layer = Layer.effect(
    AgentUsage,
    Effect.flatMap(AgentsRepo, (repo) =>
      makeWriteBehind<ComputerId>(
        "agent_usage",
        "When computers were last seen could not be written.",
        repo.touchComputers
      )
    )
  )
}

import { Effect, Layer } from "effect"
import { MemberDeparture } from "../identity/MemberDeparture.ts"
import { AgentsRepo } from "./AgentsRepo.ts"
import { WaitingMessages } from "./WaitingMessages.ts"

/**
 * What becomes of a member's agents when the member is deactivated: messages that wait are declined. The agents
 * themselves leave lists, and their tokens stop, since both are asked together with the membership.
 */
export const AgentDeparture = Layer.effect(
  MemberDeparture,
  Effect.gen(function* () {
    const repo = yield* AgentsRepo
    const messages = yield* WaitingMessages
    return MemberDeparture.of({
      left: Effect.fnUntraced(function* (by, personId) {
        const agents = yield* repo.ofPerson(by.workspace.id, personId)
        if (agents.length > 0) yield* messages.decline(by, agents, "The member was deactivated.")
      })
    })
  })
)

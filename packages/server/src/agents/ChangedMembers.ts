import { Effect, Layer } from "effect"
import { MemberChanges } from "../identity/MemberChanges.ts"
import { AgentsRepo } from "./AgentsRepo.ts"
import { SignInsRepo } from "./SignInsRepo.ts"
import { WaitingMessages } from "./WaitingMessages.ts"

/**
 * What becomes of a member's agents when the member changes: calls that wait look again what they may, and messages
 * that wait for one who is deactivated are declined. The agents themselves leave lists, and their tokens stop, since
 * both are asked together with the membership.
 */
export const ChangedMembers = Layer.effect(
  MemberChanges,
  Effect.gen(function* () {
    const repo = yield* AgentsRepo
    const signIns = yield* SignInsRepo
    const messages = yield* WaitingMessages
    return MemberChanges.of({
      changed: Effect.fnUntraced(function* (by, { active, id }) {
        const agents = yield* repo.ofPerson(by.workspace.id, id)
        if (agents.length === 0) return
        yield* signIns.tell(agents)
        if (!active) yield* messages.decline(by, agents, "The member was deactivated.")
      })
    })
  })
)

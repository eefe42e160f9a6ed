import { Effect, Layer } from "effect"
import { MemberChanges } from "../identity/MemberChanges.ts"
import { AgentsRepo } from "./AgentsRepo.ts"
import { AuthorizationsRepo } from "./AuthorizationsRepo.ts"
import { SignInsRepo } from "./SignInsRepo.ts"
import { WaitingMessages } from "./WaitingMessages.ts"

/**
 * Applies changes of a member to their agents: waiting calls check their access again, and queued messages to agents of a
 * deactivated member are declined. Lists and tokens need no change, since both read the membership themselves; sign-ins
 * from before a deactivation are gone when the member comes back.
 */
export const layer = Layer.effect(MemberChanges, Effect.gen(make))

function* make() {
  const repo = yield* AgentsRepo
  const signIns = yield* SignInsRepo
  const messages = yield* WaitingMessages
  const authorizations = yield* AuthorizationsRepo
  return MemberChanges.of({
    changed: Effect.fnUntraced(function* (by, { active, id, wasActive }) {
      if (!active) yield* authorizations.endCodes(by.workspace.id, id)
      const agents = yield* repo.ofPerson(by.workspace.id, id)
      if (agents.length === 0) return
      if (active && !wasActive) {
        // They ended with the access of the member, as each request found, and do not come back with it.
        for (const agent of agents) yield* signIns.endOfAgent(by.workspace.id, agent)
        return
      }
      yield* signIns.notifyAccessChanged(agents)
      if (!active) yield* messages.decline(by, agents, "The member was deactivated.")
    })
  })
}

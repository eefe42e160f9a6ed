import { Effect, Layer } from "effect"
import { Audit } from "../audit/Audit.ts"
import { MemberChanges } from "../identity/MemberChanges.ts"
import { TicketOwnerEnds } from "../planning/TicketOwnerEnds.ts"
import { AgentsRepo } from "./AgentsRepo.ts"
import { AuthorizationsRepo } from "./AuthorizationsRepo.ts"
import { recordEnds } from "./SignInEnds.ts"
import { SignInsRepo } from "./SignInsRepo.ts"
import { WaitingMessages } from "./WaitingMessages.ts"

/**
 * Applies changes of a member to their agents: waiting calls check their access again. The sign-ins of a deactivated member
 * end, and queued messages to their agents are declined. Lists need no change, since they read the membership themselves.
 */
export const layer = Layer.effect(MemberChanges, Effect.gen(make))

function* make() {
  const repo = yield* AgentsRepo
  const signIns = yield* SignInsRepo
  const record = recordEnds(yield* Audit)
  const messages = yield* WaitingMessages
  const authorizations = yield* AuthorizationsRepo
  const owners = yield* TicketOwnerEnds
  return MemberChanges.of({
    changed: Effect.fnUntraced(function* (by, { active, id, wasActive }) {
      if (!active) yield* authorizations.endCodes(by.workspace.id, id)
      const agents = yield* repo.ofPerson(by.workspace.id, id)
      if (!active) {
        yield* owners.left(by, [
          { kind: "user", id },
          ...agents.map((agent) => ({ kind: "agent" as const, id: agent }))
        ])
      }
      if (agents.length === 0) return 0
      let signedOut = 0
      // Also when they come back: earlier versions kept the rows of sign-ins that had ended with the member.
      if (active === wasActive) yield* signIns.notifyAccessChanged(agents)
      else {
        for (const agent of agents) {
          const ended = yield* signIns.endOfAgent(by.workspace.id, agent)
          yield* record(ended, "member_deactivated", by.actor)
          signedOut += ended.length
        }
      }
      if (!active) yield* messages.decline(by, agents, "The member was deactivated.")
      return signedOut
    })
  })
}

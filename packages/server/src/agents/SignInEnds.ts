import { Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { agentName } from "../access/ActorRows.ts"
import type { Audit, NewAuditEntry } from "../audit/Audit.ts"
import type { EndedSignIn } from "./SignInsRepo.ts"

/** Why a sign-in ended, as the audit tells it. */
type Reason =
  | "agent_revoked"
  | "expired"
  | "maker_ended"
  | "member_deactivated"
  | "replaced"
  | "reported"
  | "reused"
  | "revoked"

/** What the audit names as the sign-in. */
export const signInSubject = ({ agent, id, person }: EndedSignIn) => ({
  type: "credential",
  id,
  label: `${agentName(agent)} of ${person.name}`
})

/** Has the audit tell of sign-ins that ended. Called in the transaction that ends them. By whom: their agent if nobody else. */
export const recordEnds =
  (audit: Audit["Service"]) =>
  (
    ended: ReadonlyArray<EndedSignIn>,
    reason: Reason,
    by?: ActorRef,
    credential?: NewAuditEntry["credential"]
  ): Effect.Effect<void> =>
    Effect.forEach(
      ended,
      (signIn) =>
        audit.record(
          { workspace: { id: signIn.workspaceId }, actor: by ?? { kind: "agent", id: signIn.agent.id } },
          {
            action: "agent_sign_in_ended",
            subject: signInSubject(signIn),
            changes: [{ field: "reason", from: null, to: reason }],
            ...(credential === undefined ? {} : { credential })
          }
        ),
      { discard: true }
    )

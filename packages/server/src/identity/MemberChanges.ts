import type { PersonId, WorkspaceId } from "@delivery/domain/Ids"
import { Context, type Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"

/**
 * Called when a member is deactivated, reactivated or given another role (docs/contract.md, Members). The agents supply it:
 * what a member's agents may do follows the member.
 */
export class MemberChanges extends Context.Service<
  MemberChanges,
  {
    /**
     * Called in the transaction that changes the member, who is now active or not. Answers how many sign-ins of agents ended.
     */
    readonly changed: (
      by: { readonly workspace: { readonly id: WorkspaceId }; readonly actor: ActorRef },
      member: { readonly id: PersonId; readonly wasActive: boolean; readonly active: boolean }
    ) => Effect.Effect<number>
  }
>()("@delivery/server/identity/MemberChanges") {}

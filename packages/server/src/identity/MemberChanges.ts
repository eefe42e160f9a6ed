import type { PersonId } from "@delivery/domain/Ids"
import { Context, type Effect } from "effect"
import type { Access } from "../access/Access.ts"

/**
 * What members tell whoever acts or keeps something for a member, when one is deactivated, is back, or has another role
 * (contract, section 3). The agents room hears it; members know no more of it than this.
 */
export class MemberChanges extends Context.Service<
  MemberChanges,
  {
    /** Called in the transaction that changes the member, who is now active or not. */
    readonly changed: (by: Access, member: { readonly id: PersonId; readonly active: boolean }) => Effect.Effect<void>
  }
>()("@delivery/server/identity/MemberChanges") {}

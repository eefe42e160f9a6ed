import type { PersonId } from "@delivery/domain/Ids"
import { Context, type Effect } from "effect"
import type { Access } from "./Access.ts"

/**
 * What members tell whoever keeps something for a member, when one is deactivated (contract, section 3). The agents
 * room hears it; members know no more of it than this.
 */
export class MemberDeparture extends Context.Service<
  MemberDeparture,
  {
    /** Called in the transaction that deactivates the member. */
    readonly left: (by: Access, personId: PersonId) => Effect.Effect<void>
  }
>()("@delivery/server/identity/MemberDeparture") {}

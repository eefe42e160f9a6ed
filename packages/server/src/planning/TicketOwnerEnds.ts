import type { WorkspaceId } from "@delivery/domain/Ids"
import { Context, type Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"
import type { OwnerRef } from "./TicketsRepo.ts"

/**
 * Told when owners of tickets leave: a member who is deactivated, an agent that is revoked (docs/contract.md, Muting). The
 * room `flow` supplies it.
 */
export class TicketOwnerEnds extends Context.Service<
  TicketOwnerEnds,
  {
    /** Called in the transaction in which they leave. */
    readonly left: (
      by: { readonly workspace: { readonly id: WorkspaceId }; readonly actor: ActorRef },
      owners: ReadonlyArray<OwnerRef>
    ) => Effect.Effect<void>
  }
>()("@delivery/server/planning/TicketOwnerEnds") {}

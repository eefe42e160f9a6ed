import type { WorkspaceId } from "@delivery/domain/Ids"
import { Context, type Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"

/** Ends what somebody publishes when their access ends (docs/contract.md, Members). The runs supply it. */
export class MemberRuns extends Context.Service<
  MemberRuns,
  {
    /**
     * Interrupts the runs and retries of these publishers, and of the agents of those who are persons, with their leases; how many. Called in the transaction that takes their
     * access away, which holds the workspace's row.
     */
    readonly interrupt: (
      by: { readonly workspace: { readonly id: WorkspaceId }; readonly actor: ActorRef },
      publishers: ReadonlyArray<ActorRef>
    ) => Effect.Effect<number>
  }
>()("@delivery/server/identity/MemberRuns") {}

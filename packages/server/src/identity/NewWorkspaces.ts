import type { WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"

/**
 * What a new workspace asks of whoever keeps things that every workspace begins with (docs/contract.md, Identity). The planning
 * room makes the template of ticket statuses.
 */
export class NewWorkspaces extends Context.Service<
  NewWorkspaces,
  {
    /** Called in the transaction that makes the workspace, after its row is there. */
    readonly furnish: (workspace: { readonly id: WorkspaceId; readonly createdAt: Timestamp }) => Effect.Effect<void>
  }
>()("@delivery/server/identity/NewWorkspaces") {}

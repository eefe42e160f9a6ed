import type { WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"

/**
 * Creates what every workspace begins with in higher rooms. Planning supplies it, for the template of ticket statuses
 * (docs/contract.md, Ticket statuses).
 */
export class NewWorkspaces extends Context.Service<
  NewWorkspaces,
  {
    /** Called in the transaction that creates the workspace, after the workspace's row is stored. */
    readonly createDefaults: (workspace: {
      readonly id: WorkspaceId
      readonly createdAt: Timestamp
    }) => Effect.Effect<void>
  }
>()("@delivery/server/identity/NewWorkspaces") {}

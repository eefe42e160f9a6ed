import type { WorkspaceMembership } from "@delivery/domain/identity/Workspace"
import type { PersonId, WorkspaceId } from "@delivery/domain/Ids"
import { Context, type Effect } from "effect"
import type { UniqueViolation } from "../storage/Sql.ts"
import { double, instant, nullable, type Row, table, text, uuid } from "../storage/Table.ts"

/** Workspaces. `last_run_number`, which counts the runs of each, is a column of the room runs alone. */
export const workspaces = table("workspaces", {
  id: uuid<WorkspaceId>(),
  slug: text(),
  name: text(),
  /** For how many days runs and files are kept; null where the server's settings say it. */
  runDays: nullable(double()),
  fileDays: nullable(double()),
  createdAt: instant(),
  updatedAt: instant()
})

export type WorkspaceRow = Row<typeof workspaces>

/** A workspace with the role of the person it was asked for. */
export interface WorkspaceOfPerson extends WorkspaceRow, WorkspaceMembership {}

/** Stores workspaces. A slug is used once. */
export class WorkspacesRepo extends Context.Service<
  WorkspacesRepo,
  {
    readonly insert: (workspace: WorkspaceRow) => Effect.Effect<void, UniqueViolation>
    readonly update: (workspace: WorkspaceRow) => Effect.Effect<void, UniqueViolation>
    readonly find: (id: WorkspaceId) => Effect.Effect<WorkspaceRow | undefined>
    /** The workspace with this slug or id. */
    readonly named: (ref: string) => Effect.Effect<WorkspaceRow | undefined>
    /** The workspaces in which the person is an active member; of those, the ones that let the credential in. */
    readonly ofPerson: (personId: PersonId, credentialId?: string) => Effect.Effect<ReadonlyArray<WorkspaceOfPerson>>
    /** Holds the workspace's row until the transaction ends, so that what depends on it is decided one by one. */
    readonly lock: (id: WorkspaceId) => Effect.Effect<void>
  }
>()("@delivery/server/identity/WorkspacesRepo") {}

import type { EnvironmentClass } from "@delivery/domain/catalog/Environment"
import type { EnvironmentId, WorkspaceId } from "@delivery/domain/Ids"
import { Context } from "effect"
import { boolean, instant, nullable, type Row, table, text, uuid } from "../storage/Table.ts"
import type { ArchivablesRepo } from "./Archivables.ts"

/** The environments of each workspace. */
export const environments = table("environments", {
  id: uuid<EnvironmentId>(),
  workspaceId: uuid<WorkspaceId>(),
  slug: text(),
  name: text(),
  class: text<EnvironmentClass>(),
  emoji: nullable(text()),
  /** Whether writes there need the approval of a second person. */
  approvals: boolean(),
  archivedAt: nullable(instant()),
  createdAt: instant(),
  updatedAt: instant()
})

export type EnvironmentRow = Row<typeof environments>

/** Stores environments. A slug is used once in a workspace. */
export class EnvironmentsRepo extends Context.Service<EnvironmentsRepo, ArchivablesRepo<EnvironmentRow>>()(
  "@delivery/server/catalog/EnvironmentsRepo"
) {}

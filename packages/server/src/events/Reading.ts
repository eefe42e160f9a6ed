import type { PersonId, WorkspaceId } from "@delivery/domain/Ids"
import type { SqlClient, Statement } from "effect/sql"
import type { MemoryDatabase } from "../storage/MemoryStorage.ts"

/**
 * That a person has marked notifications read or unread, which is told to their own streams alone (docs/contract.md,
 * Events). As a column of the statement that marks them and over the memory storage, side by side.
 */

/** What the notice `reading` says: whose notifications of which workspace. */
export const readingOf = (workspaceId: WorkspaceId, personId: PersonId): string => `${workspaceId} ${personId}`

/** A column that tells it once the transaction is committed, as often as the statement has rows. */
export const tellingReading = (
  sql: SqlClient.SqlClient,
  workspaceId: WorkspaceId,
  personId: PersonId
): Statement.Fragment => sql`pg_notify('reading', ${readingOf(workspaceId, personId)})::text as told`

export const tellReadingInMemory = (database: MemoryDatabase, workspaceId: WorkspaceId, personId: PersonId): void =>
  database.notify("reading", readingOf(workspaceId, personId))

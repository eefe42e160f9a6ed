import type { WorkspaceId } from "@delivery/domain/Ids"
import { isId, isSlug } from "@delivery/domain/Text"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { dieOnSqlError, failOnDuplicate } from "../storage/Sql.ts"
import { insertInto, readerOf, type SelectedRow, selectFrom, type Table, updateById } from "../storage/Table.ts"
import type { ArchivableRow, ArchivablesRepo } from "./Archivables.ts"

/** The repository of products or environments over SQL. `editable` are the properties that a PATCH may change. */
export const makeArchivablesSql = <Row extends ArchivableRow>(
  sql: SqlClient.SqlClient,
  table: Table<Row>,
  editable: ReadonlyArray<keyof Row & string>
): ArchivablesRepo<Row> => {
  const insert = insertInto(sql, table)
  const update = updateById(sql, table, [...editable, "archivedAt", "updatedAt"])
  const one = findOne(sql, table)
  return {
    insert: (row) => failOnDuplicate(insert(row)),
    update: (row) => failOnDuplicate(update(row)),
    list: list(sql, table),
    find: (workspaceId, ref) => one(workspaceId, ref, ""),
    lock: (workspaceId, ref) => one(workspaceId, ref, "for update")
  }
}

const list = <Row extends ArchivableRow>(sql: SqlClient.SqlClient, table: Table<Row>) => {
  const select = selectFrom(sql, table)
  const read = readerOf(table)
  return (workspaceId: WorkspaceId): Effect.Effect<ReadonlyArray<Row>> =>
    sql<SelectedRow>`${select} where workspace_id = ${workspaceId}`.pipe(
      Effect.map((rows) => rows.map(read)),
      dieOnSqlError
    )
}

const findOne = <Row extends ArchivableRow>(sql: SqlClient.SqlClient, table: Table<Row>) => {
  const select = selectFrom(sql, table)
  const read = readerOf(table)
  return (workspaceId: WorkspaceId, ref: string, lock: "" | "for update"): Effect.Effect<Row | undefined> => {
    // A ref that is neither an id nor a slug matches nothing.
    if (!isId(ref) && !isSlug(ref)) return Effect.undefined
    const isNamed = isId(ref) ? sql`id = ${ref}` : sql`slug = ${ref}`
    return sql<SelectedRow>`${select} where workspace_id = ${workspaceId} and ${isNamed} ${sql.literal(lock)}`.pipe(
      Effect.map((rows) => rows.map(read)[0]),
      dieOnSqlError
    )
  }
}

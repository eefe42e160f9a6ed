import { Effect } from "effect"
import type { MemoryStorage } from "../storage/MemoryStorage.ts"
import { UniqueViolation } from "../storage/Sql.ts"
import type { Table } from "../storage/Table.ts"
import type { ArchivableRow, ArchivablesRepo } from "./Archivables.ts"

/** The repository of products or environments over memory. */
export const makeArchivablesMemory = <Row extends ArchivableRow>(
  memory: MemoryStorage["Service"],
  table: Table<Row>
): ArchivablesRepo<Row> => {
  const put = (row: Row) =>
    memory.write((database) => {
      const isTaken = (other: Row) =>
        other.workspaceId === row.workspaceId && other.slug === row.slug && other.id !== row.id
      const rows = database.table(table)
      return rows.find(isTaken) !== undefined
        ? Effect.fail(new UniqueViolation({ constraint: `${table.name}_slug_key` }))
        : Effect.sync(() => rows.set(row.id, row))
    })
  const find: ArchivablesRepo<Row>["find"] = (workspaceId, ref) =>
    memory.read((database) =>
      database.table(table).find((row) => row.workspaceId === workspaceId && (row.id === ref || row.slug === ref))
    )
  return {
    insert: put,
    update: put,
    list: (workspaceId) =>
      memory.read((database) => database.table(table).filter((row) => row.workspaceId === workspaceId)),
    find,
    lock: find
  }
}

import { type PgClient, PgTypes } from "@effect/sql-pg"
import type { Statement } from "effect/sql"
import { columnName, recordFrom, recordOf } from "../storage/Table.ts"
import { auditEntries, type AuditRow } from "./AuditRepo.ts"

/** Statements that insert entries, also as parts of the statements of other rooms that do what they tell. */

const properties = Object.keys(auditEntries.columns) as ReadonlyArray<keyof AuditRow>

/** The statement, or part of one, that inserts the entries: each is a record of one parameter. */
export const insertAudit = (sql: PgClient.PgClient, entries: ReadonlyArray<AuditRow>): Statement.Statement<object> => {
  const names = properties.map(columnName).join(", ")
  const records = PgTypes.json(entries.map((entry) => recordFrom(auditEntries, properties, entry)))
  return sql`insert into audit_entries (${sql.literal(names)}) select ${sql.literal(names)}
    from json_to_recordset(${records}::json) as entry (${sql.literal(recordOf(auditEntries, properties))})`
}

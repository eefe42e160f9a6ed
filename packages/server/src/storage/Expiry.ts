import type { Timestamp } from "@delivery/domain/Timestamp"
import type { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { date } from "./Sql.ts"
import { columnName, type Table } from "./Table.ts"

/**
 * Deletes rows whose time is over, at most 100 at once: called before each insert, it keeps a table from growing. What
 * another request is about to delete is left to it.
 *
 * @param options.key The properties of the primary key.
 * @param options.until The property with the instant at which a row's time is over.
 */
export const deleteExpired = <R extends object>(
  sql: SqlClient.SqlClient,
  { name }: Table<R>,
  { key, until }: { readonly key: ReadonlyArray<keyof R & string>; readonly until: keyof R & string }
): ((now: Timestamp) => Effect.Effect<unknown, SqlError.SqlError>) => {
  const columns = key.map((property) => columnName(property)).join(", ")
  const statement = `delete from ${name} where (${columns}) in (select ${columns} from ${name}
    where ${columnName(until)} <= $1 limit 100 for update skip locked)`
  return (now) => sql.unsafe(statement, [date(now)])
}

import type { Timestamp } from "@delivery/domain/Timestamp"
import { PgTypes } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { column, uuids } from "./Columns.ts"
import type { MemoryStorage } from "./MemoryStorage.ts"
import { date, dieOnSqlError } from "./Sql.ts"
import { columnName, type Table } from "./Table.ts"

/** Moves an instant of rows forward, never back: what is written behind (storage/WriteBehind.ts). */

type Touch<Id extends string> = (times: ReadonlyMap<Id, Timestamp>) => Effect.Effect<void>

/** The properties of a row that are instants. */
type Instant<R> = { readonly [P in keyof R & string]: R[P] extends Timestamp | null ? P : never }[keyof R & string]

/**
 * In PostgreSQL, where the rows are locked in the order of their ids.
 *
 * @param others Whether rows that others have locked are waited for, or stay as they are.
 */
export const touchRows = <R extends { readonly id: string }>(
  sql: SqlClient.SqlClient,
  { name }: Table<R>,
  property: Instant<R>,
  others: "wait" | "skip"
): Touch<R["id"]> => {
  const [table, at] = [sql.literal(name), sql.literal(columnName(property))]
  const lock = sql.literal(others === "wait" ? "for no key update of t" : "for no key update of t skip locked")
  return (times) => {
    const instants = column([...times.values()], PgTypes.OID.timestamptz, date)
    return dieOnSqlError(
      Effect.asVoid(sql`with used as (
          select t.id, u.at from unnest(${uuids([...times.keys()])}::uuid[], ${instants}::timestamptz[]) as u (id, at)
          join ${table} t on t.id = u.id order by t.id ${lock}
        )
        update ${table} t set ${at} = greatest(t.${at}, used.at) from used where t.id = used.id`)
    )
  }
}

/** The same in the memory storage. */
export const touchMemory =
  <R extends { readonly id: string }>(
    memory: MemoryStorage["Service"],
    table: Table<R>,
    property: Instant<R>
  ): Touch<R["id"]> =>
  (times) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(table)
        for (const [id, at] of times) {
          const row = rows.get(id)
          const stored = row?.[property] as Timestamp | null | undefined
          if (row !== undefined && (stored == null || stored < at)) rows.set(id, { ...row, [property]: at })
        }
      })
    )

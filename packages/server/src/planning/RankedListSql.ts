import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { Statement } from "effect/sql"
import { texts, uuids } from "../storage/Columns.ts"
import { dieOnSqlError } from "../storage/Sql.ts"
import type { RankedList } from "./RankedList.ts"

/** The rows of a table that `condition` selects, as a list in the order of their ranks. */
export const rankedList = <Id extends string>(
  sql: PgClient.PgClient,
  table: { readonly name: string },
  condition: Statement.Fragment
): RankedList<Id> => {
  const name = sql.literal(table.name)
  return {
    next: (side, rank, except) =>
      sql<{ rank: string }>`select rank from ${name} where ${condition} and id <> ${except}
        ${nearest(sql, side, rank)}`.pipe(
        Effect.map((rows) => rows[0]?.rank ?? null),
        dieOnSqlError
      ),
    ids: sql<{ id: Id }>`select id from ${name} where ${condition} order by rank`.pipe(
      Effect.map((rows) => rows.map(({ id }) => id)),
      dieOnSqlError
    ),
    setRanks: (ranks) =>
      sql`update ${name} t set rank = new.rank
        from unnest(${uuids(ranks.map(([id]) => id))}, ${texts(ranks, ([, rank]) => rank)}) as new (id, rank)
        where t.id = new.id`.pipe(Effect.asVoid, dieOnSqlError)
  }
}

/** The end of a statement that finds the row nearest to a rank; with null, the first (above) or last (below) of all. */
export const nearest = (sql: PgClient.PgClient, side: "above" | "below", rank: string | null): Statement.Fragment => {
  const [beyond, order] = side === "above" ? [">", "asc"] : ["<", "desc"]
  return sql`${rank === null ? sql`` : sql`and rank ${sql.literal(beyond)} ${rank}`}
    order by rank ${sql.literal(order)} limit 1`
}

import type { TicketId } from "@delivery/domain/Ids"
import { maxFound } from "@delivery/domain/planning/TicketSearch"
import type { PgClient } from "@effect/sql-pg"
import { Context, Effect } from "effect"
import type { Statement } from "effect/sql"
import { uuids } from "../storage/Columns.ts"
import { dieOnSqlError } from "../storage/Sql.ts"
import { namesTicket } from "./TicketRefs.ts"
import { joinedTables, listedColumns, readListed, type SelectedTicket } from "./TicketRowsSql.ts"
import type { TicketsRepo } from "./TicketsRepo.ts"

/**
 * The search of tickets. What is in many tickets is found among those that changed last; only what is not there so often is
 * looked up in the index, which finds all of them. So neither kind of words takes long, whatever PostgreSQL knows of them.
 */

type Repo = TicketsRepo["Service"]

/**
 * How many of the last changed are compared one by one. If they have fewer than `maxFound` matches, so few of 100,000 tickets
 * match that the index finds and orders them in about the same time.
 */
export const LastChanged = Context.Reference<number>("@delivery/server/planning/LastChanged", {
  defaultValue: () => 2_000
})

/** What restricts the tickets `t`, of teams `team` and statuses `s`, but for the words. */
type Where = ReadonlyArray<Statement.Fragment>

export const search = (
  sql: PgClient.PgClient,
  conditionsOf: (...of: Parameters<Repo["list"]>) => Where
): Repo["search"] => {
  const columns = listedColumns(sql)
  const tables = joinedTables(sql)
  return (viewer, { identifier, words }, selection) =>
    Effect.gen(function* () {
      const where = conditionsOf(viewer, selection)
      const query = `'${viewer.workspaceId}' & ${words.map((word) => `'${word}':*`).join(" & ")}`
      const isNamed = identifier === undefined ? undefined : namesTicket(sql, viewer, identifier)
      const found = new Set<TicketId>(isNamed === undefined ? [] : yield* named(sql, where, isNamed))
      const add = (ids: ReadonlyArray<TicketId>) => {
        for (const id of ids) if (found.size < maxFound) found.add(id)
      }
      const last = yield* ofLastChanged(sql, where, query, yield* LastChanged)
      add(last.isAll || last.titles.length >= maxFound ? last.titles : yield* ofAll(sql, where, query, "title_words"))
      // Further ones that match are older than those.
      const isEnough = last.isAll || new Set([...found, ...last.others]).size >= maxFound
      add(isEnough ? last.others : yield* ofAll(sql, where, query, "words"))
      const ids = [...found]
      const rows = yield* sql<SelectedTicket>`select ${columns} ${tables}
        where ${sql.and([...where, sql`t.id = any(${uuids(ids)})`])}`
      const tickets = new Map(rows.map(readListed).map((ticket) => [ticket.id, ticket]))
      return ids.flatMap((id) => tickets.get(id) ?? [])
    }).pipe(dieOnSqlError)
}

const from = (sql: PgClient.PgClient): Statement.Fragment =>
  sql.literal("from tickets t join teams team on team.id = t.team_id join ticket_statuses s on s.id = t.status_id")

const limit = (sql: PgClient.PgClient, count: number): Statement.Fragment =>
  sql.literal(`order by updated_at desc, id desc limit ${count}`)

const named = (sql: PgClient.PgClient, where: Where, isNamed: Statement.Fragment) =>
  sql<{ readonly id: TicketId }>`select t.id ${from(sql)} where ${sql.and([...where, isNamed])}`.pipe(
    Effect.map((rows) => rows.map(({ id }) => id))
  )

interface FoundLast {
  /** Those that have all words in identifier and title, the last changed first. */
  readonly titles: ReadonlyArray<TicketId>
  readonly others: ReadonlyArray<TicketId>
  /** Whether there are no further tickets. */
  readonly isAll: boolean
}

const ofLastChanged = (sql: PgClient.PgClient, where: Where, query: string, count: number) => {
  const ids = (place: number) =>
    sql`array(select id from placed where place = ${sql.literal(String(place))} ${limit(sql, maxFound)})`
  return sql<FoundLast>`with last as materialized (
      select t.id, t.updated_at ${from(sql)} where ${sql.and(where)}
      order by t.updated_at desc, t.id desc limit ${sql.literal(String(count))}
    ), placed as materialized (
      select last.id, last.updated_at, held.place from last cross join lateral (
        select case when w.title_words @@ ${query}::tsquery then 1 when w.words @@ ${query}::tsquery then 2 end as place
        from ticket_words w where w.ticket_id = last.id limit 1
      ) held
    )
    select ${ids(1)} as titles, ${ids(2)} as others,
      (select count(*) from last) < ${sql.literal(String(count))} as "isAll"`.pipe(Effect.map(([row]) => row!))
}

/** All that match, by the index. */
const ofAll = (sql: PgClient.PgClient, where: Where, query: string, column: "title_words" | "words") =>
  sql<{ readonly id: TicketId }>`with held as materialized (
      select ticket_id from ticket_words where ${sql.literal(column)} @@ ${query}::tsquery
    )
    select t.id ${from(sql)} join held on held.ticket_id = t.id where ${sql.and(where)}
    order by t.updated_at desc, t.id desc limit ${sql.literal(String(maxFound))}`.pipe(
    Effect.map((rows) => rows.map(({ id }) => id))
  )

import type { TicketId } from "@delivery/domain/Ids"
import { maxFound } from "@delivery/domain/planning/TicketSearch"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { Statement } from "effect/sql"
import { uuids } from "../storage/Columns.ts"
import { dieOnSqlError } from "../storage/Sql.ts"
import { namesTicket } from "./TicketRefs.ts"
import { joinedTables, listedColumns, readListed, type SelectedTicket } from "./TicketRowsSql.ts"
import { SearchSteps } from "./TicketSearchSteps.ts"
import type { TicketsRepo } from "./TicketsRepo.ts"

/**
 * The search of tickets. What is in many tickets is found among those that changed last; what is in few, by the index, which
 * finds all of them. Which of the two it is, is tried, not estimated: PostgreSQL plans a statement for all values.
 */

type Repo = TicketsRepo["Service"]

/** How many words are looked up in the index, the longest: those of few letters are in many tickets, and take long. */
const indexedWords = 3

/** What restricts the tickets `t`, of teams `team` and statuses `s`, but for the words. */
type Where = ReadonlyArray<Statement.Fragment>

interface Search {
  readonly sql: PgClient.PgClient
  readonly where: Where
  /** The words, as a `tsquery`. */
  readonly query: string
  /** Those for the index; undefined where they are all. */
  readonly indexed: string | undefined
}

type Column = "title_words" | "words"

export const search = (
  sql: PgClient.PgClient,
  conditionsOf: (...of: Parameters<Repo["list"]>) => Where
): Repo["search"] => {
  const columns = listedColumns(sql)
  const tables = joinedTables(sql)
  return (viewer, { identifier, words }, selection) =>
    Effect.gen(function* () {
      const where = conditionsOf(viewer, selection)
      const queryOf = (words: ReadonlyArray<string>) =>
        [`'${viewer.workspaceId}'`, ...words.map((word) => `'${word}':*`)].join(" & ")
      const longest = words.toSorted((a, b) => b.length - a.length).slice(0, indexedWords)
      const indexed = words.length > indexedWords ? queryOf(longest) : undefined
      const one: Search = { sql, where, query: queryOf(words), indexed }
      const isNamed = identifier === undefined ? undefined : namesTicket(sql, viewer, identifier)
      const found = new Set<TicketId>(isNamed === undefined ? [] : yield* named(sql, where, isNamed))
      const add = (ids: ReadonlyArray<TicketId>) => {
        for (const id of ids) if (found.size < maxFound) found.add(id)
      }
      const last = yield* ofLastChanged(one)
      add(last.isAll || last.titles.length >= maxFound ? last.titles : yield* ofAll(one, "title_words"))
      // Further ones that match are older than those.
      const isEnough = last.isAll || new Set([...found, ...last.others]).size >= maxFound
      add(isEnough ? last.others : yield* ofAll(one, "words"))
      if (found.size < maxFound) add(yield* ofComments(one, last.isAll))
      const ids = [...found]
      const rows = yield* sql<SelectedTicket>`select ${columns} ${tables}
        where ${sql.and([...where, sql`t.id = any(${uuids(ids)})`])}`
      const tickets = new Map(rows.map(readListed).map((ticket) => [ticket.id, ticket]))
      return ids.flatMap((id) => tickets.get(id) ?? [])
    }).pipe(dieOnSqlError)
}

const joins = (sql: PgClient.PgClient): Statement.Fragment =>
  sql.literal("join teams team on team.id = t.team_id join ticket_statuses s on s.id = t.status_id")

const lastChanged = (sql: PgClient.PgClient, limit: number): Statement.Fragment =>
  sql.literal(`order by t.updated_at desc, t.id desc limit ${limit}`)

const named = (sql: PgClient.PgClient, where: Where, isNamed: Statement.Fragment) =>
  sql<{ readonly id: TicketId }>`select t.id from tickets t ${joins(sql)} where ${sql.and([...where, isNamed])}`.pipe(
    Effect.map(idsOf)
  )

const idsOf = (rows: ReadonlyArray<{ readonly id: TicketId }>): ReadonlyArray<TicketId> => rows.map(({ id }) => id)

interface FoundLast {
  /** Those that have all words in identifier and title, the last changed first. */
  readonly titles: ReadonlyArray<TicketId>
  readonly others: ReadonlyArray<TicketId>
  /** Whether there are no further tickets. */
  readonly isAll: boolean
}

/** The laterals with a limit are looked up ticket by ticket, where PostgreSQL might read all tickets instead. */
const ofLastChanged = ({ query, sql, where }: Search) =>
  Effect.flatMap(SearchSteps, ({ last }) => {
    const ids = (place: number) =>
      sql`array(select t.id from placed t where place = ${sql.literal(String(place))} ${lastChanged(sql, maxFound)})`
    return sql<FoundLast>`with last as materialized (
        select t.id, t.updated_at from tickets t ${joins(sql)} where ${sql.and(where)} ${lastChanged(sql, last)}
      ), placed as materialized (
        select last.id, last.updated_at, held.place from last cross join lateral (
          select case when w.title_words @@ ${query}::tsquery then 1 when w.words @@ ${query}::tsquery then 2 end as place
          from ticket_words w where w.ticket_id = last.id limit 1
        ) held
      )
      select ${ids(1)} as titles, ${ids(2)} as others,
        (select count(*) from last) < ${sql.literal(String(last))} as "isAll"`.pipe(Effect.map(([row]) => row!))
  })

const ofAll = (one: Search, column: Column) =>
  Effect.flatMap(byIndex(one, column), (found) => (found === null ? oneByOne(one, column) : Effect.succeed(found)))

/** Null where the index has too many to order them. */
const byIndex = ({ indexed, query, sql, where }: Search, column: Column) =>
  Effect.flatMap(SearchSteps, (steps) => {
    const words = sql.literal(column)
    const held =
      indexed === undefined
        ? sql`${words} @@ ${query}::tsquery`
        : // The index knows no "is true".
          sql`${words} @@ ${indexed}::tsquery and (${words} @@ ${query}::tsquery) is true`
    return sql<{ readonly ids: ReadonlyArray<TicketId> | null }>`with held as materialized (
        select ticket_id from ticket_words where ${held} limit ${sql.literal(String(steps.indexed + 1))}
      )
      select case when (select count(*) from held) <= ${sql.literal(String(steps.indexed))} then array(
        select t.id from held cross join lateral (select * from tickets where id = held.ticket_id limit 1) t
          ${joins(sql)} where ${sql.and(where)} ${lastChanged(sql, maxFound)}
      ) end as ids`.pipe(Effect.map(([row]) => row!.ids))
  })

/** Those of which one comment has all words. Few tickets are looked through one by one: the index has the comments of all. */
const ofComments = (one: Search, areFew: boolean) =>
  Effect.flatMap(areFew ? Effect.succeed(null) : commentsByIndex(one), (found) =>
    found === null ? commentsOneByOne(one) : Effect.succeed(found)
  )

/** Null where the index has too many to order them. */
const commentsByIndex = ({ indexed, query, sql, where }: Search) =>
  Effect.flatMap(SearchSteps, (steps) => {
    const held =
      indexed === undefined
        ? sql`words @@ ${query}::tsquery`
        : sql`words @@ ${indexed}::tsquery and (words @@ ${query}::tsquery) is true`
    return sql<{ readonly ids: ReadonlyArray<TicketId> | null }>`with held as materialized (
        select ticket_id from comment_words where ${held} limit ${sql.literal(String(steps.indexed + 1))}
      )
      select case when (select count(*) from held) <= ${sql.literal(String(steps.indexed))} then array(
        select t.id from (select distinct ticket_id from held) held
          cross join lateral (select * from tickets where id = held.ticket_id limit 1) t
          ${joins(sql)} where ${sql.and(where)} ${lastChanged(sql, maxFound)}
      ) end as ids`.pipe(Effect.map(([row]) => row!.ids))
  })

const commentsOneByOne = ({ query, sql, where }: Search) =>
  sql<{ readonly id: TicketId }>`select t.id from tickets t ${joins(sql)} cross join lateral (
      select from comment_words w where w.ticket_id = t.id and w.words @@ ${query}::tsquery limit 1
    ) held
    where ${sql.and(where)} ${lastChanged(sql, maxFound)}`.pipe(Effect.map(idsOf))

/** From the last changed on, until there are enough. */
const oneByOne = ({ query, sql, where }: Search, column: Column) =>
  sql<{ readonly id: TicketId }>`select t.id from tickets t ${joins(sql)} cross join lateral (
      select from ticket_words w where w.ticket_id = t.id and w.${sql.literal(column)} @@ ${query}::tsquery limit 1
    ) held
    where ${sql.and(where)} ${lastChanged(sql, maxFound)}`.pipe(Effect.map(idsOf))

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
import type { Viewer } from "./Viewer.ts"
import { seesTeam } from "./Visibility.ts"

/**
 * The search of tickets. What is in many tickets is found among those that changed last; what is in few, by the index, which
 * finds all of them. Which of the two it is, is tried, not estimated: PostgreSQL plans a statement for all values. Its estimate
 * is asked for only where neither finds enough: of what is in thousands of tickets, but not in those that changed last.
 */

type Repo = TicketsRepo["Service"]

/** How many words are looked up in the index, the longest: those of few letters are in many tickets, and take long. */
const indexedWords = 3

/** What restricts the tickets `t`, of teams `team` and statuses `s`, but for the words. */
type Where = ReadonlyArray<Statement.Fragment>

interface Search {
  readonly sql: PgClient.PgClient
  readonly viewer: Viewer
  readonly where: Where
  /** The words, as a `tsquery`. */
  readonly query: string
  /** Those for the index; undefined where they are all. */
  readonly indexed: string | undefined
  /** What all words of the workspace have, as a `tsquery`. */
  readonly everything: string
}

/** Where words are kept, by ticket. */
type Words =
  | { readonly table: "ticket_words"; readonly column: "title_words" | "words" }
  | { readonly table: "comment_words"; readonly column: "words" }

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
      const everything = queryOf([])
      const one: Search = { sql, viewer, where, query: queryOf(words), indexed, everything }
      const isNamed = identifier === undefined ? undefined : namesTicket(sql, viewer, identifier)
      const found = new Set<TicketId>(isNamed === undefined ? [] : yield* named(sql, where, isNamed))
      const add = (ids: ReadonlyArray<TicketId>) => {
        for (const id of ids) if (found.size < maxFound) found.add(id)
      }
      const last = yield* ofLastChanged(one)
      add(
        last.isAll || last.titles.length >= maxFound
          ? last.titles
          : yield* ofAll(one, { table: "ticket_words", column: "title_words" })
      )
      // Further ones that match are older than those.
      const isEnough = last.isAll || new Set([...found, ...last.others]).size >= maxFound
      add(isEnough ? last.others : yield* ofAll(one, { table: "ticket_words", column: "words" }))
      // Few tickets are looked through one by one: the index has the comments of all.
      const said: Words = { table: "comment_words", column: "words" }
      if (found.size < maxFound) add(yield* last.isAll ? oneByOne(one, said) : ofAll(one, said))
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

/** All that have the words there, the last changed first: at most so many as are found. */
const ofAll = Effect.fnUntraced(function* (one: Search, words: Words) {
  const few = yield* byIndex(one, words)
  if (few !== null) return few
  const many = (yield* areFewer(one, words)) ? yield* amongIndexed(one, words) : null
  return many ?? (yield* oneByOne(one, words))
})

/** The condition of the rows `w`, for the index. */
const held = ({ indexed, query, sql }: Search, { column }: Words): Statement.Fragment => {
  const words = sql.literal(`w.${column}`)
  return indexed === undefined
    ? sql`${words} @@ ${query}::tsquery`
    : // The index knows no "is true".
      sql`${words} @@ ${indexed}::tsquery and (${words} @@ ${query}::tsquery) is true`
}

const tableOf = ({ sql }: Search, { table }: Words): Statement.Fragment => sql.literal(`${table} w`)

/** Of several comments on a ticket, one. */
const once = ({ sql }: Search, { table }: Words): Statement.Fragment =>
  sql.literal(table === "ticket_words" ? "held" : "(select distinct ticket_id from held) held")

/** Null where the index has too many to look them up one by one. */
const byIndex = (one: Search, words: Words) =>
  Effect.flatMap(SearchSteps, (steps) => {
    const { sql, where } = one
    return sql<{ readonly ids: ReadonlyArray<TicketId> | null }>`with held as materialized (
        select w.ticket_id from ${tableOf(one, words)} where ${held(one, words)}
        limit ${sql.literal(String(steps.indexed + 1))}
      )
      select case when (select count(*) from held) <= ${sql.literal(String(steps.indexed))} then array(
        select t.id from ${once(one, words)}
          cross join lateral (select * from tickets where id = held.ticket_id limit 1) t
          ${joins(sql)} where ${sql.and(where)} ${lastChanged(sql, maxFound)}
      ) end as ids`.pipe(Effect.map(([row]) => row!.ids))
  })

interface Estimated {
  readonly "QUERY PLAN": readonly [
    { readonly Plan: { readonly Plans: ReadonlyArray<{ readonly "Plan Rows": number }> } }
  ]
}

/**
 * Whether PostgreSQL takes them for less than a share of all. Then it is quicker to order all that the index has, and else to
 * look for them from the last changed on. A wrong estimate costs time, and nothing else.
 */
const areFewer = (one: Search, words: Words) =>
  Effect.flatMap(SearchSteps, ({ most, share }) => {
    const { everything, sql } = one
    const table = tableOf(one, words)
    return sql<Estimated>`explain (format json) select from ${table} where ${held(one, words)}
      union all select from ${table} where ${sql.literal(`w.${words.column}`)} @@ ${everything}::tsquery`.pipe(
      Effect.map(([row]) => {
        const [some, all] = row!["QUERY PLAN"][0].Plan.Plans.map((plan) => plan["Plan Rows"])
        return some! < Math.min(all! * share, most)
      })
    )
  })

/**
 * All that the index has, put into the order of tickets. Null where too many of the first of them are left out. By "is true"
 * PostgreSQL looks each ticket up among them in memory, in their order; else it would look each of them up among the tickets.
 */
const amongIndexed = (one: Search, words: Words) =>
  Effect.flatMap(SearchSteps, ({ ordered }) => {
    const { sql, viewer, where } = one
    const limit = sql.literal(String(ordered))
    const seen =
      words.table === "ticket_words"
        ? sql`join teams team on team.id = w.team_id and ${seesTeam(sql, viewer, "team")}`
        : sql``
    return sql<{ readonly ids: ReadonlyArray<TicketId>; readonly isAll: boolean }>`with held as materialized (
        select w.ticket_id from ${tableOf(one, words)} ${seen} where ${held(one, words)}
      ), first as materialized (
        select t.id from tickets t where t.workspace_id = ${viewer.workspaceId}
          and (t.id in (select ticket_id from held)) is true order by t.updated_at desc, t.id desc limit ${limit}
      )
      select array(
        select t.id from first cross join lateral (select * from tickets where id = first.id limit 1) t
          ${joins(sql)} where ${sql.and(where)} ${lastChanged(sql, maxFound)}
      ) as ids, (select count(*) from first) < ${limit} as "isAll"`.pipe(
      Effect.map(([row]) => (row!.isAll || row!.ids.length === maxFound ? row!.ids : null))
    )
  })

/** From the last changed on, until there are enough. */
const oneByOne = ({ query, sql, where }: Search, { column, table }: Words) =>
  sql<{ readonly id: TicketId }>`select t.id from tickets t ${joins(sql)} cross join lateral (
      select from ${sql.literal(table)} w where w.ticket_id = t.id and w.${sql.literal(column)} @@ ${query}::tsquery
      limit 1
    ) held
    where ${sql.and(where)} ${lastChanged(sql, maxFound)}`.pipe(Effect.map(idsOf))

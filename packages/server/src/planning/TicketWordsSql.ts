import { wordsOf } from "@delivery/domain/planning/TicketSearch"
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { integers, texts, uuids } from "../storage/Columns.ts"
import { dieOnSqlError } from "../storage/Sql.ts"
import { columnsOf } from "../storage/Table.ts"
import { type TicketRow, tickets } from "./TicketsRepo.ts"

/** The words of tickets, as the search finds them. They are made here, so that every storage has the same. */

const properties = ["id", "workspaceId", "teamId", "number", "title", "description"] as const

type Worded = Pick<TicketRow, (typeof properties)[number]>

/** The statement that stores the words of the tickets, in place of those before. */
export const storeWords = (sql: SqlClient.SqlClient, rows: ReadonlyArray<Worded>): Statement.Statement<object> =>
  sql`insert into ticket_words (ticket_id, workspace_id, team_id, title_words, words)
    select id, workspace_id, team_id, array_to_tsvector(title), array_to_tsvector(title || description)
    from (
      select r.id, r.workspace_id, r.team_id, string_to_array(r.description, ' ') as description,
        array[r.workspace_id::text, lower(team.key collate "C"), r.number::text] || string_to_array(r.title, ' ') as title
      from unnest(${uuids(rows.map(({ id }) => id))}, ${uuids(rows.map(({ workspaceId }) => workspaceId))},
          ${uuids(rows.map(({ teamId }) => teamId))}, ${integers(rows.map(({ number }) => number))},
          ${texts(rows, ({ title }) => wordsOf(title).join(" "))},
          ${texts(rows, ({ description }) => wordsOf(description ?? "").join(" "))})
        as r (id, workspace_id, team_id, number, title, description) join teams team on team.id = r.team_id
    ) worded
    on conflict (ticket_id) do update
      set team_id = excluded.team_id, title_words = excluded.title_words, words = excluded.words`

/** Few enough that their descriptions fit in memory. */
const step = 50

/** Stores the words of some tickets that have none yet, in a transaction. Returns whether there were any. */
export const wordTickets = (sql: SqlClient.SqlClient): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    const rows = yield* sql<Worded>`select ${sql.literal(columnsOf(tickets, { only: properties }))} from tickets
      where id in (select ticket_id from unworded_tickets order by ticket_id limit ${sql.literal(String(step))})
      order by id for no key update`
    if (rows.length === 0) return false
    yield* storeWords(sql, rows)
    yield* sql`delete from unworded_tickets where ticket_id = any(${uuids(rows.map(({ id }) => id))})`
    return true
  }).pipe(dieOnSqlError)

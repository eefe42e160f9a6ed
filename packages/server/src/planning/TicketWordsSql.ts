import type { CommentId, TicketId, WorkspaceId } from "@delivery/domain/Ids"
import { wordsOf } from "@delivery/domain/planning/TicketSearch"
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { integers, texts, uuids } from "../storage/Columns.ts"
import { dieOnSqlError } from "../storage/Sql.ts"
import { columnsOf } from "../storage/Table.ts"
import { comments } from "./CommentsRepo.ts"
import { type TicketRow, tickets } from "./TicketsRepo.ts"

/** The words of tickets and their comments, as the search finds them. They are made here, so that every storage has the same. */

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

interface WordedComment {
  readonly id: CommentId
  readonly workspaceId: WorkspaceId
  readonly ticketId: TicketId
  readonly body: string
}

/** The statement that stores the words of the comments, in place of those before, or of those alone that `from` has. */
export const storeCommentWords = (
  sql: SqlClient.SqlClient,
  rows: ReadonlyArray<WordedComment>,
  from?: "inserted" | "changed"
): Statement.Statement<object> =>
  sql`insert into comment_words (comment_id, ticket_id, workspace_id, body_md5, words)
    select r.id, r.ticket_id, r.workspace_id, md5(r.body),
      array_to_tsvector(array[r.workspace_id::text] || string_to_array(r.words, ' '))
    from unnest(${uuids(rows.map(({ id }) => id))}, ${uuids(rows.map(({ ticketId }) => ticketId))},
        ${uuids(rows.map(({ workspaceId }) => workspaceId))}, ${texts(rows, ({ body }) => body)},
        ${texts(rows, ({ body }) => wordsOf(body).join(" "))}) as r (id, ticket_id, workspace_id, body, words)
      ${from === undefined ? sql`` : sql`join ${sql.literal(from)} on ${sql.literal(from)}.id = r.id`}
    on conflict (comment_id) do update set body_md5 = excluded.body_md5, words = excluded.words`

/** Stores the words of some comments that have none yet, in a transaction. Returns whether there were any. */
export const wordComments = (sql: SqlClient.SqlClient): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    const noted = yield* sql<{ readonly id: CommentId }>`select comment_id as id from unworded_comments
      order by comment_id limit ${sql.literal(String(step))}`
    if (noted.length === 0) return false
    const ids = uuids(noted.map(({ id }) => id))
    const rows = yield* sql<WordedComment>`select ${sql.literal(columnsOf(comments, { only: commentProperties }))}
      from comments where id = any(${ids}) order by id for no key update`
    if (rows.length > 0) yield* storeCommentWords(sql, rows)
    // Those of deleted comments, too.
    yield* sql`delete from unworded_comments where comment_id = any(${ids})`
    return true
  }).pipe(dieOnSqlError)

const commentProperties = ["id", "workspaceId", "ticketId", "body"] as const

/** Few enough that their texts fit in memory. */
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

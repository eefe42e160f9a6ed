import type { Actor } from "@delivery/domain/identity/Actor"
import type { AgentId, CommentId, PersonId, TicketId } from "@delivery/domain/Ids"
import type { Mentions } from "@delivery/domain/planning/Mentions"
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import { actorColumns, actorJoins, type ActorRow, readActor } from "../access/Actors.ts"
import type { StoredEvent } from "../events/EventsRepo.ts"
import { insertEvent } from "../events/EventStatements.ts"
import { column, texts, uuids } from "../storage/Columns.ts"
import { date, dateOrNull, dieOnSqlError } from "../storage/Sql.ts"
import { columnsOf, readerOf, type SelectedRow } from "../storage/Table.ts"
import {
  type CommentDetails,
  type CommentRow,
  comments,
  CommentsRepo,
  mentionedOf,
  writersOfNewest
} from "./CommentsRepo.ts"
import { namesTicket } from "./TicketRefs.ts"
import { storeCommentWords } from "./TicketWordsSql.ts"
import { seesTeam } from "./Visibility.ts"

export const layer = Layer.effect(
  CommentsRepo,
  Effect.map(PgClient.PgClient, (sql) =>
    CommentsRepo.of({
      list: list(sql),
      newest: newest(sql),
      find: find(sql),
      lock: lock(sql),
      mentionable: mentionable(sql),
      writers: writers(sql),
      everMentioned: everMentioned(sql),
      insert: insert(sql),
      update: update(sql),
      delete: remove(sql)
    })
  )
)

type Repo = CommentsRepo["Service"]

/** The columns of a `CommentDetails`, over the comments `c` and `authorJoins`. */
const detailColumns = (sql: PgClient.PgClient): Statement.Fragment =>
  sql`${sql.literal(columnsOf(comments, { of: "c" }))}, (
      select json_agg(json_build_object('kind', x.kind, 'id', x.subject_id,
          'name', coalesce(a.client_name, initcap(a.client), p.name), 'email', p.email, 'person', case when a.id is not null
            then json_build_object('id', p.id, 'name', p.name, 'email', p.email) end) order by x.position)
      from comment_mentions x
        left join agents a on x.kind = 'agent' and a.id = x.subject_id
        left join persons p on p.id = case x.kind when 'user' then x.subject_id else a.person_id end
      where x.comment_id = c.id and x.position is not null
    ) as mentions, ${actorColumns(sql, "c.author")}`

const authorJoins = (sql: PgClient.PgClient): Statement.Fragment => actorJoins(sql, "c.author")

type SelectedComment = SelectedRow & ActorRow & { readonly mentions: ReadonlyArray<Actor> | null }

const readComment = readerOf(comments)

const readDetails = (row: SelectedComment): CommentDetails => ({
  ...readComment(row),
  author: readActor(row),
  ...mentionedOf(row.mentions ?? [])
})

const list = (sql: PgClient.PgClient): Repo["list"] => {
  const columns = detailColumns(sql)
  const joins = authorJoins(sql)
  return (viewer, ticketRef) => {
    const isNamed = namesTicket(sql, viewer, ticketRef)
    return isNamed === undefined
      ? Effect.undefined
      : sql<SelectedComment>`select ${columns}
          from tickets t join teams team on team.id = t.team_id left join comments c on c.ticket_id = t.id ${joins}
          where t.workspace_id = ${viewer.workspaceId} and ${isNamed} and ${seesTeam(sql, viewer, "team")}
          order by c.created_at, c.id`.pipe(
          Effect.map((rows) =>
            // A ticket without comments is one row of nulls; a ticket that is not there is none.
            rows.length === 0 ? undefined : rows.filter(({ id }) => id !== null).map(readDetails)
          ),
          dieOnSqlError
        )
  }
}

const newest = (sql: PgClient.PgClient): Repo["newest"] => {
  const columns = detailColumns(sql)
  const joins = authorJoins(sql)
  return (ticketId, { before, bytes, limit }) => {
    const isOlder =
      before === undefined ? sql`true` : sql`(created_at, id) < (${date(before.createdAt)}, ${before.id}::uuid)`
    return sql<SelectedComment & { readonly older: number }>`select ${columns},
        (select count(*)::int from comments older
          where older.ticket_id = c.ticket_id and (older.created_at, older.id) < (c.created_at, c.id)) as older
      from (
        select *, sum(octet_length(body)) over (order by created_at desc, id desc) - octet_length(body) as newer_bytes
        from (
          select * from comments where ticket_id = ${ticketId} and ${isOlder}
          order by created_at desc, id desc limit ${limit}
        ) part
      ) c ${joins}
      where c.newer_bytes < ${bytes} order by c.created_at, c.id`.pipe(
      Effect.map((rows) => ({ comments: rows.map(readDetails), older: rows[0]?.older ?? 0 })),
      dieOnSqlError
    )
  }
}

const find = (sql: PgClient.PgClient) => {
  const columns = detailColumns(sql)
  const joins = authorJoins(sql)
  return (ticketId: TicketId, id: CommentId) =>
    sql<SelectedComment>`select ${columns} from comments c ${joins}
      where c.ticket_id = ${ticketId} and c.id = ${id}`.pipe(
      Effect.map((rows): CommentDetails | undefined => rows.map(readDetails)[0]),
      dieOnSqlError
    )
}

const lock = (sql: PgClient.PgClient) => (ticketId: TicketId, id: CommentId) =>
  sql`select 1 from comments where ticket_id = ${ticketId} and id = ${id} for no key update`.pipe(
    Effect.map((rows) => rows.length === 1),
    dieOnSqlError
  )

const mentionable =
  (sql: PgClient.PgClient): Repo["mentionable"] =>
  (team, mentions) => {
    const seesTeam = sql`(${team.visibility} = 'open' or m.role in ('admin', 'owner') or exists (
      select 1 from team_members tm where tm.team_id = ${team.id} and tm.person_id = m.person_id))`
    return sql<{ readonly kind: "user" | "agent"; readonly id: string; readonly seesTeam: boolean }>`
      select 'user' as kind, m.person_id as id, true as "seesTeam" from members m
        where m.workspace_id = ${team.workspaceId} and m.active and m.person_id = any(${uuids(mentions.users)})
      union all
      select 'agent', a.id, ${seesTeam} from agents a
        join members m on m.workspace_id = a.workspace_id and m.person_id = a.person_id and m.active
        where a.workspace_id = ${team.workspaceId} and a.revoked_at is null
          and a.id = any(${uuids(mentions.agents)})`.pipe(
      Effect.map((rows) => ({
        users: rows.filter(({ kind }) => kind === "user").map(({ id }) => id as PersonId),
        agents: rows.filter(({ kind }) => kind === "agent").map(({ id, seesTeam }) => ({ id: id as AgentId, seesTeam }))
      })),
      dieOnSqlError
    )
  }

const writers = (sql: PgClient.PgClient) => (ticketId: TicketId) =>
  sql<{ readonly id: PersonId }>`select distinct author_id as id from (
      select author_kind, author_id from comments where ticket_id = ${ticketId}
      order by created_at desc, id desc limit ${sql.literal(String(writersOfNewest))}
    ) newest where author_kind = 'user'`.pipe(
    Effect.map((rows) => rows.map(({ id }) => id)),
    dieOnSqlError
  )

const everMentioned = (sql: PgClient.PgClient) => (id: CommentId) =>
  sql<{ readonly id: PersonId | AgentId }>`select subject_id as id from comment_mentions
    where comment_id = ${id}`.pipe(
    Effect.map((rows) => rows.map(({ id }) => id)),
    dieOnSqlError
  )

const insert =
  (sql: PgClient.PgClient): Repo["insert"] =>
  (comment, mentions, event) =>
    sql`with inserted as (
        insert into comments (id, workspace_id, ticket_id, body, author_kind, author_id, created_at, edited_at)
        values (${comment.id}, ${comment.workspaceId}, ${comment.ticketId}, ${comment.body},
          ${comment.authorKind}, ${comment.authorId}, ${date(comment.createdAt)}, ${dateOrNull(comment.editedAt)})
        returning id
      ), mentioned as (${insertMentions(sql, comment, mentions, "inserted")}),
      worded as (${storeCommentWords(sql, [comment], "inserted")}),
      event as (${insertEvent(sql, event)})
      select id from inserted`.pipe(Effect.asVoid, dieOnSqlError)

const update =
  (sql: PgClient.PgClient): Repo["update"] =>
  (comment, mentions, event) =>
    sql`with changed as (
        update comments set body = ${comment.body}, edited_at = ${dateOrNull(comment.editedAt)}
        where id = ${comment.id} returning id
      ), unmentioned as (
        update comment_mentions set position = null where comment_id = ${comment.id}
          and subject_id <> all(${uuids([...mentions.users, ...mentions.agents])})
      ), mentioned as (${insertMentions(sql, comment, mentions, "changed")}),
      worded as (${storeCommentWords(sql, [comment], "changed")}),
      event as (${insertEvent(sql, event)})
      select id from changed`.pipe(Effect.asVoid, dieOnSqlError)

/** The statement that stores whom the comment, which the CTE `from` stores, mentions. */
const insertMentions = (
  sql: PgClient.PgClient,
  { id, workspaceId }: CommentRow,
  mentions: Mentions,
  from: "inserted" | "changed"
): Statement.Fragment => {
  const rows = [
    ...mentions.users.map((id, position) => ({ kind: "user", id, position })),
    ...mentions.agents.map((id, position) => ({ kind: "agent", id, position }))
  ]
  return sql`insert into comment_mentions (workspace_id, comment_id, kind, subject_id, position)
    select ${workspaceId}::uuid, ${id}::uuid, new.kind, new.id, new.position
    from ${sql.literal(from)}, unnest(${texts(rows, ({ kind }) => kind)}, ${uuids(rows.map(({ id }) => id))},
      ${column(rows, PgTypes.OID.int4, ({ position }) => position)}) as new (kind, id, position)
    on conflict (comment_id, kind, subject_id) do update set position = excluded.position`
}

const remove = (sql: PgClient.PgClient) => (id: CommentId, event: StoredEvent) =>
  sql`with event as (${insertEvent(sql, event)}) delete from comments where id = ${id}`.pipe(
    Effect.asVoid,
    dieOnSqlError
  )

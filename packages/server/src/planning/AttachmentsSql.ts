import type { FileId, TicketId } from "@delivery/domain/Ids"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import { actorColumns, actorJoins, type ActorRow, readActor } from "../access/Actors.ts"
import type { StoredEvent } from "../events/EventsRepo.ts"
import { insertEvent } from "../events/EventStatements.ts"
import { date, dieOnSqlError } from "../storage/Sql.ts"
import { columnsOf, readerOf, type SelectedRow } from "../storage/Table.ts"
import { type AttachmentDetails, type AttachmentRow, AttachmentsRepo, ticketAttachments } from "./AttachmentsRepo.ts"
import { namesTicket } from "./TicketRefs.ts"
import type { Viewer } from "./Viewer.ts"
import { seesTeam } from "./Visibility.ts"

export const layer = Layer.effect(
  AttachmentsRepo,
  Effect.map(PgClient.PgClient, (sql) =>
    AttachmentsRepo.of({
      list: list(sql),
      find: find(sql),
      count: count(sql),
      insert: insert(sql),
      isStored: isStored(sql),
      delete: remove(sql)
    })
  )
)

type Repo = AttachmentsRepo["Service"]

type SelectedAttachment = SelectedRow & ActorRow

const readAttachment = readerOf(ticketAttachments)

/** The attachments of the ticket that the viewer sees, joined by `on`; undefined where the viewer sees no such ticket. */
const select = (sql: PgClient.PgClient) => {
  const columns = sql`${sql.literal(columnsOf(ticketAttachments, { of: "a" }))}, ${actorColumns(sql, "a.author")}`
  const joins = actorJoins(sql, "a.author")
  return (viewer: Viewer, ticketRef: string, on: Statement.Fragment) => {
    const isNamed = namesTicket(sql, viewer, ticketRef)
    return isNamed === undefined
      ? Effect.undefined
      : sql<SelectedAttachment>`select ${columns}
          from tickets t join teams team on team.id = t.team_id left join ticket_attachments a on ${on} ${joins}
          where t.workspace_id = ${viewer.workspaceId} and ${isNamed} and ${seesTeam(sql, viewer, "team")}
          order by a.created_at, a.id`.pipe(
          Effect.map((rows) =>
            // A ticket without attachments is one row of nulls; a ticket that is not there is none.
            rows.length === 0
              ? undefined
              : rows
                  .filter(({ id }) => id !== null)
                  .map((row): AttachmentDetails => ({ ...readAttachment(row), author: readActor(row) }))
          ),
          dieOnSqlError
        )
  }
}

const list = (sql: PgClient.PgClient): Repo["list"] => {
  const found = select(sql)
  return (viewer, ticketRef) => found(viewer, ticketRef, sql`a.ticket_id = t.id`)
}

const find = (sql: PgClient.PgClient): Repo["find"] => {
  const found = select(sql)
  return (viewer, ticketRef, id) =>
    Effect.map(found(viewer, ticketRef, sql`a.ticket_id = t.id and a.id = ${id}`), (rows) => rows && (rows[0] ?? null))
}

const count = (sql: PgClient.PgClient) => (ticketId: TicketId) =>
  sql<{ readonly count: number }>`select count(*)::int as count from ticket_attachments
    where ticket_id = ${ticketId}`.pipe(
    Effect.map(([row]) => row!.count),
    dieOnSqlError
  )

const insert = (sql: PgClient.PgClient) => (attachment: AttachmentRow, event: StoredEvent) =>
  sql`with claimed as (
      delete from pending_blobs where id = ${attachment.id} returning id, workspace_id, run_id
    ), stored as (
      insert into ticket_attachments (id, workspace_id, ticket_id, name, size, content_type, sha256, author_kind, author_id,
        created_at)
      select id, workspace_id, run_id, ${attachment.name}, ${attachment.size}, ${attachment.contentType},
        ${attachment.sha256}, ${attachment.authorKind}, ${attachment.authorId}::uuid,
        ${date(attachment.createdAt)}::timestamptz
      from claimed
    ), event as (${insertEvent(sql, event, "claimed")})
    select id from claimed`.pipe(
    Effect.map((rows) => rows.length > 0),
    dieOnSqlError
  )

const isStored = (sql: PgClient.PgClient) => (id: FileId) =>
  sql`select 1 from ticket_attachments where id = ${id}`.pipe(
    Effect.map((rows) => rows.length > 0),
    dieOnSqlError
  )

/** A trigger makes its blob pending and lapsed. */
const remove = (sql: PgClient.PgClient) => (id: FileId, event: StoredEvent) =>
  sql`with event as (${insertEvent(sql, event)}) delete from ticket_attachments where id = ${id}`.pipe(
    Effect.asVoid,
    dieOnSqlError
  )

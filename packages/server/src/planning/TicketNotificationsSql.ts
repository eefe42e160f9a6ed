import type { CommentId, NotificationId, PersonId, TicketId } from "@delivery/domain/Ids"
import { lineMentioning } from "@delivery/domain/planning/Mentions"
import { ticketIdentifier } from "@delivery/domain/planning/Ticket"
import {
  maxExcerpt,
  maxNotifiedComment,
  type TicketNotification,
  type TicketNotificationKind
} from "@delivery/domain/planning/TicketNotification"
import { isId } from "@delivery/domain/Text"
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import { actorColumns, actorJoins, type ActorRow, readActor } from "../access/Actors.ts"
import { tellingReading } from "../events/Reading.ts"
import { texts, uuids } from "../storage/Columns.ts"
import { date, dieOnSqlError, iso, isoOrNull } from "../storage/Sql.ts"
import { TicketNotificationsRepo } from "./TicketNotificationsRepo.ts"
import type { Viewer } from "./Viewer.ts"
import { seesTeam } from "./Visibility.ts"

export const layer = Layer.effect(
  TicketNotificationsRepo,
  Effect.map(PgClient.PgClient, (sql) =>
    TicketNotificationsRepo.of({
      insert: insert(sql),
      list: list(sql),
      countUnread: countUnread(sql),
      endAssignment: endAssignment(sql),
      read: read(sql),
      unread: unread(sql),
      mark: mark(sql)
    })
  )
)

type Repo = TicketNotificationsRepo["Service"]

const insert =
  (sql: PgClient.PgClient): Repo["insert"] =>
  (rows) => {
    const [first] = rows
    if (first === undefined) return Effect.void
    return sql`insert into ticket_notifications
        (id, workspace_id, person_id, kind, ticket_id, comment_id, actor_kind, actor_id, created_at)
      select new.id, t.workspace_id, new.person_id, new.kind, t.id, ${first.commentId}::uuid, ${first.actorKind},
        ${first.actorId}::uuid, ${date(first.createdAt)}
      from unnest(${uuids(rows.map(({ id }) => id))}, ${uuids(rows.map(({ personId }) => personId))},
          ${texts(rows, ({ kind }) => kind)}) as new (id, person_id, kind)
        join tickets t on t.id = ${first.ticketId} join teams team on team.id = t.team_id
        join members m on m.workspace_id = t.workspace_id and m.person_id = new.person_id and m.active
      where team.visibility = 'open' or m.role in ('admin', 'owner') or exists (
        select 1 from team_members tm where tm.team_id = team.id and tm.person_id = m.person_id)`.pipe(
      Effect.asVoid,
      dieOnSqlError
    )
  }

interface Selected extends ActorRow {
  readonly id: NotificationId
  readonly kind: TicketNotificationKind
  readonly readAt: Date | null
  readonly createdAt: Date
  readonly ticketId: TicketId
  readonly teamKey: string
  readonly number: number
  readonly title: string
  readonly commentId: CommentId | null
  readonly body: string | null
  readonly personId: PersonId
  /** Of a mention in a text of the ticket: what is around it. */
  readonly around: string | null
}

const readSelected = (row: Selected): TicketNotification => ({
  id: row.id,
  kind: row.kind,
  ticket: { id: row.ticketId, identifier: ticketIdentifier(row.teamKey, row.number), title: row.title },
  comment: row.commentId === null ? null : { id: row.commentId, body: row.body ?? "" },
  excerpt: row.around === null ? null : (lineMentioning(row.around, row.personId, maxExcerpt) ?? null),
  actor: readActor(row),
  readAt: isoOrNull(row.readAt),
  createdAt: iso(row.createdAt)
})

/** Of the notifications `n`, tickets `t`, their teams `team`, and what is joined by `joins`. */
const columns = (sql: PgClient.PgClient): Statement.Fragment =>
  sql`n.id, n.kind, n.read_at as "readAt", n.created_at as "createdAt", t.id as "ticketId", team.key as "teamKey",
    t.number, t.title, n.comment_id as "commentId", left(c.body, ${maxNotifiedComment}::integer) as body,
    n.person_id as "personId", case when n.kind = 'ticket_mentioned' and n.comment_id is null then
      coalesce(${around(sql, sql`t.description`)}, ${around(sql, sql`t.plan`)}) end as around,
    ${actorColumns(sql, "n.actor")}`

/** What of a text is around the first mention of the person of the notification `n`; null where there is none. */
const around = (sql: PgClient.PgClient, text: Statement.Fragment): Statement.Fragment => {
  const at = sql`strpos(${text}, '(user:' || n.person_id || ')')`
  return sql`case when ${at} > 0 then substring(${text} from greatest(1, ${at} - 2000) for 4000) end`
}

const joins = (sql: PgClient.PgClient): Statement.Fragment =>
  sql`join tickets t on t.id = n.ticket_id join teams team on team.id = t.team_id
    left join comments c on c.id = n.comment_id ${actorJoins(sql, "n.actor")}`

const list = (sql: PgClient.PgClient): Repo["list"] => {
  const [selected, joined] = [columns(sql), joins(sql)]
  return (viewer, personId, { before, limit, onlyUnread }) =>
    sql<Selected>`select ${selected} from ticket_notifications n ${joined}
      where n.workspace_id = ${viewer.workspaceId} and n.person_id = ${personId} and ${seesTeam(sql, viewer, "team")}
        ${onlyUnread ? sql`and n.read_at is null` : sql``}
        ${before === undefined ? sql`` : sql`and (n.created_at, n.id) < (${date(before.createdAt)}, ${before.id}::uuid)`}
      order by n.created_at desc, n.id desc limit ${PgTypes.int4(limit)}`.pipe(
      Effect.map((rows) => rows.map(readSelected)),
      dieOnSqlError
    )
}

const countUnread =
  (sql: PgClient.PgClient): Repo["countUnread"] =>
  (viewer, personId, most) =>
    sql<{ readonly unread: number }>`select count(*)::integer as unread from (
      select from ticket_notifications n, tickets t, teams team
      where n.read_at is null and ${isSeen(sql, viewer, personId)} limit ${PgTypes.int4(most)}) n`.pipe(
      Effect.map(([counted]) => counted!.unread),
      dieOnSqlError
    )

/** One that somebody marks at this moment is theirs to mark: to wait for it could be to wait for each other. */
const endAssignment =
  (sql: PgClient.PgClient): Repo["endAssignment"] =>
  (ticketId, personId, at) =>
    sql`update ticket_notifications set read_at = ${date(at)} where id in (
      select id from ticket_notifications where ticket_id = ${ticketId} and person_id = ${personId}
        and kind = 'ticket_assigned' and read_at is null for update skip locked)`.pipe(Effect.asVoid, dieOnSqlError)

/** That the person's notification `n` is of a ticket that they see. */
const isSeen = (sql: PgClient.PgClient, viewer: Viewer, personId: string): Statement.Fragment =>
  sql`n.workspace_id = ${viewer.workspaceId} and n.person_id = ${personId} and t.id = n.ticket_id
    and team.id = t.team_id and ${seesTeam(sql, viewer, "team")}`

const read =
  (sql: PgClient.PgClient): Repo["read"] =>
  (viewer, personId, at) =>
    sql<{ readonly read: number; readonly readAt: Date }>`with last as (
        select max(read_at) + interval '1 millisecond' as later from ticket_notifications
        where workspace_id = ${viewer.workspaceId} and person_id = ${personId}
      ), marked as (
        update ticket_notifications n set read_at = greatest(${date(at)}, last.later) from tickets t, teams team, last
        where n.read_at is null and ${isSeen(sql, viewer, personId)} returning n.read_at
      )
      select count(*)::integer as read, read_at as "readAt", ${tellingReading(sql, viewer.workspaceId, personId)}
      from marked group by read_at`.pipe(
      Effect.map(([marked]) => marked && { read: marked.read, readAt: iso(marked.readAt) }),
      dieOnSqlError
    )

const unread =
  (sql: PgClient.PgClient): Repo["unread"] =>
  (viewer, personId, readAt) =>
    sql<{ readonly unread: number }>`with marked as (
        update ticket_notifications n set read_at = null from tickets t, teams team
        where n.read_at = ${date(readAt)} and ${isSeen(sql, viewer, personId)}
          and (n.kind <> 'ticket_assigned' or t.owner_id = n.person_id) returning n.id
      )
      select count(*)::integer as unread, ${tellingReading(sql, viewer.workspaceId, personId)}
      from marked having count(*) > 0`.pipe(
      Effect.map(([marked]) => marked?.unread ?? 0),
      dieOnSqlError
    )

const mark = (sql: PgClient.PgClient): Repo["mark"] => {
  const [selected, joined] = [columns(sql), joins(sql)]
  return (viewer, personId, id, readAt) =>
    isId(id)
      ? sql<Selected>`with marked as (
            update ticket_notifications n
            set read_at = ${readAt === null ? null : sql`coalesce(n.read_at, ${date(readAt)})`}
            from tickets t, teams team where n.id = ${id} and ${isSeen(sql, viewer, personId)} returning n.*
          )
          select ${selected}, ${tellingReading(sql, viewer.workspaceId, personId)} from marked n ${joined}`.pipe(
          Effect.map((rows) => rows.map(readSelected)[0]),
          dieOnSqlError
        )
      : Effect.undefined
}

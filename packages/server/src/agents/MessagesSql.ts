import type { AgentRef } from "@delivery/domain/agents/Agent"
import { type MessageStatus, messagesPageSize } from "@delivery/domain/agents/Message"
import { type Notification, type NotificationKind, notificationsPageSize } from "@delivery/domain/agents/Notification"
import type { Person } from "@delivery/domain/identity/Actor"
import type { AgentId, MessageId, NotificationId, TeamId, TicketId, WorkspaceId } from "@delivery/domain/Ids"
import { ticketIdentifier } from "@delivery/domain/planning/Ticket"
import { isId } from "@delivery/domain/Text"
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import { tellingReading } from "../events/Reading.ts"
import { namesTicket } from "../planning/TicketRefs.ts"
import type { Viewer } from "../planning/Viewer.ts"
import { seesTeam } from "../planning/Visibility.ts"
import { texts, uuids } from "../storage/Columns.ts"
import { date, dieOnSqlError, iso, isoOfJson, isoOrNull } from "../storage/Sql.ts"
import { columnsOf, partReaderOf, type SelectedRow } from "../storage/Table.ts"
import {
  type Addressee,
  type InboxAddress,
  type MessageRow,
  messages,
  MessagesRepo,
  type NotificationRow,
  type StoredMessage
} from "./MessagesRepo.ts"

export const layer = Layer.effect(
  MessagesRepo,
  Effect.map(PgClient.PgClient, (sql) =>
    MessagesRepo.of({
      insert: insert(sql),
      notify: notify(sql),
      list: list(sql),
      find: find(sql),
      findOfAgent: findOfAgent(sql),
      lock: lock(sql),
      end: end(sql),
      waiting: waiting(sql),
      count: count(sql),
      take: take(sql),
      declineQueued: declineQueued(sql),
      addressee: addressee(sql),
      queuedBy: queuedBy(sql),
      repositories: repositories(sql),
      hasAgent: hasAgent(sql),
      findTicket: findTicket(sql),
      notifications: listNotifications(sql),
      read: readNotifications(sql),
      mark: markNotification(sql)
    })
  )
)

const ownProperties = [
  "id",
  "ask",
  "note",
  "commentId",
  "status",
  "reply",
  "evidenceRun",
  "createdAt",
  "deliveredAt",
  "completedAt",
  "declinedAt"
] as const

/** The columns of a message, `m` in the statement, and of what `messageJoins` joins. */
const messageColumns = `${columnsOf(messages, { of: "m", only: ownProperties })}, m.computer_id as "computerId",
  c.name as "computerName", t.id as "ticketId", t.number, t.title, team.id as "teamId", team.key as "teamKey",
  json_build_object('id', a.id, 'name', coalesce(a.client_name, initcap(a.client)), 'person', json_build_object(
    'id', p.id, 'name', p.name, 'email', p.email)) as agent,
  json_build_object('id', s.id, 'name', s.name, 'email', s.email) as sender`

const messageJoins = `join agents a on a.id = m.agent_id join persons p on p.id = a.person_id
  join persons s on s.id = m.sender_id join tickets t on t.id = m.ticket_id
  join teams team on team.id = t.team_id left join computers c on c.id = m.computer_id`

/** A row of `messageColumns`. */
interface SelectedMessage extends SelectedRow {
  readonly computerId: MessageRow["computerId"]
  readonly computerName: string | null
  readonly ticketId: TicketId
  readonly number: number
  readonly title: string
  readonly teamId: TeamId
  readonly teamKey: string
  readonly agent: AgentRef
  readonly sender: Person
}

const readOwn = partReaderOf(messages, ownProperties)

const readMessage = (row: SelectedMessage): StoredMessage => {
  const { ask, commentId, evidenceRun, id, note, ...own } = readOwn(row)
  return {
    id,
    agent: row.agent,
    computer: row.computerId === null ? null : { id: row.computerId, name: row.computerName ?? "" },
    ticket: { id: row.ticketId, identifier: ticketIdentifier(row.teamKey, row.number), title: row.title },
    ask,
    note,
    commentId,
    sender: row.sender,
    ...own,
    evidence: evidenceRun === null ? null : { run: evidenceRun },
    teamId: row.teamId
  }
}

const readMessages = (rows: ReadonlyArray<SelectedMessage>): ReadonlyArray<StoredMessage> => rows.map(readMessage)

/** The messages about tickets that the viewer sees, where a condition holds. */
const selectMessages =
  (sql: PgClient.PgClient) =>
  (viewer: Viewer, where: Statement.Fragment, rest: Statement.Fragment = sql``) =>
    sql<SelectedMessage>`select ${sql.literal(messageColumns)} from messages m ${sql.literal(messageJoins)}
      where m.workspace_id = ${viewer.workspaceId} and ${seesTeam(sql, viewer, "team")} and ${where} ${rest}`.pipe(
      Effect.map(readMessages),
      dieOnSqlError
    )

/** That the viewer sent the message, or that it is to an agent of theirs; true for admins and owners. */
const isTheirs = (sql: PgClient.PgClient, viewer: Viewer) =>
  viewer.seesPrivateTeams
    ? sql.literal("true")
    : sql`(m.sender_id = ${viewer.personId}::uuid or a.person_id = ${viewer.personId}::uuid)`

/** That the message is queued for the computer, for none, or for one that was not seen. */
const isIn = (sql: PgClient.PgClient, { agentId, computerId, seenAfter }: InboxAddress) =>
  sql`m.agent_id = ${agentId} and m.status = 'queued' and (m.computer_id is null
    or m.computer_id = ${computerId}::uuid
    or not exists (select 1 from computers at where at.id = m.computer_id and (at.last_seen_at > ${date(seenAfter)}
      or exists (select 1 from sessions seen where seen.workspace_id = at.workspace_id
        and seen.computer_id = at.id and seen.last_seen_at > ${date(seenAfter)}))))`

const insert = (sql: PgClient.PgClient) => (rows: ReadonlyArray<MessageRow>) =>
  Effect.forEach(
    rows,
    (row) => sql`with inserted as (
        insert into messages (id, workspace_id, agent_id, computer_id, ticket_id, ask, note, comment_id,
          sender_id, status, created_at)
        values (${row.id}, ${row.workspaceId}, ${row.agentId}, ${row.computerId}, ${row.ticketId}, ${row.ask},
          ${row.note}, ${row.commentId}, ${row.senderId}, ${row.status}, ${date(row.createdAt)})
        returning agent_id
      ) select pg_notify('messages', agent_id::text)::text from inserted`,
    { discard: true }
  ).pipe(dieOnSqlError)

const notify = (sql: PgClient.PgClient) => (rows: ReadonlyArray<NotificationRow>) =>
  rows.length === 0
    ? Effect.void
    : dieOnSqlError(
        Effect.asVoid(sql`insert into notifications (id, workspace_id, person_id, kind, message_id, created_at)
          select id, ${rows[0]!.workspaceId}::uuid, person_id, kind, message_id, ${date(rows[0]!.createdAt)}
          from unnest(${uuids(rows.map(({ id }) => id))}, ${uuids(rows.map(({ personId }) => personId))},
            ${texts(rows, ({ kind }) => kind)}, ${uuids(rows.map(({ messageId }) => messageId))})
            as new (id, person_id, kind, message_id)`)
      )

const list = (sql: PgClient.PgClient): MessagesRepo["Service"]["list"] => {
  const select = selectMessages(sql)
  return (viewer, { agentId, status, ticketId }) =>
    select(
      viewer,
      sql.and([
        isTheirs(sql, viewer),
        ...(agentId === undefined ? [] : [sql`m.agent_id = ${agentId}`]),
        ...(ticketId === undefined ? [] : [sql`m.ticket_id = ${ticketId}`]),
        ...(status === undefined ? [] : [sql`m.status = ${status}`])
      ]),
      sql`order by m.created_at desc, m.id desc limit ${messagesPageSize}`
    )
}

const find = (sql: PgClient.PgClient) => {
  const select = selectMessages(sql)
  return (viewer: Viewer, id: string) =>
    isId(id)
      ? Effect.map(select(viewer, sql`m.id = ${id} and ${isTheirs(sql, viewer)}`), (rows) => rows[0])
      : Effect.undefined
}

const findOfAgent = (sql: PgClient.PgClient) => {
  const select = selectMessages(sql)
  return (viewer: Viewer, agentId: AgentId, id: string) =>
    isId(id)
      ? Effect.map(select(viewer, sql`m.id = ${id} and m.agent_id = ${agentId}`), (rows) => rows[0])
      : Effect.undefined
}

const lock = (sql: PgClient.PgClient) => (id: MessageId) =>
  sql<{ readonly status: MessageStatus }>`select status from messages where id = ${id} for no key update`.pipe(
    Effect.map((rows) => rows[0]?.status),
    dieOnSqlError
  )

const end =
  (sql: PgClient.PgClient): MessagesRepo["Service"]["end"] =>
  (id, status, reply, at, evidenceRun = null) =>
    dieOnSqlError(
      Effect.asVoid(
        status === "completed"
          ? sql`update messages set status = 'completed', reply = ${reply}, completed_at = ${date(at)},
              delivered_at = coalesce(delivered_at, ${date(at)}), evidence_run = ${PgTypes.int4(evidenceRun)}
              where id = ${id}`
          : sql`update messages set status = 'declined', reply = ${reply}, declined_at = ${date(at)}
              where id = ${id}`
      )
    )

const waiting = (sql: PgClient.PgClient) => {
  const select = selectMessages(sql)
  return (viewer: Viewer, inbox: InboxAddress) =>
    select(viewer, isIn(sql, inbox), sql`order by m.created_at, m.id limit ${messagesPageSize}`)
}

const count = (sql: PgClient.PgClient) => (viewer: Viewer, inbox: InboxAddress) =>
  sql<{ readonly count: number }>`select count(*)::int as count from messages m
    join tickets t on t.id = m.ticket_id join teams team on team.id = t.team_id
    where m.workspace_id = ${viewer.workspaceId} and ${seesTeam(sql, viewer, "team")} and ${isIn(sql, inbox)}`.pipe(
    Effect.map((rows) => rows[0]!.count),
    dieOnSqlError
  )

const take =
  (sql: PgClient.PgClient): MessagesRepo["Service"]["take"] =>
  (viewer, inbox, limit, at) =>
    sql<SelectedMessage>`with next as (
        select m.id from messages m join tickets t on t.id = m.ticket_id join teams team on team.id = t.team_id
        where m.workspace_id = ${viewer.workspaceId} and ${seesTeam(sql, viewer, "team")} and ${isIn(sql, inbox)}
        order by m.created_at, m.id limit ${limit} for no key update of m skip locked
      ), m as (
        update messages set status = 'delivered', delivered_at = ${date(at)} from next
        where messages.id = next.id returning messages.*
      )
      select ${sql.literal(messageColumns)} from m ${sql.literal(messageJoins)} order by m.created_at, m.id`.pipe(
      Effect.map(readMessages),
      dieOnSqlError
    )

const declineQueued =
  (sql: PgClient.PgClient): MessagesRepo["Service"]["declineQueued"] =>
  (workspaceId, agents, reason, at) =>
    sql<SelectedMessage>`with m as (
        update messages set status = 'declined', reply = ${reason}, declined_at = ${date(at)}
        where workspace_id = ${workspaceId} and agent_id = any(${uuids(agents)}) and status = 'queued'
        returning *
      )
      select ${sql.literal(messageColumns)} from m ${sql.literal(messageJoins)} order by m.created_at, m.id`.pipe(
      Effect.map(readMessages),
      dieOnSqlError
    )

/** Instants inside of JSON are the database's own text. */
const readAddressee = ({ computers, ...addressee }: Addressee): Addressee => ({
  ...addressee,
  computers: computers.map((computer) => ({
    ...computer,
    lastSeenAt: isoOfJson(computer.lastSeenAt),
    sessions: computer.sessions.map((session) => ({ ...session, lastSeenAt: isoOfJson(session.lastSeenAt) }))
  }))
})

const addressee = (sql: PgClient.PgClient) => (workspaceId: WorkspaceId, id: AgentId, teamId: TeamId) =>
  sql<Addressee>`select json_build_object('id', a.id, 'name', coalesce(a.client_name, initcap(a.client)), 'person',
        json_build_object('id', p.id, 'name', p.name, 'email', p.email)) as agent,
      a.revoked_at is not null as "isRevoked", m.active as "hasActiveMember",
      m.role in ('admin', 'owner') or exists (select 1 from team_members tm
        where tm.team_id = ${teamId} and tm.person_id = p.id) as "seesPrivateTeam",
      coalesce((select json_agg(json_build_object('id', c.id, 'name', c.name, 'lastSeenAt', c.last_seen_at,
          'sessions', coalesce((select json_agg(json_build_object('repository', s.repository,
              'lastSeenAt', s.last_seen_at))
            from sessions s where s.workspace_id = c.workspace_id and s.computer_id = c.id), '[]')))
        from computers c where c.workspace_id = a.workspace_id and c.agent_id = a.id), '[]') as computers
    from agents a join persons p on p.id = a.person_id
      join members m on m.workspace_id = a.workspace_id and m.person_id = p.id
    where a.workspace_id = ${workspaceId} and a.id = ${id} for share of a`.pipe(
    Effect.map((rows) => rows.map(readAddressee)[0]),
    dieOnSqlError
  )

const queuedBy =
  (sql: PgClient.PgClient): MessagesRepo["Service"]["queuedBy"] =>
  (workspaceId, agentId, senderId) =>
    sql`select pg_advisory_xact_lock(hashtextextended(${`queued:${agentId}:${senderId}`}, 0))::text`.pipe(
      Effect.andThen(
        sql<{ readonly count: number }>`select count(*)::int as count from messages
          where workspace_id = ${workspaceId} and agent_id = ${agentId} and status = 'queued' and sender_id = ${senderId}`
      ),
      Effect.map((rows) => rows[0]!.count),
      dieOnSqlError
    )

const repositories = (sql: PgClient.PgClient) => (ticketId: TicketId) =>
  sql<{ readonly repository: string }>`select distinct p.repository from tickets t
    join project_products pp on pp.project_id = t.project_id join products p on p.id = pp.product_id
    where t.id = ${ticketId} and p.repository is not null`.pipe(
    Effect.map((rows) => rows.map(({ repository }) => repository)),
    dieOnSqlError
  )

const hasAgent = (sql: PgClient.PgClient) => (workspaceId: WorkspaceId, id: AgentId) =>
  sql`select 1 from agents where workspace_id = ${workspaceId} and id = ${id}`.pipe(
    Effect.map((rows) => rows.length > 0),
    dieOnSqlError
  )

const findTicket = (sql: PgClient.PgClient) => (viewer: Viewer, ref: string) => {
  const isNamed = namesTicket(sql, viewer, ref)
  return isNamed === undefined
    ? Effect.undefined
    : sql<{ readonly id: TicketId }>`select t.id from tickets t join teams team on team.id = t.team_id
        where t.workspace_id = ${viewer.workspaceId} and ${isNamed} and ${seesTeam(sql, viewer, "team")}`.pipe(
        Effect.map((rows) => rows[0]?.id),
        dieOnSqlError
      )
}

interface SelectedNotification extends SelectedMessage {
  readonly notificationId: NotificationId
  readonly kind: NotificationKind
  readonly readAt: Date | null
  readonly notifiedAt: Date
}

const readNotification = (row: SelectedNotification): Notification => {
  const { teamId: _, ...message } = readMessage(row)
  const { kind, notificationId, notifiedAt, readAt } = row
  return { id: notificationId, kind, message, readAt: isoOrNull(readAt), createdAt: iso(notifiedAt) }
}

const notificationColumns = `n.id as "notificationId", n.kind, n.read_at as "readAt", n.created_at as "notifiedAt",
  ${messageColumns}`

const listNotifications =
  (sql: PgClient.PgClient): MessagesRepo["Service"]["notifications"] =>
  (viewer, personId) =>
    sql<SelectedNotification>`select ${sql.literal(notificationColumns)}
      from notifications n join messages m on m.id = n.message_id ${sql.literal(messageJoins)}
      where n.workspace_id = ${viewer.workspaceId} and n.person_id = ${personId}
        and ${seesTeam(sql, viewer, "team")}
      order by n.created_at desc, n.id desc limit ${notificationsPageSize}`.pipe(
      Effect.map((rows) => rows.map(readNotification)),
      dieOnSqlError
    )

const readNotifications =
  (sql: PgClient.PgClient): MessagesRepo["Service"]["read"] =>
  (viewer, personId, at) =>
    sql<{ readonly read: number }>`with marked as (
        update notifications n set read_at = ${date(at)}
        from messages m join tickets t on t.id = m.ticket_id join teams team on team.id = t.team_id
        where n.workspace_id = ${viewer.workspaceId} and n.person_id = ${personId} and n.read_at is null
          and m.id = n.message_id and ${seesTeam(sql, viewer, "team")} returning n.id
      )
      select count(*)::integer as read, ${tellingReading(sql, viewer.workspaceId, personId)}
      from marked having count(*) > 0`.pipe(
      Effect.map(([marked]) => marked?.read ?? 0),
      dieOnSqlError
    )

const markNotification =
  (sql: PgClient.PgClient): MessagesRepo["Service"]["mark"] =>
  (viewer, personId, id, readAt) =>
    isId(id)
      ? sql<SelectedNotification>`with marked as (
            update notifications n set read_at = ${readAt === null ? null : sql`coalesce(n.read_at, ${date(readAt)})`}
            from messages m join tickets t on t.id = m.ticket_id join teams team on team.id = t.team_id
            where n.id = ${id} and n.workspace_id = ${viewer.workspaceId} and n.person_id = ${personId}
              and m.id = n.message_id and ${seesTeam(sql, viewer, "team")}
            returning n.*
          )
          select ${sql.literal(notificationColumns)}, ${tellingReading(sql, viewer.workspaceId, personId)}
          from marked n join messages m on m.id = n.message_id ${sql.literal(messageJoins)}`.pipe(
          Effect.map((rows) => rows.map(readNotification)[0]),
          dieOnSqlError
        )
      : Effect.undefined

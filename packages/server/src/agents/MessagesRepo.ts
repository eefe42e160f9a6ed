import type { AgentRef, ComputerRef } from "@delivery/domain/agents/Agent"
import { type AgentMessage, type Ask, type MessageStatus, messagesPageSize } from "@delivery/domain/agents/Message"
import { type Notification, type NotificationKind, notificationsPageSize } from "@delivery/domain/agents/Notification"
import type { RoutedComputer } from "@delivery/domain/agents/Routing"
import type { Person } from "@delivery/domain/identity/Actor"
import { isAtLeast } from "@delivery/domain/identity/Role"
import type {
  AgentId,
  CommentId,
  ComputerId,
  MessageId,
  NotificationId,
  PersonId,
  ProjectId,
  TeamId,
  TicketId,
  WorkspaceId
} from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import { ticketIdentifier } from "@delivery/domain/planning/Ticket"
import { isId } from "@delivery/domain/Text"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import type { ProductRow } from "../catalog/ProductsRepo.ts"
import { agentName, type AgentRow, type PersonRow } from "../access/ActorRows.ts"
import type { MemberRow } from "../identity/MembersRepo.ts"
import type { TeamRow } from "../planning/TeamsRepo.ts"
import { findTicketInMemory, namesTicket } from "../planning/TicketRefs.ts"
import { tickets } from "../planning/TicketsRepo.ts"
import { seesTeam, type Viewer } from "../planning/Visibility.ts"
import { seesTeamInMemory } from "../planning/VisibilityMemory.ts"
import { texts, uuids } from "../storage/Columns.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { date, dieOnSqlError, iso, isoOfJson, isoOrNull } from "../storage/Sql.ts"
import type { ComputerRow, SessionRow } from "./AgentsRepo.ts"

export interface MessageRow {
  readonly id: MessageId
  readonly workspaceId: WorkspaceId
  readonly agentId: AgentId
  readonly computerId: ComputerId | null
  readonly ticketId: TicketId
  readonly ask: Ask
  readonly note: string | null
  readonly commentId: CommentId | null
  readonly senderId: PersonId
  readonly status: MessageStatus
  readonly reply: string | null
  readonly createdAt: Timestamp
  readonly deliveredAt: Timestamp | null
  readonly completedAt: Timestamp | null
  readonly declinedAt: Timestamp | null
}

/** A message and the team that its ticket is of now. */
export interface ShownMessage extends AgentMessage {
  readonly teamId: TeamId
}

export interface NotificationRow {
  readonly id: NotificationId
  readonly workspaceId: WorkspaceId
  readonly personId: PersonId
  readonly kind: NotificationKind
  readonly messageId: MessageId
  readonly readAt: Timestamp | null
  readonly createdAt: Timestamp
}

/** Where an agent reads its messages. */
export interface Inbox {
  readonly agentId: AgentId
  /** Null for a sign-in made with the server URL. */
  readonly computerId: ComputerId | null
  /** A computer that was not seen since leaves its messages to the agent's others. */
  readonly seenAfter: Timestamp
}

/** An agent that a message is for. */
export interface Addressee {
  readonly agent: AgentRef
  readonly isRevoked: boolean
  /** Whether its person is an active member. */
  readonly hasActiveMember: boolean
  /** Whether its person would see the ticket's team, were it private. */
  readonly seesPrivateTeam: boolean
  readonly computers: ReadonlyArray<AddressedComputer>
}

/** A computer as routing sees it. */
export interface AddressedComputer extends ComputerRef, RoutedComputer {}

/** Which messages a list holds. What is absent does not restrict. */
export interface MessageFilter {
  readonly agentId?: AgentId | undefined
  readonly ticketId?: TicketId | undefined
  readonly status?: MessageStatus | undefined
}

/**
 * Stores messages to agents, and what members are told of them. Everything is found for a viewer: a message about a
 * ticket of a team that they do not see is not there.
 */
export class MessagesRepo extends Context.Service<
  MessagesRepo,
  {
    /** Stores new messages, and tells the servers whose inbox they are in. */
    readonly insert: (messages: ReadonlyArray<MessageRow>) => Effect.Effect<void>
    readonly notify: (notifications: ReadonlyArray<NotificationRow>) => Effect.Effect<void>
    /** The newest that the viewer sent or an agent of theirs got; all, for admins and owners. Newest first. */
    readonly list: (viewer: Viewer, filter: MessageFilter) => Effect.Effect<ReadonlyArray<ShownMessage>>
    /** One that the list would hold. */
    readonly find: (viewer: Viewer, id: string) => Effect.Effect<ShownMessage | undefined>
    /** One of the agent's. */
    readonly findOfAgent: (viewer: Viewer, agentId: AgentId, id: string) => Effect.Effect<ShownMessage | undefined>
    /** Holds the message until the transaction ends, and says its status. */
    readonly lock: (id: MessageId) => Effect.Effect<MessageStatus | undefined>
    /** Ends a message that the transaction holds. A queued one that is completed is delivered by it. */
    readonly end: (
      id: MessageId,
      status: "completed" | "declined",
      reply: string | null,
      at: Timestamp
    ) => Effect.Effect<void>
    /** The messages of the inbox, oldest first. */
    readonly waiting: (viewer: Viewer, inbox: Inbox) => Effect.Effect<ReadonlyArray<ShownMessage>>
    readonly count: (viewer: Viewer, inbox: Inbox) => Effect.Effect<number>
    /**
     * Delivers the oldest of the inbox, at most so many. Whoever takes at the same time gets others: a message is
     * delivered once.
     */
    readonly take: (
      viewer: Viewer,
      inbox: Inbox,
      limit: number,
      at: Timestamp
    ) => Effect.Effect<ReadonlyArray<ShownMessage>>
    /** Declines what is queued for the agents, whoever sees it, and says what that was. */
    readonly declineQueued: (
      workspaceId: WorkspaceId,
      agents: ReadonlyArray<AgentId>,
      reason: string,
      at: Timestamp
    ) => Effect.Effect<ReadonlyArray<ShownMessage>>
    /** The agent, revoked or not, as a message about a ticket of the team may be for it. Held against its revocation. */
    readonly addressee: (workspaceId: WorkspaceId, id: AgentId, teamId: TeamId) => Effect.Effect<Addressee | undefined>
    /** The repositories of the products of the ticket's project. */
    readonly repositories: (ticketId: TicketId) => Effect.Effect<ReadonlyArray<string>>
    /** Whether an agent of the workspace has the id, revoked or not. */
    readonly hasAgent: (workspaceId: WorkspaceId, id: AgentId) => Effect.Effect<boolean>
    /** The ticket that a filter names. */
    readonly findTicket: (viewer: Viewer, ref: string) => Effect.Effect<TicketId | undefined>
    /** The person's newest, newest first. */
    readonly notifications: (viewer: Viewer, personId: PersonId) => Effect.Effect<ReadonlyArray<Notification>>
    /** Marks the person's unread ones read, and says how many those were. */
    readonly read: (viewer: Viewer, personId: PersonId, at: Timestamp) => Effect.Effect<number>
  }
>()("@delivery/server/agents/MessagesRepo") {
  static readonly layerSql = Layer.effect(
    MessagesRepo,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient

      const columns = sql.literal(`m.id, m.ask, m.note, m.comment_id as "commentId", m.status, m.reply,
        m.created_at as "createdAt", m.delivered_at as "deliveredAt", m.completed_at as "completedAt",
        m.declined_at as "declinedAt", m.computer_id as "computerId", c.name as "computerName", t.id as "ticketId",
        t.number, t.title, team.id as "teamId", team.key as "teamKey",
        json_build_object('id', a.id, 'name', initcap(a.client), 'person', json_build_object(
          'id', p.id, 'name', p.name, 'email', p.email)) as agent,
        json_build_object('id', s.id, 'name', s.name, 'email', s.email) as sender`)
      const joins = sql.literal(`join agents a on a.id = m.agent_id join persons p on p.id = a.person_id
        join persons s on s.id = m.sender_id join tickets t on t.id = m.ticket_id
        join teams team on team.id = t.team_id left join computers c on c.id = m.computer_id`)

      const isTheirs = (viewer: Viewer) =>
        viewer.seesPrivateTeams
          ? sql.literal("true")
          : sql`(m.sender_id = ${viewer.personId}::uuid or a.person_id = ${viewer.personId}::uuid)`

      const select = (viewer: Viewer, where: Statement.Fragment, rest: Statement.Fragment = sql``) =>
        sql<SqlMessage>`select ${columns} from messages m ${joins}
          where m.workspace_id = ${viewer.workspaceId} and ${seesTeam(sql, viewer, "team")} and ${where} ${rest}`.pipe(
          Effect.map((rows) => rows.map(readMessage)),
          dieOnSqlError
        )

      /** Queued for the computer, for none, or for one that was not seen. */
      const isIn = ({ agentId, computerId, seenAfter }: Inbox) =>
        sql`m.agent_id = ${agentId} and m.status = 'queued' and (m.computer_id is null
          or m.computer_id = ${computerId}::uuid
          or not exists (select 1 from computers at where at.id = m.computer_id and (at.last_seen_at > ${date(seenAfter)}
            or exists (select 1 from sessions seen where seen.workspace_id = at.workspace_id
              and seen.computer_id = at.id and seen.last_seen_at > ${date(seenAfter)}))))`

      return MessagesRepo.of({
        insert: (messages) =>
          Effect.forEach(
            messages,
            (row) => sql`with inserted as (
                insert into messages (id, workspace_id, agent_id, computer_id, ticket_id, ask, note, comment_id,
                  sender_id, status, created_at)
                values (${row.id}, ${row.workspaceId}, ${row.agentId}, ${row.computerId}, ${row.ticketId}, ${row.ask},
                  ${row.note}, ${row.commentId}, ${row.senderId}, ${row.status}, ${date(row.createdAt)})
                returning agent_id
              ) select pg_notify('messages', agent_id::text)::text from inserted`,
            { discard: true }
          ).pipe(dieOnSqlError),

        notify: (rows) =>
          rows.length === 0
            ? Effect.void
            : dieOnSqlError(
                Effect.asVoid(sql`insert into notifications (id, workspace_id, person_id, kind, message_id, created_at)
                  select id, ${rows[0]!.workspaceId}::uuid, person_id, kind, message_id, ${date(rows[0]!.createdAt)}
                  from unnest(${uuids(rows.map(({ id }) => id))}, ${uuids(rows.map(({ personId }) => personId))},
                    ${texts(rows, ({ kind }) => kind)}, ${uuids(rows.map(({ messageId }) => messageId))})
                    as new (id, person_id, kind, message_id)`)
              ),

        list: (viewer, { agentId, status, ticketId }) =>
          select(
            viewer,
            sql.and([
              isTheirs(viewer),
              ...(agentId === undefined ? [] : [sql`m.agent_id = ${agentId}`]),
              ...(ticketId === undefined ? [] : [sql`m.ticket_id = ${ticketId}`]),
              ...(status === undefined ? [] : [sql`m.status = ${status}`])
            ]),
            sql`order by m.created_at desc, m.id desc limit ${messagesPageSize}`
          ),

        find: (viewer, id) =>
          isId(id)
            ? Effect.map(select(viewer, sql`m.id = ${id} and ${isTheirs(viewer)}`), (rows) => rows[0])
            : Effect.undefined,

        findOfAgent: (viewer, agentId, id) =>
          isId(id)
            ? Effect.map(select(viewer, sql`m.id = ${id} and m.agent_id = ${agentId}`), (rows) => rows[0])
            : Effect.undefined,

        lock: (id) =>
          sql<{ readonly status: MessageStatus }>`select status from messages where id = ${id} for no key update`.pipe(
            Effect.map((rows) => rows[0]?.status),
            dieOnSqlError
          ),

        end: (id, status, reply, at) =>
          dieOnSqlError(
            Effect.asVoid(
              status === "completed"
                ? sql`update messages set status = 'completed', reply = ${reply}, completed_at = ${date(at)},
                    delivered_at = coalesce(delivered_at, ${date(at)}) where id = ${id}`
                : sql`update messages set status = 'declined', reply = ${reply}, declined_at = ${date(at)}
                    where id = ${id}`
            )
          ),

        waiting: (viewer, inbox) =>
          select(viewer, isIn(inbox), sql`order by m.created_at, m.id limit ${messagesPageSize}`),

        count: (viewer, inbox) =>
          sql<{ readonly count: number }>`select count(*)::int as count from messages m
            join tickets t on t.id = m.ticket_id join teams team on team.id = t.team_id
            where m.workspace_id = ${viewer.workspaceId} and ${seesTeam(sql, viewer, "team")} and ${isIn(inbox)}`.pipe(
            Effect.map((rows) => rows[0]!.count),
            dieOnSqlError
          ),

        take: (viewer, inbox, limit, at) =>
          sql<SqlMessage>`with next as (
              select m.id from messages m join tickets t on t.id = m.ticket_id join teams team on team.id = t.team_id
              where m.workspace_id = ${viewer.workspaceId} and ${seesTeam(sql, viewer, "team")} and ${isIn(inbox)}
              order by m.created_at, m.id limit ${limit} for no key update of m skip locked
            ), m as (
              update messages set status = 'delivered', delivered_at = ${date(at)} from next
              where messages.id = next.id returning messages.*
            )
            select ${columns} from m ${joins} order by m.created_at, m.id`.pipe(
            Effect.map((rows) => rows.map(readMessage)),
            dieOnSqlError
          ),

        declineQueued: (workspaceId, agents, reason, at) =>
          sql<SqlMessage>`with m as (
              update messages set status = 'declined', reply = ${reason}, declined_at = ${date(at)}
              where workspace_id = ${workspaceId} and agent_id = any(${uuids(agents)}) and status = 'queued'
              returning *
            )
            select ${columns} from m ${joins} order by m.created_at, m.id`.pipe(
            Effect.map((rows) => rows.map(readMessage)),
            dieOnSqlError
          ),

        addressee: (workspaceId, id, teamId) =>
          sql<SqlAddressee>`select json_build_object('id', a.id, 'name', initcap(a.client), 'person',
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
            Effect.map(
              (rows) =>
                rows.map(({ computers, ...row }) => ({
                  ...row,
                  computers: computers.map((computer) => ({
                    ...computer,
                    lastSeenAt: isoOfJson(computer.lastSeenAt),
                    sessions: computer.sessions.map((session) => ({
                      ...session,
                      lastSeenAt: isoOfJson(session.lastSeenAt)
                    }))
                  }))
                }))[0]
            ),
            dieOnSqlError
          ),

        repositories: (ticketId) =>
          sql<{ readonly repository: string }>`select distinct p.repository from tickets t
            join project_products pp on pp.project_id = t.project_id join products p on p.id = pp.product_id
            where t.id = ${ticketId} and p.repository is not null`.pipe(
            Effect.map((rows) => rows.map(({ repository }) => repository)),
            dieOnSqlError
          ),

        hasAgent: (workspaceId, id) =>
          sql`select 1 from agents where workspace_id = ${workspaceId} and id = ${id}`.pipe(
            Effect.map((rows) => rows.length > 0),
            dieOnSqlError
          ),

        findTicket: (viewer, ref) => {
          const isNamed = namesTicket(sql, viewer, ref)
          return isNamed === undefined
            ? Effect.undefined
            : sql<{ readonly id: TicketId }>`select t.id from tickets t join teams team on team.id = t.team_id
                where t.workspace_id = ${viewer.workspaceId} and ${isNamed} and ${seesTeam(sql, viewer, "team")}`.pipe(
                Effect.map((rows) => rows[0]?.id),
                dieOnSqlError
              )
        },

        notifications: (viewer, personId) =>
          sql<SqlNotification>`select n.id as "notificationId", n.kind, n.read_at as "readAt",
              n.created_at as "notifiedAt", ${columns}
            from notifications n join messages m on m.id = n.message_id ${joins}
            where n.workspace_id = ${viewer.workspaceId} and n.person_id = ${personId}
              and ${seesTeam(sql, viewer, "team")}
            order by n.created_at desc, n.id desc limit ${notificationsPageSize}`.pipe(
            Effect.map((rows) =>
              rows.map(({ kind, notificationId, notifiedAt, readAt, ...row }) => {
                const { teamId: _, ...message } = readMessage(row)
                return { id: notificationId, kind, message, readAt: isoOrNull(readAt), createdAt: iso(notifiedAt) }
              })
            ),
            dieOnSqlError
          ),

        read: (viewer, personId, at) =>
          sql`update notifications n set read_at = ${date(at)}
            from messages m join tickets t on t.id = m.ticket_id join teams team on team.id = t.team_id
            where n.workspace_id = ${viewer.workspaceId} and n.person_id = ${personId} and n.read_at is null
              and m.id = n.message_id and ${seesTeam(sql, viewer, "team")} returning n.id`.pipe(
            Effect.map((rows) => rows.length),
            dieOnSqlError
          )
      })
    })
  )

  static readonly layerMemory = Layer.effect(
    MessagesRepo,
    Effect.gen(function* () {
      const memory = yield* MemoryStorage
      const messagesOf = (database: MemoryDatabase) => database.table<MessageRow>("messages")
      const notificationsOf = (database: MemoryDatabase) => database.table<NotificationRow>("notifications")

      const personOf = (database: MemoryDatabase, personId: PersonId): Person => {
        const { email, id, name } = database.table<PersonRow>("persons").get(personId)!
        return { id, name, email }
      }
      const shown = (database: MemoryDatabase, row: MessageRow): ShownMessage | undefined => {
        const ticket = database.table(tickets).get(row.ticketId)
        // The messages of a ticket go with it.
        if (ticket === undefined) return undefined
        const agent = database.table<AgentRow>("agents").get(row.agentId)!
        const team = database.table<TeamRow>("teams").get(ticket.teamId)!
        const computer =
          row.computerId === null ? undefined : database.table<ComputerRow>("computers").get(row.computerId)
        return {
          id: row.id,
          agent: { id: agent.id, name: agentName(agent.client), person: personOf(database, agent.personId) },
          computer: computer === undefined ? null : { id: computer.id, name: computer.name },
          ticket: { id: ticket.id, identifier: ticketIdentifier(team.key, ticket.number), title: ticket.title },
          ask: row.ask,
          note: row.note,
          commentId: row.commentId,
          sender: personOf(database, row.senderId),
          status: row.status,
          reply: row.reply,
          createdAt: row.createdAt,
          deliveredAt: row.deliveredAt,
          completedAt: row.completedAt,
          declinedAt: row.declinedAt,
          teamId: team.id
        }
      }
      const select = (
        database: MemoryDatabase,
        viewer: Viewer,
        where: (message: ShownMessage, row: MessageRow) => boolean
      ): Array<ShownMessage> =>
        messagesOf(database)
          .filter(({ workspaceId }) => workspaceId === viewer.workspaceId)
          .flatMap((row) => {
            const message = shown(database, row)
            if (message === undefined || !where(message, row)) return []
            const team = database.table<TeamRow>("teams").get(message.teamId)!
            return seesTeamInMemory(database, viewer, team) ? [message] : []
          })
      const isTheirs = (viewer: Viewer, { agent, sender }: ShownMessage) =>
        viewer.seesPrivateTeams || sender.id === viewer.personId || agent.person.id === viewer.personId
      const inInbox = (database: MemoryDatabase, viewer: Viewer, { agentId, computerId, seenAfter }: Inbox) =>
        select(database, viewer, (_, row) => {
          if (row.agentId !== agentId || row.status !== "queued") return false
          if (row.computerId === null || row.computerId === computerId) return true
          const seen = [
            database.table<ComputerRow>("computers").get(row.computerId)!,
            ...database.table<SessionRow>("sessions").filter((session) => session.computerId === row.computerId)
          ]
          return seen.every(({ lastSeenAt }) => lastSeenAt <= seenAfter)
        }).toSorted(oldestFirst)
      const change = (database: MemoryDatabase, ids: ReadonlyArray<MessageId>, to: (row: MessageRow) => MessageRow) => {
        const messages = messagesOf(database)
        return ids.map((id) => {
          const changed = to(messages.get(id)!)
          messages.set(id, changed)
          return shown(database, changed)!
        })
      }

      return MessagesRepo.of({
        insert: (messages) =>
          memory.write((database) =>
            Effect.sync(() => {
              for (const message of messages) {
                messagesOf(database).set(message.id, message)
                database.notify("messages", message.agentId)
              }
            })
          ),
        notify: (notifications) =>
          memory.write((database) =>
            Effect.sync(() => {
              for (const notification of notifications) notificationsOf(database).set(notification.id, notification)
            })
          ),
        list: (viewer, filter) =>
          memory.read((database) =>
            select(
              database,
              viewer,
              (message) =>
                isTheirs(viewer, message) &&
                message.agent.id === (filter.agentId ?? message.agent.id) &&
                message.ticket.id === (filter.ticketId ?? message.ticket.id) &&
                message.status === (filter.status ?? message.status)
            )
              .toSorted((a, b) => oldestFirst(b, a))
              .slice(0, messagesPageSize)
          ),
        find: (viewer, id) =>
          memory.read(
            (database) => select(database, viewer, (message) => message.id === id && isTheirs(viewer, message))[0]
          ),
        findOfAgent: (viewer, agentId, id) =>
          memory.read(
            (database) => select(database, viewer, (message) => message.id === id && message.agent.id === agentId)[0]
          ),
        lock: (id) =>
          memory.read((database) => {
            const row = messagesOf(database).get(id)
            return row === undefined ? undefined : shown(database, row)?.status
          }),
        end: (id, status, reply, at) =>
          memory.write((database) =>
            Effect.sync(() => {
              change(database, [id], (row) =>
                status === "completed"
                  ? { ...row, status, reply, completedAt: at, deliveredAt: row.deliveredAt ?? at }
                  : { ...row, status, reply, declinedAt: at }
              )
            })
          ),
        waiting: (viewer, inbox) =>
          memory.read((database) => inInbox(database, viewer, inbox).slice(0, messagesPageSize)),
        count: (viewer, inbox) => memory.read((database) => inInbox(database, viewer, inbox).length),
        take: (viewer, inbox, limit, at) =>
          memory.write((database) =>
            Effect.sync(() =>
              change(
                database,
                inInbox(database, viewer, inbox)
                  .slice(0, limit)
                  .map(({ id }) => id),
                (row) => ({ ...row, status: "delivered", deliveredAt: at })
              )
            )
          ),
        declineQueued: (workspaceId, agents, reason, at) =>
          memory.write((database) =>
            Effect.sync(() =>
              change(
                database,
                messagesOf(database)
                  .filter(
                    (row) =>
                      row.workspaceId === workspaceId &&
                      row.status === "queued" &&
                      agents.includes(row.agentId) &&
                      database.table(tickets).get(row.ticketId) !== undefined
                  )
                  .toSorted(oldestFirst)
                  .map(({ id }) => id),
                (row) => ({ ...row, status: "declined", reply: reason, declinedAt: at })
              )
            )
          ),
        addressee: (workspaceId, id, teamId) =>
          memory.read((database): Addressee | undefined => {
            const agent = database.table<AgentRow>("agents").get(id)
            const member = agent && database.table<MemberRow>("members").get(`${workspaceId}/${agent.personId}`)
            if (agent?.workspaceId !== workspaceId || member === undefined) return undefined
            const isInTeam = database.table<unknown>("team_members").get(`${teamId}/${agent.personId}`) !== undefined
            return {
              agent: { id: agent.id, name: agentName(agent.client), person: personOf(database, agent.personId) },
              isRevoked: agent.revokedAt !== null,
              hasActiveMember: member.active,
              seesPrivateTeam: isAtLeast(member.role, "admin") || isInTeam,
              computers: database
                .table<ComputerRow>("computers")
                .filter((computer) => computer.agentId === id)
                .map((computer) => ({
                  id: computer.id,
                  name: computer.name,
                  lastSeenAt: computer.lastSeenAt,
                  sessions: database
                    .table<SessionRow>("sessions")
                    .filter((session) => session.computerId === computer.id)
                    .map(({ lastSeenAt, repository }) => ({ lastSeenAt, repository }))
                }))
            }
          }),
        repositories: (ticketId) =>
          memory.read((database) =>
            database
              .table<{ readonly projectId: ProjectId; readonly productId: string }>("project_products")
              .filter((link) => link.projectId === database.table(tickets).get(ticketId)?.projectId)
              .flatMap(({ productId }) => database.table<ProductRow>("products").get(productId)?.repository ?? [])
          ),
        hasAgent: (workspaceId, id) =>
          memory.read((database) => database.table<AgentRow>("agents").get(id)?.workspaceId === workspaceId),
        findTicket: (viewer, ref) => memory.read((database) => findTicketInMemory(database, viewer, ref)?.id),
        notifications: (viewer, personId) =>
          memory.read((database) => {
            const messages = new Map(select(database, viewer, () => true).map((message) => [message.id, message]))
            return notificationsOf(database)
              .filter((row) => row.workspaceId === viewer.workspaceId && row.personId === personId)
              .toSorted((a, b) => oldestFirst(b, a))
              .flatMap(({ createdAt, id, kind, messageId, readAt }): ReadonlyArray<Notification> => {
                const message = messages.get(messageId)
                if (message === undefined) return []
                const { teamId: _, ...rest } = message
                return [{ id, kind, message: rest, readAt, createdAt }]
              })
              .slice(0, notificationsPageSize)
          }),
        read: (viewer, personId, at) =>
          memory.write((database) =>
            Effect.sync(() => {
              const seen = new Set(select(database, viewer, () => true).map(({ id }) => id))
              const unread = notificationsOf(database).filter(
                (row) =>
                  row.workspaceId === viewer.workspaceId &&
                  row.personId === personId &&
                  row.readAt === null &&
                  seen.has(row.messageId)
              )
              for (const row of unread) notificationsOf(database).set(row.id, { ...row, readAt: at })
              return unread.length
            })
          )
      })
    })
  )
}

interface Created {
  readonly id: string
  readonly createdAt: Timestamp
}

const oldestFirst = (a: Created, b: Created): number => compare(a.createdAt, b.createdAt) || compare(a.id, b.id)

interface SqlMessage {
  readonly id: MessageId
  readonly ask: Ask
  readonly note: string | null
  readonly commentId: CommentId | null
  readonly status: MessageStatus
  readonly reply: string | null
  readonly createdAt: Date
  readonly deliveredAt: Date | null
  readonly completedAt: Date | null
  readonly declinedAt: Date | null
  readonly computerId: ComputerId | null
  readonly computerName: string | null
  readonly ticketId: TicketId
  readonly number: number
  readonly title: string
  readonly teamId: TeamId
  readonly teamKey: string
  readonly agent: AgentRef
  readonly sender: Person
}

interface SqlNotification extends SqlMessage {
  readonly notificationId: NotificationId
  readonly kind: NotificationKind
  readonly readAt: Date | null
  readonly notifiedAt: Date
}

interface SqlAddressee {
  readonly agent: AgentRef
  readonly isRevoked: boolean
  readonly hasActiveMember: boolean
  readonly seesPrivateTeam: boolean
  readonly computers: ReadonlyArray<AddressedComputer>
}

const readMessage = (row: SqlMessage): ShownMessage => ({
  id: row.id,
  agent: row.agent,
  computer: row.computerId === null ? null : { id: row.computerId, name: row.computerName ?? "" },
  ticket: { id: row.ticketId, identifier: ticketIdentifier(row.teamKey, row.number), title: row.title },
  ask: row.ask,
  note: row.note,
  commentId: row.commentId,
  sender: row.sender,
  status: row.status,
  reply: row.reply,
  createdAt: iso(row.createdAt),
  deliveredAt: isoOrNull(row.deliveredAt),
  completedAt: isoOrNull(row.completedAt),
  declinedAt: isoOrNull(row.declinedAt),
  teamId: row.teamId
})

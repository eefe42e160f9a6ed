import { messagesPageSize } from "@delivery/domain/agents/Message"
import { type Notification, notificationsPageSize } from "@delivery/domain/agents/Notification"
import type { Person } from "@delivery/domain/identity/Actor"
import { isAtLeast } from "@delivery/domain/identity/Role"
import type { AgentId, MessageId, PersonId, TeamId, TicketId, WorkspaceId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import { ticketIdentifier } from "@delivery/domain/planning/Ticket"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Effect, Layer } from "effect"
import { agentName, agents, persons } from "../access/ActorRows.ts"
import { products } from "../catalog/ProductsRepo.ts"
import { tellReadingInMemory } from "../events/Reading.ts"
import { memberKey, members } from "../identity/MembersRepo.ts"
import { projectProducts } from "../planning/ProjectsRepo.ts"
import { teamMemberKey, teamMembers, teams } from "../planning/TeamsRepo.ts"
import { findTicketInMemory } from "../planning/TicketRefs.ts"
import { tickets } from "../planning/TicketsRepo.ts"
import type { Viewer } from "../planning/Viewer.ts"
import { seesTeamInMemory } from "../planning/Visibility.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import {
  type AddressedComputer,
  type Addressee,
  type InboxAddress,
  type MessageRow,
  messages,
  MessagesRepo,
  type NotificationRow,
  notifications,
  type StoredMessage
} from "./MessagesRepo.ts"
import { type ComputerRow, computers, sessions } from "./AgentsRepo.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  MessagesRepo,
  Effect.map(MemoryStorage, (memory) =>
    MessagesRepo.of({
      insert: insert(memory),
      notify: notify(memory),
      list: list(memory),
      find: (viewer, id) =>
        memory.read(
          (database) => select(database, viewer, (message) => message.id === id && isTheirs(viewer, message))[0]
        ),
      findOfAgent: (viewer, agentId, id) =>
        memory.read(
          (database) => select(database, viewer, (message) => message.id === id && message.agent.id === agentId)[0]
        ),
      lock: lock(memory),
      end: end(memory),
      waiting: (viewer, inbox) =>
        memory.read((database) => selectInbox(database, viewer, inbox).slice(0, messagesPageSize)),
      count: (viewer, inbox) => memory.read((database) => selectInbox(database, viewer, inbox).length),
      take: take(memory),
      declineQueued: declineQueued(memory),
      addressee: addressee(memory),
      queuedBy: (_, agentId, senderId) =>
        memory.read(
          (database) =>
            database
              .table(messages)
              .filter((row) => row.agentId === agentId && row.senderId === senderId && row.status === "queued").length
        ),
      repositories: repositories(memory),
      hasAgent: (workspaceId, id) =>
        memory.read((database) => database.table(agents).get(id)?.workspaceId === workspaceId),
      findTicket: (viewer, ref) => memory.read((database) => findTicketInMemory(database, viewer, ref)?.id),
      notifications: listNotifications(memory),
      read: readNotifications(memory),
      mark: markNotification(memory)
    })
  )
)

interface Created {
  readonly id: string
  readonly createdAt: Timestamp
}

const oldestFirst = (a: Created, b: Created): number => compare(a.createdAt, b.createdAt) || compare(a.id, b.id)

const personOf = (database: MemoryDatabase, personId: PersonId): Person => {
  const { email, id, name } = database.table(persons).get(personId)!
  return { id, name, email }
}

/** Undefined where the ticket is deleted: its messages are deleted with it. */
const storedMessage = (database: MemoryDatabase, row: MessageRow): StoredMessage | undefined => {
  const ticket = database.table(tickets).get(row.ticketId)
  if (ticket === undefined) return undefined
  const agent = database.table(agents).get(row.agentId)!
  const team = database.table(teams).get(ticket.teamId)!
  const computer = row.computerId === null ? undefined : database.table(computers).get(row.computerId)
  return {
    id: row.id,
    agent: { id: agent.id, name: agentName(agent), person: personOf(database, agent.personId) },
    computer: computer === undefined ? null : { id: computer.id, name: computer.name },
    ticket: { id: ticket.id, identifier: ticketIdentifier(team.key, ticket.number), title: ticket.title },
    ask: row.ask,
    note: row.note,
    commentId: row.commentId,
    sender: personOf(database, row.senderId),
    status: row.status,
    reply: row.reply,
    evidence: row.evidenceRun === null ? null : { run: row.evidenceRun },
    createdAt: row.createdAt,
    deliveredAt: row.deliveredAt,
    completedAt: row.completedAt,
    declinedAt: row.declinedAt,
    teamId: team.id
  }
}

/** The messages about tickets that the viewer sees, where a condition holds. */
const select = (
  database: MemoryDatabase,
  viewer: Viewer,
  where: (message: StoredMessage, row: MessageRow) => boolean
): Array<StoredMessage> =>
  database
    .table(messages)
    .filter(({ workspaceId }) => workspaceId === viewer.workspaceId)
    .flatMap((row) => {
      const message = storedMessage(database, row)
      if (message === undefined || !where(message, row)) return []
      const team = database.table(teams).get(message.teamId)!
      return seesTeamInMemory(database, viewer, team) ? [message] : []
    })

const isTheirs = (viewer: Viewer, { agent, sender }: StoredMessage) =>
  viewer.seesPrivateTeams || sender.id === viewer.personId || agent.person.id === viewer.personId

/** The messages of the inbox, oldest first. */
const selectInbox = (database: MemoryDatabase, viewer: Viewer, { agentId, computerId, seenAfter }: InboxAddress) =>
  select(database, viewer, (_, row) => {
    if (row.agentId !== agentId || row.status !== "queued") return false
    if (row.computerId === null || row.computerId === computerId) return true
    const seen = [
      database.table(computers).get(row.computerId)!,
      ...database.table(sessions).filter((session) => session.computerId === row.computerId)
    ]
    return seen.every(({ lastSeenAt }) => lastSeenAt <= seenAfter)
  }).toSorted(oldestFirst)

/** Changes messages whose tickets exist, and returns them. */
const change = (database: MemoryDatabase, ids: ReadonlyArray<MessageId>, to: (row: MessageRow) => MessageRow) => {
  const rows = database.table(messages)
  return ids.map((id) => {
    const changed = to(rows.get(id)!)
    rows.set(id, changed)
    return storedMessage(database, changed)!
  })
}

const insert = (memory: Memory) => (rows: ReadonlyArray<MessageRow>) =>
  memory.write((database) =>
    Effect.sync(() => {
      for (const row of rows) {
        database.table(messages).set(row.id, row)
        database.notify("messages", row.agentId)
      }
    })
  )

const notify = (memory: Memory) => (rows: ReadonlyArray<NotificationRow>) =>
  memory.write((database) =>
    Effect.sync(() => {
      for (const row of rows) database.table(notifications).set(row.id, row)
    })
  )

const list =
  (memory: Memory): MessagesRepo["Service"]["list"] =>
  (viewer, filter) =>
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
    )

const lock = (memory: Memory) => (id: MessageId) =>
  memory.read((database) => {
    const row = database.table(messages).get(id)
    return row === undefined ? undefined : storedMessage(database, row)?.status
  })

const end =
  (memory: Memory): MessagesRepo["Service"]["end"] =>
  (id, status, reply, at, evidenceRun = null) =>
    memory.write((database) =>
      Effect.sync(() => {
        change(database, [id], (row) =>
          status === "completed"
            ? { ...row, status, reply, evidenceRun, completedAt: at, deliveredAt: row.deliveredAt ?? at }
            : { ...row, status, reply, declinedAt: at }
        )
      })
    )

const take =
  (memory: Memory): MessagesRepo["Service"]["take"] =>
  (viewer, inbox, limit, at) =>
    memory.write((database) =>
      Effect.sync(() => {
        const taken = selectInbox(database, viewer, inbox).slice(0, limit)
        return change(
          database,
          taken.map(({ id }) => id),
          (row) => ({ ...row, status: "delivered", deliveredAt: at })
        )
      })
    )

const declineQueued =
  (memory: Memory): MessagesRepo["Service"]["declineQueued"] =>
  (workspaceId, agentIds, reason, at) =>
    memory.write((database) =>
      Effect.sync(() => {
        const isQueued = (row: MessageRow) =>
          row.workspaceId === workspaceId &&
          row.status === "queued" &&
          agentIds.includes(row.agentId) &&
          database.table(tickets).get(row.ticketId) !== undefined
        const queued = database.table(messages).filter(isQueued).toSorted(oldestFirst)
        return change(
          database,
          queued.map(({ id }) => id),
          (row) => ({ ...row, status: "declined", reply: reason, declinedAt: at })
        )
      })
    )

const addressee = (memory: Memory) => (workspaceId: WorkspaceId, id: AgentId, teamId: TeamId) =>
  memory.read((database): Addressee | undefined => {
    const agent = database.table(agents).get(id)
    const member = agent && database.table(members).get(memberKey(workspaceId, agent.personId))
    if (agent?.workspaceId !== workspaceId || member === undefined) return undefined
    const isInTeam = database.table(teamMembers).get(teamMemberKey(teamId, agent.personId)) !== undefined
    return {
      agent: { id: agent.id, name: agentName(agent), person: personOf(database, agent.personId) },
      isRevoked: agent.revokedAt !== null,
      hasActiveMember: member.active,
      seesPrivateTeam: isAtLeast(member.role, "admin") || isInTeam,
      computers: database
        .table(computers)
        .filter((computer) => computer.agentId === id)
        .map((computer) => addressedComputer(database, computer))
    }
  })

const addressedComputer = (database: MemoryDatabase, { id, lastSeenAt, name }: ComputerRow): AddressedComputer => ({
  id,
  name,
  lastSeenAt,
  sessions: database
    .table(sessions)
    .filter((session) => session.computerId === id)
    .map(({ lastSeenAt, repository }) => ({ lastSeenAt, repository }))
})

const repositories = (memory: Memory) => (ticketId: TicketId) =>
  memory.read((database) => {
    const ticket = database.table(tickets).get(ticketId)
    return database
      .table(projectProducts)
      .filter((link) => link.projectId === ticket?.projectId)
      .flatMap(({ productId }) => database.table(products).get(productId)?.repository ?? [])
  })

const listNotifications =
  (memory: Memory): MessagesRepo["Service"]["notifications"] =>
  (viewer, personId) =>
    memory.read((database) => {
      const seen = new Map(select(database, viewer, () => true).map((message) => [message.id, message]))
      return database
        .table(notifications)
        .filter((row) => row.workspaceId === viewer.workspaceId && row.personId === personId)
        .toSorted((a, b) => oldestFirst(b, a))
        .flatMap((row) => present(row, seen.get(row.messageId)) ?? [])
        .slice(0, notificationsPageSize)
    })

/** Undefined where the viewer does not see the message. */
const present = (
  { createdAt, id, kind, readAt }: NotificationRow,
  stored: StoredMessage | undefined
): Notification | undefined => {
  if (stored === undefined) return undefined
  const { teamId: _, ...message } = stored
  return { id, kind, message, readAt, createdAt }
}

const readNotifications =
  (memory: Memory): MessagesRepo["Service"]["read"] =>
  (viewer, personId, at) =>
    memory.write((database) =>
      Effect.sync(() => {
        const seen = new Set(select(database, viewer, () => true).map(({ id }) => id))
        const rows = database.table(notifications)
        const unread = rows.filter(
          (row) =>
            row.workspaceId === viewer.workspaceId &&
            row.personId === personId &&
            row.readAt === null &&
            seen.has(row.messageId)
        )
        for (const row of unread) rows.set(row.id, { ...row, readAt: at })
        if (unread.length > 0) tellReadingInMemory(database, viewer.workspaceId, personId)
        return unread.length
      })
    )

const markNotification =
  (memory: Memory): MessagesRepo["Service"]["mark"] =>
  (viewer, personId, id, readAt) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(notifications)
        const row = rows.get(id)
        if (row?.workspaceId !== viewer.workspaceId || row.personId !== personId) return undefined
        const [seen] = select(database, viewer, (message) => message.id === row.messageId)
        const marked = { ...row, readAt: readAt === null ? null : (row.readAt ?? readAt) }
        if (seen !== undefined) {
          rows.set(row.id, marked)
          tellReadingInMemory(database, viewer.workspaceId, personId)
        }
        return present(marked, seen)
      })
    )

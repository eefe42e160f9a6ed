import { isAtLeast } from "@delivery/domain/identity/Role"
import { compare } from "@delivery/domain/Order"
import { lineMentioning } from "@delivery/domain/planning/Mentions"
import {
  maxExcerpt,
  maxNotifiedComment,
  type TicketNotification,
  type TicketNotificationPlace
} from "@delivery/domain/planning/TicketNotification"
import { timestamp } from "@delivery/domain/Timestamp"
import { firstCharacters } from "@delivery/domain/Text"
import { Effect, Layer } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { resolveActor } from "../access/Actors.ts"
import { tellReadingInMemory } from "../events/Reading.ts"
import { memberKey, members } from "../identity/MembersRepo.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { comments } from "./CommentsRepo.ts"
import { teams } from "./TeamsRepo.ts"
import { type TicketNotificationRow, ticketNotifications, TicketNotificationsRepo } from "./TicketNotificationsRepo.ts"
import { identifierOf } from "./TicketRefs.ts"
import { tickets } from "./TicketsRepo.ts"
import type { Viewer } from "./Viewer.ts"
import { seesTeamInMemory } from "./Visibility.ts"

export const layer = Layer.effect(
  TicketNotificationsRepo,
  Effect.map(MemoryStorage, (memory) =>
    TicketNotificationsRepo.of({
      insert: insert(memory),
      list: list(memory),
      countUnread: countUnread(memory),
      endAssignment: endAssignment(memory),
      read: read(memory),
      unread: unread(memory),
      mark: mark(memory)
    })
  )
)

type Memory = MemoryStorage["Service"]
type Repo = TicketNotificationsRepo["Service"]

const teamOf = (database: MemoryDatabase, { ticketId }: TicketNotificationRow) =>
  database.table(teams).get(database.table(tickets).get(ticketId)!.teamId)!

const insert =
  (memory: Memory): Repo["insert"] =>
  (rows) =>
    memory.write((database) =>
      Effect.sync(() => {
        for (const row of rows) {
          const { personId, workspaceId } = row
          const member = database.table(members).get(memberKey(workspaceId, personId))
          if (member?.active !== true) continue
          const viewer: Viewer = { workspaceId, personId, seesPrivateTeams: isAtLeast(member.role, "admin") }
          if (seesTeamInMemory(database, viewer, teamOf(database, row))) {
            database.table(ticketNotifications).set(row.id, row)
          }
        }
      })
    )

const isOf = (
  database: MemoryDatabase,
  viewer: Viewer,
  personId: string,
  row: TicketNotificationRow | undefined
): row is TicketNotificationRow =>
  row !== undefined &&
  row.workspaceId === viewer.workspaceId &&
  row.personId === personId &&
  seesTeamInMemory(database, viewer, teamOf(database, row))

const present = (database: MemoryDatabase, row: TicketNotificationRow): TicketNotification => {
  const { description, number, plan, title } = database.table(tickets).get(row.ticketId)!
  const comment = row.commentId === null ? undefined : database.table(comments).get(row.commentId)
  return {
    id: row.id,
    kind: row.kind,
    ticket: { id: row.ticketId, identifier: identifierOf({ number, team: teamOf(database, row) }), title },
    comment: comment === undefined ? null : { id: comment.id, body: firstCharacters(comment.body, maxNotifiedComment) },
    excerpt:
      row.kind === "ticket_mentioned" && row.commentId === null
        ? ([description, plan]
            .map((text) => lineMentioning(text ?? "", row.personId, maxExcerpt))
            .find((line) => line !== undefined) ?? null)
        : null,
    actor: resolveActor(database, { kind: row.actorKind, id: row.actorId } as ActorRef),
    readAt: row.readAt,
    createdAt: row.createdAt
  }
}

const newestFirst = (a: TicketNotificationPlace, b: TicketNotificationPlace): number =>
  compare(b.createdAt, a.createdAt) || compare(b.id, a.id)

const list =
  (memory: Memory): Repo["list"] =>
  (viewer, personId, { before, limit, onlyUnread }) =>
    memory.read((database) =>
      database
        .table(ticketNotifications)
        .filter((row) => isOf(database, viewer, personId, row))
        .filter((row) => (!onlyUnread || row.readAt === null) && (before === undefined || newestFirst(before, row) < 0))
        .toSorted(newestFirst)
        .slice(0, limit)
        .map((row) => present(database, row))
    )

const countUnread =
  (memory: Memory): Repo["countUnread"] =>
  (viewer, personId, most) =>
    memory.read((database) => {
      const rows = database.table(ticketNotifications)
      const unread = rows.filter((row) => row.readAt === null && isOf(database, viewer, personId, row))
      return Math.min(unread.length, most)
    })

const endAssignment =
  (memory: Memory): Repo["endAssignment"] =>
  (ticketId, personId, at) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(ticketNotifications)
        const isOver = (row: TicketNotificationRow) =>
          row.ticketId === ticketId &&
          row.personId === personId &&
          row.kind === "ticket_assigned" &&
          row.readAt === null
        for (const row of rows.filter(isOver)) rows.set(row.id, { ...row, readAt: at })
      })
    )

const read =
  (memory: Memory): Repo["read"] =>
  (viewer, personId, at) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(ticketNotifications)
        const unread = rows.filter((row) => row.readAt === null && isOf(database, viewer, personId, row))
        if (unread.length === 0) return undefined
        const times = rows.filter((row) => row.workspaceId === viewer.workspaceId && row.personId === personId)
        const last = Math.max(...times.map((row) => (row.readAt === null ? 0 : Date.parse(row.readAt))))
        const readAt = timestamp(Math.max(Date.parse(at), last + 1))
        for (const row of unread) rows.set(row.id, { ...row, readAt })
        tellReadingInMemory(database, viewer.workspaceId, personId)
        return { read: unread.length, readAt }
      })
    )

const unread =
  (memory: Memory): Repo["unread"] =>
  (viewer, personId, readAt) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(ticketNotifications)
        const isStillTheirs = ({ kind, ticketId }: TicketNotificationRow) =>
          kind !== "ticket_assigned" || database.table(tickets).get(ticketId)!.ownerId === personId
        const read = rows.filter(
          (row) => row.readAt === readAt && isOf(database, viewer, personId, row) && isStillTheirs(row)
        )
        for (const row of read) rows.set(row.id, { ...row, readAt: null })
        if (read.length > 0) tellReadingInMemory(database, viewer.workspaceId, personId)
        return read.length
      })
    )

const mark =
  (memory: Memory): Repo["mark"] =>
  (viewer, personId, id, readAt) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(ticketNotifications)
        const row = rows.get(id)
        if (!isOf(database, viewer, personId, row)) return undefined
        const marked = { ...row, readAt: readAt === null ? null : (row.readAt ?? readAt) }
        rows.set(row.id, marked)
        tellReadingInMemory(database, viewer.workspaceId, personId)
        return present(database, marked)
      })
    )

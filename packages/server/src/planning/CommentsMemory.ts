import type { CommentId, PersonId, TicketId } from "@delivery/domain/Ids"
import { isAtLeast, type Role } from "@delivery/domain/identity/Role"
import { compare } from "@delivery/domain/Order"
import type { Mentions } from "@delivery/domain/planning/Mentions"
import { Effect, Layer } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { resolveActor } from "../access/Actors.ts"
import { agents } from "../access/ActorRows.ts"
import { storeEvent, type StoredEvent } from "../events/EventsRepo.ts"
import { memberKey, members } from "../identity/MembersRepo.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import {
  type CommentDetails,
  type CommentMentionRow,
  commentMentions,
  type CommentRow,
  comments,
  CommentsRepo,
  mentionedOf,
  writersOfNewest
} from "./CommentsRepo.ts"
import { teamMemberKey, teamMembers } from "./TeamsRepo.ts"
import { ticketNotifications } from "./TicketNotificationsRepo.ts"
import { findTicketInMemory } from "./TicketRefs.ts"
import type { Viewer } from "./Viewer.ts"

export const layer = Layer.effect(
  CommentsRepo,
  Effect.map(MemoryStorage, (memory) =>
    CommentsRepo.of({
      list: list(memory),
      newest: newest(memory),
      find: find(memory),
      lock: (ticketId, id) => Effect.map(find(memory)(ticketId, id), (comment) => comment !== undefined),
      mentionable: mentionable(memory),
      writers: writers(memory),
      everMentioned: everMentioned(memory),
      insert: put(memory),
      update: put(memory),
      delete: remove(memory)
    })
  )
)

type Memory = MemoryStorage["Service"]
type Repo = CommentsRepo["Service"]

const list = (memory: Memory) => (viewer: Viewer, ticketRef: string) =>
  memory.read((database) => {
    const ticket = findTicketInMemory(database, viewer, ticketRef)
    return ticket && commentsOf(database, ticket.id).map((comment) => detailsIn(database, comment))
  })

type Placed = Pick<CommentRow, "createdAt" | "id">

const compareComments = (a: Placed, b: Placed): number => compare(a.createdAt, b.createdAt) || compare(a.id, b.id)

/** Oldest first. */
const commentsOf = (database: MemoryDatabase, ticketId: TicketId): ReadonlyArray<CommentRow> =>
  database
    .table(comments)
    .filter((comment) => comment.ticketId === ticketId)
    .toSorted(compareComments)

const newest =
  (memory: Memory): Repo["newest"] =>
  (ticketId, { before, bytes, limit }) =>
    memory.read((database) => {
      const rows = commentsOf(database, ticketId).filter(
        (row) => before === undefined || compareComments(row, before) < 0
      )
      let first = rows.length
      for (let size = 0; first > 0 && rows.length - first < limit && size < bytes; first--) {
        size += Buffer.byteLength(rows[first - 1]!.body)
      }
      return { comments: rows.slice(first).map((row) => detailsIn(database, row)), older: first }
    })

const writers = (memory: Memory) => (ticketId: TicketId) =>
  memory.read((database) => {
    const newest = commentsOf(database, ticketId).slice(-writersOfNewest)
    return [
      ...new Set(newest.flatMap(({ authorId, authorKind }) => (authorKind === "user" ? [authorId as PersonId] : [])))
    ]
  })

const find = (memory: Memory) => (ticketId: TicketId, id: CommentId) =>
  memory.read((database) => {
    const comment = database.table(comments).get(id)
    return comment?.ticketId === ticketId ? detailsIn(database, comment) : undefined
  })

const mentionable =
  (memory: Memory): Repo["mentionable"] =>
  (team, mentions) =>
    memory.read((database) => {
      const activeMember = (personId: PersonId) => {
        const member = database.table(members).get(memberKey(team.workspaceId, personId))
        return member?.active === true ? member : undefined
      }
      const seesTeam = (role: Role, personId: PersonId) =>
        team.visibility === "open" ||
        isAtLeast(role, "admin") ||
        database.table(teamMembers).get(teamMemberKey(team.id, personId)) !== undefined
      return {
        users: mentions.users.filter((id) => activeMember(id) !== undefined),
        agents: mentions.agents.flatMap((id) => {
          const agent = database.table(agents).get(id)
          const isThere = agent?.workspaceId === team.workspaceId && agent.revokedAt === null
          const member = isThere ? activeMember(agent.personId) : undefined
          return member === undefined ? [] : [{ id, seesTeam: seesTeam(member.role, member.personId) }]
        })
      }
    })

const everMentioned = (memory: Memory) => (id: CommentId) =>
  memory.read((database) => mentionsOf(database, id).map(({ subjectId }) => subjectId))

const put = (memory: Memory) => (comment: CommentRow, mentions: Mentions, event: StoredEvent) =>
  memory.write((database) =>
    Effect.sync(() => {
      database.table(comments).set(comment.id, comment)
      const rows = database.table(commentMentions)
      const set = (row: CommentMentionRow) => rows.set(keyOf(row), row)
      for (const row of mentionsOf(database, comment.id)) set({ ...row, position: null })
      const { id: commentId, workspaceId } = comment
      for (const [position, subjectId] of mentions.users.entries()) {
        set({ workspaceId, commentId, kind: "user", subjectId, position })
      }
      for (const [position, subjectId] of mentions.agents.entries()) {
        set({ workspaceId, commentId, kind: "agent", subjectId, position })
      }
      storeEvent(database, event)
    })
  )

const remove = (memory: Memory) => (id: CommentId, event: StoredEvent) =>
  memory.write((database) =>
    Effect.sync(() => {
      deleteCommentInMemory(database, id)
      storeEvent(database, event)
    })
  )

/** Deletes a comment with its mentions and what persons were told of it. */
export const deleteCommentInMemory = (database: MemoryDatabase, id: CommentId): void => {
  for (const row of mentionsOf(database, id)) database.table(commentMentions).delete(keyOf(row))
  database.table(ticketNotifications).deleteWhere(({ commentId }) => commentId === id)
  database.table(comments).delete(id)
}

const keyOf = ({ commentId, kind, subjectId }: CommentMentionRow): string => `${commentId}/${kind}/${subjectId}`

const mentionsOf = (database: MemoryDatabase, id: CommentId): ReadonlyArray<CommentMentionRow> =>
  database.table(commentMentions).filter(({ commentId }) => commentId === id)

const detailsIn = (database: MemoryDatabase, comment: CommentRow): CommentDetails => ({
  ...comment,
  author: resolveActor(database, { kind: comment.authorKind, id: comment.authorId } as ActorRef),
  ...mentionedOf(
    mentionsOf(database, comment.id)
      .filter(({ position }) => position !== null)
      .toSorted((a, b) => a.position! - b.position!)
      .map(({ kind, subjectId }) => resolveActor(database, { kind, id: subjectId } as ActorRef))
  )
})

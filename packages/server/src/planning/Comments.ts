import { Conflict, Forbidden, NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { AgentId, CommentId } from "@delivery/domain/Ids"
import type { Comment, CreateComment, UpdateComment } from "@delivery/domain/planning/Comment"
import { mentionsIn } from "@delivery/domain/planning/Mentions"
import { isId } from "@delivery/domain/Text"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { type Access, type ActorRef, anyRole, atLeast, isSameActor } from "../access/Access.ts"
import { Events } from "../events/Events.ts"
import { NextId } from "../ids/NextId.ts"
import { Storage } from "../storage/Storage.ts"
import { type CommentDetails, type CommentRow, CommentsRepo } from "./CommentsRepo.ts"
import { AgentMentions } from "./Mentions.ts"
import { about } from "./TicketEvents.ts"
import { interestedIn, TicketNotifications } from "./TicketNotifications.ts"
import { identifierOf } from "./TicketRefs.ts"
import { isAnswerableFor } from "./TicketRules.ts"
import { type TicketDetails, TicketsRepo } from "./TicketsRepo.ts"
import { onTicket } from "./TicketTransactions.ts"
import { viewerOf } from "./Viewer.ts"

type Refused = NotFound | Forbidden | Conflict

/** Comments on tickets, and whom they mention (docs/contract.md, Comments). */
export class Comments extends Context.Service<
  Comments,
  {
    readonly list: (ticket: string) => Effect.Effect<ReadonlyArray<Comment>, NotFound, Caller>
    /** The newest comments, or those before one of them, as far as they fit; oldest first. `older` are left out. */
    readonly newest: (
      ticket: string,
      part: { readonly before?: string | undefined; readonly limit: number; readonly bytes: number }
    ) => Effect.Effect<{ readonly comments: ReadonlyArray<Comment>; readonly older: number }, NotFound, Caller>
    readonly create: (ticket: string, input: CreateComment) => Effect.Effect<Comment, Refused, Caller>
    readonly update: (ticket: string, comment: string, input: UpdateComment) => Effect.Effect<Comment, Refused, Caller>
    readonly delete: (ticket: string, comment: string) => Effect.Effect<void, Refused, Caller>
  }
>()("@delivery/server/planning/Comments") {
  static readonly layer = Layer.effect(Comments, Effect.gen(make))
}

interface Dependencies {
  readonly repo: CommentsRepo["Service"]
  readonly tickets: TicketsRepo["Service"]
  readonly agentMentions: AgentMentions["Service"]
  readonly notifications: TicketNotifications["Service"]
  readonly storage: Storage["Service"]
  readonly events: Events["Service"]
  readonly nextId: NextId["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    repo: yield* CommentsRepo,
    tickets: yield* TicketsRepo,
    agentMentions: yield* AgentMentions,
    notifications: yield* TicketNotifications,
    storage: yield* Storage,
    events: yield* Events,
    nextId: yield* NextId
  }
  return Comments.of({
    list: list(dependencies),
    newest: newest(dependencies),
    create: create(dependencies),
    update: update(dependencies),
    delete: remove(dependencies)
  })
}

const list = ({ repo }: Dependencies) =>
  Effect.fn("Comments.list")(function* (ticketRef: string) {
    const access = yield* anyRole
    const comments = yield* repo.list(viewerOf(access), ticketRef)
    return comments === undefined ? yield* NotFound.of("ticket", ticketRef) : comments.map(present)
  })

const newest = ({ repo, tickets }: Dependencies): Comments["Service"]["newest"] =>
  Effect.fn("Comments.newest")(function* (ticketRef, { before, ...part }) {
    const place = yield* tickets.locate(viewerOf(yield* anyRole), ticketRef)
    if (place === undefined) return yield* NotFound.of("ticket", ticketRef)
    const id = before !== undefined && isId(before) ? (before as CommentId) : undefined
    const named = id === undefined ? undefined : yield* repo.find(place.id, id)
    if (before !== undefined && named === undefined) return yield* NotFound.reference("before", before)
    const { comments, older } = yield* repo.newest(place.id, { ...part, before: named })
    return { comments: comments.map(present), older }
  })

const create = (dependencies: Dependencies) => {
  const { events, nextId, notifications, repo } = dependencies
  const change = onTicket(dependencies)
  const resolve = resolveMentions(dependencies)
  const notify = notifyAgents(dependencies)
  return Effect.fn("Comments.create")(function* (ticketRef: string, { body }: CreateComment) {
    const by = yield* atLeast("member")
    return yield* change(
      by,
      ticketRef,
      Effect.fnUntraced(function* (ticket, isArchived) {
        if (isArchived) return yield* Conflict.archived("team")
        const { mentions, notified, users } = yield* resolve(by, ticket, body)
        const comment: CommentRow = {
          id: yield* nextId<CommentId>(),
          workspaceId: by.workspace.id,
          ticketId: ticket.id,
          body,
          authorKind: by.actor.kind,
          authorId: by.actor.id,
          createdAt: timestamp(yield* Clock.currentTimeMillis),
          editedAt: null
        }
        const event = yield* events.make(by, { kind: "ticket_commented", ...about(ticket) })
        yield* repo.insert(comment, mentions, event)
        yield* notify(by, ticket, comment, notified)
        const interested = [...interestedIn(ticket), ...(yield* repo.writers(ticket.id))]
        const concerned = { ticket_mentioned: users, ticket_commented: interested }
        yield* notifications.notify(by, ticket, concerned, comment.id)
        return present((yield* repo.find(ticket.id, comment.id))!)
      })
    )
  })
}

const update = (dependencies: Dependencies) => {
  const { events, notifications, repo } = dependencies
  const change = onTicket(dependencies)
  const lock = lockComment(dependencies)
  const resolve = resolveMentions(dependencies)
  const notify = notifyAgents(dependencies)
  return Effect.fn("Comments.update")(function* (ticketRef: string, id: string, { body }: UpdateComment) {
    const by = yield* atLeast("member")
    return yield* change(
      by,
      ticketRef,
      Effect.fnUntraced(function* (ticket, isArchived) {
        const before = yield* lock(ticket, id)
        if (!isSameActor(by.actor, authorOf(before))) {
          return yield* notAuthor("Only the author of a comment can edit it.")
        }
        if (before.body === body) return present(before)
        if (isArchived) return yield* Conflict.archived("team")
        const { mentions, notified, users } = yield* resolve(by, ticket, body, before)
        const now = yield* Clock.currentTimeMillis
        const after = { ...before, body, editedAt: timestamp(Math.max(now, Date.parse(before.createdAt))) }
        const changes = [{ field: "body", from: null, to: "changed" }]
        const event = yield* events.make(by, { kind: "comment_updated", ...aboutComment(ticket, before), changes })
        yield* repo.update(after, mentions, event)
        yield* notify(by, ticket, after, notified)
        yield* notifications.notify(by, ticket, { ticket_mentioned: users }, after.id)
        return present((yield* repo.find(ticket.id, after.id))!)
      })
    )
  })
}

const remove = (dependencies: Dependencies) => {
  const { events, repo } = dependencies
  const change = onTicket(dependencies)
  const lock = lockComment(dependencies)
  return Effect.fn("Comments.delete")(function* (ticketRef: string, id: string) {
    const by = yield* atLeast("member")
    yield* change(
      by,
      ticketRef,
      Effect.fnUntraced(function* (ticket, isArchived) {
        const comment = yield* lock(ticket, id)
        if (!isAnswerableFor(by, authorOf(comment), comment.author)) {
          return yield* notAuthor("Only the author of a comment, or an admin or owner of the workspace, can delete it.")
        }
        if (isArchived) return yield* Conflict.archived("team")
        const event = yield* events.make(by, { kind: "comment_deleted", ...aboutComment(ticket, comment) })
        yield* repo.delete(comment.id, event)
      })
    )
  })
}

/** Locks the comment that a path names. */
const lockComment = ({ repo }: Dependencies) =>
  Effect.fnUntraced(function* (ticket: TicketDetails, id: string) {
    const isThere = isId(id) && (yield* repo.lock(ticket.id, id as CommentId))
    const comment = isThere ? yield* repo.find(ticket.id, id as CommentId) : undefined
    return comment ?? (yield* NotFound.of("comment", id))
  })

/**
 * Whom a text mentions: those who can be mentioned, and those whom the comment mentions already. `notified` are the
 * agents that get a message, `users` the persons that are told: those that the comment never mentioned; of agents, those
 * whose persons see the ticket.
 */
const resolveMentions = ({ repo }: Dependencies) =>
  Effect.fnUntraced(function* (by: Access, ticket: TicketDetails, body: string, before?: CommentDetails) {
    const named = mentionsIn(body)
    if (named.users.length + named.agents.length === 0) return { mentions: named, notified: [], users: [] }
    const { agents, users } = yield* repo.mentionable({ ...ticket.team, workspaceId: by.workspace.id }, named)
    const isKnown = (id: string) =>
      [...(before?.users ?? []), ...(before?.agents ?? [])].some((known) => known.id === id)
    const everMentioned: ReadonlyArray<string> = before === undefined ? [] : yield* repo.everMentioned(before.id)
    return {
      users: named.users.filter((id) => users.includes(id) && !everMentioned.includes(id)),
      mentions: {
        users: named.users.filter((id) => users.includes(id) || isKnown(id)),
        agents: named.agents.filter((id) => agents.some((agent) => agent.id === id) || isKnown(id))
      },
      notified: named.agents.filter(
        (id) => !everMentioned.includes(id) && agents.some((agent) => agent.id === id && agent.seesTeam)
      )
    }
  })

/** Only persons send messages to agents by mentioning them. */
const notifyAgents =
  ({ agentMentions }: Dependencies) =>
  (by: Access, ticket: TicketDetails, comment: CommentRow, agentIds: ReadonlyArray<AgentId>) =>
    by.principal.kind === "user" && agentIds.length > 0
      ? agentMentions.mentioned({
          by,
          ticket: { id: ticket.id, teamId: ticket.team.id, identifier: identifierOf(ticket), title: ticket.title },
          comment: { id: comment.id, body: comment.body },
          agentIds
        })
      : Effect.void

const notAuthor = (message: string) => new Forbidden({ message, reason: "not_author" })

const authorOf = ({ authorId, authorKind }: CommentRow): ActorRef => ({ kind: authorKind, id: authorId }) as ActorRef

/** The subject of an event about a comment: its path is its ticket's page. */
const aboutComment = (ticket: TicketDetails, { id }: CommentRow) => {
  const { subject, ...audience } = about(ticket)
  return { subject: { type: "comment", id, label: `Comment on ${subject.label}`, path: subject.path }, ...audience }
}

const present = (comment: CommentDetails): Comment => ({
  id: comment.id,
  body: comment.body,
  author: comment.author,
  createdAt: comment.createdAt,
  editedAt: comment.editedAt,
  mentions: { users: comment.users, agents: comment.agents }
})

import { type Conflict, Forbidden, NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { AgentId, CommentId } from "@delivery/domain/Ids"
import type { Comment, CreateComment, UpdateComment } from "@delivery/domain/planning/Comment"
import { mentionsIn } from "@delivery/domain/planning/Mentions"
import { isId } from "@delivery/domain/Text"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { nextId } from "../ids/NextId.ts"
import { Events } from "../events/Events.ts"
import { type Access, type ActorRef, anyRole, atLeast, isSameActor } from "../access/Access.ts"
import { Storage } from "../storage/Storage.ts"
import { type CommentRow, CommentsRepo, type CommentDetails } from "./CommentsRepo.ts"
import { AgentMentions } from "./Mentions.ts"
import { identifierOf } from "./TicketRefs.ts"
import { about, archived, isAnswerableFor } from "./Tickets.ts"
import { type TicketDetails, TicketsRepo } from "./TicketsRepo.ts"
import { viewerOf } from "./Visibility.ts"

type Refused = NotFound | Forbidden | Conflict

/** Comments on tickets, and whom they mention (contract, section 8). */
export class Comments extends Context.Service<
  Comments,
  {
    readonly list: (ticket: string) => Effect.Effect<ReadonlyArray<Comment>, NotFound, Caller>
    readonly create: (ticket: string, input: CreateComment) => Effect.Effect<Comment, Refused, Caller>
    readonly update: (ticket: string, comment: string, input: UpdateComment) => Effect.Effect<Comment, Refused, Caller>
    readonly delete: (ticket: string, comment: string) => Effect.Effect<void, Refused, Caller>
  }
>()("@delivery/server/planning/Comments") {
  static readonly layer = Layer.effect(
    Comments,
    Effect.gen(function* () {
      const random = yield* SecureRandom.SecureRandom
      const storage = yield* Storage
      const repo = yield* CommentsRepo
      const tickets = yield* TicketsRepo
      const agentMentions = yield* AgentMentions
      const events = yield* Events

      /**
       * Runs a change of a ticket's comments in a transaction that holds the ticket's team, shared: the ticket can
       * neither move nor be deleted meanwhile.
       */
      const onTicket = <A, E>(
        by: Access,
        ref: string,
        change: (ticket: TicketDetails, isArchived: boolean) => Effect.Effect<A, E>
      ): Effect.Effect<A, E | NotFound> =>
        Effect.flatMap(
          storage.transaction(
            Effect.gen(function* () {
              const viewer = viewerOf(by)
              const place = yield* tickets.locate(viewer, ref)
              if (place === undefined) return yield* NotFound.of("ticket")
              const team = (yield* tickets.holdTeams([place.teamId], "shared")).get(place.teamId)!
              const ticket = yield* tickets.find(viewer, place.id)
              if (ticket === undefined) return yield* NotFound.of("ticket")
              return ticket.team.id === team.id ? { changed: yield* change(ticket, team.archived) } : undefined
            })
          ),
          (outcome) => (outcome === undefined ? onTicket(by, ref, change) : Effect.succeed(outcome.changed))
        )

      /** The comment of a path, held. */
      const held = Effect.fnUntraced(function* (ticket: TicketDetails, id: string) {
        const isThere = isId(id) && (yield* repo.lock(ticket.id, id as CommentId))
        const comment = isThere ? yield* repo.find(ticket.id, id as CommentId) : undefined
        return comment ?? (yield* NotFound.of("comment"))
      })

      /** Whom the text mentions: those who can be mentioned, and those whom the comment mentions already. */
      const mentionsOf = Effect.fnUntraced(function* (
        by: Access,
        ticket: TicketDetails,
        body: string,
        now?: CommentDetails
      ) {
        const named = mentionsIn(body)
        if (named.users.length + named.agents.length === 0) return { mentions: named, told: [] }
        const { agents, users } = yield* repo.mentionable({ ...ticket.team, workspaceId: by.workspace.id }, named)
        const isKnown = (id: string) => [...(now?.users ?? []), ...(now?.agents ?? [])].some((known) => known.id === id)
        const ever = now === undefined ? [] : yield* repo.everMentioned(now.id)
        return {
          mentions: {
            users: named.users.filter((id) => users.includes(id) || isKnown(id)),
            agents: named.agents.filter((id) => agents.some((agent) => agent.id === id) || isKnown(id))
          },
          told: named.agents.filter(
            (id) => !ever.includes(id) && agents.some((agent) => agent.id === id && agent.seesTeam)
          )
        }
      })

      const tell = (
        by: Access,
        { id, number, team, title }: TicketDetails,
        comment: CommentRow,
        told: ReadonlyArray<AgentId>
      ) =>
        by.principal.kind === "user" && told.length > 0
          ? agentMentions.mentioned({
              by,
              ticket: { id, teamId: team.id, identifier: identifierOf({ number, team }), title },
              comment: { id: comment.id, body: comment.body },
              agentIds: told
            })
          : Effect.void

      /** The comment as it is after a change in this transaction. */
      const present = Effect.fnUntraced(function* ({ id, ticketId }: CommentRow) {
        return shown((yield* repo.find(ticketId, id))!)
      })

      return Comments.of({
        list: Effect.fn("Comments.list")(function* (ticket: string) {
          const access = yield* anyRole
          const comments = yield* repo.list(viewerOf(access), ticket)
          return comments === undefined ? yield* NotFound.of("ticket") : comments.map(shown)
        }),

        create: Effect.fn("Comments.create")(function* (ref: string, { body }: CreateComment) {
          const by = yield* atLeast("member")
          return yield* onTicket(
            by,
            ref,
            Effect.fnUntraced(function* (ticket, isArchived) {
              if (isArchived) return yield* archived("team")
              const { mentions, told } = yield* mentionsOf(by, ticket, body)
              const comment: CommentRow = {
                id: yield* Effect.provideService(nextId<CommentId>(), SecureRandom.SecureRandom, random),
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
              yield* tell(by, ticket, comment, told)
              return yield* present(comment)
            })
          )
        }),

        update: Effect.fn("Comments.update")(function* (ref: string, id: string, { body }: UpdateComment) {
          const by = yield* atLeast("member")
          return yield* onTicket(
            by,
            ref,
            Effect.fnUntraced(function* (ticket, isArchived) {
              const before = yield* held(ticket, id)
              if (!isSameActor(by.actor, authorOf(before))) return yield* notAuthor("edits")
              if (before.body === body) return shown(before)
              if (isArchived) return yield* archived("team")
              const { mentions, told } = yield* mentionsOf(by, ticket, body, before)
              const now = yield* Clock.currentTimeMillis
              const comment = { ...before, body, editedAt: timestamp(Math.max(now, Date.parse(before.createdAt))) }
              const changes = [{ field: "body", from: null, to: "changed" }]
              const event = yield* events.make(by, {
                kind: "comment_updated",
                ...aboutComment(ticket, before),
                changes
              })
              yield* repo.update(comment, mentions, event)
              yield* tell(by, ticket, comment, told)
              return yield* present(comment)
            })
          )
        }),

        delete: Effect.fn("Comments.delete")(function* (ref: string, id: string) {
          const by = yield* atLeast("member")
          yield* onTicket(
            by,
            ref,
            Effect.fnUntraced(function* (ticket, isArchived) {
              const comment = yield* held(ticket, id)
              if (!isAnswerableFor(by, authorOf(comment), comment.author)) return yield* notAuthor("deletes")
              if (isArchived) return yield* archived("team")
              const event = yield* events.make(by, { kind: "comment_deleted", ...aboutComment(ticket, comment) })
              yield* repo.delete(comment.id, event)
            })
          )
        })
      })
    })
  )
}

const notAuthor = (does: "edits" | "deletes") =>
  new Forbidden({
    message:
      does === "edits"
        ? "Only its author edits a comment."
        : "Only its author, an admin or an owner deletes a comment.",
    reason: "not_author"
  })

/** The subject of an event about a comment, which is shown on its ticket's page. */
const aboutComment = (ticket: TicketDetails, { id }: CommentDetails) => {
  const { subject, ...seen } = about(ticket)
  return { subject: { type: "comment", id, label: `Comment on ${subject.label}`, path: subject.path }, ...seen }
}

const authorOf = ({ authorId, authorKind }: CommentRow): ActorRef => ({ kind: authorKind, id: authorId }) as ActorRef

const shown = (comment: CommentDetails): Comment => ({
  id: comment.id,
  body: comment.body,
  author: comment.author,
  createdAt: comment.createdAt,
  editedAt: comment.editedAt,
  mentions: { users: comment.users, agents: comment.agents }
})

import {
  type AgentMessage,
  type Ask,
  type DeclineMessage,
  maxMentionNote,
  type MessageStatus,
  type SendMessage
} from "@delivery/domain/agents/Message"
import type { Notification, NotificationKind } from "@delivery/domain/agents/Notification"
import { route } from "@delivery/domain/agents/Routing"
import { Conflict, Forbidden, NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type {
  AgentId,
  CommentId,
  ComputerId,
  MessageId,
  NotificationId,
  PersonId,
  TeamId,
  TicketId,
  WorkspaceId
} from "@delivery/domain/Ids"
import { firstCharacters, isId } from "@delivery/domain/Text"
import { timestamp, type Timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { nextId } from "../ids/NextId.ts"
import { Events, type NewEvent } from "../events/Events.ts"
import { type ActorRef, anyRole, atLeast, personOf } from "../access/Access.ts"
import { AgentMentions } from "../planning/Mentions.ts"
import { identifierOf } from "../planning/TicketRefs.ts"
import { TicketsRepo } from "../planning/TicketsRepo.ts"
import { viewerOf } from "../planning/Visibility.ts"
import { Storage } from "../storage/Storage.ts"
import { type Addressee, type MessageRow, MessagesRepo, type ShownMessage } from "./MessagesRepo.ts"
import { WaitingMessages } from "./WaitingMessages.ts"

/** `agent`, `ticket` and `status` of the list of messages. */
export interface MessagesQuery {
  readonly agent?: string | undefined
  readonly ticket?: string | undefined
  readonly status?: MessageStatus | undefined
}

interface By {
  readonly workspace: { readonly id: WorkspaceId }
  readonly actor: ActorRef
}

/** What a message is made of, once it is known that it may be sent. */
interface Letter {
  readonly addressee: Addressee
  readonly ticket: { readonly id: TicketId; readonly teamId: TeamId; readonly identifier: string }
  readonly senderId: PersonId
  readonly ask: Ask
  readonly note: string | null
  readonly commentId: CommentId | null
  readonly computerId: ComputerId | null
}

/** Messages to coding agents, and what members are told of them (service document; contract, section 9). */
export class Messages extends Context.Service<
  Messages,
  {
    readonly list: (query: MessagesQuery) => Effect.Effect<ReadonlyArray<AgentMessage>, NotFound, Caller>
    readonly send: (input: SendMessage) => Effect.Effect<AgentMessage, NotFound | Forbidden | Conflict, Caller>
    readonly get: (message: string) => Effect.Effect<AgentMessage, NotFound, Caller>
    readonly decline: (
      message: string,
      input: DeclineMessage
    ) => Effect.Effect<AgentMessage, NotFound | Forbidden | Conflict, Caller>
    /** Ends a message of an agent, unless it has ended, and tells its sender. */
    readonly end: (
      by: By,
      message: ShownMessage,
      status: "completed" | "declined",
      reply: string | null
    ) => Effect.Effect<void, NotFound | Conflict>
    readonly notifications: Effect.Effect<ReadonlyArray<Notification>, NotFound, Caller>
    /** Marks all of the caller's notifications read that they see, and says how many were not. */
    readonly read: Effect.Effect<number, NotFound, Caller>
  }
>()("@delivery/server/agents/Messages") {
  static readonly layer = Layer.effectContext(
    Effect.gen(function* () {
      const random = yield* SecureRandom.SecureRandom
      const storage = yield* Storage
      const repo = yield* MessagesRepo
      const tickets = yield* TicketsRepo
      const events = yield* Events

      const newId = <Id extends string>() => Effect.provideService(nextId<Id>(), SecureRandom.SecureRandom, random)

      const notify = Effect.fnUntraced(function* (
        workspaceId: WorkspaceId,
        kind: NotificationKind,
        told: ReadonlyArray<{ readonly personId: PersonId; readonly messageId: MessageId }>,
        createdAt: Timestamp
      ) {
        const rows = yield* Effect.forEach(told, (one) =>
          Effect.map(newId<NotificationId>(), (id) => ({ ...one, id, workspaceId, kind, readAt: null, createdAt }))
        )
        yield* repo.notify(rows)
      })

      const post = Effect.fnUntraced(function* (by: By, { addressee, computerId, ticket, ...letter }: Letter) {
        const now = yield* Clock.currentTimeMillis
        const createdAt = timestamp(now)
        const message: MessageRow = {
          ...letter,
          id: yield* newId<MessageId>(),
          workspaceId: by.workspace.id,
          agentId: addressee.agent.id,
          computerId: computerId ?? route(addressee.computers, yield* repo.repositories(ticket.id), now),
          ticketId: ticket.id,
          status: "queued",
          reply: null,
          createdAt,
          deliveredAt: null,
          completedAt: null,
          declinedAt: null
        }
        yield* repo.insert([message])
        const received = [{ personId: addressee.agent.person.id, messageId: message.id }]
        yield* notify(by.workspace.id, "message_received", received, createdAt)
        yield* events.record(by, { kind: "message_sent", ...about(message.id, letter.ask, ticket) })
        return message.id
      })

      const end: Messages["Service"]["end"] = Effect.fnUntraced(function* (by, message, status, reply) {
        const current = yield* repo.lock(message.id)
        if (current === undefined) return yield* NotFound.of("message")
        if (current === "completed" || current === "declined") {
          return yield* new Conflict({ message: `The message was ${current} already.`, reason: "ended" })
        }
        const at = timestamp(yield* Clock.currentTimeMillis)
        yield* repo.end(message.id, status, reply, at)
        const told = [{ personId: message.sender.id, messageId: message.id }]
        yield* notify(by.workspace.id, `message_${status}`, told, at)
        yield* events.record(by, { kind: `message_${status}`, ...aboutShown(message) })
      })

      const messages = Messages.of({
        list: Effect.fn("Messages.list")(function* ({ agent, status, ticket }: MessagesQuery) {
          const access = yield* anyRole
          const viewer = viewerOf(access)
          const agentId = agent as AgentId | undefined
          if (agentId !== undefined && !(yield* repo.hasAgent(viewer.workspaceId, agentId))) {
            return yield* NotFound.reference("agent")
          }
          const ticketId = ticket === undefined ? undefined : yield* repo.findTicket(viewer, ticket)
          if (ticket !== undefined && ticketId === undefined) return yield* NotFound.reference("ticket")
          return (yield* repo.list(viewer, { agentId, ticketId, status })).map(shown)
        }),

        send: Effect.fn("Messages.send")(function* (input: SendMessage) {
          const by = yield* atLeast("member")
          const sender = personOf(by.principal)
          if (sender === undefined) {
            return yield* new Forbidden({ message: "An account API key sends no messages.", reason: "account_key" })
          }
          const viewer = viewerOf(by)
          return yield* storage.transaction(
            Effect.gen(function* () {
              const place = yield* tickets.locate(viewer, input.ticket)
              // Held, so that the ticket is still there when the message is stored.
              if (place === undefined || (yield* tickets.lock(place.id)) === undefined) {
                return yield* NotFound.reference("ticket")
              }
              const ticket = yield* tickets.find(viewer, place.id)
              if (ticket === undefined) return yield* NotFound.reference("ticket")
              const addressee = isId(input.agent)
                ? yield* repo.addressee(viewer.workspaceId, input.agent as AgentId, ticket.team.id)
                : undefined
              if (addressee === undefined) return yield* NotFound.reference("agent")
              const computer = addressee.computers.find(({ id }) => id === input.computer)
              if ((input.computer ?? null) !== null && computer === undefined) {
                return yield* NotFound.reference("computer")
              }
              if (addressee.isRevoked) {
                return yield* new Conflict({ message: "The agent was revoked.", reason: "agent_revoked" })
              }
              if (!addressee.hasActiveMember) {
                return yield* new Conflict({
                  message: "The agent's person is no active member.",
                  reason: "inactive_member"
                })
              }
              if (ticket.team.visibility === "private" && !addressee.seesPrivateTeam) {
                return yield* new Conflict({
                  message: "The agent's person does not see the ticket.",
                  reason: "ticket_invisible"
                })
              }
              const id = yield* post(by, {
                addressee,
                ticket: { id: ticket.id, teamId: ticket.team.id, identifier: identifierOf(ticket) },
                senderId: sender.id,
                ask: input.ask,
                note: input.note ?? null,
                commentId: null,
                computerId: computer?.id ?? null
              })
              return shown((yield* repo.find(viewer, id))!)
            })
          )
        }),

        get: Effect.fn("Messages.get")(function* (id: string) {
          const message = yield* repo.find(viewerOf(yield* anyRole), id)
          return message === undefined ? yield* NotFound.of("message") : shown(message)
        }),

        decline: Effect.fn("Messages.decline")(function* (id: string, { reason }: DeclineMessage) {
          const by = yield* anyRole
          const person = personOf(by.principal)
          if (person === undefined) {
            return yield* new Forbidden({ message: "An account API key has no agents.", reason: "account_key" })
          }
          const viewer = viewerOf(by)
          return yield* storage.transaction(
            Effect.gen(function* () {
              const message = yield* repo.find(viewer, id)
              if (message === undefined) return yield* NotFound.of("message")
              if (message.agent.person.id !== person.id) {
                return yield* new Forbidden({
                  message: "Only the member that the agent works for declines its messages.",
                  reason: "other_member"
                })
              }
              yield* end(by, message, "declined", reason ?? null)
              return shown((yield* repo.find(viewer, id))!)
            })
          )
        }),

        end,

        notifications: Effect.gen(function* () {
          const access = yield* anyRole
          const person = personOf(access.principal)
          return person === undefined ? [] : yield* repo.notifications(viewerOf(access), person.id)
        }).pipe(Effect.withSpan("Messages.notifications")),

        read: Effect.gen(function* () {
          const access = yield* anyRole
          const person = personOf(access.principal)
          if (person === undefined) return 0
          return yield* repo.read(viewerOf(access), person.id, timestamp(yield* Clock.currentTimeMillis))
        }).pipe(Effect.withSpan("Messages.read"))
      })

      const waiting = WaitingMessages.of({
        decline: Effect.fnUntraced(function* (by, agents, reason) {
          const at = timestamp(yield* Clock.currentTimeMillis)
          const declined = yield* repo.declineQueued(by.workspace.id, agents, reason, at)
          const told = declined.map(({ id, sender }) => ({ personId: sender.id, messageId: id }))
          yield* notify(by.workspace.id, "message_declined", told, at)
          yield* Effect.forEach(
            declined,
            (message) => events.record(by, { kind: "message_declined", ...aboutShown(message) }),
            { discard: true }
          )
          return declined
        })
      })

      const mentions = AgentMentions.of({
        mentioned: ({ agentIds, by, comment, ticket }) =>
          Effect.forEach(
            agentIds,
            Effect.fnUntraced(function* (agentId) {
              const sender = personOf(by.principal)
              const addressee = yield* repo.addressee(by.workspace.id, agentId, ticket.teamId)
              if (sender === undefined || addressee === undefined) return
              // Who was revoked or deactivated meanwhile is told nothing.
              if (addressee.isRevoked || !addressee.hasActiveMember) return
              yield* post(by, {
                addressee,
                ticket,
                senderId: sender.id,
                ask: "mention",
                note: firstCharacters(comment.body, maxMentionNote),
                commentId: comment.id,
                computerId: null
              })
            }),
            { discard: true }
          )
      })

      return Context.make(Messages, messages).pipe(
        Context.add(WaitingMessages, waiting),
        Context.add(AgentMentions, mentions)
      )
    })
  )
}

/** A message as answers show it. */
export const shown = ({ teamId: _, ...message }: ShownMessage): AgentMessage => message

const about = (
  id: MessageId,
  ask: Ask,
  ticket: { readonly identifier: string; readonly teamId: TeamId }
): Omit<NewEvent, "kind"> => ({
  subject: { type: "message", id, label: `${ask} ${ticket.identifier}`, path: `messages/${id}` },
  teams: [ticket.teamId]
})

const aboutShown = ({ ask, id, teamId, ticket }: ShownMessage) =>
  about(id, ask, { identifier: ticket.identifier, teamId })

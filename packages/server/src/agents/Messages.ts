import {
  type AgentMessage,
  type Ask,
  type DeclineMessage,
  maxMentionNote,
  maxQueued,
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
import type { TeamVisibility } from "@delivery/domain/planning/Team"
import { firstCharacters, isId } from "@delivery/domain/Text"
import { timestamp, type Timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { NextId } from "../ids/NextId.ts"
import { Events, type NewEvent } from "../events/Events.ts"
import { type ActorRef, anyRole, atLeast, personOf } from "../access/Access.ts"
import { AgentMentions } from "../planning/Mentions.ts"
import { identifierOf } from "../planning/TicketRefs.ts"
import { TicketsRepo } from "../planning/TicketsRepo.ts"
import { type Viewer, viewerOf } from "../planning/Viewer.ts"
import { Storage } from "../storage/Storage.ts"
import { type Addressee, type MessageRow, MessagesRepo, type StoredMessage } from "./MessagesRepo.ts"
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

/** A message that has passed all checks. */
interface NewMessage {
  readonly addressee: Addressee
  readonly ticket: { readonly id: TicketId; readonly teamId: TeamId; readonly identifier: string }
  readonly senderId: PersonId
  readonly ask: Ask
  readonly note: string | null
  readonly commentId: CommentId | null
  /** Null where routing chooses. */
  readonly computerId: ComputerId | null
}

/** Messages to coding agents, and the notifications of members about them (docs/contract.md, Messages; Notifications). */
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
    /** Ends a message of an agent, unless it has ended, and notifies its sender. */
    readonly end: (
      by: By,
      message: StoredMessage,
      status: "completed" | "declined",
      reply: string | null,
      evidenceRun?: number | null
    ) => Effect.Effect<void, NotFound | Conflict>
    readonly notifications: Effect.Effect<ReadonlyArray<Notification>, NotFound, Caller>
    /** Marks the caller's visible unread notifications read, and returns their number. */
    readonly read: Effect.Effect<number, NotFound, Caller>
    /** Marks one of the caller's visible notifications read or unread. */
    readonly mark: (notification: string, as: "read" | "unread") => Effect.Effect<Notification, NotFound, Caller>
  }
>()("@delivery/server/agents/Messages") {
  /** Supplies `WaitingMessages` and planning's `AgentMentions`, too. */
  static readonly layer = Layer.effectContext(Effect.gen(make))
}

interface Dependencies {
  readonly repo: MessagesRepo["Service"]
  readonly tickets: TicketsRepo["Service"]
  readonly storage: Storage["Service"]
  readonly events: Events["Service"]
  readonly nextId: NextId["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    repo: yield* MessagesRepo,
    tickets: yield* TicketsRepo,
    storage: yield* Storage,
    events: yield* Events,
    nextId: yield* NextId
  }
  const messages = Messages.of({
    list: list(dependencies),
    send: send(dependencies),
    get: get(dependencies),
    decline: decline(dependencies),
    end: end(dependencies),
    notifications: notifications(dependencies),
    read: readNotifications(dependencies),
    mark: markNotification(dependencies)
  })
  return Context.make(Messages, messages).pipe(
    Context.add(WaitingMessages, WaitingMessages.of({ decline: declineWaiting(dependencies) })),
    Context.add(AgentMentions, AgentMentions.of({ mentioned: mentioned(dependencies) }))
  )
}

const notify = ({ nextId, repo }: Dependencies) =>
  Effect.fnUntraced(function* (
    workspaceId: WorkspaceId,
    kind: NotificationKind,
    recipients: ReadonlyArray<{ readonly personId: PersonId; readonly messageId: MessageId }>,
    createdAt: Timestamp
  ) {
    const rows = yield* Effect.forEach(recipients, (recipient) =>
      Effect.map(nextId<NotificationId>(), (id) => ({ ...recipient, id, workspaceId, kind, readAt: null, createdAt }))
    )
    yield* repo.notify(rows)
  })

/** Puts the message in the agent's inbox, and returns its id. */
const queue = (dependencies: Dependencies) => {
  const { events, nextId, repo } = dependencies
  const notifyMembers = notify(dependencies)
  return Effect.fnUntraced(function* (by: By, { addressee, computerId, ticket, ...content }: NewMessage) {
    const now = yield* Clock.currentTimeMillis
    const createdAt = timestamp(now)
    const message: MessageRow = {
      ...content,
      id: yield* nextId<MessageId>(),
      workspaceId: by.workspace.id,
      agentId: addressee.agent.id,
      computerId: computerId ?? route(addressee.computers, yield* repo.repositories(ticket.id), now),
      ticketId: ticket.id,
      status: "queued",
      reply: null,
      evidenceRun: null,
      createdAt,
      deliveredAt: null,
      completedAt: null,
      declinedAt: null
    }
    yield* repo.insert([message])
    const recipients = [{ personId: addressee.agent.person.id, messageId: message.id }]
    yield* notifyMembers(by.workspace.id, "message_received", recipients, createdAt)
    yield* events.record(by, { kind: "message_sent", ...eventOf(message.id, content.ask, ticket) })
    return message.id
  })
}

const list = ({ repo }: Dependencies) =>
  Effect.fn("Messages.list")(function* ({ agent, status, ticket }: MessagesQuery) {
    const access = yield* anyRole
    const viewer = viewerOf(access)
    const agentId = agent as AgentId | undefined
    if (agentId !== undefined && !(yield* repo.hasAgent(viewer.workspaceId, agentId))) {
      return yield* NotFound.reference("agent", agentId)
    }
    const ticketId = ticket === undefined ? undefined : yield* repo.findTicket(viewer, ticket)
    if (ticket !== undefined && ticketId === undefined) return yield* NotFound.reference("ticket", ticket)
    return (yield* repo.list(viewer, { agentId, ticketId, status })).map(present)
  })

const send = (dependencies: Dependencies) => {
  const { repo, storage } = dependencies
  const findTicket = lockTicket(dependencies)
  const findAddressee = addresseeOf(dependencies)
  const add = queue(dependencies)
  return Effect.fn("Messages.send")(function* (input: SendMessage) {
    const by = yield* atLeast("member")
    const sender = personOf(by.principal)
    if (sender === undefined) {
      return yield* new Forbidden({ message: "An account API key cannot send messages.", reason: "account_key" })
    }
    const viewer = viewerOf(by)
    const sent = Effect.gen(function* () {
      const ticket = yield* findTicket(viewer, input.ticket)
      const { addressee, computerId } = yield* findAddressee(viewer, ticket.team, input)
      yield* mayQueue(dependencies, viewer.workspaceId, addressee.agent.id, sender.id)
      const id = yield* add(by, {
        addressee,
        ticket: { id: ticket.id, teamId: ticket.team.id, identifier: identifierOf(ticket) },
        senderId: sender.id,
        ask: input.ask,
        note: input.note ?? null,
        commentId: null,
        computerId
      })
      return present((yield* repo.find(viewer, id))!)
    })
    return yield* storage.transaction(sent)
  })
}

/** Fails where the sender has as many messages in the inbox of the agent as one sender may have. */
const mayQueue = Effect.fnUntraced(function* (
  { repo }: Dependencies,
  workspaceId: WorkspaceId,
  agentId: AgentId,
  senderId: PersonId
) {
  if ((yield* repo.queuedBy(workspaceId, agentId, senderId)) < maxQueued) return
  return yield* new Conflict({
    message: `${maxQueued} messages of yours wait in the inbox of the agent already, which is the limit.`,
    reason: "too_many_messages"
  })
})

/** The ticket that a new message is about. Locked, so that it still exists when the message is stored. */
const lockTicket = ({ tickets }: Dependencies) =>
  Effect.fnUntraced(function* (viewer: Viewer, ref: string) {
    const place = yield* tickets.locate(viewer, ref)
    if (place === undefined || (yield* tickets.lock(place.id)) === undefined) {
      return yield* NotFound.reference("ticket", ref)
    }
    const ticket = yield* tickets.find(viewer, place.id)
    return ticket === undefined ? yield* NotFound.reference("ticket", ref) : ticket
  })

/** The agent that a new message is for, and the computer that it names. Fails where the agent cannot take the message. */
const addresseeOf = ({ repo }: Dependencies) =>
  Effect.fnUntraced(function* (
    { workspaceId }: Viewer,
    team: { readonly id: TeamId; readonly visibility: TeamVisibility },
    { agent, computer }: SendMessage
  ) {
    const addressee = isId(agent) ? yield* repo.addressee(workspaceId, agent as AgentId, team.id) : undefined
    if (addressee === undefined) return yield* NotFound.reference("agent", agent)
    const computerId = addressee.computers.find(({ id }) => id === computer)?.id ?? null
    if ((computer ?? null) !== computerId) return yield* NotFound.reference("computer", computer ?? undefined)
    if (addressee.isRevoked) {
      return yield* new Conflict({ message: "The agent was revoked.", reason: "agent_revoked" })
    }
    if (!addressee.hasActiveMember) {
      return yield* new Conflict({
        message: "The person of the agent is not an active member.",
        reason: "inactive_member"
      })
    }
    if (team.visibility === "private" && !addressee.seesPrivateTeam) {
      return yield* new Conflict({
        message: "The person of the agent cannot see the ticket.",
        reason: "ticket_invisible"
      })
    }
    return { addressee, computerId }
  })

const get = ({ repo }: Dependencies) =>
  Effect.fn("Messages.get")(function* (id: string) {
    const message = yield* repo.find(viewerOf(yield* anyRole), id)
    return message === undefined ? yield* NotFound.of("message", id) : present(message)
  })

const decline = (dependencies: Dependencies) => {
  const { repo, storage } = dependencies
  const endMessage = end(dependencies)
  return Effect.fn("Messages.decline")(function* (id: string, { reason }: DeclineMessage) {
    const by = yield* anyRole
    const person = personOf(by.principal)
    if (person === undefined) {
      return yield* new Forbidden({ message: "An account API key has no agents.", reason: "account_key" })
    }
    const viewer = viewerOf(by)
    const declined = Effect.gen(function* () {
      const message = yield* repo.find(viewer, id)
      if (message === undefined) return yield* NotFound.of("message", id)
      if (message.agent.person.id !== person.id) {
        return yield* new Forbidden({
          message: "Only the member whom the agent works for may decline its messages.",
          reason: "other_member"
        })
      }
      yield* endMessage(by, message, "declined", reason ?? null)
      return present((yield* repo.find(viewer, id))!)
    })
    return yield* storage.transaction(declined)
  })
}

const end = (dependencies: Dependencies): Messages["Service"]["end"] => {
  const { events, repo } = dependencies
  const notifyMembers = notify(dependencies)
  return Effect.fnUntraced(function* (by, message, status, reply, evidenceRun = null) {
    const current = yield* repo.lock(message.id)
    if (current === undefined) return yield* NotFound.of("message", message.id)
    if (current === "completed" || current === "declined") {
      return yield* new Conflict({ message: `The message was ${current} already.`, reason: "ended" })
    }
    const at = timestamp(yield* Clock.currentTimeMillis)
    yield* repo.end(message.id, status, reply, at, evidenceRun)
    const recipients = [{ personId: message.sender.id, messageId: message.id }]
    yield* notifyMembers(by.workspace.id, `message_${status}`, recipients, at)
    yield* events.record(by, { kind: `message_${status}`, ...eventOfMessage(message) })
  })
}

const notifications = ({ repo }: Dependencies) =>
  Effect.gen(function* () {
    const access = yield* anyRole
    const person = personOf(access.principal)
    return person === undefined ? [] : yield* repo.notifications(viewerOf(access), person.id)
  }).pipe(Effect.withSpan("Messages.notifications"))

const readNotifications = ({ repo }: Dependencies) =>
  Effect.gen(function* () {
    const access = yield* anyRole
    const person = personOf(access.principal)
    if (person === undefined) return 0
    return yield* repo.read(viewerOf(access), person.id, timestamp(yield* Clock.currentTimeMillis))
  }).pipe(Effect.withSpan("Messages.read"))

const markNotification = ({ repo }: Dependencies) =>
  Effect.fn("Messages.mark")(function* (ref: string, as: "read" | "unread") {
    const access = yield* anyRole
    const person = personOf(access.principal)
    const readAt = as === "read" ? timestamp(yield* Clock.currentTimeMillis) : null
    const marked = person === undefined ? undefined : yield* repo.mark(viewerOf(access), person.id, ref, readAt)
    return marked ?? (yield* NotFound.of("notification", ref))
  })

const declineWaiting = (dependencies: Dependencies): WaitingMessages["Service"]["decline"] => {
  const { events, repo } = dependencies
  const notifyMembers = notify(dependencies)
  return Effect.fnUntraced(function* (by, agents, reason) {
    const at = timestamp(yield* Clock.currentTimeMillis)
    const declined = yield* repo.declineQueued(by.workspace.id, agents, reason, at)
    const recipients = declined.map(({ id, sender }) => ({ personId: sender.id, messageId: id }))
    yield* notifyMembers(by.workspace.id, "message_declined", recipients, at)
    yield* Effect.forEach(
      declined,
      (message) => events.record(by, { kind: "message_declined", ...eventOfMessage(message) }),
      { discard: true }
    )
    return declined
  })
}

const mentioned = (dependencies: Dependencies): AgentMentions["Service"]["mentioned"] => {
  const { repo } = dependencies
  const add = queue(dependencies)
  return Effect.fnUntraced(function* ({ agentIds, by, comment, ticket }) {
    const sender = personOf(by.principal)
    if (sender === undefined) return
    // In one order: each holds what it counts, and two comments may mention the same agents.
    yield* Effect.forEach(
      agentIds.toSorted(),
      (agentId) => mayQueue(dependencies, by.workspace.id, agentId, sender.id),
      { discard: true }
    )
    yield* Effect.forEach(
      agentIds,
      Effect.fnUntraced(function* (agentId) {
        const addressee = yield* repo.addressee(by.workspace.id, agentId, ticket.teamId)
        if (addressee === undefined) return
        // An agent that was revoked meanwhile, or whose person was deactivated, gets no message.
        if (addressee.isRevoked || !addressee.hasActiveMember) return
        yield* add(by, {
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
}

/** A message as the API answers it. */
export const present = ({ teamId: _, ...message }: StoredMessage): AgentMessage => message

const eventOf = (
  id: MessageId,
  ask: Ask,
  ticket: { readonly identifier: string; readonly teamId: TeamId }
): Omit<NewEvent, "kind"> => ({
  subject: { type: "message", id, label: `${ask} ${ticket.identifier}`, path: `messages/${id}` },
  teams: [ticket.teamId]
})

const eventOfMessage = ({ ask, id, teamId, ticket }: StoredMessage) =>
  eventOf(id, ask, { identifier: ticket.identifier, teamId })

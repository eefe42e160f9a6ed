import type { AgentRef, ComputerRef } from "@delivery/domain/agents/Agent"
import type { AgentMessage, Ask, MessageStatus } from "@delivery/domain/agents/Message"
import type { Notification, NotificationKind } from "@delivery/domain/agents/Notification"
import type { RoutedComputer } from "@delivery/domain/agents/Routing"
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
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import type { Viewer } from "../planning/Viewer.ts"
import { instant, integer, nullable, type Row, table, text, uuid } from "../storage/Table.ts"

/** The messages to agents. Those of a ticket are deleted with it. */
export const messages = table("messages", {
  id: uuid<MessageId>(),
  workspaceId: uuid<WorkspaceId>(),
  agentId: uuid<AgentId>(),
  computerId: nullable(uuid<ComputerId>()),
  ticketId: uuid<TicketId>(),
  ask: text<Ask>(),
  note: nullable(text()),
  commentId: nullable(uuid<CommentId>()),
  senderId: uuid<PersonId>(),
  status: text<MessageStatus>(),
  reply: nullable(text()),
  evidenceRun: nullable(integer()),
  createdAt: instant(),
  deliveredAt: nullable(instant()),
  completedAt: nullable(instant()),
  declinedAt: nullable(instant())
})

export type MessageRow = Row<typeof messages>

/** The notifications of members. They are deleted with their messages. */
export const notifications = table("notifications", {
  id: uuid<NotificationId>(),
  workspaceId: uuid<WorkspaceId>(),
  personId: uuid<PersonId>(),
  kind: text<NotificationKind>(),
  messageId: uuid<MessageId>(),
  readAt: nullable(instant()),
  createdAt: instant()
})

export type NotificationRow = Row<typeof notifications>

/** A message with the team that its ticket belongs to now. */
export interface StoredMessage extends AgentMessage {
  readonly teamId: TeamId
}

/** Whose inbox is read, and at which computer. */
export interface InboxAddress {
  readonly agentId: AgentId
  /** Null for a sign-in made with the server URL. */
  readonly computerId: ComputerId | null
  /** The messages for a computer that was not seen since then are in the inboxes of the agent's others, too. */
  readonly seenAfter: Timestamp
}

/** An agent to whom a message may be sent. */
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

/** Which messages a list contains. An absent property does not restrict. */
export interface MessageFilter {
  readonly agentId?: AgentId | undefined
  readonly ticketId?: TicketId | undefined
  readonly status?: MessageStatus | undefined
}

/**
 * Stores messages to agents, and the notifications of members about them. Everything is found for a viewer: a message
 * about a ticket of a team that they do not see is not there.
 */
export class MessagesRepo extends Context.Service<
  MessagesRepo,
  {
    /** Stores new messages, and notifies the servers whose inbox they are in. */
    readonly insert: (messages: ReadonlyArray<MessageRow>) => Effect.Effect<void>
    readonly notify: (notifications: ReadonlyArray<NotificationRow>) => Effect.Effect<void>
    /** The newest that the viewer sent or an agent of theirs got; all, for admins and owners. Newest first. */
    readonly list: (viewer: Viewer, filter: MessageFilter) => Effect.Effect<ReadonlyArray<StoredMessage>>
    /** A message that the list contains. */
    readonly find: (viewer: Viewer, id: string) => Effect.Effect<StoredMessage | undefined>
    /** A message to the agent. */
    readonly findOfAgent: (viewer: Viewer, agentId: AgentId, id: string) => Effect.Effect<StoredMessage | undefined>
    /** Locks the message until the transaction ends, and returns its status. */
    readonly lock: (id: MessageId) => Effect.Effect<MessageStatus | undefined>
    /** Ends a message that the transaction has locked. Completing a queued message delivers it too. */
    readonly end: (
      id: MessageId,
      status: "completed" | "declined",
      reply: string | null,
      at: Timestamp,
      evidenceRun?: number | null
    ) => Effect.Effect<void>
    /** The messages of the inbox, oldest first. */
    readonly waiting: (viewer: Viewer, inbox: InboxAddress) => Effect.Effect<ReadonlyArray<StoredMessage>>
    readonly count: (viewer: Viewer, inbox: InboxAddress) => Effect.Effect<number>
    /**
     * Delivers the oldest messages of the inbox, at most `limit`. Concurrent calls get different ones: a message is
     * delivered once.
     */
    readonly take: (
      viewer: Viewer,
      inbox: InboxAddress,
      limit: number,
      at: Timestamp
    ) => Effect.Effect<ReadonlyArray<StoredMessage>>
    /** Declines and returns the queued messages of the agents, whoever sees them. */
    readonly declineQueued: (
      workspaceId: WorkspaceId,
      agents: ReadonlyArray<AgentId>,
      reason: string,
      at: Timestamp
    ) => Effect.Effect<ReadonlyArray<StoredMessage>>
    /**
     * The agent, revoked or not, as the addressee of a message about a ticket of the team. Locked, so that it is not
     * revoked before the transaction ends.
     */
    readonly addressee: (workspaceId: WorkspaceId, id: AgentId, teamId: TeamId) => Effect.Effect<Addressee | undefined>
    /** How many messages of the sender wait in the agent's inbox. Until the transaction ends, nobody else is told. */
    readonly queuedBy: (workspaceId: WorkspaceId, agentId: AgentId, senderId: PersonId) => Effect.Effect<number>
    /** The repositories of the products of the ticket's project. */
    readonly repositories: (ticketId: TicketId) => Effect.Effect<ReadonlyArray<string>>
    /** Whether an agent of the workspace has the id, revoked or not. */
    readonly hasAgent: (workspaceId: WorkspaceId, id: AgentId) => Effect.Effect<boolean>
    /** The ticket that a filter names. */
    readonly findTicket: (viewer: Viewer, ref: string) => Effect.Effect<TicketId | undefined>
    /** The person's newest, newest first. */
    readonly notifications: (viewer: Viewer, personId: PersonId) => Effect.Effect<ReadonlyArray<Notification>>
    /** Marks the person's unread notifications read, and returns their number. */
    readonly read: (viewer: Viewer, personId: PersonId, at: Timestamp) => Effect.Effect<number>
    /** Marks a notification of the person read, unless it is, or with null unread. Undefined where there is none. */
    readonly mark: (
      viewer: Viewer,
      personId: PersonId,
      id: string,
      readAt: Timestamp | null
    ) => Effect.Effect<Notification | undefined>
  }
>()("@delivery/server/agents/MessagesRepo") {}

import type { CommentId, NotificationId, PersonId, TicketId, WorkspaceId } from "@delivery/domain/Ids"
import type {
  TicketNotification,
  TicketNotificationKind,
  TicketNotificationPlace
} from "@delivery/domain/planning/TicketNotification"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { instant, nullable, type Row, table, text, uuid } from "../storage/Table.ts"
import type { Viewer } from "./Viewer.ts"

/** The notifications of persons about tickets. They are deleted with their tickets and comments. */
export const ticketNotifications = table("ticket_notifications", {
  id: uuid<NotificationId>(),
  workspaceId: uuid<WorkspaceId>(),
  personId: uuid<PersonId>(),
  kind: text<TicketNotificationKind>(),
  ticketId: uuid<TicketId>(),
  commentId: nullable(uuid<CommentId>()),
  actorKind: text<ActorRef["kind"]>(),
  actorId: uuid<ActorRef["id"]>(),
  readAt: nullable(instant()),
  createdAt: instant()
})

export type TicketNotificationRow = Row<typeof ticketNotifications>

export interface TicketNotificationsPage {
  readonly onlyUnread: boolean
  /** Only those behind this one. */
  readonly before: TicketNotificationPlace | undefined
  readonly limit: number
}

/** Stores notifications of persons about tickets. One is there for its person alone, while they see the ticket. */
export class TicketNotificationsRepo extends Context.Service<
  TicketNotificationsRepo,
  {
    /** Stores those whose persons are active members that see the ticket. */
    readonly insert: (rows: ReadonlyArray<TicketNotificationRow>) => Effect.Effect<void>
    /** Those of the person, newest first. */
    readonly list: (
      viewer: Viewer,
      personId: PersonId,
      page: TicketNotificationsPage
    ) => Effect.Effect<ReadonlyArray<TicketNotification>>
    /** How many of the person's are unread, as far as `most`. */
    readonly countUnread: (viewer: Viewer, personId: PersonId, most: number) => Effect.Effect<number>
    /** Marks read that the ticket was assigned to the person, who owns it no more. */
    readonly endAssignment: (ticketId: TicketId, personId: PersonId, at: Timestamp) => Effect.Effect<void>
    /**
     * Marks the person's unread ones read: at that time, or a moment after the last that is there, so that it names them
     * alone. Undefined where none is unread. The person's streams are told of this and of the next two.
     */
    readonly read: (
      viewer: Viewer,
      personId: PersonId,
      at: Timestamp
    ) => Effect.Effect<{ readonly read: number; readonly readAt: Timestamp } | undefined>
    /**
     * Marks those of the person unread that were read at that time, and returns their number. Assignments of tickets that
     * are another's by now stay read.
     */
    readonly unread: (viewer: Viewer, personId: PersonId, readAt: Timestamp) => Effect.Effect<number>
    /** Marks one of the person read, unless it is, or with null unread. Undefined where there is none. */
    readonly mark: (
      viewer: Viewer,
      personId: PersonId,
      id: string,
      readAt: Timestamp | null
    ) => Effect.Effect<TicketNotification | undefined>
  }
>()("@delivery/server/planning/TicketNotificationsRepo") {}

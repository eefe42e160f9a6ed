import { NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { CommentId, NotificationId, PersonId, WorkspaceId } from "@delivery/domain/Ids"
import { mentionsIn } from "@delivery/domain/planning/Mentions"
import {
  type TicketNotification,
  ticketNotificationCursor,
  type TicketNotificationKind,
  maxUnreadCount,
  type ReadTicketNotifications,
  ticketNotificationPlace,
  type TicketNotifications as Page,
  ticketNotificationsPageSize,
  type UnreadTicketNotifications
} from "@delivery/domain/planning/TicketNotification"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { type ActorRef, anyRole, personOf } from "../access/Access.ts"
import { ByItself } from "../events/ByItself.ts"
import { NextId } from "../ids/NextId.ts"
import { type TicketNotificationRow, TicketNotificationsRepo } from "./TicketNotificationsRepo.ts"
import type { TicketDetails } from "./TicketsRepo.ts"
import { viewerOf } from "./Viewer.ts"

/** Whom a change of a ticket concerns, by what it means for them. */
export type Concerned = Readonly<Partial<Record<TicketNotificationKind, ReadonlyArray<PersonId>>>>

/** What persons are told of tickets (docs/contract.md, Ticket notifications). */
export class TicketNotifications extends Context.Service<
  TicketNotifications,
  {
    /** Empty for account API keys. */
    readonly list: (query?: {
      readonly unread?: "true" | "false"
      readonly cursor?: string
    }) => Effect.Effect<Page, NotFound, Caller>
    /** Marks the caller's visible unread ones read: how many, and the time by which `unread` takes it back. */
    readonly read: Effect.Effect<ReadTicketNotifications, NotFound, Caller>
    /** Marks those of the caller's visible ones unread that were read at that time, and returns their number. */
    readonly unread: (input: UnreadTicketNotifications) => Effect.Effect<number, NotFound, Caller>
    /** Marks one of the caller's visible ones read or unread. */
    readonly mark: (id: string, as: "read" | "unread") => Effect.Effect<TicketNotification, NotFound, Caller>
    /**
     * Tells persons of what somebody did to a ticket, in the transaction that stores it: each once, of the first kind that
     * names them, but not of what they did themselves. Of what was done by itself in their name they are told where the ticket
     * is theirs, and of the end of a mute wherever it is.
     */
    readonly notify: (
      by: { readonly workspace: { readonly id: WorkspaceId }; readonly actor: ActorRef },
      ticket: Pick<TicketDetails, "id" | "owner">,
      concerned: Concerned,
      comment?: CommentId
    ) => Effect.Effect<void>
    /** Marks read what told the owner before a change of the assignment that is over, in the transaction of the change. */
    readonly endAssignment: (
      before: Pick<TicketDetails, "id" | "owner">,
      after: Pick<TicketDetails, "owner">
    ) => Effect.Effect<void>
  }
>()("@delivery/server/planning/TicketNotifications") {
  static readonly layer = Layer.effect(TicketNotifications, Effect.gen(make))
}

interface Dependencies {
  readonly repo: TicketNotificationsRepo["Service"]
  readonly nextId: NextId["Service"]
}

function* make() {
  const dependencies: Dependencies = { repo: yield* TicketNotificationsRepo, nextId: yield* NextId }
  return TicketNotifications.of({
    list: list(dependencies),
    read: read(dependencies),
    unread: unread(dependencies),
    mark: mark(dependencies),
    notify: notify(dependencies),
    endAssignment: endAssignment(dependencies)
  })
}

const list = ({ repo }: Dependencies): TicketNotifications["Service"]["list"] =>
  Effect.fn("TicketNotifications.list")(function* ({ cursor, unread } = {}) {
    const access = yield* anyRole
    const person = personOf(access.principal)
    if (person === undefined) return { notifications: [], nextCursor: null, unreadCount: 0 }
    const viewer = viewerOf(access)
    const found = yield* repo.list(viewer, person.id, {
      onlyUnread: unread === "true",
      before: cursor === undefined ? undefined : ticketNotificationPlace(cursor),
      limit: ticketNotificationsPageSize + 1
    })
    const notifications = found.slice(0, ticketNotificationsPageSize)
    const last = found.length > notifications.length ? notifications.at(-1) : undefined
    return {
      notifications,
      nextCursor: last === undefined ? null : ticketNotificationCursor(last),
      unreadCount: yield* repo.countUnread(viewer, person.id, maxUnreadCount)
    }
  })

const read = ({ repo }: Dependencies) =>
  Effect.gen(function* () {
    const access = yield* anyRole
    const person = personOf(access.principal)
    const now = timestamp(yield* Clock.currentTimeMillis)
    const marked = person === undefined ? undefined : yield* repo.read(viewerOf(access), person.id, now)
    return marked ?? { read: 0, readAt: null }
  }).pipe(Effect.withSpan("TicketNotifications.read"))

const unread = ({ repo }: Dependencies) =>
  Effect.fn("TicketNotifications.unread")(function* ({ readAt }: UnreadTicketNotifications) {
    const access = yield* anyRole
    const person = personOf(access.principal)
    // As it is stored, whatever form and offset it was sent in.
    const at = timestamp(Date.parse(readAt))
    return person === undefined ? 0 : yield* repo.unread(viewerOf(access), person.id, at)
  })

const mark = ({ repo }: Dependencies) =>
  Effect.fn("TicketNotifications.mark")(function* (id: string, as: "read" | "unread") {
    const access = yield* anyRole
    const person = personOf(access.principal)
    const readAt = as === "read" ? timestamp(yield* Clock.currentTimeMillis) : null
    const marked = person === undefined ? undefined : yield* repo.mark(viewerOf(access), person.id, id, readAt)
    return marked ?? (yield* NotFound.of("notification", id))
  })

/** The kinds, the one that says most first. */
const kinds = ["ticket_mentioned", "ticket_assigned", "ticket_commented", "ticket_mute_ended"] as const

const notify = ({ nextId, repo }: Dependencies): TicketNotifications["Service"]["notify"] =>
  Effect.fnUntraced(function* (by, ticket, concerned, comment) {
    const isOwnDeed =
      concerned.ticket_mute_ended === undefined && ((yield* ByItself) === undefined || ticket.owner?.id !== by.actor.id)
    const told = new Set<PersonId>(by.actor.kind === "user" && isOwnDeed ? [by.actor.id] : [])
    const rows: Array<TicketNotificationRow> = []
    const createdAt = timestamp(yield* Clock.currentTimeMillis)
    for (const kind of kinds) {
      for (const personId of concerned[kind] ?? []) {
        if (told.has(personId)) continue
        told.add(personId)
        rows.push({
          id: yield* nextId<NotificationId>(),
          workspaceId: by.workspace.id,
          personId,
          kind,
          ticketId: ticket.id,
          commentId: comment ?? null,
          actorKind: by.actor.kind,
          actorId: by.actor.id,
          readAt: null,
          createdAt
        })
      }
    }
    if (rows.length > 0) yield* repo.insert(rows)
  })

const endAssignment = ({ repo }: Dependencies): TicketNotifications["Service"]["endAssignment"] =>
  Effect.fnUntraced(function* ({ id, owner }, after) {
    if (owner?.kind !== "user" || owner.id === after.owner?.id) return
    yield* repo.endAssignment(id, owner.id, timestamp(yield* Clock.currentTimeMillis))
  })

type Texts = Pick<TicketDetails, "owner" | "description" | "plan">

/** Whom a new ticket or a change of one concerns: its new owner, and those whom its texts mention for the first time. */
export const concernedBy = (before: Texts | undefined, { description, owner, plan }: Texts): Concerned => {
  const isNew = owner?.kind === "user" && owner.id !== before?.owner?.id
  const named = (text: string | null | undefined) => (text == null ? [] : mentionsIn(text).users)
  const isReworded = before?.description !== description || before.plan !== plan
  const known = new Set(isReworded ? [...named(before?.description), ...named(before?.plan)] : [])
  return {
    ticket_assigned: isNew ? [owner.id] : [],
    ticket_mentioned: isReworded ? [...named(description), ...named(plan)].filter((id) => !known.has(id)) : []
  }
}

/** The person, or the one whom the agent works for. */
export const personBehind = (owner: NonNullable<TicketDetails["owner"]>): PersonId =>
  owner.kind === "user" ? owner.id : owner.person.id

/** Whom a comment on a ticket concerns: who answers for the ticket, and who created it. */
export const interestedIn = ({ createdBy, owner }: TicketDetails): ReadonlyArray<PersonId> => {
  const ids: Array<PersonId> = []
  if (owner !== null) ids.push(personBehind(owner))
  if (createdBy.kind === "user") ids.push(createdBy.id)
  if (createdBy.kind === "agent") ids.push(createdBy.person.id)
  return ids
}

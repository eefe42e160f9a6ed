import type { Change } from "@delivery/domain/events/Event"
import type { Actor } from "@delivery/domain/identity/Actor"
import type { EventId, TeamId, WorkspaceId } from "@delivery/domain/Ids"
import { Context, type Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { type MemoryDatabase, memoryTable } from "../storage/MemoryStorage.ts"
import { instant, json, long, nullable, type Row, table, text, uuid, uuids } from "../storage/Table.ts"

/** The table of events. Its rows keep the actor as an `ActorRef`, which is two columns. */
export const events = table("events", {
  id: uuid<EventId>(),
  workspaceId: uuid<WorkspaceId>(),
  kind: text(),
  actorKind: text<ActorRef["kind"]>(),
  actorId: uuid(),
  subjectType: text(),
  subjectId: text(),
  subjectLabel: text(),
  /** The subject's page below the workspace's, such as `products/shop`. */
  subjectPath: text(),
  changes: json<ReadonlyArray<Change>>(),
  /** Visible only to those who see one of these teams; null for the whole workspace. */
  teamIds: nullable(uuids<TeamId>()),
  createdAt: instant(),
  /** Its place among the events of all workspaces. The storage gives it. */
  position: long()
})

/** An event to be stored. */
export interface StoredEvent extends Omit<Row<typeof events>, "actorKind" | "actorId" | "position"> {
  readonly actor: ActorRef
}

/** Events in the memory storage, which keeps the actor as services and `Actors` take it: as one value. */
export const eventsTable = memoryTable<StoredEvent & { readonly position: number }>("events")

/** The last position. Transactions run one after the other, so it is that of the last commit, too. */
const lastPosition = memoryTable<number>("eventPositions")

export const lastPositionIn = (database: MemoryDatabase): number => database.table(lastPosition).get("last") ?? 0

/** Stores an event in the memory storage, and gives it its position. */
export const storeEvent = (database: MemoryDatabase, event: StoredEvent): void => {
  const position = lastPositionIn(database) + 1
  database.table(lastPosition).set("last", position)
  database.table(eventsTable).set(event.id, { ...event, position })
  database.notify("events", "")
}

/** A stored event with its place and its actor's present name. */
export interface EventWithActor extends Omit<StoredEvent, "actor"> {
  readonly actor: Actor
  readonly position: number
}

/** An event by its place. */
export type PlacedEvent = Pick<EventWithActor, "id" | "position">

/** How far a reader is: all events up to a position have been read, and some behind it. */
export interface ReadEvents {
  readonly position: number
  readonly seen: ReadonlyArray<PlacedEvent>
}

/** Which events of a workspace; what is absent does not restrict. */
export interface EventFilter {
  readonly kinds?: ReadonlyArray<string> | undefined
  readonly subject?: string | undefined
}

/** Whether an event is for somebody who sees these teams. */
export const isSeenBy = (teams: "all" | ReadonlyArray<TeamId>, { teamIds }: Pick<StoredEvent, "teamIds">): boolean =>
  teams === "all" || teamIds === null || teamIds.some((id) => teams.includes(id))

export const matches = ({ kinds, subject }: EventFilter, event: Pick<StoredEvent, "kind" | "subjectId">): boolean =>
  (kinds === undefined || kinds.includes(event.kind)) && (subject === undefined || subject === event.subjectId)

/** How far events can be read. */
export interface EventHorizon {
  /** The last position that was given, also in transactions that are open. */
  readonly last: number
  /** A read that begins after this answer finds all events up to this position that there will ever be. */
  readonly readable: number
}

/** Stores events, and finds them in both directions. */
export class EventsRepo extends Context.Service<
  EventsRepo,
  {
    readonly insert: (event: StoredEvent) => Effect.Effect<void>
    readonly horizon: Effect.Effect<EventHorizon>
    /** The newest events for the whole workspace or for one of the teams, newest first; `before` is exclusive. */
    readonly newest: (
      workspaceId: WorkspaceId,
      teams: "all" | ReadonlyArray<TeamId>,
      limit: number,
      filter?: EventFilter & { readonly before?: number | undefined }
    ) => Effect.Effect<ReadonlyArray<EventWithActor>>
    /** The events between two positions, for the whole workspace or for one of the teams, oldest first. */
    readonly between: (
      workspaceId: WorkspaceId,
      teams: "all" | ReadonlyArray<TeamId>,
      limit: number,
      filter: EventFilter & {
        /** Exclusive. */
        readonly after: ReadEvents
        /** Inclusive, and no more than is readable. */
        readonly upTo: number
      }
    ) => Effect.Effect<ReadonlyArray<EventWithActor>>
    /** Where these events of the workspace stand, in no order; without those that it does not have. */
    readonly placed: (
      workspaceId: WorkspaceId,
      ids: ReadonlyArray<EventId>
    ) => Effect.Effect<ReadonlyArray<PlacedEvent>>
    /** All events of some workspaces between two positions, oldest first: for whoever decides later who sees them. */
    readonly ofAll: (
      workspaceIds: ReadonlyArray<WorkspaceId>,
      limit: number,
      range: { readonly after: number; readonly upTo: number }
    ) => Effect.Effect<ReadonlyArray<EventWithActor>>
  }
>()("@delivery/server/events/EventsRepo") {}

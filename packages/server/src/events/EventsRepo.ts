import type { Change } from "@delivery/domain/events/Event"
import type { Actor } from "@delivery/domain/identity/Actor"
import type { EventId, TeamId, WorkspaceId } from "@delivery/domain/Ids"
import { Context, type Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { memoryTable } from "../storage/MemoryStorage.ts"
import { instant, json, nullable, type Row, table, text, uuid, uuids } from "../storage/Table.ts"

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
  createdAt: instant()
})

/** An event as it is stored. */
export interface StoredEvent extends Omit<Row<typeof events>, "actorKind" | "actorId"> {
  readonly actor: ActorRef
}

/** Events in the memory storage, which keeps the actor as services and `Actors` take it: as one value. */
export const eventsTable = memoryTable<StoredEvent>("events")

/** A stored event with its actor's present name. */
export interface EventWithActor extends Omit<StoredEvent, "actor" | "teamIds"> {
  readonly actor: Actor
}

/** Stores events, and finds the newest of a workspace. */
export class EventsRepo extends Context.Service<
  EventsRepo,
  {
    readonly insert: (event: StoredEvent) => Effect.Effect<void>
    /** The newest events for the whole workspace or for one of the teams, newest first. */
    readonly newest: (
      workspaceId: WorkspaceId,
      teams: "all" | ReadonlyArray<TeamId>,
      limit: number
    ) => Effect.Effect<ReadonlyArray<EventWithActor>>
  }
>()("@delivery/server/events/EventsRepo") {}

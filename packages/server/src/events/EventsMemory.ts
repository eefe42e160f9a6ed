import type { TeamId, WorkspaceId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import { Effect, Layer } from "effect"
import { resolveActor } from "../access/Actors.ts"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { EventsRepo, eventsTable } from "./EventsRepo.ts"

export const layer = Layer.effect(
  EventsRepo,
  Effect.map(MemoryStorage, (memory) =>
    EventsRepo.of({
      insert: (event) =>
        memory.write((database) => Effect.sync(() => database.table(eventsTable).set(event.id, event))),
      newest: newest(memory)
    })
  )
)

const newest =
  (memory: MemoryStorage["Service"]) =>
  (workspaceId: WorkspaceId, teams: "all" | ReadonlyArray<TeamId>, limit: number) =>
    memory.read((database) =>
      database
        .table(eventsTable)
        .filter(
          (event) =>
            event.workspaceId === workspaceId &&
            (teams === "all" || event.teamIds === null || event.teamIds.some((id) => teams.includes(id)))
        )
        .toSorted((a, b) => compare(b.createdAt, a.createdAt) || compare(b.id, a.id))
        .slice(0, limit)
        .map(({ teamIds: _, ...event }) => ({ ...event, actor: resolveActor(database, event.actor) }))
    )

import type { WorkspaceId } from "@delivery/domain/Ids"
import { Effect, Layer } from "effect"
import { resolveActor } from "../access/Actors.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import {
  EventsRepo,
  eventsTable,
  type EventWithActor,
  isSeenBy,
  lastPositionIn,
  matches,
  storeEvent,
  type StoredEvent
} from "./EventsRepo.ts"

export const layer = Layer.effect(
  EventsRepo,
  Effect.map(MemoryStorage, (memory) =>
    EventsRepo.of({
      insert: (event) => memory.write((database) => Effect.sync(() => storeEvent(database, event))),
      horizon: memory.read((database) => {
        const last = lastPositionIn(database)
        return { last, readable: last }
      }),
      newest: newest(memory),
      between: between(memory),
      placed: (workspaceId, ids) =>
        memory.read((database) =>
          ids.flatMap((id) => {
            const event = database.table(eventsTable).get(id)
            return event?.workspaceId === workspaceId ? [{ id, position: event.position }] : []
          })
        ),
      ofAll: ofAll(memory)
    })
  )
)

type Memory = MemoryStorage["Service"]

const newest =
  (memory: Memory): EventsRepo["Service"]["newest"] =>
  (workspaceId, teams, limit, filter = {}) =>
    memory.read((database) =>
      database
        .table(eventsTable)
        .filter(
          (event) =>
            event.workspaceId === workspaceId &&
            (filter.before === undefined || event.position < filter.before) &&
            isSeenBy(teams, event) &&
            matches(filter, event)
        )
        .toSorted((a, b) => b.position - a.position)
        .slice(0, limit)
        .map((event) => withActor(database, event))
    )

const between =
  (memory: Memory): EventsRepo["Service"]["between"] =>
  (workspaceId, teams, limit, filter) =>
    memory.read((database) =>
      database
        .table(eventsTable)
        .filter(
          (event) =>
            event.position > filter.after.position &&
            event.position <= filter.upTo &&
            event.workspaceId === workspaceId &&
            !filter.after.seen.some(({ id }) => id === event.id) &&
            isSeenBy(teams, event) &&
            matches(filter, event)
        )
        .toSorted((a, b) => a.position - b.position)
        .slice(0, limit)
        .map((event) => withActor(database, event))
    )

const ofAll =
  (memory: Memory): EventsRepo["Service"]["ofAll"] =>
  (workspaceIds: ReadonlyArray<WorkspaceId>, limit, { after, upTo }) =>
    memory.read((database) =>
      database
        .table(eventsTable)
        .filter(
          ({ position, workspaceId }) => position > after && position <= upTo && workspaceIds.includes(workspaceId)
        )
        .toSorted((a, b) => a.position - b.position)
        .slice(0, limit)
        .map((event) => withActor(database, event))
    )

const withActor = (database: MemoryDatabase, event: StoredEvent & { readonly position: number }): EventWithActor => ({
  ...event,
  actor: resolveActor(database, event.actor)
})

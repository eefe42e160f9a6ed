import { Effect, Layer } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { resolveActor } from "../access/Actors.ts"
import { environments } from "../catalog/EnvironmentsRepo.ts"
import { products } from "../catalog/ProductsRepo.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import {
  type FoundSavedFilter,
  type Reader,
  type SavedFilterRow,
  savedFilters,
  SavedFiltersRepo
} from "./SavedFiltersRepo.ts"

type Memory = MemoryStorage["Service"]
type Repo = SavedFiltersRepo["Service"]

export const layer = Layer.effect(
  SavedFiltersRepo,
  Effect.map(MemoryStorage, (memory) =>
    SavedFiltersRepo.of({
      insert: (filter) =>
        memory.write((database) => Effect.sync(() => database.table(savedFilters).set(filter.id, filter))),
      update: update(memory),
      delete: (id) => memory.write((database) => Effect.sync(() => database.table(savedFilters).delete(id))),
      list: list(memory),
      find: find(memory),
      lock: find(memory),
      // Transactions run one after the other.
      count: (workspaceId, screen, personId) =>
        memory.read(
          (database) =>
            database
              .table(savedFilters)
              .filter(
                (filter) =>
                  filter.workspaceId === workspaceId && filter.screen === screen && filter.personId === personId
              ).length
        )
    })
  )
)

const update =
  (memory: Memory): Repo["update"] =>
  ({ environmentId, filters, id, name, personId, productId, updatedAt }) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(savedFilters)
        rows.set(id, { ...rows.get(id)!, personId, name, productId, environmentId, filters, updatedAt })
      })
    )

const list =
  (memory: Memory): Repo["list"] =>
  (reader, screen) =>
    memory.read((database) =>
      database
        .table(savedFilters)
        .filter((filter) => isSeen(reader, filter) && (screen === undefined || filter.screen === screen))
        .map((filter) => present(database, filter))
    )

const find =
  (memory: Memory): Repo["find"] =>
  (reader, id) =>
    memory.read((database) => {
      const filter = database.table(savedFilters).get(id)
      return filter !== undefined && isSeen(reader, filter) ? present(database, filter) : undefined
    })

const isSeen = (reader: Reader, { personId, workspaceId }: SavedFilterRow): boolean =>
  workspaceId === reader.workspaceId && (personId === null || personId === reader.personId)

const present = (database: MemoryDatabase, row: SavedFilterRow): FoundSavedFilter => ({
  ...row,
  product: row.productId === null ? null : database.table(products).get(row.productId)!.slug,
  environment: row.environmentId === null ? null : database.table(environments).get(row.environmentId)!.slug,
  createdBy: resolveActor(database, { kind: row.creatorKind, id: row.creatorId } as ActorRef)
})

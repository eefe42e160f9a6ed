import type { Actor } from "@delivery/domain/identity/Actor"
import type { EnvironmentId, PersonId, ProductId, SavedFilterId, WorkspaceId } from "@delivery/domain/Ids"
import type { SavedFilterQuery, SavedFilterScreen } from "@delivery/domain/runs/SavedFilter"
import { Context, type Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { instant, json, nullable, type Row, table, text, uuid } from "../storage/Table.ts"

/** What a saved filter keeps, but for its product and its environment, which are kept by id: they may get other slugs. */
export type StoredFilters = Omit<SavedFilterQuery, "product" | "environment">

/** The saved filters of the lists of runs and of tests. */
export const savedFilters = table("saved_filters", {
  id: uuid<SavedFilterId>(),
  workspaceId: uuid<WorkspaceId>(),
  screen: text<SavedFilterScreen>(),
  /** The person who alone sees it; null where it is shared. */
  personId: nullable(uuid<PersonId>()),
  name: text(),
  /** The product whose tests are filtered, or of the filter of runs. */
  productId: nullable(uuid<ProductId>()),
  environmentId: nullable(uuid<EnvironmentId>()),
  filters: json<StoredFilters>(),
  creatorKind: text<ActorRef["kind"]>(),
  creatorId: uuid<ActorRef["id"]>(),
  createdAt: instant(),
  updatedAt: instant()
})

export type SavedFilterRow = Row<typeof savedFilters>

export interface FoundSavedFilter extends SavedFilterRow {
  /** The present slugs. */
  readonly product: string | null
  readonly environment: string | null
  readonly createdBy: Actor
}

/** Who asks, as far as it decides which they see. An agent sees what its person sees. */
export interface Reader {
  readonly workspaceId: WorkspaceId
  /** Null for account API keys, which have no personal ones. */
  readonly personId: PersonId | null
}

/** Stores saved filters. A reader does not find those that are personal to others. */
export class SavedFiltersRepo extends Context.Service<
  SavedFiltersRepo,
  {
    readonly insert: (filter: SavedFilterRow) => Effect.Effect<void>
    readonly update: (
      filter: Pick<SavedFilterRow, "id" | "personId" | "name" | "productId" | "environmentId" | "filters" | "updatedAt">
    ) => Effect.Effect<void>
    readonly delete: (id: SavedFilterId) => Effect.Effect<void>
    /** Those of one list, or of all, in any order. */
    readonly list: (
      reader: Reader,
      screen: SavedFilterScreen | undefined
    ) => Effect.Effect<ReadonlyArray<FoundSavedFilter>>
    readonly find: (reader: Reader, id: string) => Effect.Effect<FoundSavedFilter | undefined>
    /** Locks the row until the transaction ends. */
    readonly lock: (reader: Reader, id: string) => Effect.Effect<FoundSavedFilter | undefined>
    /** How many a list has: shared ones with null, else personal ones of the person. Nobody else counts until the transaction ends. */
    readonly count: (
      workspaceId: WorkspaceId,
      screen: SavedFilterScreen,
      personId: PersonId | null
    ) => Effect.Effect<number>
  }
>()("@delivery/server/runs/SavedFiltersRepo") {}

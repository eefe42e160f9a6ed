import { Conflict, type Forbidden, InvalidInput, NotFound } from "@delivery/domain/Errors"
import type { Change } from "@delivery/domain/events/Event"
import type { EventKind } from "@delivery/domain/events/EventKinds"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { PersonId, SavedFilterId } from "@delivery/domain/Ids"
import { byName } from "@delivery/domain/Order"
import {
  type CreateSavedFilter,
  filtersOfScreen,
  maxPersonalFilters,
  maxSharedFilters,
  type SavedFilter,
  type SavedFilterQuery,
  type SavedFilterScreen,
  type UpdateSavedFilter
} from "@delivery/domain/runs/SavedFilter"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Equal, Layer } from "effect"
import { type Access, anyRole, atLeast, personOf } from "../access/Access.ts"
import { ownPerson, personIdAfter, visibilityOf } from "../access/Sharing.ts"
import { EnvironmentsRepo } from "../catalog/EnvironmentsRepo.ts"
import { ProductsRepo } from "../catalog/ProductsRepo.ts"
import { changesBetween, Events } from "../events/Events.ts"
import { NextId } from "../ids/NextId.ts"
import { nextUpdate } from "../storage/NextUpdate.ts"
import { Storage } from "../storage/Storage.ts"
import { type FoundSavedFilter, type Reader, SavedFiltersRepo } from "./SavedFiltersRepo.ts"

/** Saved filters (docs/contract.md, Saved filters). A caller does not find those that are personal to others. */
export class SavedFilters extends Context.Service<
  SavedFilters,
  {
    readonly list: (
      screen: SavedFilterScreen | undefined
    ) => Effect.Effect<ReadonlyArray<SavedFilter>, NotFound, Caller>
    readonly create: (
      input: CreateSavedFilter
    ) => Effect.Effect<SavedFilter, InvalidInput | NotFound | Forbidden | Conflict, Caller>
    readonly get: (filter: string) => Effect.Effect<SavedFilter, NotFound, Caller>
    readonly update: (
      filter: string,
      input: UpdateSavedFilter
    ) => Effect.Effect<SavedFilter, InvalidInput | NotFound | Forbidden | Conflict, Caller>
    readonly delete: (filter: string) => Effect.Effect<void, NotFound | Forbidden, Caller>
  }
>()("@delivery/server/runs/SavedFilters") {
  static readonly layer = Layer.effect(SavedFilters, Effect.gen(make))
}

interface Dependencies {
  readonly repo: SavedFiltersRepo["Service"]
  readonly products: ProductsRepo["Service"]
  readonly environments: EnvironmentsRepo["Service"]
  readonly storage: Storage["Service"]
  readonly events: Events["Service"]
  readonly nextId: NextId["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    repo: yield* SavedFiltersRepo,
    products: yield* ProductsRepo,
    environments: yield* EnvironmentsRepo,
    storage: yield* Storage,
    events: yield* Events,
    nextId: yield* NextId
  }
  return SavedFilters.of({
    list: list(dependencies),
    create: create(dependencies),
    get: get(dependencies),
    update: update(dependencies),
    delete: remove(dependencies)
  })
}

const list = ({ repo }: Dependencies) =>
  Effect.fn("SavedFilters.list")(function* (screen: SavedFilterScreen | undefined) {
    const found = yield* repo.list(readerOf(yield* anyRole), screen)
    return found.toSorted(byName).map(present)
  })

const create = (dependencies: Dependencies) => {
  const { nextId, repo, storage } = dependencies
  return Effect.fn("SavedFilters.create")(function* (input: CreateSavedFilter) {
    const by = yield* atLeast("member")
    const personId = input.visibility === "personal" ? yield* ownPerson(by, "filter") : null
    const filtered = yield* resolve(dependencies, by, input.screen, input.product ?? undefined, input.query)
    const id = yield* nextId<SavedFilterId>()
    const created = Effect.gen(function* () {
      yield* checkRoom(repo, by, input.screen, personId)
      const now = timestamp(yield* Clock.currentTimeMillis)
      yield* repo.insert({
        id,
        workspaceId: by.workspace.id,
        screen: input.screen,
        personId,
        name: input.name,
        ...filtered,
        creatorKind: by.actor.kind,
        creatorId: by.actor.id,
        createdAt: now,
        updatedAt: now
      })
      const made = yield* findCurrent(dependencies, by, id)
      yield* record(dependencies, by, "filter_created", made)
      return present(made)
    })
    return yield* storage.transaction(created)
  })
}

const get = ({ repo }: Dependencies) =>
  Effect.fn("SavedFilters.get")(function* (id: string) {
    const filter = yield* repo.find(readerOf(yield* anyRole), id)
    return filter === undefined ? yield* noFilter(id) : present(filter)
  })

const update = (dependencies: Dependencies) => {
  const { repo, storage } = dependencies
  return Effect.fn("SavedFilters.update")(function* (id: string, input: UpdateSavedFilter) {
    const by = yield* atLeast("member")
    const updated = Effect.gen(function* () {
      const before = yield* lockFilter(dependencies, by, id)
      const filtered =
        input.product === undefined && input.query === undefined
          ? before
          : yield* resolve(
              dependencies,
              by,
              before.screen,
              // By ids: a slug may change meanwhile.
              input.product ?? (before.screen === "tests" ? before.productId! : undefined),
              input.query ?? queryOf({ ...before, product: before.productId, environment: before.environmentId })
            )
      const personId = yield* personIdAfter(by, before, input.visibility, "filter")
      if (personId !== before.personId) yield* checkRoom(repo, by, before.screen, personId)
      const { environmentId, filters, productId } = filtered
      const after = { ...before, personId, name: input.name ?? before.name, productId, environmentId, filters }
      if (Equal.equals(keptOf(before), keptOf(after))) return present(before)
      yield* repo.update({ ...after, updatedAt: yield* nextUpdate(before) })
      const current = yield* findCurrent(dependencies, by, before.id)
      yield* recordUpdate(dependencies, by, before, current)
      return present(current)
    })
    return yield* storage.transaction(updated)
  })
}

const remove = (dependencies: Dependencies) =>
  Effect.fn("SavedFilters.delete")(function* (id: string) {
    const by = yield* atLeast("member")
    const deleted = Effect.gen(function* () {
      const filter = yield* lockFilter(dependencies, by, id)
      yield* dependencies.repo.delete(filter.id)
      yield* record(dependencies, by, "filter_deleted", filter)
    })
    yield* dependencies.storage.transaction(deleted)
  })

const readerOf = ({ principal, workspace }: Access): Reader => ({
  workspaceId: workspace.id,
  personId: personOf(principal)?.id ?? null
})

const noFilter = (id: string) => NotFound.of("saved filter", id)

const lockFilter = Effect.fnUntraced(function* ({ repo }: Dependencies, by: Access, id: string) {
  const filter = yield* repo.lock(readerOf(by), id)
  return filter === undefined ? yield* noFilter(id) : filter
})

/** One that the caller sees, as it is now. */
const findCurrent = ({ repo }: Dependencies, by: Access, id: SavedFilterId) =>
  Effect.map(repo.find(readerOf(by), id), (filter) => filter!)

/** What is stored of the filters of a list. `InvalidInput` and `NotFound` name the field. */
const resolve = Effect.fnUntraced(function* (
  { environments, products }: Dependencies,
  { workspace }: Access,
  screen: SavedFilterScreen,
  ofTests: string | undefined,
  { environment, product: ofRuns, ...filters }: SavedFilterQuery
) {
  const unknown = Object.keys({ ...filters, ...(ofRuns === undefined ? {} : { product: ofRuns }) }).find(
    (name) => !filtersOfScreen[screen].includes(name as keyof SavedFilterQuery)
  )
  if (unknown !== undefined) {
    const message = `The list of ${screen} has no such filter`
    const issues = [{ path: ["query", unknown], message }]
    return yield* new InvalidInput({ message: `query.${unknown}: ${message}`, issues })
  }
  if (screen === "tests" && ofTests === undefined) {
    return yield* InvalidInput.at("product", "Expected the product whose tests are filtered")
  }
  if (screen === "runs" && ofTests !== undefined) {
    return yield* InvalidInput.at("product", "The product of a filter of runs stands in its query")
  }
  const product = ofTests ?? ofRuns
  const productId = product === undefined ? null : (yield* products.find(workspace.id, product))?.id
  if (productId === undefined) {
    return yield* NotFound.reference(screen === "tests" ? "product" : "query.product", product, "product")
  }
  const environmentId = environment === undefined ? null : (yield* environments.find(workspace.id, environment))?.id
  if (environmentId === undefined) return yield* NotFound.reference("query.environment", environment, "environment")
  return { productId, environmentId, filters }
})

/** Whether a list can have one more shared filter, or personal one of the person. Nobody else saves one meanwhile. */
const checkRoom = Effect.fnUntraced(function* (
  repo: SavedFiltersRepo["Service"],
  { workspace }: Access,
  screen: SavedFilterScreen,
  personId: PersonId | null
) {
  const [has, most] =
    personId === null
      ? [`The list of ${screen} has ${maxSharedFilters} shared filters`, maxSharedFilters]
      : [`You have ${maxPersonalFilters} personal filters of the list of ${screen}`, maxPersonalFilters]
  if ((yield* repo.count(workspace.id, screen, personId)) < most) return
  return yield* new Conflict({ message: `${has}, which is the limit. Delete one first.`, reason: "too_many_filters" })
})

/** Records an event for the workspace. Of a personal filter there is none: others would be told of it. */
const record = (
  { events }: Dependencies,
  by: Access,
  kind: EventKind,
  filter: FoundSavedFilter,
  changes: ReadonlyArray<Change> = []
): Effect.Effect<void> =>
  filter.personId === null
    ? events.record(by, {
        kind,
        subject: { type: "filter", id: filter.id, label: filter.name, path: pathOf(filter) },
        changes
      })
    : Effect.void

/** Of one that comes to others, or goes from them, they are told that and its name while they see it, and nothing else. */
const recordUpdate = (dependencies: Dependencies, by: Access, before: FoundSavedFilter, after: FoundSavedFilter) => {
  const changes = changesBetween(toldOf(before), toldOf(after), "name", "visibility", "product", "query")
  return before.personId === after.personId
    ? record(dependencies, by, "filter_updated", after, changes)
    : record(
        dependencies,
        by,
        "filter_updated",
        before.personId === null ? before : after,
        changes.filter(({ field }) => field === "visibility")
      )
}

/** The list on the website that it filters. */
const pathOf = (filter: FoundSavedFilter): string => {
  const ofTests = filter.screen === "tests" ? { product: filter.product! } : {}
  const query = new URLSearchParams({ ...ofTests, ...queryOf(filter) }).toString()
  return `${filter.screen === "tests" ? "tests" : "test-runs"}${query === "" ? "" : `?${query}`}`
}

/** What a change may change. */
const keptOf = ({ environmentId, filters, name, personId, productId }: FoundSavedFilter) => ({
  environmentId,
  filters,
  name,
  personId,
  productId
})

/** What its events tell of it, by the names of the API. */
const toldOf = (filter: FoundSavedFilter) => {
  const { name, product, visibility } = present(filter)
  return { name, product, visibility, query: new URLSearchParams(queryOf(filter)).toString() }
}

/** Its query, by the present slugs. */
const queryOf = ({ environment, filters, product, screen }: FoundSavedFilter): SavedFilterQuery => ({
  ...(screen === "runs" && product !== null ? { product } : {}),
  ...(environment === null ? {} : { environment }),
  ...filters
})

const present = (filter: FoundSavedFilter): SavedFilter => ({
  id: filter.id,
  screen: filter.screen,
  name: filter.name,
  visibility: visibilityOf(filter),
  product: filter.screen === "tests" ? filter.product : null,
  query: queryOf(filter),
  createdBy: filter.createdBy,
  createdAt: filter.createdAt,
  updatedAt: filter.updatedAt
})

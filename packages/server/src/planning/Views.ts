import { Conflict, type Forbidden, InvalidInput, NotFound } from "@delivery/domain/Errors"
import type { Change } from "@delivery/domain/events/Event"
import type { EventKind } from "@delivery/domain/events/EventKinds"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { PersonId, ViewId } from "@delivery/domain/Ids"
import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import {
  type CreateView,
  maxPersonalViews,
  maxSharedViews,
  type ReorderView,
  type UpdateView,
  type View
} from "@delivery/domain/planning/View"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Equal, Layer } from "effect"
import { type Access, anyRole, atLeast } from "../access/Access.ts"
import { ownPerson, personIdAfter, visibilityOf } from "../access/Sharing.ts"
import { changesBetween, Events } from "../events/Events.ts"
import { NextId } from "../ids/NextId.ts"
import { nextUpdate } from "../storage/NextUpdate.ts"
import { Storage } from "../storage/Storage.ts"
import { ProjectsRepo } from "./ProjectsRepo.ts"
import { beside, findAnchor, rankAt } from "./RankedList.ts"
import { visibleNames } from "./StatusNames.ts"
import { TeamsRepo } from "./TeamsRepo.ts"
import { Tickets } from "./Tickets.ts"
import { hiddenFilters, keepUnseen, resolveFilters, selectionOf } from "./ViewFilters.ts"
import { type FoundView, type ScopeIds, ViewsRepo } from "./ViewsRepo.ts"
import { type Viewer, viewerOf } from "./Viewer.ts"

/**
 * Views (docs/contract.md, Views). A caller does not find the views of a team or project that they do not see, nor those that
 * are personal to others.
 */
export class Views extends Context.Service<
  Views,
  {
    readonly list: (scope: {
      readonly team?: string | undefined
      readonly project?: string | undefined
    }) => Effect.Effect<ReadonlyArray<View>, InvalidInput | NotFound, Caller>
    readonly create: (input: CreateView) => Effect.Effect<View, NotFound | Forbidden | Conflict, Caller>
    readonly get: (view: string) => Effect.Effect<View, NotFound, Caller>
    readonly update: (view: string, input: UpdateView) => Effect.Effect<View, NotFound | Forbidden | Conflict, Caller>
    readonly delete: (view: string) => Effect.Effect<void, NotFound | Forbidden | Conflict, Caller>
    readonly reorder: (
      view: string,
      place: ReorderView
    ) => Effect.Effect<View, InvalidInput | NotFound | Forbidden | Conflict, Caller>
    readonly listTickets: (view: string) => Effect.Effect<ReadonlyArray<TicketSummary>, NotFound, Caller>
  }
>()("@delivery/server/planning/Views") {
  static readonly layer = Layer.effect(Views, Effect.gen(make))
}

interface Dependencies {
  readonly repo: ViewsRepo["Service"]
  readonly teams: TeamsRepo["Service"]
  readonly projects: ProjectsRepo["Service"]
  readonly tickets: Tickets["Service"]
  readonly storage: Storage["Service"]
  readonly events: Events["Service"]
  readonly nextId: NextId["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    repo: yield* ViewsRepo,
    teams: yield* TeamsRepo,
    projects: yield* ProjectsRepo,
    tickets: yield* Tickets,
    storage: yield* Storage,
    events: yield* Events,
    nextId: yield* NextId
  }
  return Views.of({
    list: list(dependencies),
    get: get(dependencies),
    create: create(dependencies),
    update: update(dependencies),
    delete: remove(dependencies),
    reorder: reorder(dependencies),
    listTickets: listTickets(dependencies)
  })
}

const list = (dependencies: Dependencies) =>
  Effect.fn("Views.list")(function* (named: Parameters<Views["Service"]["list"]>[0]) {
    if (named.team !== undefined && named.project !== undefined) {
      return yield* InvalidInput.at("project", "Expected a team or a project, not both")
    }
    const viewer = viewerOf(yield* anyRole)
    const scope = yield* findScope(dependencies, viewer, named, { team: "team", project: "project" })
    return (yield* dependencies.repo.list(viewer, scope)).map(present)
  })

const create = (dependencies: Dependencies) => {
  const { nextId, repo, storage } = dependencies
  return Effect.fn("Views.create")(function* (input: CreateView) {
    const by = yield* atLeast("member")
    const viewer = viewerOf(by)
    const personId = input.visibility === "personal" ? yield* ownPerson(by, "view") : null
    const { key, kind } = input.scope
    const named = kind === "workspace" ? {} : { [kind]: key }
    const scope = yield* findScope(dependencies, viewer, named, { team: "scope.key", project: "scope.key" })
    const filters = yield* resolveFilters(repo, viewer, input.filters ?? {})
    if (scope.isArchived) return yield* archivedScope(scope)
    const id = yield* nextId<ViewId>()
    const created = Effect.gen(function* () {
      const order = yield* repo.lockOrder(by.workspace.id, scope)
      yield* checkRoom(repo, by, { ...scope, personId })
      const now = timestamp(yield* Clock.currentTimeMillis)
      const view = {
        id,
        workspaceId: by.workspace.id,
        teamId: scope.teamId,
        projectId: scope.projectId,
        personId,
        name: input.name,
        filters,
        layout: input.layout ?? "list",
        groupedBy: input.group ?? "status",
        sortedBy: input.sort ?? null,
        isDefault: false,
        rank: yield* rankAt(order, { id, rank: null }, { before: null }),
        creatorKind: by.actor.kind,
        creatorId: by.actor.id,
        createdAt: now,
        updatedAt: now
      }
      yield* repo.insert([view])
      yield* record(dependencies, by, "view_created", view)
      return yield* findCurrent(dependencies, viewer, id)
    })
    return yield* storage.transaction(created)
  })
}

const update = (dependencies: Dependencies) => {
  const { repo, storage } = dependencies
  return Effect.fn("Views.update")(function* (id: string, input: UpdateView) {
    const by = yield* atLeast("member")
    const viewer = viewerOf(by)
    const updated = Effect.gen(function* () {
      if (input.visibility !== undefined) yield* lockScope(dependencies, by, viewer, id)
      const before = yield* lockView(dependencies, viewer, id)
      const filters =
        input.filters === undefined
          ? before.filters
          : keepUnseen(before, yield* resolveFilters(repo, viewer, input.filters))
      const personId = yield* personIdAfter(by, before, input.visibility, "view")
      if (before.isArchived) return yield* archivedScope(before)
      if (personId !== null && before.isDefault) return yield* defaultIsShared
      if (personId !== before.personId) yield* checkRoom(repo, by, { ...before, personId })
      const after = {
        ...before,
        personId,
        name: input.name ?? before.name,
        layout: input.layout ?? before.layout,
        groupedBy: input.group ?? before.groupedBy,
        sortedBy: input.sort === undefined ? before.sortedBy : input.sort,
        filters
      }
      const changes = changesBetween(looksOf(before), looksOf(after), "name", "visibility", "layout", "group", "sort")
      if (changes.length === 0 && Equal.equals(before.filters, filters)) return present(before)
      yield* repo.update({ ...after, updatedAt: yield* nextUpdate(before) })
      yield* recordUpdate(dependencies, by, before, after, changes)
      return yield* findCurrent(dependencies, viewer, before.id)
    })
    return yield* storage.transaction(updated)
  })
}

const remove = (dependencies: Dependencies) => {
  const { repo, storage } = dependencies
  return Effect.fn("Views.delete")(function* (id: string) {
    const by = yield* atLeast("member")
    const deleted = Effect.gen(function* () {
      const view = yield* lockView(dependencies, viewerOf(by), id)
      if (view.isDefault) return yield* cannotDeleteDefault
      if (view.isArchived) return yield* archivedScope(view)
      yield* repo.delete(view.id)
      yield* record(dependencies, by, "view_deleted", view)
    })
    yield* storage.transaction(deleted)
  })
}

const reorder = (dependencies: Dependencies) => {
  const { repo, storage } = dependencies
  return Effect.fn("Views.reorder")(function* (id: string, place: ReorderView) {
    const by = yield* atLeast("member")
    const viewer = viewerOf(by)
    const reordered = Effect.gen(function* () {
      const order = yield* lockScope(dependencies, by, viewer, id)
      const before = yield* lockView(dependencies, viewer, id)
      const { anchor, side } = yield* findAnchor(place, "view", before.id, (ref) => repo.find(viewer, ref))
      if (anchor !== null && (anchor.teamId !== before.teamId || anchor.projectId !== before.projectId)) {
        return yield* new Conflict({ message: "The other view belongs to another scope.", reason: "other_scope" })
      }
      if (before.isArchived) return yield* archivedScope(before)
      // What others alone see may stand between: that they have it is told by nothing.
      const seen = (yield* repo.list(viewer, before)).map(({ id }) => id)
      if (isThere(seen, before.id, { anchor: anchor?.id ?? null, side })) return present(before)
      const rank = yield* rankAt(order, before, beside(anchor, side))
      yield* repo.update({ ...before, rank, updatedAt: yield* nextUpdate(before) })
      yield* record(dependencies, by, "view_reordered", before)
      return yield* findCurrent(dependencies, viewer, before.id)
    })
    return yield* storage.transaction(reordered)
  })
}

/** Whether it stands beside the anchor among those that its mover sees. */
const isThere = (
  seen: ReadonlyArray<string>,
  moved: string,
  { anchor, side }: { readonly anchor: string | null; readonly side: "before" | "after" }
): boolean => {
  const at = seen.indexOf(moved) + (side === "before" ? 1 : -1)
  return (seen[at] ?? null) === anchor
}

const get = ({ repo }: Dependencies) =>
  Effect.fn("Views.get")(function* (id: string) {
    const by = yield* anyRole
    const view = yield* repo.find(viewerOf(by), id)
    return view === undefined ? yield* NotFound.of("view", id) : present(view)
  })

const listTickets = ({ repo, tickets }: Dependencies) =>
  Effect.fn("Views.listTickets")(function* (id: string) {
    const by = yield* anyRole
    const view = yield* repo.find(viewerOf(by), id)
    if (view === undefined) return yield* NotFound.of("view", id)
    const selection = yield* selectionOf(repo, by, view)
    return selection === undefined ? [] : yield* tickets.matching(by, selection)
  })

/** The scope that a body or query names, or the workspace where it names none. `NotFound` names the field. */
const findScope = Effect.fnUntraced(function* (
  { projects, teams }: Dependencies,
  viewer: Viewer,
  { project, team }: { readonly team?: string | undefined; readonly project?: string | undefined },
  fields: { readonly team: string; readonly project: string }
) {
  if (team !== undefined) {
    const [found] = yield* teams.findAll(viewer, [team])
    if (found === undefined) return yield* NotFound.reference(fields.team, team, "team")
    return { teamId: found.id, projectId: null, isArchived: found.archivedAt !== null }
  }
  if (project !== undefined) {
    const found = yield* projects.findPlace(viewer, project)
    if (found === undefined) return yield* NotFound.reference(fields.project, project, "project")
    return { teamId: null, projectId: found.id, isArchived: found.archivedAt !== null }
  }
  return { teamId: null, projectId: null, isArchived: false }
})

/** Before the view itself is locked. It never changes its scope, so it can be read before. */
const lockScope = Effect.fnUntraced(function* ({ repo }: Dependencies, by: Access, viewer: Viewer, id: string) {
  const scope = yield* repo.find(viewer, id)
  return scope === undefined ? yield* NotFound.of("view", id) : yield* repo.lockOrder(by.workspace.id, scope)
})

const lockView = Effect.fnUntraced(function* ({ repo }: Dependencies, viewer: Viewer, id: string) {
  const view = yield* repo.lock(viewer, id)
  return view === undefined ? yield* NotFound.of("view", id) : view
})

/** A view that the viewer sees, as it is now. */
const findCurrent = ({ repo }: Dependencies, viewer: Viewer, id: ViewId) =>
  Effect.map(repo.find(viewer, id), (view) => present(view!))

/** Whether a scope, whose order is locked, can have one more shared view, or personal one of the person. */
const checkRoom = Effect.fnUntraced(function* (
  repo: ViewsRepo["Service"],
  { workspace }: Access,
  { personId, ...scope }: ScopeIds & { readonly personId: PersonId | null }
) {
  const [has, most] =
    personId === null
      ? [`The scope has ${maxSharedViews} shared views`, maxSharedViews]
      : [`You have ${maxPersonalViews} personal views in the scope`, maxPersonalViews]
  if ((yield* repo.count(workspace.id, scope, personId)) < most) return
  return yield* new Conflict({
    message: `${has}, which is the limit. Delete one first.`,
    reason: "too_many_views"
  })
})

/**
 * Records an event for those who see the view: everybody, the team, or the teams of the project. Of a personal view there is
 * none: who else sees the scope would be told of it.
 */
const record = Effect.fnUntraced(function* (
  { events, projects }: Dependencies,
  by: Access,
  kind: EventKind,
  view: Pick<FoundView, "id" | "name" | "personId" | keyof ScopeIds>,
  changes: ReadonlyArray<Change> = []
) {
  const { personId, projectId, teamId } = view
  if (personId !== null) return
  const teams = teamId !== null ? [teamId] : projectId !== null ? yield* projects.teamsOf(projectId) : undefined
  yield* events.record(by, {
    kind,
    subject: { type: "view", id: view.id, label: view.name, path: `views/${view.id}` },
    changes,
    ...(teams === undefined ? {} : { teams })
  })
})

/** Of a view that comes to others, or goes from them, they are told that and its name while they see it, and nothing else. */
const recordUpdate = (
  dependencies: Dependencies,
  by: Access,
  before: FoundView,
  after: FoundView,
  changes: ReadonlyArray<Change>
) =>
  before.personId === after.personId
    ? record(dependencies, by, "view_updated", after, changes)
    : record(
        dependencies,
        by,
        "view_updated",
        before.personId === null ? before : after,
        changes.filter(({ field }) => field === "visibility")
      )

const archivedScope = ({ teamId }: ScopeIds) => Conflict.archived(teamId === null ? "project" : "team")

const cannotDeleteDefault = new Conflict({
  message: "The first views of a project cannot be deleted.",
  reason: "is_default"
})

const defaultIsShared = new Conflict({ message: "The first views of a project are shared.", reason: "is_default" })

/** What its events tell of a view, by the names of the API. */
const looksOf = ({ groupedBy, layout, name, personId, sortedBy }: FoundView) => ({
  name,
  visibility: visibilityOf({ personId }),
  layout,
  group: groupedBy,
  sort: sortedBy
})

const present = (view: FoundView): View => ({
  id: view.id,
  name: view.name,
  scope: view.scope,
  visibility: visibilityOf(view),
  filters: {
    categories: view.filters.categories,
    statuses: visibleNames(view.filters, view.namingTeams),
    owners: view.filters.owners,
    tags: view.tags.filter(({ isSeen }) => isSeen).map(({ id }) => id),
    teams: view.seen.teams.map(({ key }) => key),
    projects: view.seen.projects.map(({ slug }) => slug),
    milestones: [
      ...(view.filters.noMilestone ? ["none"] : []),
      ...view.milestones.filter(({ isSeen }) => isSeen).map(({ ref }) => ref)
    ]
  },
  hiddenFilters: hiddenFilters(view),
  layout: view.layout,
  group: view.groupedBy,
  sort: view.sortedBy,
  isDefault: view.isDefault,
  position: view.position,
  createdBy: view.createdBy,
  createdAt: view.createdAt,
  updatedAt: view.updatedAt
})

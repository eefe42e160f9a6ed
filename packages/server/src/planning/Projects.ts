import type { Archived } from "@delivery/domain/Archived"
import { Conflict, type Forbidden, type InvalidInput, NotFound } from "@delivery/domain/Errors"
import type { Change } from "@delivery/domain/events/Event"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { ProjectId, TeamId } from "@delivery/domain/Ids"
import { byName, compare } from "@delivery/domain/Order"
import type {
  CreateProject,
  Project,
  ProjectSummary,
  ReorderProject,
  UpdateProject
} from "@delivery/domain/planning/Project"
import type { EarlierDocuments } from "@delivery/domain/planning/ProjectText"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { type Access, anyRole, atLeast } from "../access/Access.ts"
import { ProductsRepo } from "../catalog/ProductsRepo.ts"
import { Events } from "../events/Events.ts"
import { MembersRepo } from "../identity/MembersRepo.ts"
import { NextId } from "../ids/NextId.ts"
import { nextUpdate } from "../storage/NextUpdate.ts"
import type { UniqueViolation } from "../storage/Sql.ts"
import { Storage } from "../storage/Storage.ts"
import { defaultViewsOf } from "./DefaultViews.ts"
import { changedLinks, projectChanges } from "./ProjectChanges.ts"
import { refuseArchived, resolveReferences } from "./ProjectReferences.ts"
import { type LockedProject, type ProjectRow, ProjectsRepo } from "./ProjectsRepo.ts"
import { history, keepEarlier } from "./ProjectTexts.ts"
import { ProjectTextsRepo } from "./ProjectTextsRepo.ts"
import { beside, findAnchor, rankAt } from "./RankedList.ts"
import { TeamsRepo } from "./TeamsRepo.ts"
import { TicketGuards } from "./TicketGuards.ts"
import { ViewsRepo } from "./ViewsRepo.ts"
import { type Viewer, viewerOf } from "./Viewer.ts"

/** Projects (docs/contract.md, Projects). A project does not exist for a caller who sees none of its teams. */
export class Projects extends Context.Service<
  Projects,
  {
    readonly list: (filter: {
      readonly team?: string | undefined
      readonly product?: string | undefined
      readonly archived?: Archived | undefined
    }) => Effect.Effect<ReadonlyArray<ProjectSummary>, NotFound, Caller>
    readonly create: (input: CreateProject) => Effect.Effect<Project, NotFound | Forbidden | Conflict, Caller>
    readonly get: (project: string) => Effect.Effect<Project, NotFound, Caller>
    /** The documents that it had, a page of them. */
    readonly history: (
      project: string,
      query: { readonly cursor?: number | undefined }
    ) => Effect.Effect<EarlierDocuments, NotFound, Caller>
    readonly update: (
      project: string,
      input: UpdateProject
    ) => Effect.Effect<Project, NotFound | Forbidden | Conflict, Caller>
    readonly reorder: (
      project: string,
      place: ReorderProject
    ) => Effect.Effect<Project, InvalidInput | NotFound | Forbidden | Conflict, Caller>
    readonly archive: (project: string) => Effect.Effect<Project, NotFound | Forbidden, Caller>
    readonly restore: (project: string) => Effect.Effect<Project, NotFound | Forbidden, Caller>
  }
>()("@delivery/server/planning/Projects") {
  static readonly layer = Layer.effect(Projects, Effect.gen(make))
}

interface Dependencies {
  readonly repo: ProjectsRepo["Service"]
  readonly texts: ProjectTextsRepo["Service"]
  readonly teams: TeamsRepo["Service"]
  readonly products: ProductsRepo["Service"]
  readonly members: MembersRepo["Service"]
  readonly views: ViewsRepo["Service"]
  readonly guards: TicketGuards["Service"]
  readonly storage: Storage["Service"]
  readonly events: Events["Service"]
  readonly nextId: NextId["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    repo: yield* ProjectsRepo,
    texts: yield* ProjectTextsRepo,
    teams: yield* TeamsRepo,
    products: yield* ProductsRepo,
    members: yield* MembersRepo,
    views: yield* ViewsRepo,
    guards: yield* TicketGuards,
    storage: yield* Storage,
    events: yield* Events,
    nextId: yield* NextId
  }
  return Projects.of({
    list: list(dependencies),
    create: create(dependencies),
    get: get(dependencies),
    history: history(dependencies),
    update: update(dependencies),
    reorder: reorder(dependencies),
    archive: archive(dependencies),
    restore: restore(dependencies)
  })
}

const list = ({ products, repo, teams }: Dependencies) =>
  Effect.fn("Projects.list")(function* ({
    archived = "exclude",
    product,
    team
  }: Parameters<Projects["Service"]["list"]>[0]) {
    const by = yield* anyRole
    const viewer = viewerOf(by)
    const teamId = team === undefined ? undefined : (yield* teams.findAll(viewer, [team]))[0]?.id
    if (team !== undefined && teamId === undefined) return yield* NotFound.reference("team", team)
    const productId = product === undefined ? undefined : (yield* products.find(viewer.workspaceId, product))?.id
    if (product !== undefined && productId === undefined) return yield* NotFound.reference("product", product)
    return (yield* repo.list(viewer, { teamId, productId, archived })).map(present)
  })

const create = (dependencies: Dependencies) => {
  const { events, nextId, repo, storage, views } = dependencies
  return Effect.fn("Projects.create")(function* (input: CreateProject) {
    const by = yield* atLeast("member")
    const viewer = viewerOf(by)
    const { lead, products = [], teams = [] } = yield* resolveReferences(dependencies, viewer, input)
    yield* refuseArchived({ teams, products })
    const id = yield* nextId<ProjectId>()
    const created = Effect.gen(function* () {
      const order = yield* repo.lockOrder(by.workspace.id)
      const now = timestamp(yield* Clock.currentTimeMillis)
      const project: ProjectRow = {
        id,
        workspaceId: by.workspace.id,
        slug: input.slug,
        name: input.name,
        summary: input.summary ?? null,
        status: input.status ?? "planned",
        leadId: lead?.id ?? null,
        targetDate: input.targetDate ?? null,
        document: input.document ?? null,
        rank: yield* rankAt(order, { id, rank: null }, { before: null }),
        archivedAt: null,
        createdAt: now,
        updatedAt: now
      }
      yield* repo.insert(project, { teams: idsOf(teams), products: idsOf(products) })
      yield* views.insert(yield* defaultViewsOf(nextId, project, by.actor))
      yield* events.record(by, { kind: "project_created", subject: subjectOf(project), teams: idsOf(teams) })
      return yield* findCurrent(dependencies, viewer, project.slug)
    })
    return yield* storage.transaction(created).pipe(Effect.catchTag("UniqueViolation", inUse(input)))
  })
}

const get = ({ repo }: Dependencies) =>
  Effect.fn("Projects.get")(function* (slug: string) {
    const by = yield* anyRole
    const project = yield* repo.find(viewerOf(by), slug)
    return project === undefined ? yield* NotFound.of("project", slug) : present(project)
  })

const update = (dependencies: Dependencies) =>
  Effect.fn("Projects.update")(function* (slug: string, input: UpdateProject) {
    const by = yield* atLeast("member")
    return yield* dependencies.storage
      .transaction(updateLocked(dependencies, by, slug, input))
      .pipe(Effect.catchTag("UniqueViolation", inUse(input)))
  })

const updateLocked = Effect.fnUntraced(function* (
  dependencies: Dependencies,
  by: Access,
  slug: string,
  input: UpdateProject
) {
  const { guards, repo } = dependencies
  const viewer = viewerOf(by)
  const before = yield* lockProject(dependencies, viewer, slug)
  const refs = yield* resolveReferences(dependencies, viewer, input)
  if (before.archivedAt !== null) return yield* Conflict.archived("project")
  const teams = changedLinks(
    before.teams.filter(({ isSeen }) => isSeen),
    refs.teams
  )
  const products = changedLinks(before.products, refs.products)
  yield* refuseArchived({ teams: teams.added, products: products.added })

  const { expected, lead: _, products: __, teams: ___, ...fields } = input
  const lead = refs.lead === undefined ? before.lead : refs.lead
  const after = { ...before, ...fields, lead, products: refs.products ?? before.products }
  const changes = projectChanges(before, after)
  const isUnchanged = changes.length === 0 && teams.added.length + teams.removed.length === 0
  if (isUnchanged) return yield* findCurrent(dependencies, viewer, slug)
  if (expected?.document !== undefined && expected.document !== before.document) {
    return yield* new Conflict({
      message: "The document of the project was changed meanwhile. Read it again, then decide.",
      reason: "project_changed"
    })
  }

  if (products.removed.length > 0) {
    const change = changes.find(({ field }) => field === "products")!
    yield* guards.releasing(by, { projectId: before.id }, change)
  }
  if (teams.removed.length + products.removed.length > 0) {
    yield* repo
      .unlink(before, { teams: idsOf(teams.removed), products: idsOf(products.removed) })
      .pipe(Effect.catchTag("HoldsTickets", () => Effect.fail(holdsTickets(teams.removed))))
  }
  if (teams.added.length + products.added.length > 0) {
    yield* repo.link(before, { teams: idsOf(teams.added), products: idsOf(products.added) })
  }
  const updatedAt = yield* nextUpdate(before)
  yield* repo.update(before.id, {
    ...fields,
    ...(refs.lead === undefined ? {} : { leadId: refs.lead?.id ?? null }),
    updatedAt
  })
  yield* keepEarlier(dependencies, by, before, after, updatedAt)
  yield* recordUpdate(dependencies, by, before, after, changes, teams)
  return yield* findCurrent(dependencies, viewer, after.slug)
})

/** One event for the fields, and one for each team that was added or removed, seen only by those who see that team. */
const recordUpdate = Effect.fnUntraced(function* (
  { events }: Dependencies,
  by: Access,
  before: LockedProject,
  after: Pick<ProjectRow, "id" | "slug" | "name">,
  changes: ReadonlyArray<Change>,
  teams: { readonly added: ReadonlyArray<LinkedTeam>; readonly removed: ReadonlyArray<LinkedTeam> }
) {
  const event = { kind: "project_updated" as const, subject: subjectOf(after) }
  const kept = before.teams.filter(({ id }) => !teams.removed.some((team) => team.id === id))
  if (changes.length > 0) {
    yield* events.record(by, { ...event, changes, teams: [...idsOf(kept), ...idsOf(teams.added)] })
  }
  for (const team of teams.removed.toSorted(byKey)) {
    yield* events.record(by, { ...event, changes: [{ field: "teams", from: team.key, to: null }], teams: [team.id] })
  }
  for (const team of teams.added.toSorted(byKey)) {
    yield* events.record(by, { ...event, changes: [{ field: "teams", from: null, to: team.key }], teams: [team.id] })
  }
})

const reorder = (dependencies: Dependencies) => {
  const { events, repo, storage } = dependencies
  return Effect.fn("Projects.reorder")(function* (slug: string, place: ReorderProject) {
    const by = yield* atLeast("member")
    const viewer = viewerOf(by)
    const reordered = Effect.gen(function* () {
      const order = yield* repo.lockOrder(by.workspace.id)
      const before = yield* lockProject(dependencies, viewer, slug)
      const { anchor, side } = yield* findAnchor(place, "project", before.id, (ref) => repo.findPlace(viewer, ref))
      if (before.archivedAt !== null) return yield* Conflict.archived("project")
      if (anchor !== null && anchor.archivedAt !== null) return yield* Conflict.archived("other project")
      const rank = yield* rankAt(order, before, beside(anchor, side))
      if (rank !== before.rank) {
        yield* repo.update(before.id, { rank, updatedAt: yield* nextUpdate(before) })
        yield* events.record(by, { kind: "project_reordered", ...about(before) })
      }
      return yield* findCurrent(dependencies, viewer, slug)
    })
    return yield* storage.transaction(reordered).pipe(Effect.catchTag("UniqueViolation", Effect.die))
  })
}

const archive = (dependencies: Dependencies) => {
  const { events, guards, repo, storage } = dependencies
  return Effect.fn("Projects.archive")(function* (slug: string) {
    const by = yield* atLeast("member")
    const viewer = viewerOf(by)
    const archived = Effect.gen(function* () {
      const before = yield* lockProject(dependencies, viewer, slug)
      if (before.archivedAt === null) {
        yield* guards.releasing(by, { projectId: before.id }, { field: "project", from: before.name, to: "archived" })
        const now = yield* nextUpdate(before)
        yield* repo.update(before.id, { archivedAt: now, updatedAt: now })
        yield* events.record(by, { kind: "project_archived", ...about(before) })
      }
      return yield* findCurrent(dependencies, viewer, slug)
    })
    return yield* storage.transaction(archived).pipe(Effect.catchTag("UniqueViolation", Effect.die))
  })
}

/** A restored project goes last in priority order. */
const restore = (dependencies: Dependencies) => {
  const { events, repo, storage } = dependencies
  return Effect.fn("Projects.restore")(function* (slug: string) {
    const by = yield* atLeast("member")
    const viewer = viewerOf(by)
    const restored = Effect.gen(function* () {
      const order = yield* repo.lockOrder(by.workspace.id)
      const before = yield* lockProject(dependencies, viewer, slug)
      if (before.archivedAt !== null) {
        const rank = yield* rankAt(order, before, { before: null })
        yield* repo.update(before.id, { rank, archivedAt: null, updatedAt: yield* nextUpdate(before) })
        yield* events.record(by, { kind: "project_restored", ...about(before) })
      }
      return yield* findCurrent(dependencies, viewer, slug)
    })
    return yield* storage.transaction(restored).pipe(Effect.catchTag("UniqueViolation", Effect.die))
  })
}

const lockProject = Effect.fnUntraced(function* ({ repo }: Dependencies, viewer: Viewer, slug: string) {
  const project = yield* repo.lock(viewer, slug)
  return project === undefined ? yield* NotFound.of("project", slug) : project
})

/** A project that the viewer sees, as it is now. */
const findCurrent = ({ repo }: Dependencies, viewer: Viewer, slug: string) =>
  Effect.map(repo.find(viewer, slug), (project) => present(project!))

interface LinkedTeam {
  readonly id: TeamId
  readonly key: string
}

const byKey = (a: LinkedTeam, b: LinkedTeam): number => compare(a.key, b.key)

const idsOf = <Id extends string>(rows: ReadonlyArray<{ readonly id: Id }>): ReadonlyArray<Id> =>
  rows.map(({ id }) => id)

const present = <A extends ProjectSummary>(project: A): A => ({
  ...project,
  teams: project.teams.toSorted(byName),
  products: project.products.toSorted(byName)
})

const subjectOf = (project: Pick<ProjectRow, "id" | "slug" | "name">) => ({
  type: "project",
  id: project.id,
  label: project.name,
  path: `projects/${project.slug}`
})

/** The subject of an event about a project, and the teams that decide who sees the event. */
const about = (project: LockedProject) => ({ subject: subjectOf(project), teams: idsOf(project.teams) })

const holdsTickets = (teams: ReadonlyArray<LinkedTeam>) =>
  new Conflict({
    message: `The project holds tickets of ${teams.length === 1 ? "the team" : "one of the teams"} ${teams
      .toSorted(byKey)
      .map(({ key }) => key)
      .join(", ")}.`,
    reason: "team_has_tickets"
  })

const inUse =
  (input: UpdateProject) =>
  ({ constraint }: UniqueViolation) => {
    switch (constraint) {
      case "projects_slug_key":
        return Effect.fail(Conflict.slugInUse(input.slug ?? ""))
      case "projects_name_key":
        return Effect.fail(Conflict.nameInUse(input.name ?? ""))
      default:
        return Effect.die(new Error(`Unexpected violation of ${constraint}`))
    }
  }

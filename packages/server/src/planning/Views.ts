import { Conflict, type Forbidden, InvalidInput, NotFound } from "@delivery/domain/Errors"
import type { Change } from "@delivery/domain/events/Event"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { AgentId, PersonId, ViewId } from "@delivery/domain/Ids"
import type { CreateView, ReorderView, UpdateView, View, ViewFiltersInput } from "@delivery/domain/planning/View"
import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Equal, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { nextId } from "../ids/NextId.ts"
import { changesBetween, Events } from "../events/Events.ts"
import { type Access, anyRole, atLeast } from "../access/Access.ts"
import { nextUpdate } from "../storage/NextUpdate.ts"
import { Storage } from "../storage/Storage.ts"
import { ProjectsRepo } from "./ProjectsRepo.ts"
import { rankAt } from "./RankedList.ts"
import { ownIds, Tickets } from "./Tickets.ts"
import { TeamsRepo } from "./TeamsRepo.ts"
import { distinctNames, replaceNames, shownNames } from "./StatusNames.ts"
import { type FoundView, type ScopeIds, type StoredFilters, ViewsRepo } from "./ViewsRepo.ts"
import { type Viewer, viewerOf } from "./Visibility.ts"

/** Views (contract, section 8). One of a team or project that the caller does not see is not there. */
export class Views extends Context.Service<
  Views,
  {
    readonly list: (scope: {
      readonly team?: string | undefined
      readonly project?: string | undefined
    }) => Effect.Effect<ReadonlyArray<View>, InvalidInput | NotFound, Caller>
    readonly create: (input: CreateView) => Effect.Effect<View, NotFound | Forbidden | Conflict, Caller>
    readonly update: (view: string, input: UpdateView) => Effect.Effect<View, NotFound | Forbidden | Conflict, Caller>
    readonly delete: (view: string) => Effect.Effect<void, NotFound | Forbidden | Conflict, Caller>
    readonly reorder: (
      view: string,
      place: ReorderView
    ) => Effect.Effect<View, InvalidInput | NotFound | Forbidden | Conflict, Caller>
    readonly listTickets: (view: string) => Effect.Effect<ReadonlyArray<TicketSummary>, NotFound, Caller>
  }
>()("@delivery/server/planning/Views") {
  static readonly layer = Layer.effect(
    Views,
    Effect.gen(function* () {
      const random = yield* SecureRandom.SecureRandom
      const storage = yield* Storage
      const repo = yield* ViewsRepo
      const teams = yield* TeamsRepo
      const projects = yield* ProjectsRepo
      const tickets = yield* Tickets
      const events = yield* Events

      /** The scope that a body or query names; `NotFound` names the field. */
      const findScope = Effect.fnUntraced(function* (
        viewer: Viewer,
        { project, team }: { readonly team?: string | undefined; readonly project?: string | undefined },
        fields: { readonly team: string; readonly project: string }
      ) {
        if (team !== undefined) {
          const [found] = yield* teams.findAll(viewer, [team])
          if (found === undefined) return yield* NotFound.reference(fields.team)
          return { teamId: found.id, projectId: null, isArchived: found.archivedAt !== null }
        }
        if (project !== undefined) {
          const found = yield* projects.findPlace(viewer, project)
          if (found === undefined) return yield* NotFound.reference(fields.project)
          return { teamId: null, projectId: found.id, isArchived: found.archivedAt !== null }
        }
        return { teamId: null, projectId: null, isArchived: false }
      })

      const findFilters = Effect.fnUntraced(function* (viewer: Viewer, input: ViewFiltersInput) {
        const owners = input.owners ?? []
        const refs = {
          owners: owners.filter((owner) => owner !== "me" && owner !== "none"),
          tags: input.tags ?? [],
          teams: input.teams ?? [],
          projects: input.projects ?? []
        }
        const known = yield* repo.resolve(viewer, refs)
        for (const field of ["owners", "tags", "teams", "projects"] as const) {
          if (refs[field].some((ref) => !known[field].has(ref))) return yield* NotFound.reference(`filters.${field}`)
        }
        const filters: StoredFilters = {
          categories: distinct(input.categories ?? []),
          statuses: distinctNames(input.statuses ?? []),
          followed: [],
          owners: distinct(owners),
          tags: distinct(refs.tags.map((ref) => known.tags.get(ref)!)),
          teams: distinct(refs.teams.map((ref) => known.teams.get(ref)!)),
          projects: distinct(refs.projects.map((ref) => known.projects.get(ref)!))
        }
        return filters
      })

      const current = (viewer: Viewer, id: ViewId) => Effect.map(repo.find(viewer, id), (view) => shown(view!))

      const tell = Effect.fnUntraced(function* (
        by: Access,
        kind: string,
        view: Pick<FoundView, "id" | "name" | keyof ScopeIds>,
        changes: ReadonlyArray<Change> = []
      ) {
        const { projectId, teamId } = view
        const teams = teamId !== null ? [teamId] : projectId !== null ? yield* projects.teamsOf(projectId) : undefined
        yield* events.record(by, {
          kind,
          subject: { type: "view", id: view.id, label: view.name, path: `views/${view.id}` },
          changes,
          ...(teams === undefined ? {} : { teams })
        })
      })

      const locked = Effect.fnUntraced(function* (viewer: Viewer, id: string) {
        const view = yield* repo.lock(viewer, id)
        return view === undefined ? yield* NotFound.of("view") : view
      })

      return Views.of({
        list: Effect.fn("Views.list")(function* (named) {
          if (named.team !== undefined && named.project !== undefined) {
            return yield* InvalidInput.at("project", "Expected a team or a project, not both")
          }
          const viewer = viewerOf(yield* anyRole)
          const scope = yield* findScope(viewer, named, { team: "team", project: "project" })
          return (yield* repo.list(viewer, scope)).map(shown)
        }),

        create: Effect.fn("Views.create")(
          function* (input: CreateView) {
            const by = yield* atLeast("member")
            const viewer = viewerOf(by)
            const { key, kind } = input.scope
            const scope = yield* findScope(viewer, kind === "workspace" ? {} : { [kind]: key }, {
              team: "scope.key",
              project: "scope.key"
            })
            const filters = yield* findFilters(viewer, input.filters ?? {})
            if (scope.isArchived) return yield* archivedScope(scope)
            const id = yield* nextId<ViewId>()
            return yield* storage.transaction(
              Effect.gen(function* () {
                const order = yield* repo.lockOrder(by.workspace.id, scope)
                const now = timestamp(yield* Clock.currentTimeMillis)
                const view = {
                  id,
                  workspaceId: by.workspace.id,
                  teamId: scope.teamId,
                  projectId: scope.projectId,
                  name: input.name,
                  filters,
                  layout: input.layout ?? "list",
                  isDefault: false,
                  rank: yield* rankAt(order, { id, rank: null }, { before: null }),
                  creatorKind: by.actor.kind,
                  creatorId: by.actor.id,
                  createdAt: now,
                  updatedAt: now
                }
                yield* repo.insert([view])
                yield* tell(by, "view_created", view)
                return yield* current(viewer, id)
              })
            )
          },
          Effect.provideService(SecureRandom.SecureRandom, random)
        ),

        update: Effect.fn("Views.update")(function* (id: string, input: UpdateView) {
          const by = yield* atLeast("member")
          const viewer = viewerOf(by)
          return yield* storage.transaction(
            Effect.gen(function* () {
              const before = yield* locked(viewer, id)
              const filters =
                input.filters === undefined
                  ? before.filters
                  : keepUnseen(before, yield* findFilters(viewer, input.filters))
              if (before.isArchived) return yield* archivedScope(before)
              const after = {
                ...before,
                name: input.name ?? before.name,
                layout: input.layout ?? before.layout,
                filters
              }
              const changes = changesBetween(before, after, "name", "layout")
              if (changes.length === 0 && Equal.equals(before.filters, filters)) return shown(before)
              yield* repo.update({ ...after, updatedAt: yield* nextUpdate(before) })
              yield* tell(by, "view_updated", after, changes)
              return yield* current(viewer, before.id)
            })
          )
        }),

        delete: Effect.fn("Views.delete")(function* (id: string) {
          const by = yield* atLeast("member")
          yield* storage.transaction(
            Effect.gen(function* () {
              const view = yield* locked(viewerOf(by), id)
              if (view.isDefault) {
                return yield* new Conflict({ message: "The first views of a project stay.", reason: "is_default" })
              }
              if (view.isArchived) return yield* archivedScope(view)
              yield* repo.delete(view.id)
              yield* tell(by, "view_deleted", view)
            })
          )
        }),

        reorder: Effect.fn("Views.reorder")(function* (id: string, place: ReorderView) {
          const by = yield* atLeast("member")
          const viewer = viewerOf(by)
          return yield* storage.transaction(
            Effect.gen(function* () {
              // A view keeps its scope.
              const scope = yield* repo.find(viewer, id)
              if (scope === undefined) return yield* NotFound.of("view")
              const order = yield* repo.lockOrder(by.workspace.id, scope)
              const before = yield* locked(viewer, id)
              const side = place.before === undefined ? "after" : "before"
              const ref = place.before ?? place.after ?? null
              const anchor = ref === null ? null : yield* repo.find(viewer, ref)
              if (anchor === undefined) return yield* NotFound.reference(side)
              if (anchor?.id === before.id) return yield* InvalidInput.at(side, "A view cannot go beside itself.")
              if (anchor !== null && (anchor.teamId !== before.teamId || anchor.projectId !== before.projectId)) {
                return yield* new Conflict({ message: "The other view is of another scope.", reason: "other_scope" })
              }
              if (before.isArchived) return yield* archivedScope(before)
              const rank = yield* rankAt(order, before, side === "before" ? { before: anchor } : { after: anchor })
              if (rank === before.rank) return shown(before)
              yield* repo.update({ ...before, rank, updatedAt: yield* nextUpdate(before) })
              yield* tell(by, "view_reordered", before)
              return yield* current(viewer, before.id)
            })
          )
        }),

        listTickets: Effect.fn("Views.listTickets")(function* (id: string) {
          const by = yield* anyRole
          const view = yield* repo.find(viewerOf(by), id)
          if (view === undefined) return yield* NotFound.of("view")
          const { filters } = view
          const teamIds = within(view.teamId, filters.teams)
          const projectIds = within(view.projectId, filters.projects)
          const owners = restricting(filters.owners)?.flatMap((owner): ReadonlyArray<PersonId | AgentId | null> =>
            owner === "none" ? [null] : owner === "me" ? ownIds(by.principal) : [owner as PersonId | AgentId]
          )
          const statuses = restricting(shownNames(filters, view.namingTeams))
          const statusIds = statuses && (yield* repo.statusesNamed(by.workspace.id, statuses))
          // To the list of tickets an empty choice is none; but of a filter whose values name nothing, nothing matches.
          if ([teamIds, projectIds, owners, statusIds].some((ids) => ids?.length === 0)) return []
          return yield* tickets.matching(by, {
            teamIds: teamIds ?? [],
            projectIds: projectIds ?? [],
            owners: owners ?? [],
            statusIds: statusIds ?? [],
            categories: filters.categories,
            tagIds: view.tags.map(({ id }) => id)
          })
        })
      })
    })
  )
}

const distinct = <A>(values: ReadonlyArray<A>): ReadonlyArray<A> => [...new Set(values)]

const archivedScope = ({ teamId }: ScopeIds) =>
  new Conflict({ message: `The ${teamId === null ? "project" : "team"} is archived.`, reason: "archived" })

/** An empty filter does not restrict. */
const restricting = <A>(values: ReadonlyArray<A>): ReadonlyArray<A> | undefined =>
  values.length === 0 ? undefined : values

/** Which of the values a view shows that is of one itself, or of all; undefined for no restriction. */
const within = <Id extends string>(one: Id | null, values: ReadonlyArray<Id>): ReadonlyArray<Id> | undefined => {
  if (one === null) return restricting(values)
  return values.length === 0 || values.includes(one) ? [one] : []
}

/** New filters, with the values that the caller does not see and so could not send. */
const keepUnseen = (view: FoundView, filters: StoredFilters): StoredFilters => {
  const { filters: before, namingTeams, seen, tags } = view
  const kept = <Id extends string>(
    stored: ReadonlyArray<Id>,
    seen: ReadonlyArray<{ readonly id: Id }>,
    sent: ReadonlyArray<Id>
  ) => distinct([...stored.filter((id) => seen.every((each) => each.id !== id)), ...sent])
  const teams = kept(before.teams, seen.teams, filters.teams)
  // Names go on to follow what they followed, unless they or the teams that they are of become others.
  const isSame = Equal.equals(teams, before.teams) && Equal.equals(filters.statuses, shownNames(before, namingTeams))
  const { followed, statuses } = isSame ? before : replaceNames(before, namingTeams, filters.statuses)
  return {
    ...filters,
    statuses,
    followed,
    tags: distinct([...tags.filter(({ isSeen }) => !isSeen).map(({ id }) => id), ...filters.tags]),
    teams,
    projects: kept(before.projects, seen.projects, filters.projects)
  }
}

const shown = (view: FoundView): View => ({
  id: view.id,
  name: view.name,
  scope: view.scope,
  filters: {
    categories: view.filters.categories,
    statuses: shownNames(view.filters, view.namingTeams),
    owners: view.filters.owners,
    tags: view.tags.filter(({ isSeen }) => isSeen).map(({ id }) => id),
    teams: view.seen.teams.map(({ key }) => key),
    projects: view.seen.projects.map(({ slug }) => slug)
  },
  layout: view.layout,
  isDefault: view.isDefault,
  position: view.position,
  createdBy: view.createdBy,
  createdAt: view.createdAt,
  updatedAt: view.updatedAt
})

import type { TeamId, WorkspaceId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import { milestoneRef } from "@delivery/domain/planning/Project"
import { nameKey } from "@delivery/domain/Text"
import { Effect, Layer } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { agents } from "../access/ActorRows.ts"
import { resolveActor } from "../access/Actors.ts"
import { memberKey, members } from "../identity/MembersRepo.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { nextUpdate } from "../storage/NextUpdate.ts"
import type { Row } from "../storage/Table.ts"
import { findMilestoneInMemory } from "./MilestonesMemory.ts"
import { milestones } from "./MilestonesRepo.ts"
import { projectLinkKey, type ProjectRow, projects, projectTeams } from "./ProjectsRepo.ts"
import { inOrder, rankedList } from "./RankedListMemory.ts"
import { followName, type NamingTeam } from "./StatusNames.ts"
import { type TagRow, tags } from "./TagsRepo.ts"
import { type TeamRow, teams } from "./TeamsRepo.ts"
import { ticketStatuses } from "./TicketStatusesRepo.ts"
import { type FoundView, scopeIdOf, type ViewRow, views, ViewsRepo } from "./ViewsRepo.ts"
import type { Viewer } from "./Viewer.ts"
import { seesProjectInMemory, seesTeamInMemory } from "./Visibility.ts"

type Memory = MemoryStorage["Service"]
type Repo = ViewsRepo["Service"]
type StoredView = Row<typeof views>

const isIn =
  (scopeId: string) =>
  (view: StoredView): boolean =>
    view.scopeId === scopeId

export const layer = Layer.effect(
  ViewsRepo,
  Effect.map(MemoryStorage, (memory) =>
    ViewsRepo.of({
      insert: insert(memory),
      update: update(memory),
      delete: (id) => memory.write((database) => Effect.sync(() => database.table(views).delete(id))),
      list: list(memory),
      find: find(memory),
      lock: find(memory),
      lockOrder: (workspaceId, scope) => Effect.succeed(rankedList(memory, views, isIn(scopeIdOf(workspaceId, scope)))),
      count: (workspaceId, scope, personId) =>
        memory.read((database) => {
          const isInScope = isIn(scopeIdOf(workspaceId, scope))
          const isCounted = (view: StoredView) => isInScope(view) && view.personId === personId && !view.isDefault
          return database.table(views).filter(isCounted).length
        }),
      statusesNamed: statusesNamed(memory),
      resolve: resolve(memory),
      followStatus: followStatus(memory)
    })
  )
)

const insert =
  (memory: Memory): Repo["insert"] =>
  (added) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(views)
        for (const view of added) rows.set(view.id, { ...view, scopeId: scopeIdOf(view.workspaceId, view) })
      })
    )

const update =
  (memory: Memory): Repo["update"] =>
  ({ filters, groupedBy, id, layout, name, personId, rank, sortedBy, updatedAt }) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(views)
        rows.set(id, { ...rows.get(id)!, personId, name, filters, layout, groupedBy, sortedBy, rank, updatedAt })
      })
    )

const list =
  (memory: Memory): Repo["list"] =>
  (viewer, scope) =>
    memory.read((database) =>
      inOrder(database, views, isIn(scopeIdOf(viewer.workspaceId, scope))).flatMap(
        (view) => foundView(database, viewer, view) ?? []
      )
    )

const find =
  (memory: Memory): Repo["find"] =>
  (viewer, id) =>
    memory.read((database) => {
      const view = database.table(views).get(id)
      return view && foundView(database, viewer, view)
    })

const statusesNamed = (memory: Memory) => (workspaceId: WorkspaceId, names: ReadonlyArray<string>) =>
  memory.read((database) => {
    const keys = new Set(names.map(nameKey))
    return database
      .table(ticketStatuses)
      .filter((status) => status.workspaceId === workspaceId && status.teamId !== null && keys.has(status.nameKey))
      .map(({ id }) => id)
  })

const resolve =
  (memory: Memory): Repo["resolve"] =>
  (viewer, refs) =>
    memory.read((database) => {
      const { workspaceId } = viewer
      const knownOwners = refs.owners.filter(
        (id) =>
          database.table(members).get(memberKey(workspaceId, id)) !== undefined ||
          database.table(agents).get(id)?.workspaceId === workspaceId
      )
      const knownTags = refs.tags.flatMap((id) => {
        const tag = database.table(tags).get(id)
        return tag !== undefined && isTagSeen(database, viewer, tag) ? [tag.id] : []
      })
      const knownTeams = database
        .table(teams)
        .filter((team) => refs.teams.includes(team.key) && seesTeamInMemory(database, viewer, team))
      const knownProjects = database
        .table(projects)
        .filter(
          (project) =>
            project.workspaceId === workspaceId &&
            refs.projects.includes(project.slug) &&
            seesProjectInMemory(database, viewer, project.id)
        )
      return {
        owners: new Map(knownOwners.map((id) => [id, id])),
        tags: new Map(knownTags.map((id) => [id, id])),
        teams: new Map(knownTeams.map(({ id, key }) => [key, id])),
        projects: new Map(knownProjects.map(({ id, slug }) => [slug, id])),
        milestones: new Map(
          refs.milestones.flatMap((ref) => {
            const milestone = findMilestoneInMemory(database, viewer, ref)
            return milestone === undefined ? [] : [[ref, milestone.id] as const]
          })
        )
      }
    })

const followStatus =
  (memory: Memory): Repo["followStatus"] =>
  ({ workspaceId, ...change }) =>
    memory.write((database) =>
      Effect.gen(function* () {
        const rows = database.table(views)
        const team = database.table(teams).get(change.teamId)!
        for (const view of rows.filter((view) => view.workspaceId === workspaceId)) {
          const names = followName(view.filters, change, admitsTeam(database, view, team.id))
          if (names === undefined) continue
          const updatedAt = isSeenByAll(view, team) ? yield* nextUpdate(view) : view.updatedAt
          rows.set(view.id, { ...view, filters: { ...view.filters, ...names }, updatedAt })
        }
      })
    )

/** Whether the view is shared, or the viewer's own. */
const isNobodyElses = ({ personId }: Viewer, view: Pick<ViewRow, "personId">): boolean =>
  view.personId === null || view.personId === personId

/** The view as the viewer sees it; undefined where they do not see it, or its team or project. */
const foundView = (
  database: MemoryDatabase,
  viewer: Viewer,
  { scopeId, ...view }: StoredView
): FoundView | undefined => {
  const team = view.teamId === null ? undefined : database.table(teams).get(view.teamId)!
  const project = view.projectId === null ? undefined : database.table(projects).get(view.projectId)!
  const isSeen =
    view.workspaceId === viewer.workspaceId &&
    isNobodyElses(viewer, view) &&
    (team === undefined || seesTeamInMemory(database, viewer, team)) &&
    (project === undefined || seesProjectInMemory(database, viewer, project.id))
  if (!isSeen) return undefined
  const { filters } = view
  return {
    ...view,
    scope: scopeOf(team, project),
    tags: filters.tags.flatMap((id) => {
      const tag = database.table(tags).get(id)
      return tag === undefined ? [] : [{ id, isSeen: isTagSeen(database, viewer, tag) }]
    }),
    milestones: filters.milestones.flatMap((id) => {
      const milestone = database.table(milestones).get(id)
      if (milestone === undefined) return []
      const { slug } = database.table(projects).get(milestone.projectId)!
      const isSeen = seesProjectInMemory(database, viewer, milestone.projectId)
      return [{ id, ref: milestoneRef(slug, milestone.number), isSeen }]
    }),
    seen: {
      teams: filters.teams.flatMap((id) => {
        const team = database.table(teams).get(id)!
        return seesTeamInMemory(database, viewer, team) ? [{ id, key: team.key }] : []
      }),
      projects: filters.projects.flatMap((id) =>
        seesProjectInMemory(database, viewer, id) ? [{ id, slug: database.table(projects).get(id)!.slug }] : []
      )
    },
    namingTeams: namingTeams(database, viewer, view),
    isArchived: (team ?? project ?? { archivedAt: null }).archivedAt !== null,
    position: inOrder(database, views, isIn(scopeId))
      .filter((other) => isNobodyElses(viewer, other))
      .findIndex(({ id }) => id === view.id),
    createdBy: resolveActor(database, { kind: view.creatorKind, id: view.creatorId } as ActorRef)
  }
}

const scopeOf = (team: TeamRow | undefined, project: ProjectRow | undefined): FoundView["scope"] => {
  if (team !== undefined) return { kind: "team", key: team.key }
  return project === undefined ? { kind: "workspace" } : { kind: "project", key: project.slug }
}

const isTagSeen = (database: MemoryDatabase, viewer: Viewer, tag: TagRow): boolean => {
  const team = tag.teamId === null ? undefined : database.table(teams).get(tag.teamId)
  return tag.workspaceId === viewer.workspaceId && (team === undefined || seesTeamInMemory(database, viewer, team))
}

/** Whether the view shows tickets of the team. */
const admitsTeam = (database: MemoryDatabase, view: ViewRow, team: TeamId): boolean =>
  (view.teamId === null || view.teamId === team) &&
  (view.projectId === null || database.table(projectTeams).get(projectLinkKey(view.projectId, team)) !== undefined) &&
  (view.filters.teams.length === 0 || view.filters.teams.includes(team))

/** Whether everybody who sees the view sees the team. */
const isSeenByAll = (view: ViewRow, team: TeamRow): boolean => team.visibility === "open" || team.id === view.teamId

const namingTeams = (database: MemoryDatabase, viewer: Viewer, view: ViewRow): ReadonlyArray<NamingTeam> => {
  const { followed } = view.filters
  if (followed.length === 0) return []
  const names = new Set(followed.map(({ from }) => from))
  const statuses = database
    .table(ticketStatuses)
    .filter(({ nameKey, workspaceId }) => workspaceId === view.workspaceId && names.has(nameKey))
  return database
    .table(teams)
    .filter(({ workspaceId }) => workspaceId === view.workspaceId)
    .map((team) => ({
      id: team.id,
      isSeen: seesTeamInMemory(database, viewer, team),
      isSeenByAll: isSeenByAll(view, team),
      has: admitsTeam(database, view, team.id)
        ? statuses.filter(({ teamId }) => teamId === team.id).map(({ nameKey }) => nameKey)
        : []
    }))
    .filter(({ has, id }) => has.length > 0 || followed.some(({ teamId }) => teamId === id))
    .toSorted((a, b) => compare(a.id, b.id))
}

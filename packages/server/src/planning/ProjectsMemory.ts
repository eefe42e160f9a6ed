import { isListed } from "@delivery/domain/Archived"
import type { Person } from "@delivery/domain/identity/Actor"
import type { ProjectId, TeamId, WorkspaceId } from "@delivery/domain/Ids"
import type { Milestone, ProjectProduct, ProjectProgress, ProjectSummary } from "@delivery/domain/planning/Project"
import { StatusCategory } from "@delivery/domain/planning/TicketStatus"
import { Effect, Layer } from "effect"
import { persons } from "../access/ActorRows.ts"
import { products } from "../catalog/ProductsRepo.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { UniqueViolation } from "../storage/Sql.ts"
import type { Row } from "../storage/Table.ts"
import { milestones } from "./MilestonesRepo.ts"
import {
  HoldsTickets,
  projectLinkKey,
  type ProjectLinks,
  projectProducts,
  type ProjectRow,
  projects,
  ProjectsRepo,
  projectTeams
} from "./ProjectsRepo.ts"
import { inOrder, rankedList } from "./RankedListMemory.ts"
import { teams } from "./TeamsRepo.ts"
import { tickets } from "./TicketsRepo.ts"
import { ticketStatuses } from "./TicketStatusesRepo.ts"
import type { Viewer } from "./Viewer.ts"
import { seesProjectInMemory, seesTeamInMemory } from "./Visibility.ts"

type Memory = MemoryStorage["Service"]
type Repo = ProjectsRepo["Service"]
type StoredProject = Row<typeof projects>

const isOf =
  (workspaceId: WorkspaceId) =>
  (project: StoredProject): boolean =>
    project.workspaceId === workspaceId

export const layer = Layer.effect(
  ProjectsRepo,
  Effect.map(MemoryStorage, (memory) =>
    ProjectsRepo.of({
      insert: insert(memory),
      update: update(memory),
      link: link(memory),
      unlink: unlink(memory),
      list: list(memory),
      find: find(memory),
      findPlace: findPlace(memory),
      teamsOf: teamsOf(memory),
      lock: lock(memory),
      lockOrder: (workspaceId) => Effect.succeed(rankedList(memory, projects, isOf(workspaceId)))
    })
  )
)

const insert =
  (memory: Memory): Repo["insert"] =>
  (project, links) =>
    memory.write((database) =>
      Effect.tap(put(database, { ...project, lastMilestoneNumber: 0 }), () =>
        Effect.sync(() => putLinks(database, project, links))
      )
    )

const update =
  (memory: Memory): Repo["update"] =>
  (id, changes) =>
    memory.write((database) => put(database, { ...database.table(projects).get(id)!, ...changes }))

const link =
  (memory: Memory): Repo["link"] =>
  (project, links) =>
    memory.write((database) => Effect.sync(() => putLinks(database, project, links)))

const unlink =
  (memory: Memory): Repo["unlink"] =>
  ({ id }, links) =>
    memory.write((database) => {
      const holdsTicket = database
        .table(tickets)
        .find(({ projectId, teamId }) => projectId === id && links.teams.includes(teamId))
      if (holdsTicket !== undefined) return Effect.fail(new HoldsTickets())
      return Effect.sync(() => {
        for (const teamId of links.teams) database.table(projectTeams).delete(projectLinkKey(id, teamId))
        for (const productId of links.products) database.table(projectProducts).delete(projectLinkKey(id, productId))
      })
    })

const list =
  (memory: Memory): Repo["list"] =>
  (viewer, { archived, productId, teamId }) =>
    memory.read((database) => {
      const isLinked = ({ id }: StoredProject) =>
        (teamId === undefined || database.table(projectTeams).get(projectLinkKey(id, teamId)) !== undefined) &&
        (productId === undefined || database.table(projectProducts).get(projectLinkKey(id, productId)) !== undefined)
      const listed = inOrder(database, projects, isOf(viewer.workspaceId)).filter(
        (project) => isListed(archived)(project) && isLinked(project)
      )
      return summaries(database, viewer, listed)
    })

const find =
  (memory: Memory): Repo["find"] =>
  (viewer, slug) =>
    memory.read((database) => {
      const project = findProjectInMemory(database, viewer, slug)
      if (project === undefined) return undefined
      const [summary] = summaries(database, viewer, [project])
      return { ...summary!, milestones: milestonesOf(database, project), document: project.document }
    })

const findPlace =
  (memory: Memory): Repo["findPlace"] =>
  (viewer, slug) =>
    memory.read((database) => {
      const project = findProjectInMemory(database, viewer, slug)
      return project && { id: project.id, rank: project.rank, archivedAt: project.archivedAt }
    })

const teamsOf =
  (memory: Memory): Repo["teamsOf"] =>
  (id) =>
    memory.read((database) => teamIdsOf(database, id))

const lock =
  (memory: Memory): Repo["lock"] =>
  (viewer, slug) =>
    memory.read((database) => {
      const project = findProjectInMemory(database, viewer, slug)
      if (project === undefined) return undefined
      const { lastMilestoneNumber: _, ...row } = project
      return {
        ...row,
        lead: leadOf(database, project),
        teams: teamIdsOf(database, project.id).map((teamId) => {
          const team = database.table(teams).get(teamId)!
          const { id, key, name, visibility } = team
          return { id, key, name, visibility, isSeen: seesTeamInMemory(database, viewer, team) }
        }),
        products: productsOf(database, project)
      }
    })

const put = (database: MemoryDatabase, project: StoredProject) => {
  const constraint = violation(database, project)
  return constraint === undefined
    ? Effect.sync(() => database.table(projects).set(project.id, project))
    : Effect.fail(new UniqueViolation({ constraint }))
}

/** The constraint that keeps the project from being stored beside the others. */
const violation = (database: MemoryDatabase, project: StoredProject): string | undefined => {
  const others = database
    .table(projects)
    .filter((other) => other.workspaceId === project.workspaceId && other.id !== project.id)
  if (others.some(({ slug }) => slug === project.slug)) return "projects_slug_key"
  if (others.some(({ name }) => name === project.name)) return "projects_name_key"
  return others.some(({ rank }) => rank === project.rank) ? "projects_rank_key" : undefined
}

const putLinks = (
  database: MemoryDatabase,
  { id: projectId, workspaceId }: Pick<ProjectRow, "id" | "workspaceId">,
  links: ProjectLinks
) => {
  for (const teamId of links.teams) {
    database.table(projectTeams).set(projectLinkKey(projectId, teamId), { workspaceId, projectId, teamId })
  }
  for (const productId of links.products) {
    database.table(projectProducts).set(projectLinkKey(projectId, productId), { workspaceId, projectId, productId })
  }
}

export const findProjectInMemory = (
  database: MemoryDatabase,
  viewer: Viewer,
  slug: string
): StoredProject | undefined => {
  const project = database
    .table(projects)
    .find((project) => project.workspaceId === viewer.workspaceId && project.slug === slug)
  return project !== undefined && seesProjectInMemory(database, viewer, project.id) ? project : undefined
}

const leadOf = (database: MemoryDatabase, { leadId }: StoredProject): Person | null => {
  if (leadId === null) return null
  const { email, id, name } = database.table(persons).get(leadId)!
  return { id, name, email }
}

const teamIdsOf = (database: MemoryDatabase, id: ProjectId): ReadonlyArray<TeamId> =>
  database
    .table(projectTeams)
    .filter(({ projectId }) => projectId === id)
    .map(({ teamId }) => teamId)

const productsOf = (database: MemoryDatabase, project: StoredProject): ReadonlyArray<ProjectProduct> =>
  database
    .table(projectProducts)
    .filter((link) => link.projectId === project.id)
    .map(({ productId }) => {
      const { id, name, slug } = database.table(products).get(productId)!
      return { id, slug, name }
    })

const milestonesOf = (database: MemoryDatabase, project: StoredProject): ReadonlyArray<Milestone> =>
  database
    .table(milestones)
    .filter(({ projectId }) => projectId === project.id)
    .toSorted((a, b) => a.number - b.number)
    .map(({ id, name, number, summary }) => ({ id, number, name, summary }))

/** The summaries of those projects of which the viewer sees a team. */
const summaries = (
  database: MemoryDatabase,
  viewer: Viewer,
  rows: ReadonlyArray<StoredProject>
): ReadonlyArray<ProjectSummary> => {
  const visibleTeams = new Map(
    database
      .table(teams)
      .filter((team) => seesTeamInMemory(database, viewer, team))
      .map(({ id, key, name, visibility }) => [id, { id, key, name, visibility }])
  )
  const linksOf = Map.groupBy(database.table(projectTeams).values(), ({ projectId }) => projectId)
  const ticketsOf = Map.groupBy(database.table(tickets).values(), ({ projectId }) => projectId)
  const statuses = database.table(ticketStatuses)
  return rows.flatMap((project) => {
    const teamsOfProject = (linksOf.get(project.id) ?? []).flatMap(({ teamId }) => visibleTeams.get(teamId) ?? [])
    if (teamsOfProject.length === 0) return []
    const categories = (ticketsOf.get(project.id) ?? [])
      .filter(({ teamId }) => visibleTeams.has(teamId))
      .map(({ statusId }) => statuses.get(statusId)!.category)
    return [
      {
        id: project.id,
        slug: project.slug,
        name: project.name,
        summary: project.summary,
        status: project.status,
        lead: leadOf(database, project),
        targetDate: project.targetDate,
        teams: teamsOfProject,
        products: productsOf(database, project),
        progress: progressOf(categories),
        archivedAt: project.archivedAt,
        createdAt: project.createdAt,
        updatedAt: project.updatedAt
      }
    ]
  })
}

const progressOf = (categories: ReadonlyArray<StatusCategory>): ProjectProgress =>
  Object.fromEntries(
    StatusCategory.literals.map((category) => [category, categories.filter((each) => each === category).length])
  ) as unknown as ProjectProgress

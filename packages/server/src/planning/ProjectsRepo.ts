import type { Archived } from "@delivery/domain/Archived"
import type { Person } from "@delivery/domain/identity/Actor"
import type { PersonId, ProductId, ProjectId, TeamId, WorkspaceId } from "@delivery/domain/Ids"
import type { Project, ProjectProduct, ProjectStatus, ProjectSummary } from "@delivery/domain/planning/Project"
import type { TeamRef } from "@delivery/domain/planning/Team"
import { Context, Data, type Effect } from "effect"
import type { UniqueViolation } from "../storage/Sql.ts"
import { day, instant, integer, nullable, type Row, table, text, uuid } from "../storage/Table.ts"
import type { RankedList } from "./RankedList.ts"
import type { Viewer } from "./Viewer.ts"

/** The projects of each workspace. */
export const projects = table("projects", {
  id: uuid<ProjectId>(),
  workspaceId: uuid<WorkspaceId>(),
  slug: text(),
  name: text(),
  summary: nullable(text()),
  status: text<ProjectStatus>(),
  leadId: nullable(uuid<PersonId>()),
  targetDate: nullable(day()),
  document: nullable(text()),
  rank: text(),
  /** Counted by `MilestonesRepo`: a number is given to one milestone. */
  lastMilestoneNumber: integer(),
  archivedAt: nullable(instant()),
  createdAt: instant(),
  updatedAt: instant()
})

export type ProjectRow = Omit<Row<typeof projects>, "lastMilestoneNumber">

/** The teams of each project. In memory by `projectLinkKey`. */
export const projectTeams = table("project_teams", {
  workspaceId: uuid<WorkspaceId>(),
  projectId: uuid<ProjectId>(),
  teamId: uuid<TeamId>()
})

/** The products of each project. In memory by `projectLinkKey`. */
export const projectProducts = table("project_products", {
  workspaceId: uuid<WorkspaceId>(),
  projectId: uuid<ProjectId>(),
  productId: uuid<ProductId>()
})

export const projectLinkKey = (projectId: ProjectId, linked: TeamId | ProductId): string => `${projectId}/${linked}`

/** The properties of a project that may change, without its links. */
export type ProjectChanges = Partial<Omit<ProjectRow, "id" | "workspaceId" | "createdAt">>

export interface ProjectLinks {
  readonly teams: ReadonlyArray<TeamId>
  readonly products: ReadonlyArray<ProductId>
}

/** A project that the transaction has locked, with all of its teams. */
export interface LockedProject extends ProjectRow {
  readonly lead: Person | null
  readonly teams: ReadonlyArray<TeamRef & { readonly isSeen: boolean }>
  readonly products: ReadonlyArray<ProjectProduct>
}

/** A team cannot be unlinked: the project holds tickets of it. */
export class HoldsTickets extends Data.TaggedError("HoldsTickets")<{}> {}

/**
 * Stores projects and their links. A slug, a name and a rank are used once in a workspace. Projects are looked up for a
 * viewer, who does not find a project without a team that they see. In a project that they find, they see neither other
 * teams nor the tickets of those.
 */
export class ProjectsRepo extends Context.Service<
  ProjectsRepo,
  {
    readonly insert: (project: ProjectRow, links: ProjectLinks) => Effect.Effect<void, UniqueViolation>
    readonly update: (id: ProjectId, changes: ProjectChanges) => Effect.Effect<void, UniqueViolation>
    readonly link: (project: Pick<ProjectRow, "id" | "workspaceId">, links: ProjectLinks) => Effect.Effect<void>
    /** `HoldsTickets` if the project holds tickets of one of the teams, visible or not. */
    readonly unlink: (
      project: Pick<ProjectRow, "id" | "workspaceId">,
      links: ProjectLinks
    ) => Effect.Effect<void, HoldsTickets>
    /** In priority order; teams and products in no particular order. */
    readonly list: (
      viewer: Viewer,
      filter: {
        readonly teamId?: TeamId | undefined
        readonly productId?: ProductId | undefined
        readonly archived: Archived
      }
    ) => Effect.Effect<ReadonlyArray<ProjectSummary>>
    /** By slug; milestones in the order of their numbers, teams and products in no particular order. */
    readonly find: (viewer: Viewer, slug: string) => Effect.Effect<Project | undefined>
    /** By slug: the parts that a move beside it needs. */
    readonly findPlace: (
      viewer: Viewer,
      slug: string
    ) => Effect.Effect<Pick<ProjectRow, "id" | "rank" | "archivedAt"> | undefined>
    /** All teams of the project, visible or not. */
    readonly teamsOf: (id: ProjectId) => Effect.Effect<ReadonlyArray<TeamId>>
    /**
     * By slug; locks the row until the transaction ends. Teams, milestones and `archivedAt` of a project change only under
     * this lock. Whoever puts a ticket into a project first locks its row `for share`.
     */
    readonly lock: (viewer: Viewer, slug: string) => Effect.Effect<LockedProject | undefined>
    /** Locks the workspace's priority order, archived projects included, until the transaction ends. */
    readonly lockOrder: (workspaceId: WorkspaceId) => Effect.Effect<RankedList<ProjectId>>
  }
>()("@delivery/server/planning/ProjectsRepo") {}

import type { PersonId, ProjectId, TeamId, WorkspaceId } from "@delivery/domain/Ids"
import { isAtLeast } from "@delivery/domain/identity/Role"
import type { SqlClient, Statement } from "effect/sql"
import { type Access, personOf } from "../access/Access.ts"
import type { MemoryDatabase } from "../storage/MemoryStorage.ts"

/**
 * Who sees which teams (contract, section 8): open teams everybody; private ones their members, admins and owners. For
 * all others a private team, and all that is its, does not exist. An agent sees what its person sees.
 */
export interface Viewer {
  readonly workspaceId: WorkspaceId
  readonly seesPrivateTeams: boolean
  /** Null for account API keys, which are members of no team. */
  readonly personId: PersonId | null
}

export const viewerOf = ({ principal, workspace }: Access): Viewer => ({
  workspaceId: workspace.id,
  seesPrivateTeams: isAtLeast(workspace.role, "admin"),
  personId: personOf(principal)?.id ?? null
})

/** The condition that `viewer` sees the row of `teams` that `team` names. */
export const seesTeam = (sql: SqlClient.SqlClient, viewer: Viewer, team: string): Statement.Fragment =>
  viewer.seesPrivateTeams
    ? sql.literal("true")
    : viewer.personId === null
      ? sql.literal(`${team}.visibility = 'open'`)
      : sql`(${sql.literal(team)}.visibility = 'open' or exists (select 1 from team_members viewer
          where viewer.team_id = ${sql.literal(team)}.id and viewer.person_id = ${viewer.personId}::uuid))`

/** The same over the memory storage. */
export const seesTeamInMemory = (
  database: MemoryDatabase,
  viewer: Viewer,
  team: { readonly id: TeamId; readonly workspaceId: WorkspaceId; readonly visibility: "open" | "private" }
): boolean =>
  team.workspaceId === viewer.workspaceId &&
  (team.visibility === "open" ||
    viewer.seesPrivateTeams ||
    (viewer.personId !== null &&
      database.table<unknown>("team_members").get(`${team.id}/${viewer.personId}`) !== undefined))

/** The condition that `viewer` sees the row of `projects` that `project` names: one of its teams. */
export const seesProject = (sql: SqlClient.SqlClient, viewer: Viewer, project: string): Statement.Fragment =>
  sql`exists (select 1 from project_teams link join teams linked on linked.id = link.team_id
    where link.workspace_id = ${viewer.workspaceId} and link.project_id = ${sql.literal(project)}.id
      and ${seesTeam(sql, viewer, "linked")})`

/** The same over the memory storage. */
export const seesProjectInMemory = (database: MemoryDatabase, viewer: Viewer, projectId: ProjectId): boolean =>
  database
    .table<{ readonly projectId: ProjectId; readonly teamId: TeamId }>("project_teams")
    .filter((link) => link.projectId === projectId)
    .some(({ teamId }) => {
      const team = database.table<Parameters<typeof seesTeamInMemory>[2]>("teams").get(teamId)
      return team !== undefined && seesTeamInMemory(database, viewer, team)
    })

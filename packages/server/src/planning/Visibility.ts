import type { ProjectId } from "@delivery/domain/Ids"
import type { SqlClient, Statement } from "effect/sql"
import type { MemoryDatabase } from "../storage/MemoryStorage.ts"
import { projectTeams } from "./ProjectsRepo.ts"
import { teamMemberKey, teamMembers, type TeamRow, teams } from "./TeamsRepo.ts"
import type { Viewer } from "./Viewer.ts"

/**
 * Who sees which teams (docs/contract.md, Teams): everybody sees open teams; only their members, admins and owners see
 * private ones. For everybody else a private team, and all that belongs to it, does not exist.
 *
 * Each rule stands here twice, side by side: as a condition of SQL and over the memory storage.
 */

/** The condition that `viewer` sees the row of `teams` whose alias is `team`. The caller compares the workspace. */
export const seesTeam = (sql: SqlClient.SqlClient, viewer: Viewer, team: string): Statement.Fragment =>
  viewer.seesPrivateTeams
    ? sql.literal("true")
    : viewer.personId === null
      ? sql.literal(`${team}.visibility = 'open'`)
      : personSeesTeam(sql, sql`${viewer.personId}::uuid`, team)

/** The same for a person, also of a column, whose role lets them see no private teams; null for nobody. */
export const personSeesTeam = (
  sql: SqlClient.SqlClient,
  person: Statement.Fragment,
  team: string
): Statement.Fragment =>
  sql`(${sql.literal(team)}.visibility = 'open' or exists (select 1 from team_members viewer
    where viewer.team_id = ${sql.literal(team)}.id and viewer.person_id = ${person}))`

/** Whether `viewer` sees the team: `seesTeam` over the memory storage. */
export const seesTeamInMemory = (
  database: MemoryDatabase,
  viewer: Viewer,
  team: Pick<TeamRow, "id" | "workspaceId" | "visibility">
): boolean =>
  team.workspaceId === viewer.workspaceId &&
  (team.visibility === "open" ||
    viewer.seesPrivateTeams ||
    (viewer.personId !== null &&
      database.table(teamMembers).get(teamMemberKey(team.id, viewer.personId)) !== undefined))

/** The condition that `viewer` sees one of the teams of the row of `projects` whose alias is `project`. */
export const seesProject = (sql: SqlClient.SqlClient, viewer: Viewer, project: string): Statement.Fragment =>
  sql`exists (select 1 from project_teams link join teams linked on linked.id = link.team_id
    where link.workspace_id = ${viewer.workspaceId} and link.project_id = ${sql.literal(project)}.id
      and ${seesTeam(sql, viewer, "linked")})`

/** Whether `viewer` sees one of the project's teams: `seesProject` over the memory storage. */
export const seesProjectInMemory = (database: MemoryDatabase, viewer: Viewer, projectId: ProjectId): boolean =>
  database
    .table(projectTeams)
    .filter((link) => link.projectId === projectId)
    .some(({ teamId }) => {
      const team = database.table(teams).get(teamId)
      return team !== undefined && seesTeamInMemory(database, viewer, team)
    })

import type { ProjectId } from "@delivery/domain/Ids"
import type { MemoryDatabase } from "../storage/MemoryStorage.ts"
import { projectTeams } from "./ProjectsRepo.ts"
import { teamMemberKey, teamMembers, type TeamRow, teams } from "./TeamsRepo.ts"
import type { Viewer } from "./Visibility.ts"

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

/** Whether `viewer` sees one of the project's teams: `seesProject` over the memory storage. */
export const seesProjectInMemory = (database: MemoryDatabase, viewer: Viewer, projectId: ProjectId): boolean =>
  database
    .table(projectTeams)
    .filter((link) => link.projectId === projectId)
    .some(({ teamId }) => {
      const team = database.table(teams).get(teamId)
      return team !== undefined && seesTeamInMemory(database, viewer, team)
    })

import type { PersonId, WorkspaceId } from "@delivery/domain/Ids"
import { isAtLeast } from "@delivery/domain/identity/Role"
import type { SqlClient, Statement } from "effect/sql"
import { type Access, personOf } from "../access/Access.ts"

/**
 * Who sees which teams (docs/contract.md, Teams): everybody sees open teams; only their members, admins and owners see
 * private ones. For everybody else a private team, and all that belongs to it, does not exist. An agent sees what its
 * person sees.
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

/** The condition that `viewer` sees the row of `teams` whose alias is `team`. The caller compares the workspace. */
export const seesTeam = (sql: SqlClient.SqlClient, viewer: Viewer, team: string): Statement.Fragment =>
  viewer.seesPrivateTeams
    ? sql.literal("true")
    : viewer.personId === null
      ? sql.literal(`${team}.visibility = 'open'`)
      : sql`(${sql.literal(team)}.visibility = 'open' or exists (select 1 from team_members viewer
          where viewer.team_id = ${sql.literal(team)}.id and viewer.person_id = ${viewer.personId}::uuid))`

/** The condition that `viewer` sees one of the teams of the row of `projects` whose alias is `project`. */
export const seesProject = (sql: SqlClient.SqlClient, viewer: Viewer, project: string): Statement.Fragment =>
  sql`exists (select 1 from project_teams link join teams linked on linked.id = link.team_id
    where link.workspace_id = ${viewer.workspaceId} and link.project_id = ${sql.literal(project)}.id
      and ${seesTeam(sql, viewer, "linked")})`

import type { PersonId, TeamId, WorkspaceId } from "@delivery/domain/Ids"
import { Effect } from "effect"
import { type TeamMemberRow, type TeamRow, TeamsRepo } from "../../src/planning/TeamsRepo.ts"
import type { Viewer } from "../../src/planning/Visibility.ts"
import { type CallerOf, minute, newId } from "../identity/Scene.ts"

/** Stored teams and their members for tests. */

let last = 0

/** A key that no other team of the process has. */
export const teamKey = (): string => `T${++last}`

export const teamRow = (workspaceId: WorkspaceId, fields: Partial<TeamRow> = {}): TeamRow => {
  const key = teamKey()
  return {
    id: newId<TeamId>(),
    workspaceId,
    key,
    name: `Team ${key}`,
    visibility: "open",
    archivedAt: null,
    createdAt: minute(0),
    updatedAt: minute(0),
    ...fields
  }
}

export const addTeam = Effect.fnUntraced(function* (workspaceId: WorkspaceId, fields: Partial<TeamRow> = {}) {
  const team = teamRow(workspaceId, fields)
  yield* (yield* TeamsRepo).insert(team)
  return team
})

/** Puts a person, or the person that a caller is, into the team. */
export const addTeamMember = Effect.fnUntraced(function* (
  team: TeamRow,
  person: { readonly id: PersonId } | CallerOf,
  fields: Partial<TeamMemberRow> = {}
) {
  const personId = "principal" in person ? (person.principal.id as PersonId) : person.id
  const member = { workspaceId: team.workspaceId, teamId: team.id, personId, addedAt: minute(0), ...fields }
  yield* (yield* TeamsRepo).insertMember(member)
  return member
})

/** Who sees what: all of a workspace's teams, or the open ones and those that the person is in. */
export const seesAll = (workspaceId: WorkspaceId): Viewer => ({ workspaceId, seesPrivateTeams: true, personId: null })
export const seesOwn = (workspaceId: WorkspaceId, personId: PersonId | null): Viewer => ({
  workspaceId,
  seesPrivateTeams: false,
  personId
})

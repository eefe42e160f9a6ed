import type { PersonId, TagId, TeamId, TicketStatusId, WorkspaceId } from "@delivery/domain/Ids"
import type { TeamRef } from "@delivery/domain/planning/Team"
import { inBoardOrder, templateStatuses } from "@delivery/domain/planning/TicketStatus"
import { Effect } from "effect"
import { type TagRow, TagsRepo } from "../../src/planning/TagsRepo.ts"
import { type TeamMemberRow, type TeamRow, TeamsRepo } from "../../src/planning/TeamsRepo.ts"
import { TicketStatusesRepo, type TicketStatusRow } from "../../src/planning/TicketStatusesRepo.ts"
import type { Viewer } from "../../src/planning/Viewer.ts"
import { type CallerOf, minute, newId, unique } from "../identity/Scene.ts"

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

/** A team with the five statuses that the template of a new workspace has. */
export const addTeam = Effect.fnUntraced(function* (workspaceId: WorkspaceId, fields: Partial<TeamRow> = {}) {
  const team = teamRow(workspaceId, fields)
  yield* (yield* TeamsRepo).insert(team)
  yield* (yield* TicketStatusesRepo).insert(templateStatuses.map((status) => statusRow(team, status)))
  return team
})

/** The template that a new workspace begins with. */
export const addTemplate = Effect.fnUntraced(function* (workspaceId: WorkspaceId) {
  const statuses = templateStatuses.map((status) => statusRow({ workspaceId, id: null }, status))
  yield* (yield* TicketStatusesRepo).insert(statuses)
  return statuses
})

/** A status of a team or, without one, of the workspace's template. */
export const statusRow = (
  of: TeamRow | { readonly workspaceId: WorkspaceId; readonly id: null },
  fields: Partial<TicketStatusRow> = {}
): TicketStatusRow => ({
  id: newId<TicketStatusId>(),
  workspaceId: of.workspaceId,
  teamId: of.id,
  name: unique("status"),
  category: "started",
  position: 0,
  isDefault: false,
  createdAt: minute(0),
  updatedAt: minute(0),
  ...fields
})

/** The team's statuses, or those of the template, in board order. */
export const statusesOf = (of: TeamRow | { readonly workspaceId: WorkspaceId; readonly id: null }) =>
  Effect.map(
    Effect.flatMap(TicketStatusesRepo, (repo) => repo.list(of.workspaceId, of.id)),
    (statuses) => statuses.toSorted(inBoardOrder)
  )

/** The team as other objects show it. */
export const teamRefOf = ({ id, key, name, visibility }: TeamRow): TeamRef => ({ id, key, name, visibility })

/** A tag of a team or, without one, of the workspace. */
export const tagRow = (
  of: TeamRow | { readonly workspaceId: WorkspaceId; readonly id: null },
  fields: Partial<TagRow> = {}
): TagRow => ({
  id: newId<TagId>(),
  workspaceId: of.workspaceId,
  teamId: of.id,
  name: unique("tag"),
  color: "#d73a4a",
  createdAt: minute(0),
  ...fields
})

export const addTag = Effect.fnUntraced(function* (
  of: TeamRow | { readonly workspaceId: WorkspaceId; readonly id: null },
  fields: Partial<TagRow> = {}
) {
  const tag = tagRow(of, fields)
  yield* (yield* TagsRepo).insert(tag)
  return tag
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

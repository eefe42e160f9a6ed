import type { PersonId, TeamId, WorkspaceId } from "@delivery/domain/Ids"
import type { TeamMember, TeamVisibility } from "@delivery/domain/planning/Team"
import { Context, type Effect } from "effect"
import type { UniqueViolation } from "../storage/Sql.ts"
import { instant, integer, nullable, type Row, table, text, uuid } from "../storage/Table.ts"
import type { Viewer } from "./Viewer.ts"

/** The teams of each workspace. */
export const teams = table("teams", {
  id: uuid<TeamId>(),
  workspaceId: uuid<WorkspaceId>(),
  key: text(),
  name: text(),
  visibility: text<TeamVisibility>(),
  /** Counted by `TicketsRepo`: a number is given to one ticket. */
  lastTicketNumber: integer(),
  archivedAt: nullable(instant()),
  createdAt: instant(),
  updatedAt: instant()
})

export type TeamRow = Omit<Row<typeof teams>, "lastTicketNumber">

/** The members of teams. In memory by `teamMemberKey`. */
export const teamMembers = table("team_members", {
  workspaceId: uuid<WorkspaceId>(),
  teamId: uuid<TeamId>(),
  personId: uuid<PersonId>(),
  addedAt: instant()
})

export type TeamMemberRow = Row<typeof teamMembers>

export const teamMemberKey = (teamId: TeamId, personId: PersonId): string => `${teamId}/${personId}`

/** A team with the number of its members who are active in the workspace. */
export interface CountedTeamRow extends TeamRow {
  readonly memberCount: number
}

/**
 * Stores teams and their members. A key is used once in a workspace, and a person is in a team once. Teams are looked up
 * for a viewer, who does not find a team that they cannot see.
 */
export class TeamsRepo extends Context.Service<
  TeamsRepo,
  {
    readonly insert: (team: TeamRow) => Effect.Effect<void, UniqueViolation>
    readonly update: (team: TeamRow) => Effect.Effect<void>
    readonly list: (viewer: Viewer) => Effect.Effect<ReadonlyArray<CountedTeamRow>>
    /** By key. */
    readonly find: (viewer: Viewer, key: string) => Effect.Effect<CountedTeamRow | undefined>
    /** By key; locks the row until the transaction ends. Rows that refer to the team can still be inserted. */
    readonly lock: (viewer: Viewer, key: string) => Effect.Effect<CountedTeamRow | undefined>
    /** Those of the keys that the viewer sees, each once, in no particular order. */
    readonly findAll: (viewer: Viewer, keys: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<TeamRow>>
    readonly insertMember: (member: TeamMemberRow) => Effect.Effect<void, UniqueViolation>
    /** False where they were no member. */
    readonly deleteMember: (teamId: TeamId, personId: PersonId) => Effect.Effect<boolean>
    readonly isMember: (teamId: TeamId, personId: PersonId) => Effect.Effect<boolean>
    /** Active in the workspace or not. Nothing where the viewer does not see the team. */
    readonly members: (viewer: Viewer, key: string) => Effect.Effect<ReadonlyArray<TeamMember> | undefined>
  }
>()("@delivery/server/planning/TeamsRepo") {}

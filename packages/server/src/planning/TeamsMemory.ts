import type { TeamMember } from "@delivery/domain/planning/Team"
import { Effect, Layer } from "effect"
import { persons } from "../access/ActorRows.ts"
import { memberKey, members as workspaceMembers } from "../identity/MembersRepo.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { UniqueViolation } from "../storage/Sql.ts"
import type { Row } from "../storage/Table.ts"
import { type CountedTeamRow, teamMemberKey, teamMembers, type TeamRow, teams, TeamsRepo } from "./TeamsRepo.ts"
import type { Viewer } from "./Viewer.ts"
import { seesTeamInMemory } from "./Visibility.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  TeamsRepo,
  Effect.map(MemoryStorage, (memory) => {
    const find = findOne(memory)
    return TeamsRepo.of({
      insert: insert(memory),
      update: update(memory),
      list: list(memory),
      find,
      lock: find,
      findAll: findAll(memory),
      insertMember: insertMember(memory),
      deleteMember: deleteMember(memory),
      isMember: isMember(memory),
      members: members(memory)
    })
  })
)

const insert =
  (memory: Memory): TeamsRepo["Service"]["insert"] =>
  (team) =>
    memory.write((database) => {
      const rows = database.table(teams)
      const isTaken = (other: TeamRow) => other.workspaceId === team.workspaceId && other.key === team.key
      return rows.find(isTaken) !== undefined
        ? Effect.fail(new UniqueViolation({ constraint: "teams_key_key" }))
        : Effect.sync(() => rows.set(team.id, { ...team, lastTicketNumber: 0 }))
    })

const update =
  (memory: Memory): TeamsRepo["Service"]["update"] =>
  ({ archivedAt, id, name, updatedAt, visibility }) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(teams)
        rows.set(id, { ...rows.get(id)!, name, visibility, archivedAt, updatedAt })
      })
    )

const list = (memory: Memory) => (viewer: Viewer) =>
  memory.read((database) => teamsSeenBy(database, viewer).map((team) => counted(database, team)))

const findOne = (memory: Memory) => (viewer: Viewer, key: string) =>
  memory.read((database) => {
    const team = teamsSeenBy(database, viewer).find((team) => team.key === key)
    return team && counted(database, team)
  })

const findAll = (memory: Memory) => (viewer: Viewer, keys: ReadonlyArray<string>) =>
  memory.read((database) =>
    teamsSeenBy(database, viewer)
      .filter((team) => keys.includes(team.key))
      .map(rowOf)
  )

const insertMember =
  (memory: Memory): TeamsRepo["Service"]["insertMember"] =>
  (member) =>
    memory.write((database) => {
      const rows = database.table(teamMembers)
      const key = teamMemberKey(member.teamId, member.personId)
      return rows.get(key) !== undefined
        ? Effect.fail(new UniqueViolation({ constraint: "team_members_key" }))
        : Effect.sync(() => rows.set(key, member))
    })

const deleteMember =
  (memory: Memory): TeamsRepo["Service"]["deleteMember"] =>
  (teamId, personId) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(teamMembers)
        const key = teamMemberKey(teamId, personId)
        const isThere = rows.get(key) !== undefined
        rows.delete(key)
        return isThere
      })
    )

const isMember =
  (memory: Memory): TeamsRepo["Service"]["isMember"] =>
  (teamId, personId) =>
    memory.read((database) => database.table(teamMembers).get(teamMemberKey(teamId, personId)) !== undefined)

const members = (memory: Memory) => (viewer: Viewer, key: string) =>
  memory.read((database) => {
    const team = teamsSeenBy(database, viewer).find((team) => team.key === key)
    return team && membersOf(database, team)
  })

type StoredTeam = Row<typeof teams>

const teamsSeenBy = (database: MemoryDatabase, viewer: Viewer): ReadonlyArray<StoredTeam> =>
  database.table(teams).filter((team) => seesTeamInMemory(database, viewer, team))

const membersOf = (database: MemoryDatabase, team: TeamRow): ReadonlyArray<TeamMember> =>
  database
    .table(teamMembers)
    .filter((row) => row.teamId === team.id)
    .map(({ addedAt, personId }) => {
      const { email, id, name } = database.table(persons).get(personId)!
      const { active, role } = database.table(workspaceMembers).get(memberKey(team.workspaceId, personId))!
      return { id, name, email, role, active, addedAt }
    })

const rowOf = ({ lastTicketNumber: _, ...team }: StoredTeam): TeamRow => team

const counted = (database: MemoryDatabase, team: StoredTeam): CountedTeamRow => ({
  ...rowOf(team),
  memberCount: membersOf(database, team).filter(({ active }) => active).length
})

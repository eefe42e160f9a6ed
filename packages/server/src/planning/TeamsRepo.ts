import type { PersonId, TeamId, WorkspaceId } from "@delivery/domain/Ids"
import { isTeamKey, type TeamMember, type TeamVisibility } from "@delivery/domain/planning/Team"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { MemberRow } from "../identity/MembersRepo.ts"
import type { PersonRow } from "../access/ActorRows.ts"
import { texts } from "../storage/Columns.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { date, dateOrNull, dieOnSqlError, failOnDuplicate, iso, isoOrNull, UniqueViolation } from "../storage/Sql.ts"
import { instant, integer, nullable, type Row, table, text, uuid } from "../storage/Table.ts"
import { seesTeam, type Viewer } from "./Visibility.ts"
import { seesTeamInMemory } from "./VisibilityMemory.ts"

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

/** Who is in which team. In memory by `teamMemberKey`. */
export const teamMembers = table("team_members", {
  workspaceId: uuid<WorkspaceId>(),
  teamId: uuid<TeamId>(),
  personId: uuid<PersonId>(),
  addedAt: instant()
})

export type TeamMemberRow = Row<typeof teamMembers>

export const teamMemberKey = (teamId: TeamId, personId: PersonId): string => `${teamId}/${personId}`

/** A team with how many of its members are active in the workspace. */
export interface CountedTeamRow extends TeamRow {
  readonly memberCount: number
}

/**
 * Stores teams and who is in them; a key is used once in a workspace, and a person is in a team once. Everything is
 * found for a viewer: a team that they do not see is not there.
 */
export class TeamsRepo extends Context.Service<
  TeamsRepo,
  {
    readonly insert: (team: TeamRow) => Effect.Effect<void, UniqueViolation>
    readonly update: (team: TeamRow) => Effect.Effect<void>
    readonly list: (viewer: Viewer) => Effect.Effect<ReadonlyArray<CountedTeamRow>>
    /** By key. */
    readonly find: (viewer: Viewer, key: string) => Effect.Effect<CountedTeamRow | undefined>
    /** By key; holds the row until the transaction ends, but not against rows that refer to the team. */
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
>()("@delivery/server/planning/TeamsRepo") {
  static readonly layerSql = Layer.effect(
    TeamsRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const columns = `t.id, t.workspace_id as "workspaceId", t.key, t.name, t.visibility,
        t.archived_at as "archivedAt", t.created_at as "createdAt", t.updated_at as "updatedAt"`
      const counted = sql.literal(`select ${columns}, (
          select count(*)::int from team_members tm
            join members m on m.workspace_id = tm.workspace_id and m.person_id = tm.person_id and m.active
          where tm.team_id = t.id
        ) as "memberCount" from teams t`)
      const one = (viewer: Viewer, key: string, lock: string) =>
        isTeamKey(key)
          ? sql<SqlRow & { memberCount: number }>`${counted} where t.workspace_id = ${viewer.workspaceId}
              and t.key = ${key} and ${seesTeam(sql, viewer, "t")} ${sql.literal(lock)}`.pipe(
              Effect.map((rows) => rows.map(readRow)[0]),
              dieOnSqlError
            )
          : Effect.undefined
      return TeamsRepo.of({
        insert: (team) =>
          failOnDuplicate(
            Effect.asVoid(sql`insert into teams (id, workspace_id, key, name, visibility, archived_at, created_at,
              updated_at)
            values (${team.id}, ${team.workspaceId}, ${team.key}, ${team.name}, ${team.visibility},
              ${dateOrNull(team.archivedAt)}, ${date(team.createdAt)}, ${date(team.updatedAt)})`)
          ),
        update: (team) =>
          dieOnSqlError(
            Effect.asVoid(sql`update teams set name = ${team.name}, visibility = ${team.visibility},
              archived_at = ${dateOrNull(team.archivedAt)}, updated_at = ${date(team.updatedAt)}
            where id = ${team.id}`)
          ),
        list: (viewer) =>
          sql<SqlRow & { memberCount: number }>`${counted} where t.workspace_id = ${viewer.workspaceId}
              and ${seesTeam(sql, viewer, "t")}`.pipe(
            Effect.map((rows) => rows.map(readRow)),
            dieOnSqlError
          ),
        find: (viewer, key) => one(viewer, key, ""),
        lock: (viewer, key) => one(viewer, key, "for no key update of t"),
        findAll: (viewer, keys) =>
          sql<SqlRow>`select ${sql.literal(columns)} from teams t where t.workspace_id = ${viewer.workspaceId}
              and t.key = any(${texts(keys.filter(isTeamKey), (key) => key)}) and ${seesTeam(sql, viewer, "t")}`.pipe(
            Effect.map((rows) => rows.map(readRow)),
            dieOnSqlError
          ),
        insertMember: (member) =>
          failOnDuplicate(
            Effect.asVoid(sql`insert into team_members (workspace_id, team_id, person_id, added_at)
            values (${member.workspaceId}, ${member.teamId}, ${member.personId}, ${date(member.addedAt)})`)
          ),
        deleteMember: (teamId, personId) =>
          sql`delete from team_members where team_id = ${teamId} and person_id = ${personId} returning 1`.pipe(
            Effect.map((rows) => rows.length === 1),
            dieOnSqlError
          ),
        isMember: (teamId, personId) =>
          sql`select 1 from team_members where team_id = ${teamId} and person_id = ${personId}`.pipe(
            Effect.map((rows) => rows.length === 1),
            dieOnSqlError
          ),
        members: (viewer, key) =>
          !isTeamKey(key)
            ? Effect.undefined
            : sql<SqlMember>`select p.id, p.name, p.email, m.role, m.active, tm.added_at as "addedAt"
              from teams t left join (team_members tm
                  join members m on m.workspace_id = tm.workspace_id and m.person_id = tm.person_id
                  join persons p on p.id = m.person_id) on tm.team_id = t.id
              where t.workspace_id = ${viewer.workspaceId} and t.key = ${key} and ${seesTeam(sql, viewer, "t")}`.pipe(
                Effect.map((rows) =>
                  rows.length === 0
                    ? undefined
                    : rows.filter(({ id }) => id !== null).map((row) => ({ ...row, addedAt: iso(row.addedAt) }))
                ),
                dieOnSqlError
              )
      })
    })
  )

  static readonly layerMemory = Layer.effect(
    TeamsRepo,
    Effect.gen(function* () {
      const memory = yield* MemoryStorage
      const membersOf = (database: MemoryDatabase, team: TeamRow): ReadonlyArray<TeamMember> =>
        database
          .table(teamMembers)
          .filter((row) => row.teamId === team.id)
          .map(({ addedAt, personId }) => {
            const { email, id, name } = database.table<PersonRow>("persons").get(personId)!
            const { active, role } = database.table<MemberRow>("members").get(`${team.workspaceId}/${personId}`)!
            return { id, name, email, role, active, addedAt }
          })
      const seen = (database: MemoryDatabase, viewer: Viewer): ReadonlyArray<TeamRow> =>
        database.table(teams).filter((team) => seesTeamInMemory(database, viewer, team))
      const counted = (database: MemoryDatabase, team: TeamRow): CountedTeamRow => ({
        ...rowOf(team),
        memberCount: membersOf(database, team).filter(({ active }) => active).length
      })
      const find = (viewer: Viewer, key: string) =>
        memory.read((database) => {
          const team = seen(database, viewer).find((team) => team.key === key)
          return team && counted(database, team)
        })
      return TeamsRepo.of({
        insert: (team) =>
          memory.write((database) => {
            const rows = database.table(teams)
            const isTaken = (other: TeamRow) => other.workspaceId === team.workspaceId && other.key === team.key
            return rows.find(isTaken) !== undefined
              ? Effect.fail(new UniqueViolation({ constraint: "teams_key_key" }))
              : Effect.sync(() => rows.set(team.id, { ...team, lastTicketNumber: 0 }))
          }),
        update: ({ archivedAt, id, name, updatedAt, visibility }) =>
          memory.write((database) =>
            Effect.sync(() => {
              const rows = database.table(teams)
              rows.set(id, { ...rows.get(id)!, name, visibility, archivedAt, updatedAt })
            })
          ),
        list: (viewer) => memory.read((database) => seen(database, viewer).map((team) => counted(database, team))),
        find,
        lock: find,
        findAll: (viewer, keys) =>
          memory.read((database) =>
            seen(database, viewer)
              .filter((team) => keys.includes(team.key))
              .map(rowOf)
          ),
        insertMember: (member) =>
          memory.write((database) => {
            const members = database.table(teamMembers)
            const key = teamMemberKey(member.teamId, member.personId)
            return members.get(key) !== undefined
              ? Effect.fail(new UniqueViolation({ constraint: "team_members_key" }))
              : Effect.sync(() => members.set(key, member))
          }),
        deleteMember: (teamId, personId) =>
          memory.write((database) =>
            Effect.sync(() => {
              const members = database.table(teamMembers)
              const key = teamMemberKey(teamId, personId)
              const isThere = members.get(key) !== undefined
              members.delete(key)
              return isThere
            })
          ),
        isMember: (teamId, personId) =>
          memory.read((database) => database.table(teamMembers).get(teamMemberKey(teamId, personId)) !== undefined),
        members: (viewer, key) =>
          memory.read((database) => {
            const team = seen(database, viewer).find((team) => team.key === key)
            return team && membersOf(database, team)
          })
      })
    })
  )
}

/** Without what the memory storage keeps beside it, such as the last number of a ticket. */
const rowOf = ({ archivedAt, createdAt, id, key, name, updatedAt, visibility, workspaceId }: TeamRow): TeamRow => ({
  id,
  workspaceId,
  key,
  name,
  visibility,
  archivedAt,
  createdAt,
  updatedAt
})

type SqlRow = Omit<TeamRow, "archivedAt" | "createdAt" | "updatedAt"> & {
  readonly archivedAt: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

const readRow = <Row extends SqlRow>(row: Row) => ({
  ...row,
  archivedAt: isoOrNull(row.archivedAt),
  createdAt: iso(row.createdAt),
  updatedAt: iso(row.updatedAt)
})

type SqlMember = Omit<TeamMember, "addedAt"> & { readonly addedAt: Date }

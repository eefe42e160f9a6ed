import type { PersonId, TeamId } from "@delivery/domain/Ids"
import { isTeamKey, type TeamMember } from "@delivery/domain/planning/Team"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { texts } from "../storage/Columns.ts"
import { dieOnSqlError, failOnDuplicate, iso } from "../storage/Sql.ts"
import { columnsOf, insertInto, partReaderOf, type SelectedRow, updateById } from "../storage/Table.ts"
import { type CountedTeamRow, teamMembers, teams, TeamsRepo } from "./TeamsRepo.ts"
import type { Viewer } from "./Viewer.ts"
import { seesTeam } from "./Visibility.ts"

export const layer = Layer.effect(
  TeamsRepo,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const insert = insertInto(sql, teams)
    const update = updateById(sql, teams, ["name", "visibility", "archivedAt", "updatedAt"])
    const insertMember = insertInto(sql, teamMembers)
    const one = findOne(sql)
    return TeamsRepo.of({
      insert: (team) => failOnDuplicate(insert({ ...team, lastTicketNumber: 0 })),
      update: (team) => dieOnSqlError(update(team)),
      list: list(sql),
      find: (viewer, key) => one(viewer, key, ""),
      lock: (viewer, key) => one(viewer, key, "for no key update of t"),
      findAll: findAll(sql),
      insertMember: (member) => failOnDuplicate(insertMember(member)),
      deleteMember: deleteMember(sql),
      isMember: isMember(sql),
      members: members(sql)
    })
  })
)

const properties = ["id", "workspaceId", "key", "name", "visibility", "archivedAt", "createdAt", "updatedAt"] as const
const columns = columnsOf(teams, { of: "t", only: properties })
const readTeam = partReaderOf(teams, properties)

const selectCounted = `select ${columns}, (
    select count(*)::int from team_members tm
      join members m on m.workspace_id = tm.workspace_id and m.person_id = tm.person_id and m.active
    where tm.team_id = t.id
  ) as "memberCount" from teams t`

type SelectedCount = SelectedRow & { readonly memberCount: number }

const readCounted = (row: SelectedCount): CountedTeamRow => ({ ...readTeam(row), memberCount: row.memberCount })

const list = (sql: SqlClient.SqlClient) => {
  const select = sql.literal(selectCounted)
  return (viewer: Viewer) =>
    sql<SelectedCount>`${select} where t.workspace_id = ${viewer.workspaceId}
        and ${seesTeam(sql, viewer, "t")}`.pipe(
      Effect.map((rows) => rows.map(readCounted)),
      dieOnSqlError
    )
}

const findOne = (sql: SqlClient.SqlClient) => {
  const select = sql.literal(selectCounted)
  return (viewer: Viewer, key: string, lock: "" | "for no key update of t") =>
    isTeamKey(key)
      ? sql<SelectedCount>`${select} where t.workspace_id = ${viewer.workspaceId}
          and t.key = ${key} and ${seesTeam(sql, viewer, "t")} ${sql.literal(lock)}`.pipe(
          Effect.map((rows) => rows.map(readCounted)[0]),
          dieOnSqlError
        )
      : Effect.undefined
}

const findAll = (sql: SqlClient.SqlClient) => (viewer: Viewer, keys: ReadonlyArray<string>) =>
  sql<SelectedRow>`select ${sql.literal(columns)} from teams t where t.workspace_id = ${viewer.workspaceId}
      and t.key = any(${texts(keys.filter(isTeamKey), (key) => key)}) and ${seesTeam(sql, viewer, "t")}`.pipe(
    Effect.map((rows) => rows.map(readTeam)),
    dieOnSqlError
  )

const deleteMember = (sql: SqlClient.SqlClient) => (teamId: TeamId, personId: PersonId) =>
  sql`delete from team_members where team_id = ${teamId} and person_id = ${personId} returning 1`.pipe(
    Effect.map((rows) => rows.length === 1),
    dieOnSqlError
  )

const isMember = (sql: SqlClient.SqlClient) => (teamId: TeamId, personId: PersonId) =>
  sql`select 1 from team_members where team_id = ${teamId} and person_id = ${personId}`.pipe(
    Effect.map((rows) => rows.length === 1),
    dieOnSqlError
  )

/** A team without members is one row that is null in all columns. */
const members = (sql: SqlClient.SqlClient) => (viewer: Viewer, key: string) =>
  !isTeamKey(key)
    ? Effect.undefined
    : sql<
        Omit<TeamMember, "addedAt"> & { readonly addedAt: Date }
      >`select p.id, p.name, p.email, m.role, m.active, tm.added_at as "addedAt"
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

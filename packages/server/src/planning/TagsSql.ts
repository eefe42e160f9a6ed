import type { TeamRef } from "@delivery/domain/planning/Team"
import type { TagId } from "@delivery/domain/Ids"
import { isTeamKey } from "@delivery/domain/planning/Team"
import { isId, nameKey } from "@delivery/domain/Text"
import { Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { dieOnSqlError, failOnDuplicate } from "../storage/Sql.ts"
import { columnsOf, insertInto, partReaderOf, type SelectedRow, updateById } from "../storage/Table.ts"
import { type TagOfTeam, type TagRow, tags, TagsRepo } from "./TagsRepo.ts"
import type { Viewer } from "./Viewer.ts"
import { seesTeam } from "./Visibility.ts"

export const layer = Layer.effect(
  TagsRepo,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const insert = insertInto(sql, tags)
    const update = updateById(sql, tags, ["name", "nameKey", "color"])
    return TagsRepo.of({
      insert: (tag) => failOnDuplicate(insert({ ...tag, nameKey: nameKey(tag.name) })),
      update: (tag) => failOnDuplicate(update({ ...tag, nameKey: nameKey(tag.name) })),
      delete: remove(sql),
      list: list(sql),
      listOfTeam: listOfTeam(sql),
      lock: lock(sql),
      lockName: lockName(sql)
    })
  })
)

const properties = ["id", "workspaceId", "teamId", "name", "color", "createdAt"] as const

/** The columns of a `TagOfTeam`, over the tags `g` and their teams `o`. */
const tagColumns = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql.literal(`${columnsOf(tags, { of: "g", only: properties })}, case when o.id is not null then json_build_object(
    'id', o.id, 'key', o.key, 'name', o.name, 'visibility', o.visibility) end as team`)

type SelectedTag = SelectedRow & { readonly team: TeamRef | null }

const readRow = partReaderOf(tags, properties)

const readTag = (row: SelectedTag): TagOfTeam => ({ ...readRow(row), team: row.team })

const remove = (sql: SqlClient.SqlClient) => (id: TagId) =>
  dieOnSqlError(Effect.asVoid(sql`delete from tags where id = ${id}`))

const list = (sql: SqlClient.SqlClient) => {
  const columns = tagColumns(sql)
  return (viewer: Viewer) =>
    sql<SelectedTag>`select ${columns} from tags g left join teams o on o.id = g.team_id
      where g.workspace_id = ${viewer.workspaceId} and (o.id is null or ${seesTeam(sql, viewer, "o")})`.pipe(
      Effect.map((rows) => rows.map(readTag)),
      dieOnSqlError
    )
}

const listOfTeam = (sql: SqlClient.SqlClient) => {
  const columns = tagColumns(sql)
  return (viewer: Viewer, teamKey: string) =>
    isTeamKey(teamKey)
      ? sql<SelectedTag>`select ${columns} from teams t
          left join tags g on g.workspace_id = t.workspace_id and (g.team_id = t.id or g.team_id is null)
          left join teams o on o.id = g.team_id
        where t.workspace_id = ${viewer.workspaceId} and t.key = ${teamKey} and ${seesTeam(sql, viewer, "t")}`.pipe(
          // A team without tags is one row of nulls; a team that the viewer does not see is none.
          Effect.map((rows) => (rows.length === 0 ? undefined : rows.filter(({ id }) => id !== null).map(readTag))),
          dieOnSqlError
        )
      : Effect.undefined
}

const lock = (sql: SqlClient.SqlClient) => {
  const columns = tagColumns(sql)
  return (viewer: Viewer, id: string) =>
    isId(id)
      ? sql<SelectedTag>`select ${columns} from tags g left join teams o on o.id = g.team_id
          where g.workspace_id = ${viewer.workspaceId} and g.id = ${id}
            and (o.id is null or ${seesTeam(sql, viewer, "o")}) for update of g`.pipe(
          Effect.map((rows): TagOfTeam | undefined => rows.map(readTag)[0]),
          dieOnSqlError
        )
      : Effect.undefined
}

const lockName =
  (sql: SqlClient.SqlClient) =>
  ({ id, name, teamId, workspaceId }: TagRow) =>
    Effect.andThen(
      sql`select pg_advisory_xact_lock(hashtextextended(${`tags/${workspaceId}/${nameKey(name)}`}, 0))::text`,
      sql`select 1 from tags where workspace_id = ${workspaceId} and name_key = ${nameKey(name)} and id <> ${id}
        and ${teamId === null ? sql`true` : sql`(team_id is null or team_id = ${teamId})`} limit 1`
    ).pipe(
      Effect.map((rows) => rows.length === 1),
      dieOnSqlError
    )

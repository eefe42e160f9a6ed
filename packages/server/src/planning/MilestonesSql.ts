import type { ProjectId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { date, dieOnSqlError } from "../storage/Sql.ts"
import { readerOf, type SelectedRow, selectFrom, updateById } from "../storage/Table.ts"
import { type MilestoneRow, milestones, MilestonesRepo } from "./MilestonesRepo.ts"

export const layer = Layer.effect(
  MilestonesRepo,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const update = updateById(sql, milestones, ["name", "summary", "updatedAt"])
    return MilestonesRepo.of({
      insert: insert(sql),
      find: find(sql),
      update: (milestone) => dieOnSqlError(update(milestone)),
      delete: remove(sql)
    })
  })
)

const insert = (sql: SqlClient.SqlClient) => (milestone: Omit<MilestoneRow, "number">) =>
  sql<{ number: number }>`with counted as (
      update projects set last_milestone_number = last_milestone_number + 1
      where id = ${milestone.projectId} returning last_milestone_number
    )
    insert into milestones (id, workspace_id, project_id, number, name, summary, created_at, updated_at)
    select ${milestone.id}::uuid, ${milestone.workspaceId}::uuid, ${milestone.projectId}::uuid,
      last_milestone_number, ${milestone.name}::text, ${milestone.summary}::text,
      ${date(milestone.createdAt)}::timestamptz, ${date(milestone.updatedAt)}::timestamptz
    from counted returning number`.pipe(
    Effect.map((rows) => rows[0]!.number),
    dieOnSqlError
  )

const find = (sql: SqlClient.SqlClient) => {
  const select = selectFrom(sql, milestones)
  const read = readerOf(milestones)
  return (projectId: ProjectId, number: number) =>
    sql<SelectedRow>`${select} where project_id = ${projectId} and number = ${number}`.pipe(
      Effect.map((rows) => rows.map(read)[0]),
      dieOnSqlError
    )
}

/** The tickets are locked in the order of their ids, so that two statements cannot deadlock. */
const remove =
  (sql: SqlClient.SqlClient) =>
  ({ id }: MilestoneRow, at: Timestamp) =>
    dieOnSqlError(
      Effect.andThen(
        sql`with held as (select id from tickets where milestone_id = ${id} order by id for no key update)
          update tickets t set milestone_id = null,
            updated_at = greatest(${date(at)}::timestamptz, t.updated_at + interval '1 millisecond')
          from held where t.id = held.id`,
        Effect.asVoid(sql`delete from milestones where id = ${id}`)
      )
    )

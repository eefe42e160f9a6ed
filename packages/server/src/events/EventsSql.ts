import type { TeamId, WorkspaceId } from "@delivery/domain/Ids"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { actorColumns, actorJoins, type ActorRow, readActor } from "../access/Actors.ts"
import { uuids } from "../storage/Columns.ts"
import { dieOnSqlError } from "../storage/Sql.ts"
import { columnsOf, partReaderOf, type SelectedRow } from "../storage/Table.ts"
import { insertEvent } from "./EventStatements.ts"
import { events, EventsRepo, type EventWithActor } from "./EventsRepo.ts"

export const layer = Layer.effect(
  EventsRepo,
  Effect.map(PgClient.PgClient, (sql) =>
    EventsRepo.of({
      insert: (event) => dieOnSqlError(Effect.asVoid(insertEvent(sql, event))),
      newest: newest(sql)
    })
  )
)

const ownColumns = [
  "id",
  "workspaceId",
  "kind",
  "subjectType",
  "subjectId",
  "subjectLabel",
  "subjectPath",
  "changes",
  "createdAt"
] as const

const readOwn = partReaderOf(events, ownColumns)

const readRow = (row: SelectedRow & ActorRow): EventWithActor => ({ ...readOwn(row), actor: readActor(row) })

const newest = (sql: PgClient.PgClient) => {
  const columns = sql.literal(columnsOf(events, { of: "e", only: ownColumns }))
  return (workspaceId: WorkspaceId, teams: "all" | ReadonlyArray<TeamId>, limit: number) =>
    sql<SelectedRow & ActorRow>`
      select ${columns}, ${actorColumns(sql, "e.actor")}
      from events e ${actorJoins(sql, "e.actor")}
      where e.workspace_id = ${workspaceId}
        ${teams === "all" ? sql.literal("") : sql`and (e.team_ids is null or e.team_ids && ${uuids(teams)})`}
      order by e.created_at desc, e.id desc limit ${limit}`.pipe(
      Effect.map((rows) => rows.map(readRow)),
      dieOnSqlError
    )
}

import type { EventId, TeamId, WorkspaceId } from "@delivery/domain/Ids"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import { actorColumns, actorJoins, type ActorRow, readActor } from "../access/Actors.ts"
import { batched } from "../storage/Batched.ts"
import { uuids } from "../storage/Columns.ts"
import { dieOnSqlError } from "../storage/Sql.ts"
import { columnsOf, partReaderOf, type SelectedRow } from "../storage/Table.ts"
import { insertEvent } from "./EventStatements.ts"
import {
  type EventFilter,
  type EventHorizon,
  events,
  EventsRepo,
  type EventWithActor,
  type PlacedEvent
} from "./EventsRepo.ts"

export const layer = Layer.effect(
  EventsRepo,
  Effect.map(PgClient.PgClient, (sql) =>
    EventsRepo.of({
      insert: (event) => dieOnSqlError(Effect.asVoid(insertEvent(sql, event))),
      horizon: horizon(sql),
      newest: newest(sql),
      between: between(sql),
      placed: placed(sql),
      ofAll: ofAll(sql)
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
  "teamIds",
  "createdAt"
] as const

const readOwn = partReaderOf(events, ownColumns)

const readRow = (row: SelectedRow & ActorRow): EventWithActor => ({
  ...readOwn(row),
  actor: readActor(row),
  position: row["position"] as number
})

/** As it is after it was asked for: those who ask meanwhile share the next answer. */
const horizon = (sql: PgClient.PgClient): EventsRepo["Service"]["horizon"] => {
  const statement = sql<EventHorizon>`select last::float8 as last, readable::float8 as readable from readable_events()`
  const ask = batched(sql, (keys: ReadonlyArray<null>) => Effect.map(statement, ([found]) => keys.map(() => found!)), {
    running: 1
  })
  return dieOnSqlError(ask(null))
}

const selectEvents = (sql: PgClient.PgClient): Statement.Fragment =>
  sql`select ${sql.literal(columnsOf(events, { of: "e", only: ownColumns }))}, e.position::float8 as position,
    ${actorColumns(sql, "e.actor")}
    from events e ${actorJoins(sql, "e.actor")}`

const found = (statement: Statement.Statement<SelectedRow & ActorRow>) =>
  statement.pipe(
    Effect.map((rows) => rows.map(readRow)),
    dieOnSqlError
  )

const newest = (sql: PgClient.PgClient): EventsRepo["Service"]["newest"] => {
  const select = selectEvents(sql)
  return (workspaceId, teams, limit, filter = {}) =>
    found(sql`
      ${select} where e.workspace_id = ${workspaceId} ${seenBy(sql, teams)} ${matches(sql, filter)}
        ${filter.before === undefined ? sql.literal("") : sql`and e.position < ${filter.before}`}
      order by e.position desc limit ${limit}`)
}

const between = (sql: PgClient.PgClient): EventsRepo["Service"]["between"] => {
  const select = selectEvents(sql)
  return (workspaceId, teams, limit, { after: { position, seen }, upTo, ...filter }) =>
    found(sql`
      ${select} where e.workspace_id = ${workspaceId} ${seenBy(sql, teams)} ${matches(sql, filter)}
        and e.position > ${position} and e.position <= ${upTo}
        ${seen.length === 0 ? sql.literal("") : sql`and e.id <> all(${uuids(seen.map(({ id }) => id))})`}
      order by e.position limit ${limit}`)
}

const placed = (sql: PgClient.PgClient) => (workspaceId: WorkspaceId, ids: ReadonlyArray<EventId>) =>
  dieOnSqlError(
    sql<PlacedEvent>`select id, position::float8 as position from events
      where id = any(${uuids(ids)}) and workspace_id = ${workspaceId}`
  )

const ofAll = (sql: PgClient.PgClient): EventsRepo["Service"]["ofAll"] => {
  const select = selectEvents(sql)
  return (workspaceIds, limit, { after, upTo }) =>
    found(sql`
      ${select} where e.workspace_id = any(${uuids(workspaceIds)}) and e.position > ${after} and e.position <= ${upTo}
      order by e.position limit ${limit}`)
}

const seenBy = (sql: PgClient.PgClient, teams: "all" | ReadonlyArray<TeamId>): Statement.Fragment =>
  teams === "all" ? sql.literal("") : sql`and (e.team_ids is null or e.team_ids && ${uuids(teams)})`

const matches = (sql: PgClient.PgClient, { kinds, subject }: EventFilter): Statement.Fragment =>
  sql`${kinds === undefined ? sql.literal("") : sql`and ${sql.in("e.kind", kinds)}`}
    ${subject === undefined ? sql.literal("") : sql`and e.subject_id = ${subject}`}`

import type { TeamId, TicketStatusId, WorkspaceId } from "@delivery/domain/Ids"
import { isTeamKey } from "@delivery/domain/planning/Team"
import type { StatusCategory } from "@delivery/domain/planning/TicketStatus"
import { isId, nameKey } from "@delivery/domain/Text"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { PgTypes } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { column, texts, uuids } from "../storage/Columns.ts"
import { date, dieOnSqlError, failOnDuplicate } from "../storage/Sql.ts"
import { columnsOf, partReaderOf, type SelectedRow } from "../storage/Table.ts"
import { ticketStatuses, TicketStatusesRepo, type TicketStatusRow } from "./TicketStatusesRepo.ts"
import type { Viewer } from "./Viewer.ts"
import { seesTeam } from "./Visibility.ts"

export const layer = Layer.effect(
  TicketStatusesRepo,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return TicketStatusesRepo.of({
      insert: insert(sql),
      update: update(sql),
      delete: remove(sql),
      list: list(sql),
      listOfTeam: listOfTeam(sql),
      find: find(sql),
      hasTickets: hasTickets(sql),
      moveTickets: moveTickets(sql)
    })
  })
)

const properties = [
  "id",
  "workspaceId",
  "teamId",
  "name",
  "category",
  "position",
  "isDefault",
  "createdAt",
  "updatedAt"
] as const
const columns = columnsOf(ticketStatuses, { of: "s", only: properties })
const readStatus = partReaderOf(ticketStatuses, properties)

const insert = (sql: SqlClient.SqlClient) => (statuses: ReadonlyArray<TicketStatusRow>) =>
  failOnDuplicate(
    Effect.asVoid(sql`insert into ticket_statuses (id, workspace_id, team_id, name, name_key, category,
      position, is_default, created_at, updated_at)
    select * from unnest(${uuids(statuses.map(({ id }) => id))},
      ${uuids(statuses.map(({ workspaceId }) => workspaceId))},
      ${column(statuses, PgTypes.OID.uuid, ({ teamId }) => teamId)}, ${texts(statuses, ({ name }) => name)},
      ${texts(statuses, ({ name }) => nameKey(name))}, ${texts(statuses, ({ category }) => category)},
      ${column(statuses, PgTypes.OID.int4, ({ position }) => position)},
      ${column(statuses, PgTypes.OID.bool, ({ isDefault }) => isDefault)},
      ${column(statuses, PgTypes.OID.timestamptz, ({ createdAt }) => date(createdAt))},
      ${column(statuses, PgTypes.OID.timestamptz, ({ updatedAt }) => date(updatedAt))})`)
  )

const update = (sql: SqlClient.SqlClient) => (statuses: ReadonlyArray<TicketStatusRow>) =>
  failOnDuplicate(
    Effect.asVoid(sql`update ticket_statuses s set name = u.name, name_key = u.name_key,
      position = u.position, is_default = u.is_default, updated_at = u.updated_at
    from unnest(${uuids(statuses.map(({ id }) => id))}, ${texts(statuses, ({ name }) => name)},
      ${texts(statuses, ({ name }) => nameKey(name))},
      ${column(statuses, PgTypes.OID.int4, ({ position }) => position)},
      ${column(statuses, PgTypes.OID.bool, ({ isDefault }) => isDefault)},
      ${column(statuses, PgTypes.OID.timestamptz, ({ updatedAt }) => date(updatedAt))})
      as u (id, name, name_key, position, is_default, updated_at)
    where s.id = u.id`)
  )

const remove = (sql: SqlClient.SqlClient) => (id: TicketStatusId) =>
  dieOnSqlError(Effect.asVoid(sql`delete from ticket_statuses where id = ${id}`))

const list = (sql: SqlClient.SqlClient) => {
  const selected = sql.literal(columns)
  return (workspaceId: WorkspaceId, teamId: TeamId | null) =>
    sql<SelectedRow>`select ${selected} from ticket_statuses s where s.workspace_id = ${workspaceId}
        and ${teamId === null ? sql`s.team_id is null` : sql`s.team_id = ${teamId}`}`.pipe(
      Effect.map((rows) => rows.map(readStatus)),
      dieOnSqlError
    )
}

const listOfTeam = (sql: SqlClient.SqlClient) => {
  const selected = sql.literal(columns)
  return (viewer: Viewer, teamKey: string) =>
    isTeamKey(teamKey)
      ? sql<SelectedRow>`select ${selected} from ticket_statuses s
          join teams t on t.workspace_id = s.workspace_id and t.id = s.team_id
        where s.workspace_id = ${viewer.workspaceId} and t.key = ${teamKey} and ${seesTeam(sql, viewer, "t")}`.pipe(
          Effect.map((rows) => rows.map(readStatus)),
          dieOnSqlError
        )
      : Effect.succeed([])
}

const find = (sql: SqlClient.SqlClient) => (viewer: Viewer, id: string) =>
  isId(id)
    ? sql<{ teamKey: string | null }>`select t.key as "teamKey" from ticket_statuses s
        left join teams t on t.id = s.team_id
      where s.workspace_id = ${viewer.workspaceId} and s.id = ${id}
        and (s.team_id is null or ${seesTeam(sql, viewer, "t")})`.pipe(
        Effect.map((rows) => rows[0]),
        dieOnSqlError
      )
    : Effect.undefined

const hasTickets =
  (sql: SqlClient.SqlClient) =>
  ({ id, workspaceId }: TicketStatusRow) =>
    sql`select 1 from tickets where workspace_id = ${workspaceId} and status_id = ${id} limit 1`.pipe(
      Effect.map((rows) => rows.length === 1),
      dieOnSqlError
    )

const moveTickets = (sql: SqlClient.SqlClient) => (from: TicketStatusRow, to: TicketStatusRow, at: Timestamp) =>
  dieOnSqlError(
    Effect.asVoid(sql`update tickets set status_id = ${to.id},
      ${setDatesInCategory(sql, from.category, to.category, at)}
      updated_at = greatest(${date(at)}::timestamptz, updated_at + interval '1 millisecond')
    where workspace_id = ${from.workspaceId} and status_id = ${from.id}`)
  )

/** `datesInCategory` as assignments of a statement that updates tickets. A test compares the two. */
const setDatesInCategory = (
  sql: SqlClient.SqlClient,
  from: StatusCategory,
  to: StatusCategory,
  at: Timestamp
): Statement.Fragment =>
  from === to
    ? sql.literal("")
    : sql`started_at = ${to === "started" ? sql`coalesce(started_at, ${date(at)}::timestamptz)` : sql.literal("started_at")},
        completed_at = ${to === "completed" ? date(at) : null}::timestamptz,
        canceled_at = ${to === "canceled" ? date(at) : null}::timestamptz,`

import type { TeamId, TicketId, TicketStatusId, WorkspaceId } from "@delivery/domain/Ids"
import { datesInCategory, type TicketDates } from "@delivery/domain/planning/StatusTimes"
import { isTeamKey } from "@delivery/domain/planning/Team"
import type { StatusCategory } from "@delivery/domain/planning/TicketStatus"
import { isId, nameKey } from "@delivery/domain/Text"
import { type Timestamp, timestamp } from "@delivery/domain/Timestamp"
import { PgTypes } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { column, texts, uuids } from "../storage/Columns.ts"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { date, dieOnSqlError, failOnDuplicate, iso, UniqueViolation } from "../storage/Sql.ts"
import { boolean, instant, integer, nullable, type Row, table, text, uuid } from "../storage/Table.ts"
import { teams } from "./TeamsRepo.ts"
import { seesTeam, type Viewer } from "./Visibility.ts"
import { seesTeamInMemory } from "./VisibilityMemory.ts"

/** The statuses of teams and of workspaces' templates. */
export const ticketStatuses = table("ticket_statuses", {
  id: uuid<TicketStatusId>(),
  workspaceId: uuid<WorkspaceId>(),
  /** Null in the workspace's template. */
  teamId: nullable(uuid<TeamId>()),
  name: text(),
  /** The name in the case that names are compared in: `nameKey` of it. */
  nameKey: text(),
  category: text<StatusCategory>(),
  position: integer(),
  isDefault: boolean(),
  createdAt: instant(),
  updatedAt: instant()
})

type StoredStatus = Row<typeof ticketStatuses>

export type TicketStatusRow = Omit<StoredStatus, "nameKey">

/**
 * Stores the statuses of teams and of workspaces' templates. In a team or template a name, in any case, is used once, a
 * position once in each category, and one status is the default. Who changes statuses holds the row of the team
 * (`TeamsRepo.lock`), or of the workspace for the template, so that each change is decided on the state before it; who
 * gives a ticket a status holds the team shared (`TicketsRepo.holdTeams`), so that none comes into one being deleted.
 */
export class TicketStatusesRepo extends Context.Service<
  TicketStatusesRepo,
  {
    readonly insert: (statuses: ReadonlyArray<TicketStatusRow>) => Effect.Effect<void, UniqueViolation>
    /** Stores names, positions and which is the default, all at once. */
    readonly update: (statuses: ReadonlyArray<TicketStatusRow>) => Effect.Effect<void, UniqueViolation>
    readonly delete: (id: TicketStatusId) => Effect.Effect<void>
    /** Of a team; of the template without one. */
    readonly list: (workspaceId: WorkspaceId, teamId: TeamId | null) => Effect.Effect<ReadonlyArray<TicketStatusRow>>
    /** In one look-up; none where the viewer does not see the team, since a team always has some. */
    readonly listOfTeam: (viewer: Viewer, teamKey: string) => Effect.Effect<ReadonlyArray<TicketStatusRow>>
    /** Whose status it is: a team's, by its key, or, of null, the template's. Nothing where the viewer sees none. */
    readonly find: (viewer: Viewer, id: string) => Effect.Effect<{ readonly teamKey: string | null } | undefined>
    readonly hasTickets: (status: TicketStatusRow) => Effect.Effect<boolean>
    /** Gives all tickets of a status another one, with the dates of its category. They keep their ranks. */
    readonly moveTickets: (from: TicketStatusRow, to: TicketStatusRow, at: Timestamp) => Effect.Effect<void>
  }
>()("@delivery/server/planning/TicketStatusesRepo") {
  static readonly layerSql = Layer.effect(
    TicketStatusesRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const columns = sql.literal(`s.id, s.workspace_id as "workspaceId", s.team_id as "teamId", s.name, s.category,
        s.position, s.is_default as "isDefault", s.created_at as "createdAt", s.updated_at as "updatedAt"`)
      return TicketStatusesRepo.of({
        insert: (statuses) =>
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
          ),
        update: (statuses) =>
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
          ),
        delete: (id) => dieOnSqlError(Effect.asVoid(sql`delete from ticket_statuses where id = ${id}`)),
        list: (workspaceId, teamId) =>
          sql<SqlRow>`select ${columns} from ticket_statuses s where s.workspace_id = ${workspaceId}
              and ${teamId === null ? sql`s.team_id is null` : sql`s.team_id = ${teamId}`}`.pipe(
            Effect.map((rows) => rows.map(readRow)),
            dieOnSqlError
          ),
        listOfTeam: (viewer, teamKey) =>
          isTeamKey(teamKey)
            ? sql<SqlRow>`select ${columns} from ticket_statuses s
                join teams t on t.workspace_id = s.workspace_id and t.id = s.team_id
              where s.workspace_id = ${viewer.workspaceId} and t.key = ${teamKey} and ${seesTeam(sql, viewer, "t")}`.pipe(
                Effect.map((rows) => rows.map(readRow)),
                dieOnSqlError
              )
            : Effect.succeed([]),
        find: (viewer, id) =>
          isId(id)
            ? sql<{ teamKey: string | null }>`select t.key as "teamKey" from ticket_statuses s
                left join teams t on t.id = s.team_id
              where s.workspace_id = ${viewer.workspaceId} and s.id = ${id}
                and (s.team_id is null or ${seesTeam(sql, viewer, "t")})`.pipe(
                Effect.map((rows) => rows[0]),
                dieOnSqlError
              )
            : Effect.undefined,
        hasTickets: ({ id, workspaceId }) =>
          sql`select 1 from tickets where workspace_id = ${workspaceId} and status_id = ${id} limit 1`.pipe(
            Effect.map((rows) => rows.length === 1),
            dieOnSqlError
          ),
        moveTickets: (from, to, at) =>
          dieOnSqlError(
            Effect.asVoid(sql`update tickets set status_id = ${to.id},
              ${setDatesInCategory(sql, from.category, to.category, at)}
              updated_at = greatest(${date(at)}::timestamptz, updated_at + interval '1 millisecond')
            where workspace_id = ${from.workspaceId} and status_id = ${from.id}`)
          )
      })
    })
  )

  static readonly layerMemory = Layer.effect(
    TicketStatusesRepo,
    Effect.gen(function* () {
      const memory = yield* MemoryStorage
      const put = (statuses: ReadonlyArray<TicketStatusRow>) =>
        memory.write((database) => {
          const table = database.table(ticketStatuses)
          for (const status of statuses) table.set(status.id, { ...status, nameKey: nameKey(status.name) })
          for (const status of statuses) {
            const constraint = collision(
              status,
              table.filter((other) => other.id !== status.id && isOfSame(other, status))
            )
            if (constraint !== undefined) return Effect.fail(new UniqueViolation({ constraint }))
          }
          return Effect.void
        })
      return TicketStatusesRepo.of({
        insert: put,
        update: (statuses) =>
          Effect.flatMap(
            memory.read((database) =>
              statuses.map(({ id, isDefault, name, position, updatedAt }) => ({
                ...database.table(ticketStatuses).get(id)!,
                name,
                position,
                isDefault,
                updatedAt
              }))
            ),
            put
          ),
        delete: (id) => memory.write((database) => Effect.sync(() => database.table(ticketStatuses).delete(id))),
        list: (workspaceId, teamId) =>
          memory.read((database) =>
            database
              .table(ticketStatuses)
              .filter((row) => row.workspaceId === workspaceId && row.teamId === teamId)
              .map(rowOf)
          ),
        listOfTeam: (viewer, teamKey) =>
          memory.read((database) => {
            const team = database
              .table(teams)
              .find((team) => team.key === teamKey && seesTeamInMemory(database, viewer, team))
            return team === undefined
              ? []
              : database
                  .table(ticketStatuses)
                  .filter((row) => row.teamId === team.id)
                  .map(rowOf)
          }),
        find: (viewer, id) =>
          memory.read((database) => {
            const status = database.table(ticketStatuses).get(id)
            if (status?.workspaceId !== viewer.workspaceId) return undefined
            if (status.teamId === null) return { teamKey: null }
            const team = database.table(teams).get(status.teamId)!
            return seesTeamInMemory(database, viewer, team) ? { teamKey: team.key } : undefined
          }),
        hasTickets: ({ id }) =>
          memory.read(
            (database) => database.table<TicketPart>("tickets").find((row) => row.statusId === id) !== undefined
          ),
        moveTickets: (from, to, at) =>
          memory.write((database) =>
            Effect.sync(() => {
              const tickets = database.table<TicketPart>("tickets")
              for (const ticket of tickets.filter((row) => row.statusId === from.id)) {
                tickets.set(ticket.id, {
                  ...ticket,
                  ...datesInCategory(ticket, from.category, to.category, at),
                  statusId: to.id,
                  updatedAt: timestamp(Math.max(Date.parse(at), Date.parse(ticket.updatedAt) + 1))
                })
              }
            })
          )
      })
    })
  )
}

/** What statuses change of a ticket. */
interface TicketPart extends TicketDates {
  readonly id: TicketId
  readonly statusId: TicketStatusId
  readonly updatedAt: Timestamp
}

/** `datesInCategory` as assignments of a statement that updates tickets; the two are tested to agree. */
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

const rowOf = ({ nameKey: _, ...status }: StoredStatus): TicketStatusRow => status

const isOfSame = (a: TicketStatusRow, b: TicketStatusRow): boolean =>
  a.workspaceId === b.workspaceId && a.teamId === b.teamId

/** The constraint that keeps a status from being stored beside others of its team or template. */
const collision = (status: TicketStatusRow, others: ReadonlyArray<TicketStatusRow>): string | undefined => {
  if (others.some((other) => nameKey(other.name) === nameKey(status.name))) return "ticket_statuses_name_key"
  return others.some((other) => other.category === status.category && other.position === status.position)
    ? "ticket_statuses_position_key"
    : undefined
}

type SqlRow = Omit<TicketStatusRow, "createdAt" | "updatedAt"> & { readonly createdAt: Date; readonly updatedAt: Date }

const readRow = (row: SqlRow): TicketStatusRow => ({
  ...row,
  createdAt: iso(row.createdAt),
  updatedAt: iso(row.updatedAt)
})

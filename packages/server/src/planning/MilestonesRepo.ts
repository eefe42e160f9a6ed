import type { MilestoneId, ProjectId, TicketId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { nextUpdate } from "../storage/NextUpdate.ts"
import { date, dieOnSqlError, iso } from "../storage/Sql.ts"

export interface MilestoneRow {
  readonly id: MilestoneId
  readonly workspaceId: WorkspaceId
  readonly projectId: ProjectId
  readonly number: number
  readonly name: string
  readonly summary: string | null
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}

/** Stores the milestones of projects; all changes are made while the project is held. */
export class MilestonesRepo extends Context.Service<
  MilestonesRepo,
  {
    /** With the next number of the project, which is answered; a number is given once, also when a later one is gone. */
    readonly insert: (milestone: Omit<MilestoneRow, "number">) => Effect.Effect<number>
    readonly find: (projectId: ProjectId, number: number) => Effect.Effect<MilestoneRow | undefined>
    readonly update: (milestone: Pick<MilestoneRow, "id" | "name" | "summary" | "updatedAt">) => Effect.Effect<void>
    /** Its tickets, of whatever team, stay in the project without a milestone; `updatedAt` of each moves. */
    readonly delete: (milestone: MilestoneRow, at: Timestamp) => Effect.Effect<void>
  }
>()("@delivery/server/planning/MilestonesRepo") {
  static readonly layerSql = Layer.effect(
    MilestonesRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      return MilestonesRepo.of({
        insert: (milestone) =>
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
          ),
        find: (projectId, number) =>
          sql<SqlRow>`select id, workspace_id as "workspaceId", project_id as "projectId", number, name, summary,
              created_at as "createdAt", updated_at as "updatedAt"
            from milestones where project_id = ${projectId} and number = ${number}`.pipe(
            Effect.map(
              (rows) => rows.map((row) => ({ ...row, createdAt: iso(row.createdAt), updatedAt: iso(row.updatedAt) }))[0]
            ),
            dieOnSqlError
          ),
        update: ({ id, name, summary, updatedAt }) =>
          dieOnSqlError(
            Effect.asVoid(sql`update milestones set name = ${name}, summary = ${summary},
              updated_at = ${date(updatedAt)} where id = ${id}`)
          ),
        delete: ({ id }, at) =>
          dieOnSqlError(
            Effect.andThen(
              sql`with held as (select id from tickets where milestone_id = ${id} order by id for no key update)
                update tickets t set milestone_id = null,
                  updated_at = greatest(${date(at)}::timestamptz, t.updated_at + interval '1 millisecond')
                from held where t.id = held.id`,
              Effect.asVoid(sql`delete from milestones where id = ${id}`)
            )
          )
      })
    })
  )

  static readonly layerMemory = Layer.effect(
    MilestonesRepo,
    Effect.gen(function* () {
      const memory = yield* MemoryStorage
      return MilestonesRepo.of({
        insert: (milestone) =>
          memory.write((database) =>
            Effect.sync(() => {
              const last = database.table<{ readonly number: number }>("milestone_numbers")
              const number = (last.get(milestone.projectId)?.number ?? 0) + 1
              last.set(milestone.projectId, { number })
              database.table<MilestoneRow>("milestones").set(milestone.id, { ...milestone, number })
              return number
            })
          ),
        find: (projectId, number) =>
          memory.read((database) =>
            database
              .table<MilestoneRow>("milestones")
              .find((milestone) => milestone.projectId === projectId && milestone.number === number)
          ),
        update: (milestone) =>
          memory.write((database) =>
            Effect.sync(() => {
              const milestones = database.table<MilestoneRow>("milestones")
              milestones.set(milestone.id, { ...milestones.get(milestone.id)!, ...milestone })
            })
          ),
        delete: ({ id }) =>
          memory.write((database) =>
            Effect.gen(function* () {
              const tickets = database.table<MemoryTicket>("tickets")
              for (const ticket of tickets.filter(({ milestoneId }) => milestoneId === id)) {
                tickets.set(ticket.id, { ...ticket, milestoneId: null, updatedAt: yield* nextUpdate(ticket) })
              }
              database.table<MilestoneRow>("milestones").delete(id)
            })
          )
      })
    })
  )
}

interface MemoryTicket {
  readonly id: TicketId
  readonly milestoneId: MilestoneId | null
  readonly updatedAt: Timestamp
}

type SqlRow = Omit<MilestoneRow, "createdAt" | "updatedAt"> & { readonly createdAt: Date; readonly updatedAt: Date }

import type { Change } from "@delivery/domain/events/Event"
import type { Actor } from "@delivery/domain/identity/Actor"
import type { EventId, TeamId, WorkspaceId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import type { ActorRef } from "../access/Access.ts"
import { actorColumns, actorJoins, type ActorRow, readActor, resolveActor } from "../access/Actors.ts"
import { uuids } from "../storage/Columns.ts"
import { memoryTable, MemoryStorage } from "../storage/MemoryStorage.ts"
import { date, dieOnSqlError, iso } from "../storage/Sql.ts"

/** An event as it is stored. `subjectPath` is the subject's page below the workspace's. */
export interface StoredEvent {
  readonly id: EventId
  readonly workspaceId: WorkspaceId
  readonly kind: string
  readonly actor: ActorRef
  readonly subjectType: string
  readonly subjectId: string
  readonly subjectLabel: string
  readonly subjectPath: string
  readonly changes: ReadonlyArray<Change>
  /** Seen only by those who see one of these teams; null for the whole workspace. */
  readonly teamIds: ReadonlyArray<TeamId> | null
  readonly createdAt: Timestamp
}

/** Events in the memory storage. */
export const eventsTable = memoryTable<StoredEvent>("events")

/** A stored event with its actor's present name. */
export interface ShownEvent extends Omit<StoredEvent, "actor" | "teamIds"> {
  readonly actor: Actor
}

/** Stores events, and finds the newest of a workspace. */
export class EventsRepo extends Context.Service<
  EventsRepo,
  {
    readonly insert: (event: StoredEvent) => Effect.Effect<void>
    /** Newest first, of those for the whole workspace or for one of the teams. */
    readonly newest: (
      workspaceId: WorkspaceId,
      teams: "all" | ReadonlyArray<TeamId>,
      limit: number
    ) => Effect.Effect<ReadonlyArray<ShownEvent>>
  }
>()("@delivery/server/events/EventsRepo") {
  static readonly layerSql = Layer.effect(
    EventsRepo,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      return EventsRepo.of({
        insert: (event) => dieOnSqlError(Effect.asVoid(insertEvent(sql, event))),
        newest: (workspaceId, teams, limit) =>
          sql<EventRow>`
            select e.id, e.workspace_id as "workspaceId", e.kind, e.subject_type as "subjectType",
              e.subject_id as "subjectId", e.subject_label as "subjectLabel", e.subject_path as "subjectPath",
              e.changes, e.created_at as "createdAt", ${actorColumns(sql, "e.actor")}
            from events e ${actorJoins(sql, "e.actor")}
            where e.workspace_id = ${workspaceId}
              ${teams === "all" ? sql.literal("") : sql`and (e.team_ids is null or e.team_ids && ${uuids(teams)})`}
            order by e.created_at desc, e.id desc limit ${limit}`.pipe(
            Effect.map((rows) => rows.map((row) => ({ ...row, actor: readActor(row), createdAt: iso(row.createdAt) }))),
            dieOnSqlError
          )
      })
    })
  )

  static readonly layerMemory = Layer.effect(
    EventsRepo,
    Effect.gen(function* () {
      const memory = yield* MemoryStorage
      return EventsRepo.of({
        insert: (event) =>
          memory.write((database) => Effect.sync(() => database.table(eventsTable).set(event.id, event))),
        newest: (workspaceId, teams, limit) =>
          memory.read((database) =>
            database
              .table(eventsTable)
              .filter(
                (event) =>
                  event.workspaceId === workspaceId &&
                  (teams === "all" || event.teamIds === null || event.teamIds.some((id) => teams.includes(id)))
              )
              .toSorted((a, b) => compare(b.createdAt, a.createdAt) || compare(b.id, a.id))
              .slice(0, limit)
              .map(({ teamIds: _, ...event }) => ({ ...event, actor: resolveActor(database, event.actor) }))
          )
      })
    })
  )
}

type EventRow = Omit<ShownEvent, "actor" | "createdAt"> & ActorRow & { readonly createdAt: Date }

/**
 * The statement that inserts an event. With `from`, a part of a statement that makes a change in the CTE of that name:
 * one event for each of its rows; `id`, `label` and `path` may then be expressions over those rows.
 */
export const insertEvent = (
  sql: PgClient.PgClient,
  event: StoredEvent,
  from?: string,
  over: { readonly id?: string; readonly label?: string; readonly path?: string } = {}
): Statement.Statement<unknown> => {
  const text = (expression: string | undefined, value: string) =>
    expression === undefined ? sql`${value}::text` : sql.literal(expression)
  return sql`insert into events (id, workspace_id, kind, actor_kind, actor_id, subject_type, subject_id, subject_label,
      subject_path, changes, team_ids, created_at)
    select ${event.id}::uuid, ${event.workspaceId}::uuid, ${event.kind}::text, ${event.actor.kind}::text,
      ${event.actor.id}::uuid, ${event.subjectType}::text, ${text(over.id, event.subjectId)},
      ${text(over.label, event.subjectLabel)}, ${text(over.path, event.subjectPath)},
      ${sql.json(event.changes)}::jsonb, ${event.teamIds === null ? null : uuids(event.teamIds)}::uuid[], ${date(event.createdAt)}::timestamptz
    ${from === undefined ? sql.literal("") : sql.literal(`from ${from}`)}`
}

/**
 * A part of a statement that inserts one event for each row of the CTE `from`, whose columns are named as those of
 * events: for changes of many subjects at once.
 */
export const insertEventRows = (sql: PgClient.PgClient, from: string): Statement.Fragment => {
  const columns =
    "id, workspace_id, kind, actor_kind, actor_id, subject_type, subject_id, subject_label, subject_path, " +
    "changes, created_at"
  return sql.literal(`insert into events (${columns}) select ${columns} from ${from}`)
}

import type { PgClient } from "@effect/sql-pg"
import type { Statement } from "effect/sql"
import { uuids } from "../storage/Columns.ts"
import { date } from "../storage/Sql.ts"
import { columnName, recordFrom, recordOf, type Row } from "../storage/Table.ts"
import { events, type StoredEvent } from "./EventsRepo.ts"

/** Statements that insert events, also as parts of the statements of other rooms that make the change. */

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
  const columns = workspaceEvent.map(columnName).join(", ")
  return sql.literal(`insert into events (${columns}) select ${columns} from ${from}`)
}

/** The columns of events for the whole workspace, which name no teams. */
const workspaceEvent = (Object.keys(events.columns) as ReadonlyArray<keyof Row<typeof events>>).filter(
  (property) => property !== "teamIds"
)

/** The columns of `json_to_record` that read an `eventRecord`. */
export const eventRecordColumns = recordOf(events, workspaceEvent)

/** An event for the whole workspace as a record that a statement reads by `eventRecordColumns`. */
export const eventRecord = ({ actor, ...event }: StoredEvent) =>
  recordFrom(events, workspaceEvent, { ...event, actorKind: actor.kind, actorId: actor.id })

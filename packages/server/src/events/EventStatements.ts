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
  const values: { readonly [Property in InsertedProperty]: Statement.Fragment } = {
    id: sql`${event.id}::uuid`,
    workspaceId: sql`${event.workspaceId}::uuid`,
    kind: sql`${event.kind}::text`,
    actorKind: sql`${event.actor.kind}::text`,
    actorId: sql`${event.actor.id}::uuid`,
    subjectType: sql`${event.subjectType}::text`,
    subjectId: text(over.id, event.subjectId),
    subjectLabel: text(over.label, event.subjectLabel),
    subjectPath: text(over.path, event.subjectPath),
    changes: sql`${sql.json(event.changes)}::jsonb`,
    teamIds: sql`${event.teamIds === null ? null : uuids(event.teamIds)}::uuid[]`,
    createdAt: sql`${date(event.createdAt)}::timestamptz`
  }
  return sql`insert into events (${sql.literal(eventProperties.map(columnName).join(", "))})
    select ${sql.csv(eventProperties.map((property) => values[property]))}
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

/** The position is given by a trigger. */
type InsertedProperty = Exclude<keyof Row<typeof events>, "position">

const eventProperties = Object.keys(events.columns).filter(
  (property) => property !== "position"
) as ReadonlyArray<InsertedProperty>

/** The columns of events for the whole workspace, which name no teams. */
const workspaceEvent = eventProperties.filter((property) => property !== "teamIds")

/** The columns of `json_to_record` that read an `eventRecord`. */
export const eventRecordColumns = recordOf(events, workspaceEvent)

/** An event for the whole workspace as a record that a statement reads by `eventRecordColumns`. */
export const eventRecord = ({ actor, ...event }: StoredEvent) =>
  recordFrom(events, workspaceEvent, { ...event, actorKind: actor.kind, actorId: actor.id })

import type { Actor } from "@delivery/domain/identity/Actor"
import { isId } from "@delivery/domain/Text"
import { timestamp } from "@delivery/domain/Timestamp"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { actorColumns, actorJoins, type ActorRow, readActor } from "../access/Actors.ts"
import { integers, uuids } from "../storage/Columns.ts"
import { dieOnSqlError } from "../storage/Sql.ts"
import { columnsOf, readerOf, type SelectedRow } from "../storage/Table.ts"
import { auditEntries, AuditRepo, lowestId } from "./AuditRepo.ts"
import { insertAudit } from "./AuditStatements.ts"

export const layer = Layer.effect(
  AuditRepo,
  Effect.map(PgClient.PgClient, (sql) =>
    AuditRepo.of({
      insert: (entries) =>
        entries.length === 0 ? Effect.void : dieOnSqlError(Effect.asVoid(insertAudit(sql, entries))),
      count: count(sql),
      find: find(sql),
      actor: actor(sql),
      erase: erase(sql)
    })
  )
)

/** The entries are locked in the order of their ids. */
const count =
  (sql: PgClient.PgClient): AuditRepo["Service"]["count"] =>
  (counts) =>
    dieOnSqlError(
      Effect.asVoid(sql`with counted as (
          select e.workspace_id, e.id, c.count
          from unnest(${uuids(counts.map(({ workspaceId }) => workspaceId))}::uuid[],
            ${uuids(counts.map(({ id }) => id))}::uuid[], ${integers(counts.map(({ count }) => count))}::integer[])
            as c (workspace_id, id, count)
          join audit_entries e on e.workspace_id = c.workspace_id and e.id = c.id
          order by e.workspace_id, e.id for no key update of e
        )
        update audit_entries e set count = e.count + c.count
        from counted c where e.workspace_id = c.workspace_id and e.id = c.id`)
    )

const readRow = readerOf(auditEntries)

/** In the text of the statement: with a parameter, PostgreSQL may not use the index of refusals. */
const literals = { allowed: "'allowed'", refused: "'refused'" } as const

/** Each filter has an index that begins with the workspace and ends with the id, and so gives the order of the page. */
const find = (sql: PgClient.PgClient): AuditRepo["Service"]["find"] => {
  const columns = sql.literal(columnsOf(auditEntries))
  const none = sql.literal("")
  return (workspaceId, { action, actor, cursor, from, outcome, subject, to }, limit) => {
    if (actor !== undefined && !isId(actor)) return Effect.succeed([])
    return sql<SelectedRow>`select ${columns} from audit_entries where workspace_id = ${workspaceId}
        ${actor === undefined ? none : sql`and actor_id = ${actor}`}
        ${action === undefined ? none : sql`and action = ${action}`}
        ${subject === undefined ? none : sql`and subject_id = ${subject}`}
        ${outcome === undefined ? none : sql`and outcome = ${sql.literal(literals[outcome])}`}
        ${from === undefined ? none : sql`and id >= ${lowestId(from)}`}
        ${to === undefined ? none : sql`and id < ${lowestId(timestamp(Date.parse(to) + 1))}`}
        ${cursor === undefined ? none : sql`and id < ${cursor}`}
      order by id desc limit ${limit}`.pipe(
      Effect.map((rows) => rows.map(readRow)),
      dieOnSqlError
    )
  }
}

const actor =
  (sql: PgClient.PgClient) =>
  ({ id, kind }: ActorRef): Effect.Effect<Actor> =>
    sql<ActorRow>`select ${actorColumns(sql, "a.actor")}
      from (select ${kind}::text as actor_kind, ${id}::uuid as actor_id) a ${actorJoins(sql, "a.actor")}`.pipe(
      Effect.map(([row]) => readActor(row!)),
      dieOnSqlError
    )

/** By workspace, since every index begins with it. */
const erase =
  (sql: PgClient.PgClient): AuditRepo["Service"]["erase"] =>
  (before, limit) =>
    sql`delete from audit_entries where (workspace_id, id) in (
        select old.workspace_id, old.id from workspaces w cross join lateral (
          select e.workspace_id, e.id from audit_entries e
          where e.workspace_id = w.id and e.id < ${lowestId(before)} order by e.id limit ${limit}
        ) old limit ${limit}
      ) returning 1`.pipe(
      Effect.map((rows) => rows.length),
      dieOnSqlError
    )

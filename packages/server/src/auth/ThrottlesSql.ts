import type { Timestamp } from "@delivery/domain/Timestamp"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { date, dieOnSqlError } from "../storage/Sql.ts"
import { columnsOf, readerOf, type SelectedRow } from "../storage/Table.ts"
import { type ThrottleRow, throttles, ThrottlesRepo } from "./ThrottlesRepo.ts"

export const layer = Layer.effect(
  ThrottlesRepo,
  Effect.map(SqlClient.SqlClient, (sql) => ThrottlesRepo.of({ count: count(sql), giveBack: giveBack(sql) }))
)

const readRow = readerOf(throttles)

const count = (sql: SqlClient.SqlClient) => {
  const columns = sql.literal(columnsOf(throttles))
  return (subject: string, now: Timestamp, since: Timestamp) =>
    // What another request is about to count is left to it: no request waits for two counters.
    sql<SelectedRow>`with old as (
        delete from throttles where subject in (select subject from throttles
          where started_at <= ${date(since)} and subject <> ${subject} limit 100 for update skip locked)
      )
      insert into throttles as t (subject, count, started_at) values (${subject}, 1, ${date(now)})
      on conflict (subject) do update set
        count = case when t.started_at <= ${date(since)} then 1 else t.count + 1 end,
        started_at = case when t.started_at <= ${date(since)} then ${date(now)} else t.started_at end
      returning ${columns}`.pipe(
      Effect.map((rows) => readRow(rows[0]!)),
      dieOnSqlError
    )
}

const giveBack =
  (sql: SqlClient.SqlClient) =>
  ({ startedAt, subject }: ThrottleRow) =>
    dieOnSqlError(
      Effect.asVoid(
        sql`update throttles set count = count - 1 where subject = ${subject} and started_at = ${date(startedAt)}`
      )
    )

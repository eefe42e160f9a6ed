import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { date, dieOnSqlError, iso } from "../storage/Sql.ts"
import { type Counted, ThrottlesRepo } from "./ThrottlesRepo.ts"

export const layer = Layer.effect(
  ThrottlesRepo,
  Effect.map(SqlClient.SqlClient, (sql) => ThrottlesRepo.of({ count: count(sql), giveBack: giveBack(sql) }))
)

const count =
  (sql: SqlClient.SqlClient): ThrottlesRepo["Service"]["count"] =>
  (subject, limit, now, since) =>
    // What another request is about to count is left to it: no request waits for two counters.
    sql<{ readonly startedAt: Date; readonly isCounted: boolean }>`with old as (
        delete from throttles where subject in (select subject from throttles
          where started_at <= ${date(since)} and subject <> ${subject} limit 100 for update skip locked)
      ), counted as (
        insert into throttles as t (subject, count, started_at) values (${subject}, 1, ${date(now)})
        on conflict (subject) do update set
          count = case when t.started_at <= ${date(since)} then 1 else t.count + 1 end,
          started_at = case when t.started_at <= ${date(since)} then ${date(now)} else t.started_at end
        where t.started_at <= ${date(since)} or t.count < ${limit}
        returning started_at
      )
      select started_at as "startedAt", true as "isCounted" from counted
      union all select started_at, false from throttles
        where subject = ${subject} and not exists (select from counted)`.pipe(
      Effect.map(([row]) => ({
        subject,
        // A counter that others began and filled meanwhile is not seen.
        startedAt: row === undefined ? now : iso(row.startedAt),
        isCounted: row?.isCounted === true
      })),
      dieOnSqlError
    )

const giveBack =
  (sql: SqlClient.SqlClient) =>
  ({ startedAt, subject }: Counted) =>
    dieOnSqlError(
      Effect.asVoid(
        sql`update throttles set count = count - 1 where subject = ${subject} and started_at = ${date(startedAt)}`
      )
    )

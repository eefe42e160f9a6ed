import type { TestRunId, WorkspaceId } from "@delivery/domain/Ids"
import { comparedCharacters, failureText } from "@delivery/domain/runs/ErrorGroups"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { Statement } from "effect/sql"
import { column, integers, texts, uuids } from "../../storage/Columns.ts"
import { lastFailures } from "./CaseFailuresSql.ts"
import { grouped } from "./GroupedFailures.ts"

/**
 * The results of runs in `case_results`, and how many a day has in `case_days`: the two change together. Each statement answers the
 * rows of `test_cases` whose results have changed.
 */

type Sql = PgClient.PgClient

interface Changed {
  readonly seriesId: number
}

const idsOf = (rows: ReadonlyArray<Changed>): ReadonlyArray<number> => rows.map(({ seriesId }) => seriesId)

/** Of rows of `case_results`, how many of a day are what. */
const countedDays = (sql: Sql, rows: Statement.Fragment): Statement.Fragment => sql`select series_id, day,
    (count(*) filter (where not failed and not flaky))::int as passed,
    (count(*) filter (where flaky))::int as flaky, (count(*) filter (where failed))::int as failed
  from ${rows} group by series_id, day`

/**
 * Takes out what was counted of the runs. The trend of a day keeps what was erased; a run that was erased before it, or its last
 * retry, was counted is yet to be in it.
 */
export const takeOut = Effect.fnUntraced(function* (
  sql: Sql,
  workspaceId: WorkspaceId,
  numbers: ReadonlyArray<number>
) {
  if (numbers.length === 0) return []
  return idsOf(
    yield* sql<Changed>`with gone as (
        delete from case_results where workspace_id = ${workspaceId} and number = any(${integers(numbers)})
        returning series_id, number, day, failed, flaky, duration_ms
      ), counted as (
        update case_days d set passed = d.passed - g.passed, flaky = d.flaky - g.flaky, failed = d.failed - g.failed
        from (${countedDays(sql, sql.literal("gone"))}) g where d.series_id = g.series_id and d.day = g.day
      ), known as (
        select number, count(*) filter (where failed) as failed, count(*) filter (where flaky) as flaky,
          array_agg(duration_ms order by duration_ms) as durations
        from gone group by number
      ), erased as (
        insert into stale_days (workspace_id, product_id, day)
        select distinct p.workspace_id, p.product_id, (p.finished_at at time zone 'UTC')::date
        from past_runs p left join known k on k.number = p.number
        where p.workspace_id = ${workspaceId} and p.number = any(${integers(numbers)}) and (k.number is null
          or k.failed <> p.failed or k.flaky <> p.flaky
          or k.durations is distinct from (select array_agg(d order by d) from unnest(p.durations) as d))
        on conflict do nothing
      )
      select distinct series_id as "seriesId" from gone`
  )
})

/** Puts in the results of finished runs, of which nothing is counted. */
export const putIn = Effect.fnUntraced(function* (
  sql: Sql,
  workspaceId: WorkspaceId,
  runs: ReadonlyArray<TestRunId>,
  keptFrom: string
) {
  if (runs.length === 0) return []
  const ids = uuids(runs)
  const groups = yield* errorGroups(sql, ids)
  yield* addCases(sql, workspaceId, ids)
  return idsOf(
    yield* sql<Changed>`with put as (
        insert into case_results (workspace_id, series_id, number, failed, flaky, attempts, duration_ms, day, on_base,
          error_group)
        select r.workspace_id, s.id, r.number, t.status = 'failed', t.status = 'flaky', 1 + coalesce(retried.attempts, 0),
          coalesce(retried.duration_ms, t.attempt_duration_ms), ${dayOfRun(sql)}, r.git_branch = p.base_branch,
          said.error_group
        from test_runs r join products p on p.id = r.product_id
        join test_run_tests t on t.run_id = r.id and t.attempt_status is not null
        join test_cases s on s.workspace_id = r.workspace_id and s.product_id = r.product_id
          and s.scope_id = r.environment_id and s.case_id = t.case_id
        left join lateral (
          select count(*)::int as attempts, (array_agg(a.duration_ms order by a.number desc))[1] as duration_ms
          from test_run_attempts a where a.run_id = t.run_id and a.case_id = t.case_id
        ) retried on r.retry_count > 0
        left join unnest(${column(groups, oid.uuid, ({ runId }) => runId)}, ${texts(groups, ({ caseId }) => caseId)},
          ${texts(groups, ({ errorGroup }) => errorGroup)}) as said (run_id, case_id, error_group)
          on said.run_id = r.id and said.case_id = t.case_id
        where r.id = any(${ids}) and r.result is not null
        returning series_id, day, failed, flaky
      ), counted as (
        insert into case_days as d (workspace_id, series_id, day, passed, flaky, failed)
        select ${workspaceId}::uuid, g.series_id, g.day, g.passed, g.flaky, g.failed
        from (${countedDays(sql, sql.literal("put"))}) g where g.day >= ${keptFrom}::date
        on conflict on constraint case_days_key do update set passed = d.passed + excluded.passed,
          flaky = d.flaky + excluded.flaky, failed = d.failed + excluded.failed
      ), ended as (
        insert into stale_days (workspace_id, product_id, day)
        select distinct r.workspace_id, r.product_id, ${dayOfRun(sql)}
        from test_runs r where r.id = any(${ids}) and r.result is not null
        on conflict do nothing
      )
      select distinct series_id as "seriesId" from put`
  )
})

const oid = { uuid: 2950 }

/** The day on which the run `r` ended. */
const dayOfRun = (sql: Sql): Statement.Fragment => sql.literal("(r.finished_at at time zone 'UTC')::date")

interface Said {
  readonly runId: TestRunId
  readonly caseId: string
  readonly errorMessage: string | null
  readonly errorStack: string | null
}

/** What the tests of the runs that failed in an attempt said, by group. */
const errorGroups = (sql: Sql, runs: ReturnType<typeof uuids>) =>
  Effect.flatMap(
    sql<Said>`select r.id as "runId", failure.case_id as "caseId", failure.error_message as "errorMessage",
        failure.error_stack as "errorStack"
      from test_runs r cross join lateral (${lastFailures(sql, {
        run: "r",
        statuses: ["failed", "flaky"],
        characters: comparedCharacters
      })}) failure
      where r.id = any(${runs}) and r.result is not null`,
    (rows) => grouped(rows, failureText)
  )

/** Adds the cases of the runs that are not there: of all environments first, since the others name them. */
const addCases = Effect.fnUntraced(function* (sql: Sql, workspaceId: WorkspaceId, runs: ReturnType<typeof uuids>) {
  const ran = sql`select distinct r.product_id, r.environment_id, t.case_id
    from test_runs r join test_run_tests t on t.run_id = r.id and t.attempt_status is not null
    where r.id = any(${runs}) and r.result is not null`
  yield* sql`insert into test_cases (workspace_id, product_id, scope_id, case_id)
    select distinct ${workspaceId}::uuid, ran.product_id, ran.product_id, ran.case_id from (${ran}) ran
    where not exists (select from test_cases c where c.workspace_id = ${workspaceId} and c.product_id = ran.product_id
      and c.scope_id = ran.product_id and c.case_id = ran.case_id)`
  yield* sql`insert into test_cases (workspace_id, product_id, scope_id, case_id, whole_id)
    select ${workspaceId}::uuid, ran.product_id, ran.environment_id, ran.case_id, w.id
    from (${ran}) ran join test_cases w on w.workspace_id = ${workspaceId} and w.product_id = ran.product_id
      and w.scope_id = ran.product_id and w.case_id = ran.case_id
    where not exists (select from test_cases c where c.workspace_id = ${workspaceId} and c.product_id = ran.product_id
      and c.scope_id = ran.environment_id and c.case_id = ran.case_id)`
})

/** Takes out the results of a case whose runs are not there, and counts its days again. */
export const settle = Effect.fnUntraced(function* (
  sql: Sql,
  workspaceId: WorkspaceId,
  seriesId: number,
  keptFrom: string
) {
  yield* sql`delete from case_results r where r.series_id = ${seriesId} and not exists (select from test_runs t
    where t.workspace_id = ${workspaceId} and t.number = r.number and t.result is not null)`
  yield* sql`delete from case_days where series_id = ${seriesId}`
  const kept = sql`(select * from case_results where series_id = ${seriesId} and day >= ${keptFrom}::date) kept`
  yield* sql`insert into case_days (workspace_id, series_id, day, passed, flaky, failed)
    select ${workspaceId}::uuid, g.series_id, g.day, g.passed, g.flaky, g.failed from (${countedDays(sql, kept)}) g`
})

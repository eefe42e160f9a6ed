import type { ProductId, WorkspaceId } from "@delivery/domain/Ids"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"

/**
 * Writes what the runs of a day came to: those that are there, and what is kept of those that are erased. What each figure is,
 * `dayFigures` of the domain says. Results that are yet to be counted are not in it; who counts them has the day written again.
 * By the offset, the results of each run are looked up, whatever is known of the tables.
 */
export const writeDay = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  workspaceId: WorkspaceId,
  productId: ProductId,
  day: string
) {
  yield* sql`delete from product_days
    where workspace_id = ${workspaceId} and product_id = ${productId} and day = ${day}::date`
  yield* sql`with period as (
      select ${day}::date::timestamp at time zone 'UTC' as first,
        (${day}::date + 1)::timestamp at time zone 'UTC' as next
    ), ended as materialized (
      select r.number, r.environment_id, r.total - r.skipped as counted, r.passed, r.flaky,
        round(coalesce(r.first_attempt_pass_rate, 0) * (r.total - r.skipped))::int as passed_first
      from test_runs r cross join period
      where r.workspace_id = ${workspaceId} and r.product_id = ${productId} and r.result is not null
        and r.finished_at >= period.first and r.finished_at < period.next
    ), past as materialized (
      select p.environment_id, p.total - p.skipped as counted, p.passed, p.flaky, p.passed_first, p.durations
      from past_runs p cross join period
      where p.workspace_id = ${workspaceId} and p.product_id = ${productId}
        and p.finished_at >= period.first and p.finished_at < period.next
    ), counts as (
      select environment_id, count(*)::int as runs, sum(counted)::int as counted, sum(passed)::int as passed,
        sum(flaky)::int as flaky, sum(passed_first)::int as passed_first
      from (
        select environment_id, counted, passed, flaky, passed_first from ended
        union all select environment_id, counted, passed, flaky, passed_first from past
      ) runs
      group by grouping sets ((environment_id), ())
    ), ranked as (
      select environment_id, array_agg(duration_ms order by duration_ms) as durations from (
        select e.environment_id, c.duration_ms from ended e cross join lateral (
          select duration_ms from case_results where workspace_id = ${workspaceId} and number = e.number offset 0
        ) c
        union all select p.environment_id, d.duration_ms from past p cross join unnest(p.durations) as d (duration_ms)
      ) tests
      group by grouping sets ((environment_id), ())
    )
    insert into product_days (workspace_id, product_id, scope_id, day, runs, counted, passed, flaky, passed_first, p50_ms,
      p95_ms)
    select ${workspaceId}::uuid, ${productId}::uuid, coalesce(counts.environment_id, ${productId}::uuid), ${day}::date,
      runs, counted, passed, flaky, passed_first, durations[(50 * cardinality(durations)::bigint + 99) / 100],
      durations[(95 * cardinality(durations)::bigint + 99) / 100]
    from counts left join ranked on ranked.environment_id is not distinct from counts.environment_id
    where runs > 0`
})

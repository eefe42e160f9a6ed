import type { WorkspaceId } from "@delivery/domain/Ids"
import { newestResults, slowMs } from "@delivery/domain/runs/CaseFigures"
import { titleKey } from "@delivery/domain/runs/TitleKey"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { Statement } from "effect/sql"
import { integers, texts } from "../../storage/Columns.ts"
import { caseText } from "../search/SearchText.ts"

/**
 * The figures of `test_cases`. They are computed from the results alone, whatever they were before, so that the order in which runs
 * are counted does not matter. What each of them is, `caseFigures` of the domain says.
 */

type Sql = PgClient.PgClient
type Ids = ReturnType<typeof integers>

/**
 * Computes the figures of rows of environments whose results have changed, and of the rows of all environments that they belong to.
 *
 * @param keptFrom Days before it are forgotten.
 */
export const summarize = Effect.fnUntraced(function* (
  sql: Sql,
  workspaceId: WorkspaceId,
  changed: ReadonlyArray<number>,
  keptFrom: string
) {
  if (changed.length === 0) return
  const ids = integers(changed)
  const named = yield* sql<Named>`select whole_id as "wholeId", product_id as "productId", scope_id as "scopeId"
    from test_cases where id = any(${ids})`
  const wholes = integers([...new Set(named.map(({ wholeId }) => wholeId))])
  yield* sql`delete from case_days where series_id = any(${ids})
    and (day < ${keptFrom}::date or passed + flaky + failed = 0)`
  yield* sql`delete from test_cases c where c.id = any(${ids})
    and not exists (select from case_results r where r.series_id = c.id)`
  yield* sql`delete from test_cases w where w.id = any(${wholes})
    and not exists (select from test_cases s where s.whole_id = w.id)`
  yield* setKeys(sql, yield* update(sql, workspaceId, ofEnvironments(sql, ids)))
  yield* setKeys(sql, yield* update(sql, workspaceId, ofAll(sql, wholes)))
  yield* copyToWholes(sql, wholes)
  const scopes = new Map(
    named.flatMap(({ productId, scopeId }) =>
      [scopeId, productId].map((scope) => [`${productId}/${scope}`, { productId, scopeId: scope }] as const)
    )
  )
  for (const scope of scopes.values()) yield* setMedian(sql, workspaceId, scope)
})

interface Scope {
  readonly productId: string
  readonly scopeId: string
}

interface Named extends Scope {
  readonly wholeId: number
}

/** The rows to update, each with the rows whose results are its own. */
const ofEnvironments = (sql: Sql, ids: Ids): Statement.Fragment =>
  sql`select c.*, array[c.id] as series from test_cases c where c.id = any(${ids})`

/** Those of all environments that have results in several. */
const ofAll = (sql: Sql, wholes: Ids): Statement.Fragment =>
  sql`select w.*, inside.series from test_cases w
    cross join lateral (select array_agg(s.id) as series from test_cases s where s.whole_id = w.id) inside
    where w.id = any(${wholes}) and cardinality(inside.series) > 1`

const figureColumns = [
  "newest_run",
  "newest_failed",
  "newest_day",
  "first_failure",
  "last_failure",
  "failing_since",
  "flaky_day",
  "p50_ms",
  "p95_ms",
  "is_long",
  "coverage",
  "title",
  "file",
  "test_kind"
]

const sets = (from: string, columns: ReadonlyArray<string>): string =>
  columns.map((column) => `${column} = ${from}.${column}`).join(", ")

interface Renamed {
  readonly id: number
  readonly caseId: string
  readonly title: string
  readonly file: string
}

/** Answers the rows that have another title or file than before, or are new. */
const update = (sql: Sql, workspaceId: WorkspaceId, targets: Statement.Fragment) =>
  sql<Renamed>`with target as materialized (${targets}),
    figures as materialized (
      select target.id, target.case_id, ends.newest as newest_run, ends.newest_failed, newest.day as newest_day,
        ends.first as first_failure, ends.last as last_failure,
        case when ends.newest_failed then streak.first end as failing_since, flaky.day as flaky_day,
        newest.durations[${rank(sql, 50)}] as p50_ms, newest.durations[${rank(sql, 95)}] as p95_ms,
        newest.durations[${rank(sql, 95)}] >= ${sql.literal(String(slowMs))} as is_long,
        coalesce(t.coverage, target.coverage) as coverage, coalesce(t.title, target.title) as title,
        coalesce(t.file, target.file) as file, coalesce(t.test_kind, target.test_kind) as test_kind,
        target.newest_run = 0 or t.title <> target.title or t.file <> target.file as is_renamed
      from target
      cross join lateral (
        select min(f.first) as first, max(f.last) as last, max(f.last_other) as last_other,
          greatest(max(f.last), max(f.last_other)) as newest,
          coalesce(max(f.last) > coalesce(max(f.last_other), 0), false) as newest_failed
        from unnest(target.series) as series (id) cross join lateral (
          select ${endOf(sql, "asc", sql`r.failed`)} as first, ${endOf(sql, "desc", sql`r.failed`)} as last,
            ${endOf(sql, "desc", sql`not r.failed`)} as last_other
        ) f
      ) ends
      cross join lateral (
        select count(*)::int as count, array_agg(n.duration_ms order by n.duration_ms) as durations,
          max(n.day) filter (where n.number = ends.newest) as day
        from (
          select r.* from unnest(target.series) as series (id)
            cross join lateral (${newestOf(sql, false)} union all ${newestOf(sql, true)}) r
          order by r.number desc limit ${newestLimit(sql)}
        ) n
      ) newest
      cross join lateral (
        select min(f.first) as first from unnest(target.series) as series (id) cross join lateral (
          select ${endOf(sql, "asc", sql`r.failed and r.number > coalesce(ends.last_other, 0)`)} as first
        ) f
      ) streak
      cross join lateral (
        select max(d.day) as day from case_days d where d.series_id = any(target.series) and d.flaky > 0
      ) flaky
      left join test_runs run on run.workspace_id = ${workspaceId} and run.number = ends.newest
      left join test_run_tests t on t.run_id = run.id and t.case_id = target.case_id
    ), updated as (
      update test_cases c set ${sql.literal(sets("figures", figureColumns))} from figures where c.id = figures.id
    )
    select id, case_id as "caseId", title, file from figures where is_renamed`

const newestLimit = (sql: Sql): Statement.Fragment => sql.literal(String(newestResults))

/** The newest results of `series` that failed, or those that did not. */
const newestOf = (sql: Sql, failed: boolean): Statement.Fragment =>
  sql`(select r.number, r.day, r.duration_ms from case_results r
    where r.series_id = series.id and r.failed = ${sql.literal(String(failed))}
    order by r.number desc limit ${newestLimit(sql)})`

/** The number of the first or last result of `series`, by its index. */
const endOf = (sql: Sql, order: "asc" | "desc", condition: Statement.Fragment): Statement.Fragment =>
  sql`(select r.number from case_results r where r.series_id = series.id and ${condition}
    order by r.number ${sql.literal(order)} limit 1)`

/** The place of `nearestRank`, counted from 1. */
const rank = (sql: Sql, percent: number): Statement.Fragment => sql.literal(`(${percent} * newest.count + 99) / 100`)

const setKeys = (sql: Sql, renamed: ReadonlyArray<Renamed>) =>
  renamed.length === 0
    ? Effect.void
    : sql`update test_cases c set title_key = k.title_key, search = k.search
        from unnest(${integers(renamed.map(({ id }) => id))}, ${texts(renamed, ({ title }) => titleKey(title))},
          ${texts(renamed, caseText)}) as k (id, title_key, search)
        where c.id = k.id`

/** A row of all environments that has results in one is like the row of that one. */
const copyToWholes = (sql: Sql, wholes: Ids) =>
  sql`update test_cases w set ${sql.literal(sets("s", [...figureColumns, "title_key", "search"]))}
    from test_cases s
    where w.id = any(${wholes}) and s.whole_id = w.id
      and not exists (select from test_cases other where other.whole_id = w.id and other.id <> s.id)`

/** Of the first half, the last value, as `productMedian` of the domain has it. */
const setMedian = (sql: Sql, workspaceId: WorkspaceId, { productId, scopeId }: Scope) =>
  sql`with computed as (
      select (array_agg(p50_ms order by p50_ms))[(count(*)::int * 50 + 99) / 100] as median_ms from test_cases
      where workspace_id = ${workspaceId} and product_id = ${productId} and scope_id = ${scopeId}
      having count(*) > 0
    ), put as (
      insert into case_medians (workspace_id, product_id, scope_id, median_ms)
      select ${workspaceId}::uuid, ${productId}::uuid, ${scopeId}::uuid, median_ms from computed
      on conflict on constraint case_medians_key do update set median_ms = excluded.median_ms
    )
    delete from case_medians m where m.workspace_id = ${workspaceId} and m.product_id = ${productId}
      and m.scope_id = ${scopeId} and not exists (select from computed)`

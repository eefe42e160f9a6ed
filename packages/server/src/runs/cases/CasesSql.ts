import { maxShownName } from "@delivery/domain/flow/ShownName"
import type { TestRunId } from "@delivery/domain/Ids"
import type { CaseRun, ListedResult, ShownResult } from "@delivery/domain/runs/Case"
import { type CaseFigures, comparedRuns, type DayFigures } from "@delivery/domain/runs/CaseFigures"
import { comparedCharacters, failureText } from "@delivery/domain/runs/ErrorGroups"
import type { EarlierFailure } from "@delivery/domain/runs/RunErrors"
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import { environments } from "../../catalog/EnvironmentsRepo.ts"
import { texts } from "../../storage/Columns.ts"
import { dieOnSqlError, iso } from "../../storage/Sql.ts"
import { columnsOf, partReaderOf, type SelectedRow } from "../../storage/Table.ts"
import { searchPart } from "../search/SearchText.ts"
import { mostElsewhere, testedSame } from "../TestedAddress.ts"
import { lastFailures } from "./CaseFailuresSql.ts"
import {
  type CaseFilter,
  type CaseScope,
  CasesRepo,
  type FoundCase,
  type PassedRun,
  type StateRule,
  testCases
} from "./CasesRepo.ts"

export const layer = Layer.effect(
  CasesRepo,
  Effect.map(PgClient.PgClient, (sql) =>
    CasesRepo.of({
      median: median(sql),
      list: list(sql),
      find: find(sql),
      results: results(sql),
      lastPass: lastPass(sql),
      newest: newest(sql),
      names: names(sql),
      failures: failures(sql),
      earlier: earlier(sql),
      days: days(sql)
    })
  )
)

type Sql = PgClient.PgClient

/** What the column `scope_id` of a scope is. */
const scopeId = ({ environmentId, productId }: CaseScope) => environmentId ?? productId

const isIn = (sql: Sql, scope: CaseScope): Statement.Fragment =>
  sql`c.workspace_id = ${scope.workspaceId} and c.product_id = ${scope.productId} and c.scope_id = ${scopeId(scope)}`

const median = (sql: Sql) => (scope: CaseScope) =>
  sql<{ readonly median: number }>`select c.median_ms as median from case_medians c where ${isIn(sql, scope)}`.pipe(
    Effect.map(([row]) => row?.median ?? null),
    dieOnSqlError
  )

const shownColumns = ["caseId", "title", "file", "coverage", "testKind", "titleKey"] as const
const figureColumns = ["newestRun", "newestFailed", "newestDay", "flakyDay", "p50Ms", "p95Ms"] as const
const failureColumns = ["firstFailure", "lastFailure", "failingSince"] as const
const columns = [...shownColumns, ...figureColumns, ...failureColumns] as const
const readShown = partReaderOf(testCases, shownColumns)
const readFigures = partReaderOf(testCases, figureColumns)
const readFailures = partReaderOf(testCases, failureColumns)

interface CaseRow extends SelectedRow, Pick<CaseFigures, "passed" | "flaky" | "failed"> {
  readonly firstSha: string | null
  readonly firstAt: Date | null
  readonly lastSha: string | null
  readonly lastAt: Date | null
  readonly sinceSha: string | null
  readonly sinceAt: Date | null
}

/** Of the rows of `page`, what `readCase` reads. The results of all environments are those of the rows of environments. */
const selectCases = (sql: Sql, { workspaceId }: CaseScope, page: Statement.Fragment, since: string) =>
  sql<CaseRow>`with c as materialized (${page})
    select ${sql.literal(columnsOf(testCases, { of: "c", only: columns }))}, counted.*,
      one.git_sha as "firstSha", one.finished_at as "firstAt", last.git_sha as "lastSha", last.finished_at as "lastAt",
      since.git_sha as "sinceSha", since.finished_at as "sinceAt"
    from c cross join lateral (
      select coalesce(sum(d.passed), 0)::int as passed, coalesce(sum(d.flaky), 0)::int as flaky,
        coalesce(sum(d.failed), 0)::int as failed
      from (select c.id where c.whole_id is not null
          union all select s.id from test_cases s where s.whole_id = c.id) series (id)
        join case_days d on d.series_id = series.id and d.day >= ${since}::date
    ) counted
    left join test_runs one on one.workspace_id = ${workspaceId} and one.number = c.first_failure
    left join test_runs last on last.workspace_id = ${workspaceId} and last.number = c.last_failure
    left join test_runs since on since.workspace_id = ${workspaceId} and since.number = c.failing_since
    order by c.title_key, c.case_id`.pipe(
    Effect.map((rows) => rows.map(readCase)),
    dieOnSqlError
  )

const readCase = (row: CaseRow): FoundCase => {
  const { p50Ms, p95Ms, ...figures } = readFigures(row)
  const failures = readFailures(row)
  const { failed, flaky, passed } = row
  return {
    ...readShown(row),
    figures: { ...figures, ...failures, durationP50Ms: p50Ms, durationP95Ms: p95Ms, passed, flaky, failed },
    firstFailure: caseRun(failures.firstFailure, row.firstSha, row.firstAt),
    lastFailure: caseRun(failures.lastFailure, row.lastSha, row.lastAt),
    failingSince: caseRun(failures.failingSince, row.sinceSha, row.sinceAt)
  }
}

/** A run that is gone is not shown, though its results are yet to be taken out. */
const caseRun = (run: number | null, commit: string | null, at: Date | null): CaseRun | null =>
  run === null || commit === null || at === null ? null : { run, commit, at: iso(at) }

const list =
  (sql: Sql): CasesRepo["Service"]["list"] =>
  (scope, filter, rule, limit) =>
    selectCases(
      sql,
      scope,
      sql`select * from test_cases c where ${isIn(sql, scope)} and ${matches(sql, filter, rule)}
        order by c.title_key, c.case_id limit ${limit}`,
      rule.since
    )

const matches = (sql: Sql, { after, caseIds, q, state }: CaseFilter, rule: StateRule): Statement.Fragment =>
  sql`${state === undefined ? sql.literal("true") : isOfState(sql, state, rule)}
    and ${caseIds === undefined ? sql.literal("true") : sql`c.case_id = any(${texts(caseIds, (caseId) => caseId)})`}
    and ${q === undefined ? sql.literal("true") : sql`strpos(c.search, ${searchPart(q)}) > 0`}
    and ${
      after === undefined ? sql.literal("true") : sql`(c.title_key, c.case_id) > (${after.titleKey}, ${after.caseId})`
    }`

/** What `statesOf` says, of the case `c`. Each condition begins with that of an index. */
const isOfState = (
  sql: Sql,
  state: NonNullable<CaseFilter["state"]>,
  { since, slowFromMs }: StateRule
): Statement.Fragment => {
  const isCurrent = sql`c.newest_day >= ${since}::date`
  switch (state) {
    case "failing":
      return sql`c.newest_failed and ${isCurrent}`
    case "passing":
      return sql`not c.newest_failed and ${isCurrent}`
    case "flaky":
      return sql`c.flaky_day is not null and c.flaky_day >= ${since}::date and ${isCurrent}`
    case "slow":
      return sql`c.is_long and c.p95_ms >= ${PgTypes.float8(slowFromMs)} and ${isCurrent}`
  }
}

const find =
  (sql: Sql): CasesRepo["Service"]["find"] =>
  (scope, caseId, { since }) =>
    Effect.map(
      selectCases(
        sql,
        scope,
        sql`select * from test_cases c where ${isIn(sql, scope)} and c.case_id = ${caseId}`,
        since
      ),
      ([found]) => found
    )

const environmentColumns = ["slug", "name", "class"] as const
const readEnvironment = partReaderOf(environments, environmentColumns)

interface ResultRow extends SelectedRow, Omit<ShownResult, "environment" | "status" | "at"> {
  readonly failed: boolean
  readonly flaky: boolean
  readonly at: Date
}

/** The newest results of `series`, each with its run `t`: of those that failed and of the others. */
const newestOf = (
  sql: Sql,
  { workspaceId }: CaseScope,
  before: number | undefined,
  most: Statement.Fragment
): Statement.Fragment => {
  // With a limit, each run is looked up by its number, and no others are read.
  const run = sql`select t.git_sha, t.git_branch, t.finished_at, t.environment_id from test_runs t
    where t.workspace_id = ${workspaceId} and t.number = r.number limit 1`
  const lane = (failed: boolean) => sql`(select r.number, r.failed, r.flaky, r.attempts, r.duration_ms, r.error_group,
        t.git_sha, t.git_branch, t.finished_at, t.environment_id
      from case_results r cross join lateral (${run}) t
      where r.series_id = series.id and r.failed = ${sql.literal(String(failed))}
        and ${before === undefined ? sql.literal("true") : sql`r.number < ${before}`}
      order by r.number desc limit ${most})`
  return sql`${lane(false)} union all ${lane(true)}`
}

const statusOf = ({ failed, flaky }: { readonly failed: boolean; readonly flaky: boolean }): ListedResult["status"] =>
  failed ? "failed" : flaky ? "flaky" : "passed"

const results =
  (sql: Sql): CasesRepo["Service"]["results"] =>
  (scope, caseId, before, limit) => {
    const most = sql.literal(String(limit))
    return sql<ResultRow>`with c as materialized (
        select c.id, c.whole_id from test_cases c where ${isIn(sql, scope)} and c.case_id = ${caseId}
      ), series as materialized (
        select c.id from c where c.whole_id is not null
        union all select s.id from c join test_cases s on s.whole_id = c.id
      )
      select page.number as run, page.failed, page.flaky, page.attempts, page.duration_ms as "durationMs",
        page.error_group as "errorGroup", page.git_sha as commit, page.git_branch as branch, page.finished_at as at,
        ${sql.literal(columnsOf(environments, { of: "e", only: environmentColumns }))}
      from (
        select newest.* from series cross join lateral (${newestOf(sql, scope, before, most)}) newest
        order by newest.number desc limit ${most}
      ) page join environments e on e.id = page.environment_id
      order by page.number desc`.pipe(
      Effect.map((rows) => rows.map(readResult)),
      dieOnSqlError
    )
  }

const readResult = (row: ResultRow): ShownResult => ({
  run: row.run,
  environment: readEnvironment(row),
  commit: row.commit,
  branch: row.branch,
  status: statusOf(row),
  attempts: row.attempts,
  durationMs: row.durationMs,
  errorGroup: row.errorGroup,
  at: iso(row.at)
})

const lastPass =
  (sql: Sql): CasesRepo["Service"]["lastPass"] =>
  (scope, caseId, before) =>
    sql<Omit<PassedRun, "at"> & { readonly at: Date }>`with c as materialized (
        select c.id, c.whole_id from test_cases c where ${isIn(sql, scope)} and c.case_id = ${caseId}
      ), series as materialized (
        select c.id from c where c.whole_id is not null
        union all select s.id from c join test_cases s on s.whole_id = c.id
      )
      select t.number as run, t.git_sha as commit, t.git_branch as branch, t.finished_at as at
      from (
        select passed.number from series cross join lateral (
          select r.number from case_results r
          where r.series_id = series.id and not r.failed and not r.flaky and r.number < ${before.number}
          order by r.number desc limit ${sql.literal(String(mostElsewhere))}
        ) passed order by passed.number desc limit ${sql.literal(String(mostElsewhere))}
      ) newest join test_runs t on t.workspace_id = ${scope.workspaceId} and t.number = newest.number
      where ${testedSame(sql, "t", before)} order by t.number desc limit 1`.pipe(
      Effect.map(([row]) => (row === undefined ? undefined : { ...row, at: iso(row.at) })),
      dieOnSqlError
    )

interface NewestRow {
  readonly caseId: string
  readonly numbers: ReadonlyArray<number>
  readonly failed: ReadonlyArray<boolean>
  readonly flaky: ReadonlyArray<boolean>
  readonly durations: ReadonlyArray<number>
}

const newest =
  (sql: Sql): CasesRepo["Service"]["newest"] =>
  (scope, caseIds, limit) => {
    const most = sql.literal(String(limit))
    return sql<NewestRow>`with c as materialized (
        select c.id, c.whole_id, c.case_id from test_cases c
        where ${isIn(sql, scope)} and c.case_id = any(${texts(caseIds, (caseId) => caseId)})
      )
      select c.case_id as "caseId", shown.* from c cross join lateral (
        select array_agg(number order by number desc) as numbers, array_agg(failed order by number desc) as failed,
          array_agg(flaky order by number desc) as flaky, array_agg(duration_ms order by number desc) as durations
        from (
          select newest.number, newest.failed, newest.flaky, newest.duration_ms
          from (select c.id where c.whole_id is not null
              union all select s.id from test_cases s where s.whole_id = c.id) series (id)
            cross join lateral (${newestOf(sql, scope, undefined, most)}) newest
          order by newest.number desc limit ${most}
        ) page
      ) shown where shown.numbers is not null`.pipe(
      Effect.map((rows) => new Map(rows.map((row) => [row.caseId, row.numbers.map(readListed(row))]))),
      dieOnSqlError
    )
  }

const readListed =
  ({ durations, failed, flaky }: NewestRow) =>
  (run: number, place: number): ListedResult => ({
    run,
    status: statusOf({ failed: failed[place]!, flaky: flaky[place]! }),
    durationMs: durations[place]!
  })

const names =
  (sql: Sql): CasesRepo["Service"]["names"] =>
  ({ productId, workspaceId }, caseIds) =>
    sql<Pick<FoundCase, "caseId" | "title" | "file">>`select c.case_id as "caseId",
        left(c.title, ${maxShownName}) as title, left(c.file, ${maxShownName}) as file from test_cases c
      where ${isIn(sql, { workspaceId, productId, environmentId: undefined })}
        and c.case_id = any(${texts(caseIds, (caseId) => caseId)})`.pipe(
      Effect.map((rows) => new Map(rows.map(({ caseId, ...name }) => [caseId, name]))),
      dieOnSqlError
    )

interface FailureRow {
  readonly id: TestRunId
  readonly mutedCount: number | null
  readonly productId: CaseScope["productId"]
  readonly caseId: string | null
  readonly title: string
  readonly errorMessage: string | null
  readonly errorStack: string | null
}

/** A run without failures is one row without a case. */
const failures =
  (sql: Sql): CasesRepo["Service"]["failures"] =>
  (workspaceId, number) =>
    sql<FailureRow>`select r.id, r.muted_count as "mutedCount", r.product_id as "productId", failure.case_id as "caseId", failure.title,
        failure.error_message as "errorMessage", failure.error_stack as "errorStack"
      from test_runs r
      left join lateral (${lastFailures(sql, { run: "r", statuses: ["failed"], characters: comparedCharacters })}) failure
        on true
      where r.workspace_id = ${workspaceId} and r.number = ${number}`.pipe(
      Effect.map((rows) => {
        const [first] = rows
        if (first === undefined) return undefined
        return {
          id: first.id,
          number,
          mutedCount: first.mutedCount ?? 0,
          productId: first.productId,
          failures: rows.flatMap(({ caseId, title, ...texts }) =>
            caseId === null ? [] : [{ caseId, title, error: failureText(texts) }]
          )
        }
      }),
      dieOnSqlError
    )

const earlier =
  (sql: Sql): CasesRepo["Service"]["earlier"] =>
  ({ number, productId, workspaceId }, caseIds) =>
    sql<EarlierFailure>`with compared as materialized (
        select coalesce(min(number), ${number}::int) as first from (
          select r.number from test_runs r
          where r.workspace_id = ${workspaceId} and r.product_id = ${productId} and r.number < ${number}
            and r.result is not null
          order by r.number desc limit ${sql.literal(String(comparedRuns))}
        ) before
      ), series as materialized (
        select c.case_id, s.id from test_cases c join test_cases s on s.whole_id = c.id
        where c.workspace_id = ${workspaceId} and c.product_id = ${productId} and c.scope_id = ${productId}
          and c.case_id = any(${texts(caseIds, (caseId) => caseId)})
      )
      select series.case_id as "caseId", recent.error_group as "errorGroup"
      from series cross join compared cross join lateral (
        select r.error_group from case_results r
        where r.series_id = series.id and r.failed and r.number >= compared.first and r.number < ${number}
      ) recent
      union
      select newest.case_id, newest.error_group from (
        select distinct on (series.case_id) series.case_id, base.failed, base.error_group
        from series cross join lateral (
          select r.number, r.failed, r.error_group from case_results r
          where r.series_id = series.id and r.on_base and r.number < ${number} order by r.number desc limit 1
        ) base
        order by series.case_id, base.number desc
      ) newest where newest.failed`.pipe(dieOnSqlError)

const days =
  (sql: Sql): CasesRepo["Service"]["days"] =>
  (scope, from, to) =>
    sql<DayFigures & { readonly day: string }>`select c.day::text, c.runs, c.counted, c.passed,
        c.flaky, c.passed_first as "passedFirst", c.p50_ms as "durationP50Ms", c.p95_ms as "durationP95Ms"
      from product_days c where ${isIn(sql, scope)} and c.day >= ${from}::date and c.day <= ${to}::date
      order by c.day`.pipe(dieOnSqlError)

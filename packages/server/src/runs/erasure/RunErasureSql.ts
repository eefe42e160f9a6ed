import type { TestRunId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import { uuids } from "../../storage/Columns.ts"
import { date, dieOnSqlError } from "../../storage/Sql.ts"
import { type BlockSizes, joinedRuns, SearchBlocks } from "../search/SearchBlocks.ts"
import { termCount } from "../search/SearchTerms.ts"
import { testsDeployment } from "../TestedAddress.ts"
import { RunErasureRepo } from "./RunErasureRepo.ts"

export const layer = Layer.effect(
  RunErasureRepo,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const sizes = yield* SearchBlocks
    return RunErasureRepo.of({
      claim: claim(sql),
      dueRuns: dueRuns(sql),
      erase: erase(sql),
      eraseRows: eraseRows(sql),
      eraseFiles: eraseFiles(sql),
      forgetBlock: forgetBlock(sql, sizes)
    })
  })
)

/** A lock of two numbers: those of one are looked through by readers of events (migration 0088). */
const claim = (sql: PgClient.PgClient) =>
  sql<{
    readonly claimed: boolean
  }>`select pg_try_advisory_xact_lock(${sql.literal(String(lockClass))}, 0) as claimed`.pipe(
    Effect.map(([row]) => row!.claimed),
    dieOnSqlError
  )

const lockClass = 89_001

/** What is older than this is due, in the workspace `w`; null where nothing is. */
const dueBefore = (sql: PgClient.PgClient, now: Timestamp, column: string, days: number | null): Statement.Fragment =>
  sql`(${date(now)}::timestamptz - coalesce(w.${sql.literal(column)}, ${PgTypes.float8(days)}) * interval '1 day')`

const dueRuns =
  (sql: PgClient.PgClient): RunErasureRepo["Service"]["dueRuns"] =>
  (now, { runDays }, { runs, tests }) => {
    const limit = sql.literal(String(runs))
    return sql<{ readonly id: TestRunId }>`with due as materialized (
        select run.id
        from workspaces w cross join lateral (select ${dueBefore(sql, now, "run_days", runDays)} as before) d
          cross join lateral (
            select r.id from test_runs r
            where r.workspace_id = w.id and r.finished_at <= d.before and r.running_retry is null
              and (r.retry_count = 0 or not exists (select from test_run_retries t
                where t.run_id = r.id and t.finished_at > d.before))
            order by r.finished_at limit ${limit}
          ) run
        where d.before is not null
        limit ${limit}
      ), held as materialized (
        select r.id, r.finished_at, r.total from test_runs r join due on due.id = r.id
        where r.state <> 'running' and r.running_retry is null
        for update of r skip locked
      )
      select id from (
        select id, sum(total) over (order by finished_at, id) - total as tests_before from held
      ) counted where tests_before < ${tests}::int`.pipe(
      Effect.map((rows) => rows.map(({ id }) => id)),
      dieOnSqlError
    )
  }

/** The duration of a test is that of its last attempt. */
const erase = (sql: PgClient.PgClient) => (runs: ReadonlyArray<TestRunId>) =>
  sql`with erased as (
      delete from test_runs where id = any(${uuids(runs)})
      returning id, workspace_id, number, product_id, environment_id, deployment_id, deployment_version, release, state,
        result, not ${testsDeployment(sql)} as tested_elsewhere, retried_elsewhere, total, passed, flaky, failed, skipped, duration_ms, retry_count, started_at, finished_at
    ), queued as (
      insert into erased_runs (run_id, workspace_id) select id, workspace_id from erased
    ), settled as (
      delete from test_run_reindex c using erased
      where c.workspace_id = erased.workspace_id and c.number = erased.number
    )
    insert into past_runs (workspace_id, number, product_id, environment_id, deployment_id, deployment_version, release,
      result, tested_elsewhere, retried_elsewhere, total, passed, flaky, failed, skipped, passed_first, duration_ms, durations, started_at, finished_at)
    select e.workspace_id, e.number, e.product_id, e.environment_id, e.deployment_id, e.deployment_version, e.release,
      e.result, e.tested_elsewhere, e.retried_elsewhere, e.total, e.passed, e.flaky, e.failed, e.skipped, ran.passed_first, e.duration_ms, ran.durations,
      e.started_at, e.finished_at
    from erased e cross join lateral (
      select count(*) filter (where t.attempt_status = 'passed')::int as passed_first,
        coalesce(array_agg(coalesce(last.duration_ms, t.attempt_duration_ms)), '{}') as durations
      from test_run_tests t left join lateral (
        select a.duration_ms from test_run_attempts a
        where a.run_id = t.run_id and a.case_id = t.case_id order by a.number desc limit 1
      ) last on e.retry_count > 0
      where t.run_id = e.id and t.attempt_status is not null
    ) ran
    where e.state = 'finished'`.pipe(Effect.asVoid, dieOnSqlError)

/** Runs whose rows are erased together. */
const maxRuns = 20

/** What belongs to runs; attempts refer to tests and retries. Files come first: their blobs take most of the space. */
const tables = ["test_run_files", "test_run_attempts", "test_run_tests", "test_run_retries", "test_run_shards"] as const

const eraseRows = (sql: PgClient.PgClient) => {
  const eraseOf = eraseRowsOf(sql)
  return Effect.fnUntraced(function* (limit: number) {
    const erased = yield* sql<{ readonly id: TestRunId }>`select run_id as id from erased_runs order by run_id
      limit ${sql.literal(String(maxRuns))} for update skip locked`
    if (erased.length === 0) return 0
    const runs = uuids(erased.map(({ id }) => id))
    let count = 0
    for (const table of tables) {
      count += yield* eraseOf(table, runs, limit - count)
      if (count >= limit) return count
    }
    yield* sql`delete from erased_runs where run_id = any(${runs})`
    return count + erased.length
  }, dieOnSqlError)
}

const eraseRowsOf =
  (sql: PgClient.PgClient) => (table: (typeof tables)[number], runs: PgTypes.Parameter, limit: number) => {
    const name = sql.literal(table)
    const gone = sql`delete from ${name} where ctid = any(array(
      select ctid from ${name} where run_id = any(${runs}) limit ${sql.literal(String(limit))}))`
    const statement =
      table === "test_run_files"
        ? sql<{ readonly count: number }>`with gone as (${gone} returning blob_id, workspace_id, run_id),
            ${garbage(sql)} select count(*)::int as count from gone`
        : sql<{ readonly count: number }>`with gone as (${gone} returning run_id)
            select count(*)::int as count from gone`
    return Effect.map(statement, ([row]) => row!.count)
  }

/** The blobs of files that are `gone` lapse at once: what deletes lapsed uploads deletes them. */
const garbage = (sql: PgClient.PgClient): Statement.Fragment =>
  sql.literal(`garbage as (
    insert into pending_blobs (id, workspace_id, run_id, lapses_at)
    select blob_id, workspace_id, run_id, now() from gone
  )`)

/** The row of a run is held, so that none of its files is replaced meanwhile. */
const eraseFiles =
  (sql: PgClient.PgClient): RunErasureRepo["Service"]["eraseFiles"] =>
  (now, { fileDays }, limit) => {
    const most = sql.literal(String(limit))
    const isOver = sql.literal("r.state <> 'running' and r.running_retry is null")
    return sql<{ readonly count: number }>`with due as materialized (
        select file.run_id, file.path, d.before
        from workspaces w cross join lateral (select ${dueBefore(sql, now, "file_days", fileDays)} as before) d
          cross join lateral (
            select f.run_id, f.path from test_run_files f join test_runs r on r.id = f.run_id and ${isOver}
            where f.workspace_id = w.id and f.created_at <= d.before
            order by f.created_at limit ${most}
          ) file
        where d.before is not null
        limit ${most}
      ), held as materialized (
        select r.id from test_runs r where r.id in (select run_id from due) and ${isOver}
        for no key update skip locked
      ), gone as (
        delete from test_run_files f using due, held
        where f.run_id = due.run_id and f.path = due.path and f.run_id = held.id and f.created_at <= due.before
        returning f.blob_id, f.workspace_id, f.run_id
      ), ${garbage(sql)}
      select count(*)::int as count from gone`.pipe(
      Effect.map(([row]) => row!.count),
      dieOnSqlError
    )
  }

interface OldBlock {
  readonly workspaceId: WorkspaceId
  readonly before: number
  readonly terms: number
}

/** Terms of a block that are forgotten at once. */
const forgottenTerms = 2_048

const forgetBlock = (sql: PgClient.PgClient, sizes: BlockSizes) =>
  Effect.gen(function* () {
    const size = joinedRuns(sizes)
    const [block] = yield* sql<OldBlock>`
      select s.workspace_id as "workspaceId", s.forgotten_runs as before, s.forgotten_terms as terms
      from test_run_search s
      where s.indexed_runs - s.forgotten_runs >= ${size} and not exists (select from test_runs r
        where r.workspace_id = s.workspace_id and r.number > s.forgotten_runs and r.number <= s.forgotten_runs + ${size})
      limit 1 for update of s skip locked`
    if (block === undefined) return 0
    const { before, terms, workspaceId } = block
    const end = Math.min(terms + forgottenTerms, termCount)
    yield* sql`delete from test_run_postings p using generate_series(${terms}::int, ${end - 1}::int) as old (term)
      where p.workspace_id = ${workspaceId} and p.term = old.term and p.first_run = ${before + 1}`
    if (end < termCount) {
      yield* sql`update test_run_search set forgotten_terms = ${end} where workspace_id = ${workspaceId}`
      return end - terms
    }
    yield* sql`delete from test_run_reindex where workspace_id = ${workspaceId} and number <= ${before + size}`
    yield* sql`update test_run_search set forgotten_runs = ${before + size}, forgotten_terms = 0
      where workspace_id = ${workspaceId}`
    return end - terms
  }).pipe(dieOnSqlError)

import type { EventId, TestRunId } from "@delivery/domain/Ids"
import type { RetriedTest, RetryAttempt } from "@delivery/domain/runs/TestResults"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import type { ActorRef } from "../access/Access.ts"
import { actorColumns, actorJoins, type ActorRow, actorsAndAgents, readActor } from "../access/Actors.ts"
import type { StoredEvent } from "../events/EventsRepo.ts"
import { insertEvent, insertEventRows } from "../events/EventStatements.ts"
import { column, texts } from "../storage/Columns.ts"
import { charactersOf, storeInParts } from "../storage/Parts.ts"
import { date, dateOrNull, dieOnSqlError } from "../storage/Sql.ts"
import { columnsOf, partReaderOf, type SelectedRow } from "../storage/Table.ts"
import {
  type FinishedRetry,
  foundColumns,
  foundRetry,
  type FoundRetry,
  type NewRetry,
  RetriesRepo,
  type RunningRetry,
  testRunAttempts,
  testRunRetries
} from "./RetriesRepo.ts"
import { endLeases } from "./SemaphoresSql.ts"
import { type Numbered, runningRetryOf, testRuns, testRunTests } from "./TestRunsRepo.ts"
import { retryLabel, runPath } from "./TestRunState.ts"
import { hasMoved } from "./TestedAddress.ts"
import { isChanged, testedJson } from "./TestRunChangesSql.ts"
import { clocksApartSql, type TestTimes, withAttempts } from "./TestTimes.ts"

export const layer = Layer.effect(
  RetriesRepo,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    return RetriesRepo.of({
      of: ofRun(sql),
      tests: tests(sql),
      start: start(sql),
      find: find(sql),
      list: list(sql),
      attempts: attempts(sql),
      finish: finish(sql),
      expire: expire(sql),
      interrupt: interrupt(sql)
    })
  })
)

const runColumns = ["retryCount", "fixtureUrl", "runningRetry", "runningRetryExpiresAt"] as const
const readRun = partReaderOf(testRuns, runColumns)
const publisherColumns = ["publisherKind", "publisherId"] as const
const readPublisher = partReaderOf(testRunRetries, publisherColumns)

/** Whether what the run `of` tested is gone: the release or the address of its deployment. */
const isGone = (sql: PgClient.PgClient, of: string): Statement.Fragment =>
  sql`(${isChanged(sql, of)} or ${hasMoved(sql, of)})`

/** What a run's row says of its retries, with the publisher of the one that runs. */
const ofRun = (sql: PgClient.PgClient) => {
  const ofRun = sql.literal(columnsOf(testRuns, { of: "r", only: runColumns }))
  const ofRetry = sql.literal(columnsOf(testRunRetries, { of: "t", only: publisherColumns }))
  return (runId: TestRunId) =>
    sql<SelectedRow & { readonly isGone: boolean }>`select ${ofRun}, ${ofRetry}, ${isGone(sql, "r")} as "isGone"
      from test_runs r
      left join test_run_retries t on t.run_id = r.id and t.number = r.running_retry
      where r.id = ${runId}`.pipe(
      Effect.map(([row]) => {
        if (row === undefined) return undefined
        const run = readRun(row)
        const { fixtureUrl, retryCount: count } = run
        return { count, fixtureUrl, running: readRunning(run, row), isGone: row.isGone }
      }),
      dieOnSqlError
    )
}

const readRunning = (run: ReturnType<typeof readRun>, row: SelectedRow): RunningRetry | null => {
  const running = runningRetryOf(run)
  if (running === null) return null
  const { publisherId, publisherKind } = readPublisher(row)
  return { state: "running", ...running, publisher: { kind: publisherKind, id: publisherId } as ActorRef }
}

const retriedColumns = ["caseId", "title", "file", "status"] as const
const readRetried = partReaderOf(testRunTests, retriedColumns)

/**
 * Whether the retry `t` of the run `r` was elsewhere. An earlier server has not told it of the one retry, but of all of them: then none is
 * taken to have tested what the run did.
 */
const isElsewhere = "coalesce(t.elsewhere, r.retried_elsewhere and t.flaky_count > 0, false)"

const tests = (sql: PgClient.PgClient) => {
  const columns = sql.literal(columnsOf(testRunTests, { of: "t", only: retriedColumns }))
  return (runId: TestRunId) =>
    sql<SelectedRow & Pick<RetriedTest, "attempts" | "lastRetry" | "passedElsewhere">>`select ${columns},
        1 + coalesce(a.attempts, 0) as attempts, a.last_retry as "lastRetry",
        t.status = 'flaky' and a.has_passed_here is not true as "passedElsewhere"
      from test_run_tests t
      left join (
        select case_id, sum(attempts)::int as attempts, max(retry) as last_retry, bool_or(has_passed_here) as has_passed_here
        from (
          select a.case_id, a.retry, count(*) as attempts,
            bool_and(a.status = 'passed') and count(*) >= max(t.required_passes) and not bool_or(${sql.literal(isElsewhere)}) as has_passed_here
          from test_run_attempts a join test_run_retries t on t.run_id = a.run_id and t.number = a.retry
            join test_runs r on r.id = a.run_id
          where a.run_id = ${runId} group by a.case_id, a.retry
        ) of_retry group by case_id
      ) a on a.case_id = t.case_id
      where t.run_id = ${runId} and t.status in ('failed', 'flaky')`.pipe(
      Effect.map((rows) =>
        rows.map((row) => {
          const { status, ...test } = readRetried(row)
          const { attempts, lastRetry, passedElsewhere } = row
          return { ...test, status: status as RetriedTest["status"], attempts, lastRetry, passedElsewhere }
        })
      ),
      dieOnSqlError
    )
}

const start = (sql: PgClient.PgClient) => (retry: NewRetry, event: StoredEvent) =>
  sql<Numbered>`with claimed as (
      update test_runs set retry_count = retry_count + 1, running_retry = retry_count + 1,
        running_retry_expires_at = ${date(retry.expiresAt)}
      where id = ${retry.runId} and state = 'finished' and running_retry is null
        and retry_count = ${retry.after}
      returning id, workspace_id, number, running_retry
    ), started as (
      insert into test_run_retries (id, workspace_id, run_id, number, publisher_kind, publisher_id,
        maker_id, required_passes, test_count, flaky_count, base_url, git_sha, git_dirty, hostname, platform, token_hash,
        fixture_scope, fixture_url, cleanup_status, state, started_at, expires_at)
      select ${retry.id}::uuid, workspace_id, id, running_retry, ${retry.publisher.kind},
        ${retry.publisher.id}::uuid, ${retry.makerId}::uuid, ${PgTypes.int4(retry.requiredPasses)}, ${PgTypes.int4(retry.testCount)}, 0, ${retry.baseUrl},
        ${retry.git.sha}, ${retry.git.dirty}::boolean, ${retry.machine.hostname}, ${retry.machine.platform},
        ${retry.tokenHash},
        'run-' || number || '-retry-' || running_retry || '-' || ${retry.fixture?.scopeKey ?? null}::text,
        ${retry.fixture?.url ?? null}, ${retry.fixture === null ? null : "pending"}, 'running',
        ${date(retry.startedAt)}::timestamptz, ${date(retry.expiresAt)}::timestamptz
      from claimed
      returning number, fixture_scope as scope
    ), inserted as (
      ${insertEvent(sql, event, "claimed", {
        label: label("claimed.number", "claimed.running_retry"),
        path: `'${runPath}' || claimed.number`
      })}
    )
    select number, scope from started`.pipe(
    Effect.map(([row]) => row),
    dieOnSqlError
  )

type JoinedRow = SelectedRow & ActorRow & { readonly isElsewhere: boolean }

/** Selects what `readRetry` reads, of the retries `t`. */
const selectRetries = (sql: PgClient.PgClient) =>
  sql`select ${sql.literal(columnsOf(testRunRetries, { of: "t", only: foundColumns }))},
      ${sql.literal(isElsewhere)} as "isElsewhere", ${actorColumns(sql, "t.publisher")}
    from test_run_retries t join test_runs r on r.id = t.run_id ${actorJoins(sql, "t.publisher")}`

const readColumns = partReaderOf(testRunRetries, foundColumns)

const readRetry = (row: JoinedRow): FoundRetry =>
  foundRetry(
    { ...readColumns(row), elsewhere: row.isElsewhere },
    { kind: row.actorKind, id: row.actorId } as ActorRef,
    readActor(row)
  )

const find = (sql: PgClient.PgClient) => {
  const select = selectRetries(sql)
  return (runId: TestRunId, number: number) =>
    sql<JoinedRow>`${select} where t.run_id = ${runId} and t.number = ${number}`.pipe(
      Effect.map((rows) => rows.map(readRetry)[0]),
      dieOnSqlError
    )
}

const list = (sql: PgClient.PgClient) => {
  const select = selectRetries(sql)
  return (runId: TestRunId) =>
    sql<JoinedRow>`${select} where t.run_id = ${runId} order by t.number`.pipe(
      Effect.map((rows) => rows.map(readRetry)),
      dieOnSqlError
    )
}

const attemptColumns = [
  "caseId",
  "number",
  "retry",
  "status",
  "durationMs",
  "startedAt",
  "errorMessage",
  "errorStack",
  "files"
] as const satisfies ReadonlyArray<keyof RetryAttempt>
const readAttempt = partReaderOf(testRunAttempts, attemptColumns)

const attempts = (sql: PgClient.PgClient) => {
  const columns = sql.literal(columnsOf(testRunAttempts, { only: attemptColumns }))
  return (runId: TestRunId) =>
    sql<SelectedRow>`select ${columns} from test_run_attempts where run_id = ${runId} order by number`.pipe(
      Effect.map((rows): ReadonlyArray<RetryAttempt> => rows.map(readAttempt)),
      dieOnSqlError
    )
}

/** A retry of a run. */
interface RetryOfRun {
  readonly runId: TestRunId
  readonly number: number
}

const finish =
  (sql: PgClient.PgClient) =>
  (
    retry: RetryOfRun,
    finished: FinishedRetry,
    eventOf: (retriedElsewhere: boolean) => StoredEvent
  ): Effect.Effect<{ readonly retriedElsewhere: boolean } | undefined> => {
    const running = sql`id = ${retry.runId} and running_retry = ${retry.number}
      and running_retry_expires_at > ${date(finished.finishedAt)}`
    return storeInParts(sql, finished.attempts, {
      sizeOf: ({ caseId, errorMessage, errorStack, files }) =>
        charactersOf([caseId, errorMessage, errorStack]) + charactersOf(files),
      store: (attempts) =>
        sql`with running as (
            select id, workspace_id from test_runs where ${running} for no key update
          )
          ${insertAttempts(sql, "running", retry.number, attempts)}`,
      decide: (attempts) =>
        Effect.map(
          end(
            sql,
            retry,
            { ...finished, attempts, lastTestAt: withAttempts({ lastTestAt: null }, finished.attempts) },
            eventOf,
            running
          ),
          ([row]) => row && { retriedElsewhere: row.retriedElsewhere }
        )
    }).pipe(dieOnSqlError)
  }

/** Inserts the attempts of a retry; the rows of `from` are its run. */
const insertAttempts = (
  sql: PgClient.PgClient,
  from: string,
  retry: number,
  attempts: ReadonlyArray<RetryAttempt>
): Statement.Fragment =>
  sql`insert into test_run_attempts (workspace_id, run_id, case_id, number, retry, status, duration_ms,
      started_at, error_message, error_stack, files)
    select run.workspace_id, run.id, a.case_id, a.number, ${PgTypes.int4(retry)}, a.status,
      a.duration_ms, a.started_at, a.error_message, a.error_stack, a.files::jsonb
    from ${sql.literal(from)} as run, unnest(${texts(attempts, (attempt) => attempt.caseId)},
      ${column(attempts, PgTypes.OID.int4, (attempt) => attempt.number)},
      ${texts(attempts, (attempt) => attempt.status)},
      ${column(attempts, PgTypes.OID.float8, (attempt) => attempt.durationMs)},
      ${column(attempts, PgTypes.OID.timestamptz, (attempt) => date(attempt.startedAt))},
      ${texts(attempts, (attempt) => attempt.errorMessage)},
      ${texts(attempts, (attempt) => attempt.errorStack)},
      ${texts(attempts, (attempt) => JSON.stringify(attempt.files))}
    ) as a (case_id, number, status, duration_ms, started_at, error_message, error_stack, files)`

/** Ends a retry that still runs, with its attempts. Whether it was elsewhere is known then. */
const end = (
  sql: PgClient.PgClient,
  { number, runId }: RetryOfRun,
  {
    again,
    attempts,
    cleanup,
    finishedAt,
    flaky,
    left,
    isOther,
    lastTestAt,
    run,
    state
  }: FinishedRetry & Pick<TestTimes, "lastTestAt"> & { readonly attempts: ReadonlyArray<RetryAttempt> },
  eventOf: (retriedElsewhere: boolean) => StoredEvent,
  running: Statement.Fragment
) => {
  const elsewhere = sql`(${isOther}::boolean or ${isGone(sql, "test_runs")}
    or coalesce(${dateOrNull(lastTestAt)}::timestamptz + ${sql.literal(clocksApartSql)} < test_runs.first_test_at, false))`
  return sql<{ readonly retriedElsewhere: boolean }>`with recounted as (
        update test_runs set result = ${run.result}, gate_result = ${run.gateResult}, passed = ${run.counts.passed}, flaky = ${run.counts.flaky},
          failed = ${run.counts.failed}, pass_rate = ${PgTypes.float8(run.passRate)},
          running_retry = null, running_retry_expires_at = null, last_test_at = greatest(last_test_at, ${dateOrNull(lastTestAt)}::timestamptz),
          retried_elsewhere = nullif(case when ${elsewhere} then ${left.ifElsewhere}::boolean else ${left.ifHere}::boolean end, false)
        where ${running}
        returning id, workspace_id, number, retried_elsewhere, ${elsewhere} as elsewhere
      ), reindexed as (
        insert into test_run_reindex (workspace_id, number, retried)
        select workspace_id, number, true from recounted
        on conflict do nothing
      ), finished as (
        update test_run_retries t set state = ${state}, flaky_count = ${PgTypes.int4(flaky.length + again.length)},
          elsewhere = recounted.elsewhere,
          finished_at = ${date(finishedAt)}, cleanup_status = ${cleanup?.status ?? null},
          cleanup_deleted = ${PgTypes.int4(cleanup?.deleted ?? null)},
          cleanup_remaining = ${PgTypes.int4(cleanup?.remaining ?? null)}
        from recounted where t.run_id = recounted.id and t.number = ${number}
        returning t.id, recounted.retried_elsewhere
      ), made_flaky as (
        update test_run_tests t set status = 'flaky'
        from recounted where t.run_id = recounted.id and t.case_id = any(${texts(flaky, (caseId) => caseId)})
      ), recorded as (
        ${insertAttempts(sql, "recounted", number, attempts)}
      ), inserted as (
        ${insertEvent(sql, eventOf(false), "finished where retried_elsewhere is null")}
      ), inserted_elsewhere as (
        ${insertEvent(sql, eventOf(true), "finished where retried_elsewhere")}
      )
      select coalesce(retried_elsewhere, false) as "retriedElsewhere", ${endLeases(sql, sql`array[${runId}::uuid]`)}
      from finished`
}

const expire = (sql: PgClient.PgClient) => (now: Timestamp, eventIds: ReadonlyArray<EventId>, runId?: TestRunId) =>
  sql`with ending as (
      select id, number, running_retry from test_runs
      where running_retry is not null and running_retry_expires_at <= ${date(now)}
        ${runId === undefined ? sql.literal("") : sql`and id = ${runId}`}
      order by running_retry_expires_at limit ${sql.literal(String(eventIds.length))}
      for update ${sql.literal(runId === undefined ? "skip locked" : "")}
    ), ${interruption(sql, now, eventIds)}`.pipe(
    Effect.map((rows) => rows.length),
    dieOnSqlError
  )

/** Ends what the publishers have running; whoever finishes a retry meanwhile is waited for. */
const interrupt =
  (sql: PgClient.PgClient): RetriesRepo["Service"]["interrupt"] =>
  ({ actor, publishers, workspaceId }, now, eventIds) =>
    sql`with ending as (
        select r.id, r.number, r.running_retry from test_runs r
        join test_run_retries t on t.run_id = r.id and t.number = r.running_retry
        where r.running_retry is not null and r.running_retry_expires_at is not null
          and r.workspace_id = ${workspaceId}
          and (t.publisher_kind, t.publisher_id) in (${actorsAndAgents(sql, workspaceId, publishers)})
        order by r.id limit ${sql.literal(String(eventIds.length))} for update of r
      ), ${interruption(sql, now, eventIds, actor)}`.pipe(
      Effect.map((rows) => rows.length),
      dieOnSqlError
    )

/** Interrupts the retries of the CTE `ending`, each with an event; by its publisher where nobody else does it. */
const interruption = (
  sql: PgClient.PgClient,
  now: Timestamp,
  eventIds: ReadonlyArray<EventId>,
  actor?: ActorRef
): Statement.Fragment =>
  sql`freed as (
      update test_runs r set running_retry = null, running_retry_expires_at = null
      from ending where r.id = ending.id
    ), interrupted as (
      update test_run_retries t set state = 'interrupted', finished_at = least(t.expires_at, ${date(now)}::timestamptz),
        cleanup_status = case when t.cleanup_status is not null then 'incomplete' end
      from ending where t.run_id = ending.id and t.number = ending.running_retry
      returning t.id, t.run_id, t.workspace_id, ending.number as run, t.number, t.publisher_kind, t.publisher_id
    ), events_of as (
      select event.id, t.workspace_id, 'retry_interrupted' as kind,
        coalesce(${actor?.kind ?? null}::text, t.publisher_kind) as actor_kind,
        coalesce(${actor?.id ?? null}::uuid, t.publisher_id) as actor_id, 'retry' as subject_type,
        t.id::text as subject_id, ${sql.literal(label("t.run", "t.number"))} as subject_label,
        ${sql.literal(`'${runPath}'`)} || t.run as subject_path, ${testedJson(sql, "t.run_id")} as changes,
        ${date(now)}::timestamptz as created_at
      from (select *, row_number() over () as row from interrupted) t
      join unnest(${column(eventIds, PgTypes.OID.uuid, (id) => id)}) with ordinality as event (id, row)
        on event.row = t.row
    ), inserted as (
      ${insertEventRows(sql, "events_of")}
    )
    select interrupted.id
    from interrupted, (select ${endLeases(sql, sql`array_agg(run_id)`)} from interrupted) as leases`

/** The label of a retry in events, made of two expressions of SQL. */
const label = (run: string, retry: string) => `'${retryLabel.retry}' || ${retry} || '${retryLabel.ofRun}' || ${run}`

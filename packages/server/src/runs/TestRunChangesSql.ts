import type { DeploymentId, EventId, TestRunId, WorkspaceId } from "@delivery/domain/Ids"
import type { RecordedTest } from "@delivery/domain/runs/TestResults"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { type PgClient, PgTypes } from "@effect/sql-pg"
import { Effect } from "effect"
import type { Statement } from "effect/sql"
import type { ActorRef } from "../access/Access.ts"
import { actorsAndAgents } from "../access/Actors.ts"
import type { StoredEvent } from "../events/EventsRepo.ts"
import { insertEvent, insertEventRows } from "../events/EventStatements.ts"
import { batched } from "../storage/Batched.ts"
import { column, texts } from "../storage/Columns.ts"
import { storeInParts } from "../storage/Parts.ts"
import { date, dateOrNull, dieOnSqlError } from "../storage/Sql.ts"
import { searchText } from "./search/SearchText.ts"
import { endLeases } from "./SemaphoresSql.ts"
import type { FinishedTestRun, NewTestRun, Numbered, StrayPublisher, TestRunsRepo } from "./TestRunsRepo.ts"
import { runLabel, runPath } from "./TestRunState.ts"
import { charactersOfTest } from "./TestSize.ts"
import { type TestTimes, testTimesOf } from "./TestTimes.ts"

/** How a run starts and ends over SQL: one statement decides each change, with its event. */

/** A run that starts, and its event. */
interface StartedTestRun {
  readonly run: NewTestRun
  readonly event: StoredEvent
}

/**
 * Runs of a workspace are counted on one row, one after the other: those that arrive meanwhile start together, in one
 * statement.
 */
export const start = (sql: PgClient.PgClient) => {
  const insert = insertStarted(sql)
  const startAll = (started: ReadonlyArray<StartedTestRun>) =>
    insert(started[0]!.run.workspaceId, started).pipe(
      Effect.filterOrElse(
        (rows) => rows.length === started.length,
        () => Effect.die(new Error("The workspace of a run does not exist."))
      ),
      dieOnSqlError
    )
  const startOne = batched(sql, startAll, { running: 1, groupOf: ({ run }) => run.workspaceId })
  return (run: NewTestRun, event: StoredEvent) => startOne({ run, event })
}

const insertStarted =
  (sql: PgClient.PgClient) => (workspaceId: WorkspaceId, started: ReadonlyArray<StartedTestRun>) => {
    const { OID } = PgTypes
    const text = (value: (run: NewTestRun) => string | null) => texts(started, ({ run }) => value(run))
    const values = (type: number, value: (started: StartedTestRun) => unknown) => column(started, type, value)
    return sql<Numbered>`with counted as (
      update workspaces set last_run_number = last_run_number + ${started.length}::integer
      where id = ${workspaceId}
      returning id, last_run_number - ${started.length}::integer as before
    ), numbered as (
      select counted.id as workspace_id, (counted.before + place)::integer as number, new_runs.*
      from counted, unnest(${values(OID.uuid, ({ run }) => run.id)},
        ${values(OID.uuid, ({ run }) => run.productId)}, ${values(OID.uuid, ({ run }) => run.environmentId)},
        ${text(({ publisher }) => publisher.kind)}, ${values(OID.uuid, ({ run }) => run.publisher.id)},
        ${values(OID.uuid, ({ run }) => run.makerId)},
        ${text(({ baseUrl }) => baseUrl)}, ${text(({ deploymentBaseUrl }) => deploymentBaseUrl)},
        ${text(({ deploymentVersion }) => deploymentVersion)}, ${values(OID.uuid, ({ run }) => run.deploymentId)},
        ${values(OID.int4, ({ run }) => run.release)}, ${values(OID.bool, ({ run }) => run.locked)},
        ${text(({ git }) => git.branch)},
        ${text(({ git }) => git.sha)}, ${values(OID.bool, ({ run }) => run.git.dirty)},
        ${text(({ git }) => git.subject)}, ${values(OID.int4, ({ run }) => run.git.pullRequest ?? null)},
        ${text(({ ciUrl }) => ciUrl)}, ${text(({ git }) => searchText(git))},
        ${text(({ machine }) => machine.hostname)}, ${text(({ machine }) => machine.platform)},
        ${text(({ selection }) => selection.coverage)},
        ${text(({ selection: { caseIds, folders } }) => JSON.stringify({ folders, caseIds }))},
        ${text(({ mutes }) => (mutes.length === 0 ? null : JSON.stringify(mutes)))},
        ${text(({ tokenHash }) => tokenHash)}, ${text(({ fixture }) => fixture?.scopeKey ?? null)},
        ${text(({ fixture }) => fixture?.url ?? null)},
        ${values(OID.timestamptz, ({ run }) => date(run.startedAt))},
        ${values(OID.timestamptz, ({ run }) => date(run.expiresAt))},
        ${values(OID.uuid, ({ event }) => event.id)}
      ) with ordinality as new_runs (id, product_id, environment_id, publisher_kind, publisher_id, maker_id, base_url,
        deployment_base_url, deployment_version, deployment_id, release, locked, git_branch, git_sha, git_dirty,
        git_subject, git_pull_request, ci_url, search, hostname, platform, coverage, selection, mutes, token_hash, scope_key, fixture_url, started_at, expires_at, event_id, place)
    ), started as (
      insert into test_runs (id, workspace_id, number, product_id, environment_id, publisher_kind, publisher_id,
        maker_id, base_url, deployment_base_url, deployment_version, deployment_id, release, locked, git_branch,
        git_sha, git_dirty, git_subject, git_pull_request, ci_url, search, hostname, platform, coverage, selection, mutes, muted_count, token_hash, fixture_scope, fixture_url, cleanup_status, state,
        total, passed, flaky, failed, skipped, duration_ms, started_at, expires_at)
      select id, workspace_id, number, product_id, environment_id, publisher_kind, publisher_id, maker_id, base_url,
        deployment_base_url, deployment_version, deployment_id, release, locked, git_branch, git_sha, git_dirty,
        git_subject, git_pull_request, ci_url, search, hostname, platform, coverage, selection::jsonb, mutes::jsonb, jsonb_array_length(mutes::jsonb), token_hash, 'run-' || number || '-' || scope_key, fixture_url,
        case when fixture_url is not null then 'pending' end, 'running', 0, 0, 0, 0, 0, 0, started_at, expires_at
      from numbered
      returning number, fixture_scope as scope
    ), events_of as (
      select event_id as id, workspace_id, 'run_started' as kind, publisher_kind as actor_kind,
        publisher_id as actor_id, 'run' as subject_type, id::text as subject_id,
        ${sql.literal(`'${runLabel}'`)} || number as subject_label,
        ${sql.literal(`'${runPath}'`)} || number as subject_path, '[]'::jsonb as changes,
        started_at as created_at
      from numbered
    ), inserted as (
      ${insertEventRows(sql, "events_of")}
    )
    select number, scope from started order by number`
  }

export const finish =
  (sql: PgClient.PgClient): TestRunsRepo["Service"]["finish"] =>
  (id, finished, tests, event) => {
    // With `state = 'running'` for itself, PostgreSQL may look the run up among all that run, which it takes for few.
    const running = sql`id = ${id} and case when state = 'running' then expires_at > ${date(finished.finishedAt)} end`
    return storeInParts(sql, tests, {
      sizeOf: charactersOfTest,
      store: (part) =>
        sql`with running as (
            select id, workspace_id from test_runs where ${running} for no key update
          )
          ${insertTests(sql, "running", part)}`,
      decide: (rows) =>
        Effect.map(
          end(sql, running, { ...finished, ...testTimesOf(tests, finished.finishedAt) }, rows, event),
          ([row]) => row && { deploymentChanged: row.deploymentChanged }
        )
    }).pipe(dieOnSqlError)
  }

/** Inserts tests; the rows of `from` are their run. */
export const insertTests = (
  sql: PgClient.PgClient,
  from: string,
  tests: ReadonlyArray<RecordedTest>
): Statement.Fragment =>
  sql`insert into test_run_tests (workspace_id, run_id, case_id, title, file, coverage, test_kind, priority,
      status, files, attempt_status, attempt_duration_ms, attempt_started_at, attempt_error_message,
      attempt_error_stack, attempt_files)
    select run.workspace_id, run.id, t.case_id, t.title, t.file, t.coverage, t.test_kind,
      t.priority, t.status, t.files::jsonb, t.attempt_status, t.attempt_duration_ms, t.attempt_started_at,
      t.attempt_error_message, t.attempt_error_stack, t.attempt_files::jsonb
    from ${sql.literal(from)} as run, unnest(${texts(tests, (test) => test.caseId)}, ${texts(tests, (test) => test.title)},
      ${texts(tests, (test) => test.file)}, ${texts(tests, (test) => test.coverage)},
      ${texts(tests, (test) => test.testKind)}, ${texts(tests, (test) => test.priority)},
      ${texts(tests, (test) => test.status)}, ${texts(tests, (test) => JSON.stringify(test.files))},
      ${texts(tests, (test) => test.attempts[0]?.status)},
      ${column(tests, PgTypes.OID.float8, (test) => test.attempts[0]?.durationMs)},
      ${column(tests, PgTypes.OID.timestamptz, (test) => dateOrNull(test.attempts[0]?.startedAt ?? null))},
      ${texts(tests, (test) => test.attempts[0]?.errorMessage)},
      ${texts(tests, (test) => test.attempts[0]?.errorStack)},
      ${texts(tests, (test) => jsonOrNull(test.attempts[0]?.files))}
    ) as t (case_id, title, file, coverage, test_kind, priority, status, files, attempt_status,
      attempt_duration_ms, attempt_started_at, attempt_error_message, attempt_error_stack, attempt_files)`

/** Ends a run that still runs, with its tests. */
const end = (
  sql: PgClient.PgClient,
  running: Statement.Fragment,
  finished: FinishedTestRun & TestTimes,
  tests: ReadonlyArray<RecordedTest>,
  event: StoredEvent
) =>
  sql<{ readonly deploymentChanged: boolean }>`with finished as (
        update test_runs set state = ${finished.state}, result = ${finished.result}, error = ${finished.error},
          gate_result = ${finished.gateResult},
          total = ${finished.counts.total}, passed = ${finished.counts.passed}, flaky = ${finished.counts.flaky},
          failed = ${finished.counts.failed}, skipped = ${finished.counts.skipped},
          pass_rate = ${PgTypes.float8(finished.passRate)},
          first_attempt_pass_rate = ${PgTypes.float8(finished.firstAttemptPassRate)},
          duration_ms = ${PgTypes.float8(finished.durationMs)}, finished_at = ${date(finished.finishedAt)},
          cleanup_status = ${finished.cleanup?.status ?? null},
          cleanup_deleted = ${PgTypes.int4(finished.cleanup?.deleted ?? null)},
          cleanup_remaining = ${PgTypes.int4(finished.cleanup?.remaining ?? null)},
          deployment_changed = ${isChanged(sql, "test_runs")}, ${withTestTimes(sql, finished)}
        where ${running}
        returning id, workspace_id, deployment_id, locked, deployment_changed
      ), recorded as (
        ${insertTests(sql, "finished", tests)}
      ), inserted as (
        ${insertEvent(sql, event, "finished")}
      )
      select deployment_changed as "deploymentChanged", ${endLeases(sql, sql`array[id]`)}, ${giveBack(sql)}
      from finished`

/** Sets when the tests of a run began, where some more did. */
export const withTestTimes = (sql: PgClient.PgClient, { firstTestAt, lastTestAt }: TestTimes): Statement.Fragment =>
  sql`first_test_at = least(first_test_at, ${dateOrNull(firstTestAt)}::timestamptz),
    last_test_at = greatest(last_test_at, ${dateOrNull(lastTestAt)}::timestamptz)`

/** Whether the release of the deployment is another than that which the run began on, or the deployment was deleted. */
export const isChanged = (sql: PgClient.PgClient, run: string): Statement.Fragment =>
  sql.literal(`coalesce((select d.release <> coalesce(${run}.release, 0) or d.deleted_at is not null
    from deployments d where d.id = ${run}.deployment_id), false)`)

/** What `tested` tells of a run, as JSON. */
export const testedJson = (sql: PgClient.PgClient, run: string): Statement.Fragment =>
  sql.literal(`(select jsonb_agg(jsonb_build_object('field', told.field, 'from', null, 'to', told.value) order by told.place)
    from test_runs tested join products p on p.id = tested.product_id join environments e on e.id = tested.environment_id,
      lateral (values (1, 'product', p.name), (2, 'environment', e.name), (3, 'version', tested.deployment_version))
        as told (place, field, value)
    where tested.id = ${run} and told.value is not null)`)

/** Notifies whoever waits for the deployment of a locked run, over a row of the run. */
const giveBack = (sql: PgClient.PgClient): Statement.Fragment =>
  sql.literal("case when locked then pg_notify('deployments', deployment_id::text) end")

/** The deployment's row is locked before the run's, and stays so until the run is there for all to see. */
export const takeDeployment = (sql: PgClient.PgClient) => (run: TestRunId, deployment: DeploymentId) =>
  sql`with taken as (
      update deployments set locks = locks + 1 where id = ${deployment} returning release, version, base_url
    )
    update test_runs set release = nullif(taken.release, 0), deployment_version = taken.version,
      deployment_base_url = taken.base_url
    from taken where id = ${run}`.pipe(Effect.asVoid, dieOnSqlError)

const jsonOrNull = (files: ReadonlyArray<string> | undefined): string | null =>
  files === undefined ? null : JSON.stringify(files)

/** When a run is overdue, as the index of what runs has it (migration 0065); null for what does not run. */
const overdueAt = "case when state = 'running' then expires_at end"

export const expire = (sql: PgClient.PgClient) => {
  const overdue = sql.literal(overdueAt)
  return (now: Timestamp, eventIds: ReadonlyArray<EventId>) =>
    sql<{ readonly workspaceId: WorkspaceId; readonly number: number }>`with ending as (
        select id from test_runs where ${overdue} <= ${date(now)}
        order by ${overdue} limit ${sql.literal(String(eventIds.length))} for update skip locked
      ), ${interruption(sql, now, eventIds)}
      select workspace_id as "workspaceId", number, leases.ended, ${giveBack(sql)}
      from interrupted, (select ${endLeases(sql, sql`array_agg(id)`)} from interrupted) as leases`.pipe(dieOnSqlError)
}

/** Ends what the publishers have running; whoever finishes a run meanwhile is waited for. */
export const interrupt =
  (sql: PgClient.PgClient): TestRunsRepo["Service"]["interrupt"] =>
  ({ actor, publishers, workspaceId }, now, eventIds) =>
    sql`with ending as (
        select id from test_runs
        where ${sql.literal(overdueAt)} is not null and workspace_id = ${workspaceId}
          and (publisher_kind, publisher_id) in (${actorsAndAgents(sql, workspaceId, publishers)})
        order by id limit ${sql.literal(String(eventIds.length))} for update
      ), ${interruption(sql, now, eventIds, actor)}
      select id, leases.ended, ${giveBack(sql)}
      from interrupted, (select ${endLeases(sql, sql`array_agg(id)`)} from interrupted) as leases`.pipe(
      Effect.map((rows) => rows.length),
      dieOnSqlError
    )

export const strayPublishers = (sql: PgClient.PgClient): TestRunsRepo["Service"]["strayPublishers"] =>
  dieOnSqlError(
    sql<StrayPublisher>`select distinct p.workspace_id as "workspaceId", p.publisher_id as "personId" from (
        select workspace_id, publisher_kind, publisher_id from test_runs where ${sql.literal(overdueAt)} is not null
        union all
        select t.workspace_id, t.publisher_kind, t.publisher_id from test_runs r
        join test_run_retries t on t.run_id = r.id and t.number = r.running_retry
        where r.running_retry is not null and r.running_retry_expires_at is not null
      ) p
      where p.publisher_kind = 'user' and not exists (
        select from members m where m.workspace_id = p.workspace_id and m.person_id = p.publisher_id
          and m.active and m.role <> 'viewer'
      )`
  )

/** Interrupts the runs of the CTE `ending`, each with an event; by its publisher where nobody else does it. */
const interruption = (
  sql: PgClient.PgClient,
  now: Timestamp,
  eventIds: ReadonlyArray<EventId>,
  actor?: ActorRef
): Statement.Fragment =>
  sql`interrupted as (
      update test_runs r set state = 'interrupted', finished_at = least(r.expires_at, ${date(now)}::timestamptz),
        cleanup_status = case when r.cleanup_status is not null then 'incomplete' end,
        deployment_changed = ${isChanged(sql, "r")}
      from ending where r.id = ending.id
      returning r.id, r.deployment_id, r.locked, r.workspace_id, r.number, r.publisher_kind, r.publisher_id
    ), events_of as (
      select event.id, r.workspace_id, 'run_interrupted' as kind,
        coalesce(${actor?.kind ?? null}::text, r.publisher_kind) as actor_kind,
        coalesce(${actor?.id ?? null}::uuid, r.publisher_id) as actor_id, 'run' as subject_type,
        r.id::text as subject_id, ${sql.literal(`'${runLabel}'`)} || r.number as subject_label,
        ${sql.literal(`'${runPath}'`)} || r.number as subject_path, ${testedJson(sql, "r.id")} as changes,
        ${date(now)}::timestamptz as created_at
      from (select *, row_number() over () as row from interrupted) r
      join unnest(${column(eventIds, PgTypes.OID.uuid, (id) => id)}) with ordinality as event (id, row)
        on event.row = r.row
    ), inserted as (
      ${insertEventRows(sql, "events_of")}
    )`

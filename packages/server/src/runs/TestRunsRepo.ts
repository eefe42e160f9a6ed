import type { EnvironmentClass } from "@delivery/domain/catalog/Environment"
import type { Actor } from "@delivery/domain/identity/Actor"
import type { EnvironmentId, EventId, ProductId, TestRunId, WorkspaceId } from "@delivery/domain/Ids"
import type { Coverage, TestStatus } from "@delivery/domain/runs/TestEntry"
import { emptyTally, type RecordedTest } from "@delivery/domain/runs/TestResults"
import type { Cleanup, RunResult, RunState } from "@delivery/domain/runs/TestRun"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import type { EnvironmentRow } from "../catalog/EnvironmentsRepo.ts"
import type { ProductRow } from "../catalog/ProductsRepo.ts"
import { insertEvent, insertEventRows } from "../events/EventStatements.ts"
import type { StoredEvent } from "../events/EventsRepo.ts"
import { type ActorRef, isSameActor } from "../access/Access.ts"
import { actorColumns, actorJoins, type ActorRow, readActor, resolveActor } from "../access/Actors.ts"
import { batched } from "../storage/Batched.ts"
import { column, texts } from "../storage/Columns.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { date, dieOnSqlError, iso, isoOfJson, isoOrNull, prepared } from "../storage/Sql.ts"
import { MemorySemaphores } from "./MemorySemaphores.ts"
import { SearchBlocks } from "./search/SearchBlocks.ts"
import { searchPart, searchText } from "./search/SearchText.ts"
import * as TestRunIndex from "./search/TestRunIndex.ts"
import * as TestRunSearch from "./search/TestRunSearch.ts"
import { endLeases } from "./SemaphoresRepo.ts"
import type {
  FinishedTestRun,
  LockedTestRun,
  NewTestRun,
  Numbered,
  RetryInRun,
  ShownTestRun,
  TestRunFilter
} from "./TestRunRows.ts"
import { expired, foldSha, isRunning, runLabel, runPath } from "./TestRunState.ts"

/** Stores test runs with their tests. */
export class TestRunsRepo extends Context.Service<
  TestRunsRepo,
  {
    /**
     * Stores a run that starts, under the workspace's next number, with the event `run_started`. Numbers are without
     * gaps however many start at once. The event's label and path are those of the number.
     */
    readonly start: (run: NewTestRun, event: StoredEvent) => Effect.Effect<Numbered>
    /**
     * Stores a run's results with its event, if it still runs at `finishedAt`; of all finish calls and the expiry,
     * one wins. Answers whether this one did.
     */
    readonly finish: (
      id: TestRunId,
      finished: FinishedTestRun,
      tests: ReadonlyArray<RecordedTest>,
      event: StoredEvent
    ) => Effect.Effect<boolean>
    /**
     * Ends runs that are overdue at `now` as interrupted, each with an event that has one of the ids; at most as many
     * as there are ids. Safe with many servers. Answers which.
     */
    readonly expire: (
      now: Timestamp,
      eventIds: ReadonlyArray<EventId>
    ) => Effect.Effect<ReadonlyArray<{ readonly workspaceId: WorkspaceId; readonly number: number }>>
    readonly find: (workspaceId: WorkspaceId, number: number) => Effect.Effect<ShownTestRun | undefined>
    /** With the tests as of the same instant, and how many retries have started. */
    readonly findWithTests: (
      workspaceId: WorkspaceId,
      number: number
    ) => Effect.Effect<
      | {
          readonly run: ShownTestRun
          readonly tests: ReadonlyArray<RecordedTest>
          readonly retryCount: number
        }
      | undefined
    >
    /** Each with the run's own attempt alone. In no order. */
    readonly tests: (id: TestRunId) => Effect.Effect<ReadonlyArray<RecordedTest>>
    /** Newest first, at most `limit`. */
    readonly list: (
      workspaceId: WorkspaceId,
      filter: TestRunFilter,
      limit: number
    ) => Effect.Effect<ReadonlyArray<ShownTestRun>>
    /**
     * Makes runs sooner found by `q`: indexes the next block of runs of any workspace that has one full, in a
     * transaction. Safe with many servers. Answers whether there was one.
     */
    readonly indexBlock: Effect.Effect<boolean>
    /**
     * Makes fewer runs compared by `q` with `result`, and by several filters: writes again which results indexed runs
     * of a block have that ended or were retried since, in a transaction. Safe with many servers. Answers whether there
     * were some.
     */
    readonly indexResults: Effect.Effect<boolean>
    /** The run's state; holds its row until the transaction ends. */
    readonly lock: (id: TestRunId) => Effect.Effect<LockedTestRun | undefined>
  }
>()("@delivery/server/runs/TestRunsRepo") {
  static readonly layerSql = Layer.effect(
    TestRunsRepo,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const sizes = yield* SearchBlocks
      const columns = sql.literal(`r.id, r.workspace_id as "workspaceId", r.number, r.state, r.result, r.error,
        r.total, r.passed, r.flaky, r.failed, r.skipped, r.pass_rate as "passRate",
        r.first_attempt_pass_rate as "firstAttemptPassRate", p.slug as "productSlug", p.name as "productName",
        e.slug as "environmentSlug", e.name as "environmentName", e.class as "environmentClass",
        r.base_url as "baseUrl", r.deployment_base_url as "deploymentBaseUrl",
        r.deployment_version as "deploymentVersion", r.git_branch as "gitBranch", r.git_sha as "gitSha",
        r.git_dirty as "gitDirty", r.git_subject as "gitSubject", r.hostname, r.platform, r.coverage,
        r.fixture_scope as "fixtureScope", r.cleanup_status as "cleanupStatus", r.cleanup_deleted as "cleanupDeleted",
        r.cleanup_remaining as "cleanupRemaining", r.duration_ms as "durationMs", r.started_at as "startedAt",
        r.expires_at as "expiresAt", r.finished_at as "finishedAt"`)
      const publisher = actorColumns(sql, "r.publisher")
      const joins = sql`join products p on p.id = r.product_id join environments e on e.id = r.environment_id
        ${actorJoins(sql, "r.publisher")}`

      const readRuns = (workspaceId: WorkspaceId, numbers: Statement.Fragment) =>
        sql<SqlRow>`select ${columns}, ${publisher} from (${numbers}) as page
          join test_runs r on r.workspace_id = ${workspaceId} and r.number = page.number
          ${joins} order by r.number desc`.pipe(
          Effect.map((rows) => rows.map(readRun)),
          dieOnSqlError
        )

      const findRun = prepared(
        sql,
        (workspaceId: WorkspaceId, number: number) =>
          sql<SqlRow>`select ${columns}, ${publisher} from test_runs r ${joins}
            where r.workspace_id = ${workspaceId} and r.number = ${number}`
      )
      // One text, which is parsed in less time than thousands of values are decoded.
      const tests = sql.literal(`(
        select coalesce(json_agg(json_build_array(t.case_id, t.title, t.file, t.coverage, t.test_kind, t.priority,
          t.status, t.files, t.attempt_status, t.attempt_duration_ms, t.attempt_started_at, t.attempt_error_message,
          t.attempt_error_stack, t.attempt_files)), '[]')
        from test_run_tests t where t.run_id = r.id) as tests`)
      const findRunWithTests = prepared(
        sql,
        (workspaceId: WorkspaceId, number: number) =>
          sql<SqlRow & { readonly tests: ReadonlyArray<SqlTest>; readonly retryCount: number }>`
            select ${columns}, ${publisher}, r.retry_count as "retryCount", ${tests} from test_runs r ${joins}
            where r.workspace_id = ${workspaceId} and r.number = ${number}`
      )

      const insertStarted = (workspaceId: WorkspaceId, started: ReadonlyArray<StartedTestRun>) => {
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
              ${text(({ baseUrl }) => baseUrl)}, ${text(({ deploymentBaseUrl }) => deploymentBaseUrl)},
              ${text(({ deploymentVersion }) => deploymentVersion)}, ${text(({ git }) => git.branch)},
              ${text(({ git }) => git.sha)}, ${values(OID.bool, ({ run }) => run.git.dirty)},
              ${text(({ git }) => git.subject)}, ${text(({ git }) => searchText(git))},
              ${text(({ machine }) => machine.hostname)}, ${text(({ machine }) => machine.platform)},
              ${text(({ selection }) => selection.coverage)},
              ${text(({ selection: { caseIds, folders } }) => JSON.stringify({ folders, caseIds }))},
              ${text(({ tokenHash }) => tokenHash)}, ${text(({ fixture }) => fixture?.scopeKey ?? null)},
              ${text(({ fixture }) => fixture?.url ?? null)},
              ${values(OID.timestamptz, ({ run }) => date(run.startedAt))},
              ${values(OID.timestamptz, ({ run }) => date(run.expiresAt))},
              ${values(OID.uuid, ({ event }) => event.id)}
            ) with ordinality as new_runs (id, product_id, environment_id, publisher_kind, publisher_id, base_url,
              deployment_base_url, deployment_version, git_branch, git_sha, git_dirty, git_subject, search, hostname,
              platform, coverage, selection, token_hash, scope_key, fixture_url, started_at, expires_at, event_id, place)
          ), started as (
            insert into test_runs (id, workspace_id, number, product_id, environment_id, publisher_kind, publisher_id,
              base_url, deployment_base_url, deployment_version, git_branch, git_sha, git_dirty, git_subject, search,
              hostname, platform, coverage, selection, token_hash, fixture_scope, fixture_url, cleanup_status, state,
              total, passed, flaky, failed, skipped, duration_ms, started_at, expires_at)
            select id, workspace_id, number, product_id, environment_id, publisher_kind, publisher_id, base_url,
              deployment_base_url, deployment_version, git_branch, git_sha, git_dirty, git_subject, search, hostname,
              platform, coverage, selection::jsonb, token_hash, 'run-' || number || '-' || scope_key, fixture_url,
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
          ), told as (
            ${insertEventRows(sql, "events_of")}
          )
          select number, scope from started order by number`
      }
      /** When a run is overdue, as its index has it (migration 0065). */
      const overdueAt = sql.literal("case when state = 'running' then expires_at end")
      // Runs of a workspace are counted on one row, one after the other: those that start meanwhile start together.
      const start = batched(
        sql,
        (started: ReadonlyArray<StartedTestRun>) =>
          insertStarted(started[0]!.run.workspaceId, started).pipe(
            Effect.filterOrElse(
              (rows) => rows.length === started.length,
              () => Effect.die(new Error("The workspace of a run does not exist."))
            ),
            dieOnSqlError
          ),
        { running: 1, groupOf: ({ run }) => run.workspaceId }
      )

      return TestRunsRepo.of({
        start: (run, event) => start({ run, event }),

        // With `state = 'running'` for itself, PostgreSQL may look the run up among all that run, which it takes for few.
        finish: (id, finished, tests, event) =>
          sql`with finished as (
              update test_runs set state = ${finished.state}, result = ${finished.result}, error = ${finished.error},
                total = ${finished.counts.total}, passed = ${finished.counts.passed}, flaky = ${finished.counts.flaky},
                failed = ${finished.counts.failed}, skipped = ${finished.counts.skipped},
                pass_rate = ${PgTypes.float8(finished.passRate)},
                first_attempt_pass_rate = ${PgTypes.float8(finished.firstAttemptPassRate)},
                duration_ms = ${PgTypes.float8(finished.durationMs)}, finished_at = ${date(finished.finishedAt)},
                cleanup_status = ${finished.cleanup?.status ?? null},
                cleanup_deleted = ${PgTypes.int4(finished.cleanup?.deleted ?? null)},
                cleanup_remaining = ${PgTypes.int4(finished.cleanup?.remaining ?? null)}
              where id = ${id} and case when state = 'running' then expires_at > ${date(finished.finishedAt)} end
              returning id, workspace_id
            ), recorded as (
              insert into test_run_tests (workspace_id, run_id, case_id, title, file, coverage, test_kind, priority,
                status, files, attempt_status, attempt_duration_ms, attempt_started_at, attempt_error_message,
                attempt_error_stack, attempt_files)
              select finished.workspace_id, finished.id, t.case_id, t.title, t.file, t.coverage, t.test_kind,
                t.priority, t.status, t.files::jsonb, t.attempt_status, t.attempt_duration_ms, t.attempt_started_at,
                t.attempt_error_message, t.attempt_error_stack, t.attempt_files::jsonb
              from finished, unnest(${texts(tests, (test) => test.caseId)}, ${texts(tests, (test) => test.title)},
                ${texts(tests, (test) => test.file)}, ${texts(tests, (test) => test.coverage)},
                ${texts(tests, (test) => test.testKind)}, ${texts(tests, (test) => test.priority)},
                ${texts(tests, (test) => test.status)}, ${texts(tests, (test) => JSON.stringify(test.files))},
                ${texts(tests, (test) => test.attempts[0]?.status)},
                ${column(tests, PgTypes.OID.float8, (test) => test.attempts[0]?.durationMs)},
                ${column(tests, PgTypes.OID.timestamptz, (test) => dateOrNull(test.attempts[0]?.startedAt))},
                ${texts(tests, (test) => test.attempts[0]?.errorMessage)},
                ${texts(tests, (test) => test.attempts[0]?.errorStack)},
                ${texts(tests, (test) => jsonOrNull(test.attempts[0]?.files))}
              ) as t (case_id, title, file, coverage, test_kind, priority, status, files, attempt_status,
                attempt_duration_ms, attempt_started_at, attempt_error_message, attempt_error_stack, attempt_files)
            ), told as (
              ${insertEvent(sql, event, "finished")}
            )
            select id, ${endLeases(sql, sql`array[id]`)} from finished`.pipe(
            Effect.map((rows) => rows.length === 1),
            dieOnSqlError
          ),

        expire: (now, eventIds) =>
          sql<{ readonly workspaceId: WorkspaceId; readonly number: number }>`with overdue as (
              select id from test_runs where ${overdueAt} <= ${date(now)}
              order by ${overdueAt} limit ${sql.literal(String(eventIds.length))} for update skip locked
            ), interrupted as (
              update test_runs r set state = 'interrupted', finished_at = r.expires_at,
                cleanup_status = case when r.cleanup_status is not null then 'incomplete' end
              from overdue where r.id = overdue.id
              returning r.id, r.workspace_id, r.number, r.publisher_kind, r.publisher_id
            ), events_of as (
              select event.id, r.workspace_id, 'run_interrupted' as kind, r.publisher_kind as actor_kind,
                r.publisher_id as actor_id, 'run' as subject_type, r.id::text as subject_id,
                ${sql.literal(`'${runLabel}'`)} || r.number as subject_label,
                ${sql.literal(`'${runPath}'`)} || r.number as subject_path, '[]'::jsonb as changes,
                ${date(now)}::timestamptz as created_at
              from (select *, row_number() over () as row from interrupted) r
              join unnest(${column(eventIds, PgTypes.OID.uuid, (id) => id)}) with ordinality as event (id, row)
                on event.row = r.row
            ), told as (
              ${insertEventRows(sql, "events_of")}
            )
            select workspace_id as "workspaceId", number, leases.ended
            from interrupted, (select ${endLeases(sql, sql`array_agg(id)`)} from interrupted) as leases`.pipe(
            dieOnSqlError
          ),

        find: (workspaceId, number) =>
          findRun(workspaceId, number).pipe(
            Effect.map((rows) => rows.map(readRun)[0]),
            dieOnSqlError
          ),

        findWithTests: (workspaceId, number) =>
          findRunWithTests(workspaceId, number).pipe(
            Effect.map(([row]) =>
              row === undefined
                ? undefined
                : { run: readRun(row), tests: row.tests.map(readTest), retryCount: row.retryCount }
            ),
            dieOnSqlError
          ),

        tests: (id) =>
          sql<{ readonly tests: ReadonlyArray<SqlTest> }>`select ${tests} from test_runs r where r.id = ${id}`.pipe(
            Effect.map(([row]) => row?.tests.map(readTest) ?? []),
            dieOnSqlError
          ),

        list: TestRunSearch.list({ sql, sizes, readRuns }),

        indexBlock: TestRunIndex.indexBlock({ sql, sizes }),

        indexResults: TestRunIndex.indexResults({ sql, sizes }),

        lock: (id) =>
          sql<SqlLock>`select state, expires_at as "expiresAt", running_retry as "number",
              running_retry_expires_at as "retryExpiresAt"
            from test_runs where id = ${id} for update`.pipe(
            Effect.map((rows) => rows.map(readLock)[0]),
            dieOnSqlError
          )
      })
    })
  )

  static readonly layerMemory = Layer.effect(
    TestRunsRepo,
    Effect.gen(function* () {
      const memory = yield* MemoryStorage
      return TestRunsRepo.of({
        start: (run, event) =>
          memory.write((database) =>
            Effect.sync(() => {
              const counters = database.table<number>("last_run_numbers")
              const number = (counters.get(run.workspaceId) ?? 0) + 1
              counters.set(run.workspaceId, number)
              const { fixture, selection, ...rest } = run
              const scope = fixture === null ? null : `run-${number}-${fixture.scopeKey}`
              runsOf(database).set(run.id, {
                ...rest,
                ...emptyTally,
                number,
                fixtureUrl: fixture?.url ?? null,
                runningRetry: null,
                coverage: selection.coverage,
                state: "running",
                result: null,
                error: null,
                cleanup:
                  scope === null
                    ? null
                    : { scope, expiresAt: run.expiresAt, status: "pending", deleted: null, remaining: null },
                durationMs: 0,
                finishedAt: null
              })
              eventsOf(database).set(event.id, {
                ...event,
                subjectLabel: runLabel + number,
                subjectPath: runPath + number
              })
              return { number, scope }
            })
          ),

        finish: (id, { cleanup, ...finished }, tests, event) =>
          memory.write((database) =>
            Effect.sync(() => {
              const run = runsOf(database).get(id)
              if (run === undefined || !isRunning(run, finished.finishedAt)) return false
              runsOf(database).set(id, {
                ...run,
                ...finished,
                cleanup: run.cleanup === null || cleanup === null ? null : { ...run.cleanup, ...cleanup }
              })
              testsOf(database).set(id, tests)
              eventsOf(database).set(event.id, event)
              new MemorySemaphores(database, Date.parse(finished.finishedAt)).endRun(id)
              return true
            })
          ),

        expire: (now, eventIds) =>
          memory.write((database) =>
            Effect.sync(() => {
              const overdue = runsOf(database).filter((run) => run.state === "running" && !isRunning(run, now))
              return eventIds.slice(0, overdue.length).flatMap((eventId, i) => {
                const run = overdue[i]
                if (run === undefined) return []
                runsOf(database).set(run.id, expired(run))
                new MemorySemaphores(database, Date.parse(now)).endRun(run.id)
                eventsOf(database).set(eventId, {
                  id: eventId,
                  workspaceId: run.workspaceId,
                  kind: "run_interrupted",
                  actor: run.publisher,
                  subjectType: "run",
                  subjectId: run.id,
                  subjectLabel: runLabel + run.number,
                  subjectPath: runPath + run.number,
                  changes: [],
                  teamIds: null,
                  createdAt: now
                })
                return [{ workspaceId: run.workspaceId, number: run.number }]
              })
            })
          ),

        find: (workspaceId, number) =>
          memory.read((database) => {
            const run = runsOf(database).find((run) => run.workspaceId === workspaceId && run.number === number)
            return run === undefined ? undefined : show(database, run)
          }),

        findWithTests: (workspaceId, number) =>
          memory.read((database) => {
            const run = runsOf(database).find((run) => run.workspaceId === workspaceId && run.number === number)
            if (run === undefined) return undefined
            const retries = database.table<{ readonly runId: TestRunId }>("test_run_retries")
            return {
              run: show(database, run),
              tests: testsOf(database).get(run.id) ?? [],
              retryCount: retries.filter(({ runId }) => runId === run.id).length
            }
          }),

        tests: (id) => memory.read((database) => testsOf(database).get(id) ?? []),

        list: (workspaceId, filter, limit) =>
          memory.read((database) =>
            runsOf(database)
              .filter((run) => run.workspaceId === workspaceId && matches(run, filter))
              .toSorted((a, b) => b.number - a.number)
              .slice(0, limit)
              .map((run) => show(database, run))
          ),

        indexBlock: Effect.succeed(false),

        indexResults: Effect.succeed(false),

        lock: (id) =>
          memory.read((database) => {
            const run = runsOf(database).get(id)
            if (run === undefined) return undefined
            return { state: run.state, expiresAt: run.expiresAt, runningRetry: run.runningRetry }
          })
      })
    })
  )
}

const dateOrNull = (timestamp: Timestamp | undefined): Date | null => (timestamp === undefined ? null : date(timestamp))

const jsonOrNull = (files: ReadonlyArray<string> | undefined): string | null =>
  files === undefined ? null : JSON.stringify(files)

/** A run that starts, and the event that tells so. */
interface StartedTestRun {
  readonly run: NewTestRun
  readonly event: StoredEvent
}

interface SqlRow extends ActorRow {
  readonly id: TestRunId
  readonly workspaceId: WorkspaceId
  readonly number: number
  readonly state: RunState
  readonly result: RunResult | null
  readonly error: string | null
  readonly total: number
  readonly passed: number
  readonly flaky: number
  readonly failed: number
  readonly skipped: number
  readonly passRate: number | null
  readonly firstAttemptPassRate: number | null
  readonly productSlug: string
  readonly productName: string
  readonly environmentSlug: string
  readonly environmentName: string
  readonly environmentClass: EnvironmentClass
  readonly baseUrl: string
  readonly deploymentBaseUrl: string | null
  readonly deploymentVersion: string | null
  readonly gitBranch: string
  readonly gitSha: string
  readonly gitDirty: boolean
  readonly gitSubject: string
  readonly hostname: string
  readonly platform: string
  readonly coverage: Coverage | null
  readonly fixtureScope: string | null
  readonly cleanupStatus: Cleanup["status"] | null
  readonly cleanupDeleted: number | null
  readonly cleanupRemaining: number | null
  readonly durationMs: number
  readonly startedAt: Date
  readonly expiresAt: Date
  readonly finishedAt: Date | null
}

/** The cleanup of a run or retry, from its row; null where it has no scope. */
export const readCleanup = (
  row: Pick<SqlRow, "fixtureScope" | "cleanupStatus" | "cleanupDeleted" | "cleanupRemaining">,
  expiresAt: Timestamp
): Cleanup | null =>
  row.fixtureScope === null || row.cleanupStatus === null
    ? null
    : {
        scope: row.fixtureScope,
        expiresAt,
        status: row.cleanupStatus,
        deleted: row.cleanupDeleted,
        remaining: row.cleanupRemaining
      }

const readRun = (row: SqlRow): ShownTestRun => {
  const expiresAt = iso(row.expiresAt)
  return {
    id: row.id,
    workspaceId: row.workspaceId,
    number: row.number,
    state: row.state,
    result: row.result,
    counts: {
      total: row.total,
      passed: row.passed,
      flaky: row.flaky,
      failed: row.failed,
      skipped: row.skipped
    },
    passRate: row.passRate,
    firstAttemptPassRate: row.firstAttemptPassRate,
    error: row.error,
    product: { slug: row.productSlug, name: row.productName },
    environment: { slug: row.environmentSlug, name: row.environmentName, class: row.environmentClass },
    baseUrl: row.baseUrl,
    deploymentBaseUrl: row.deploymentBaseUrl,
    deploymentVersion: row.deploymentVersion,
    git: { branch: row.gitBranch, sha: row.gitSha, dirty: row.gitDirty, subject: row.gitSubject },
    machine: { hostname: row.hostname, platform: row.platform },
    coverage: row.coverage,
    cleanup: readCleanup(row, expiresAt),
    publisher: { kind: row.actorKind, id: row.actorId } as ActorRef,
    publishedBy: readActor(row),
    startedAt: iso(row.startedAt),
    expiresAt,
    finishedAt: isoOrNull(row.finishedAt),
    durationMs: row.durationMs
  }
}

interface SqlLock {
  readonly state: RunState
  readonly expiresAt: Date
  readonly number: number | null
  readonly retryExpiresAt: Date | null
}

const readLock = ({ expiresAt, number, retryExpiresAt, state }: SqlLock): LockedTestRun => ({
  state,
  expiresAt: iso(expiresAt),
  runningRetry: number === null || retryExpiresAt === null ? null : { number, expiresAt: iso(retryExpiresAt) }
})

/** A test as JSON, in the order of its columns. */
type SqlTest = readonly [
  caseId: string,
  title: string,
  file: string,
  coverage: Coverage,
  testKind: string,
  priority: string | null,
  status: TestStatus,
  files: ReadonlyArray<string>,
  attemptStatus: "failed" | "passed" | null,
  attemptDurationMs: number | null,
  attemptStartedAt: string | null,
  attemptErrorMessage: string | null,
  attemptErrorStack: string | null,
  attemptFiles: ReadonlyArray<string> | null
]

const readTest = ([
  caseId,
  title,
  file,
  coverage,
  testKind,
  priority,
  status,
  files,
  ...attempt
]: SqlTest): RecordedTest => {
  const [attemptStatus, durationMs, startedAt, errorMessage, errorStack, attemptFiles] = attempt
  return {
    caseId,
    title,
    file,
    coverage,
    testKind,
    priority,
    status,
    files,
    attempts:
      attemptStatus === null || startedAt === null
        ? []
        : [
            {
              number: 1,
              retry: null,
              status: attemptStatus,
              durationMs: durationMs ?? 0,
              startedAt: isoOfJson(startedAt),
              errorMessage,
              errorStack,
              files: attemptFiles ?? []
            }
          ]
  }
}

/** A run as the memory keeps it: references instead of what they show. */
type MemoryRun = Omit<ShownTestRun, "product" | "environment" | "publishedBy"> & {
  readonly productId: ProductId
  readonly environmentId: EnvironmentId
  readonly fixtureUrl: string | null
  readonly runningRetry: RetryInRun | null
  readonly tokenHash: string
}

export const runsOf = (database: MemoryDatabase) => database.table<MemoryRun>("test_runs")
export const testsOf = (database: MemoryDatabase) => database.table<ReadonlyArray<RecordedTest>>("test_run_tests")
const eventsOf = (database: MemoryDatabase) => database.table<StoredEvent>("events")

const show = (
  database: MemoryDatabase,
  { environmentId, fixtureUrl: _, productId, runningRetry: __, tokenHash: ___, ...run }: MemoryRun
): ShownTestRun => {
  const product = database.table<ProductRow>("products").get(productId)
  const environment = database.table<EnvironmentRow>("environments").get(environmentId)
  if (product === undefined || environment === undefined) throw new Error("A run refers to what does not exist.")
  const publishedBy: Actor = resolveActor(database, run.publisher)
  return {
    ...run,
    product: { slug: product.slug, name: product.name },
    environment: { slug: environment.slug, name: environment.name, class: environment.class },
    publishedBy
  }
}

const matches = (run: MemoryRun, filter: TestRunFilter): boolean =>
  (filter.productId === undefined || run.productId === filter.productId) &&
  (filter.environmentId === undefined || run.environmentId === filter.environmentId) &&
  (filter.result === undefined ||
    (filter.result === "flaky" ? run.state === "finished" && run.counts.flaky > 0 : run.result === filter.result)) &&
  (filter.q === undefined ||
    searchText(run.git).includes(searchPart(filter.q)) ||
    foldSha(run.git.sha).startsWith(foldSha(filter.q))) &&
  (filter.commit === undefined || foldSha(run.git.sha) === foldSha(filter.commit)) &&
  (filter.publisher === undefined || isSameActor(run.publisher, filter.publisher)) &&
  (filter.below === undefined || run.number < filter.below)

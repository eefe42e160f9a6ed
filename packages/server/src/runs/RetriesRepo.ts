import type { EventId, RetryId, TestRunId, WorkspaceId } from "@delivery/domain/Ids"
import type { RetriedTest, RetryAttempt, RetryOutcome } from "@delivery/domain/runs/TestResults"
import type { Cleanup, Counts, Git, Machine, Retry, RunResult, RunState } from "@delivery/domain/runs/TestRun"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { insertEvent, insertEventRows } from "../events/EventStatements.ts"
import type { StoredEvent } from "../events/EventsRepo.ts"
import type { ActorRef } from "../access/Access.ts"
import { actorColumns, actorJoins, type ActorRow, readActor, resolveActor } from "../access/Actors.ts"
import { column, texts } from "../storage/Columns.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { date, dieOnSqlError, iso, isoOrNull } from "../storage/Sql.ts"
import { MemorySemaphores } from "./MemorySemaphores.ts"
import { endLeases } from "./SemaphoresRepo.ts"
import { expired, isRunning, labelOfRetry, retryLabel, runPath } from "./TestRunState.ts"
import { readCleanup, runsOf, testsOf } from "./TestRunsRepo.ts"

/** What is known of a retry when it starts. */
export interface NewRetry {
  readonly id: RetryId
  readonly workspaceId: WorkspaceId
  readonly runId: TestRunId
  /** How many retries the run had when its failed tests were read. */
  readonly after: number
  readonly publisher: ActorRef
  readonly requiredPasses: number
  readonly baseUrl: string
  readonly git: Pick<Git, "sha" | "dirty">
  readonly machine: Machine
  /** The hash of the run token, with which tests take semaphore leases. */
  readonly tokenHash: string
  /** The Fixture API, and what makes the scope unguessable: the scope is `run-{run}-retry-{retry}-{key}`. */
  readonly fixture: { readonly url: string; readonly scopeKey: string } | null
  readonly startedAt: Timestamp
  readonly expiresAt: Timestamp
}

/** What storage gives a retry that starts. */
export interface StartedRetry {
  readonly number: number
  readonly scope: string | null
}

/** What a finish call makes of a retry. */
export interface FinishedRetry extends RetryOutcome {
  readonly state: Exclude<RunState, "running">
  readonly cleanup: Pick<Cleanup, "status" | "deleted" | "remaining"> | null
  readonly finishedAt: Timestamp
  /** The run's counts, recounted. */
  readonly run: { readonly counts: Counts; readonly passRate: number | null; readonly result: RunResult }
}

/** A retry as answers show it. */
export interface ShownRetry extends Retry {
  readonly id: RetryId
  readonly publisher: ActorRef
  readonly expiresAt: Timestamp
}

/** The retry that runs, or ran until its time was up and nothing has ended it yet. */
export interface RunningRetry extends Pick<ShownRetry, "number" | "publisher" | "expiresAt"> {
  readonly state: "running"
}

/** Stores the retries of test runs with their attempts. A run has at most one that runs; the run's row says which. */
export class RetriesRepo extends Context.Service<
  RetriesRepo,
  {
    /** Of a run: how many retries it has had, its Fixture API, and the retry that runs. */
    readonly of: (runId: TestRunId) => Effect.Effect<{
      readonly count: number
      readonly fixtureUrl: string | null
      readonly running: RunningRetry | null
    }>
    /** The run's failed and flaky tests, in no order. */
    readonly tests: (runId: TestRunId) => Effect.Effect<ReadonlyArray<RetriedTest>>
    /**
     * Stores a retry that starts, under the run's next number, with its event, whose label and path are those of the
     * number. Undefined where a retry runs, or one has started since the run had `after`; of many that start at once, one does.
     */
    readonly start: (retry: NewRetry, event: StoredEvent) => Effect.Effect<StartedRetry | undefined>
    readonly find: (runId: TestRunId, number: number) => Effect.Effect<ShownRetry | undefined>
    /** Oldest first. */
    readonly list: (runId: TestRunId) => Effect.Effect<ReadonlyArray<ShownRetry>>
    /** The attempts of all retries of the run, in the order of their numbers. */
    readonly attempts: (runId: TestRunId) => Effect.Effect<ReadonlyArray<RetryAttempt>>
    /**
     * Stores the attempts of a retry and recounts its run, with the event, if the retry still runs at `finishedAt`; of
     * all finish calls and the expiry, one wins. Answers whether this one did.
     */
    readonly finish: (
      retry: { readonly runId: TestRunId; readonly number: number },
      finished: FinishedRetry,
      event: StoredEvent
    ) => Effect.Effect<boolean>
    /**
     * Ends retries that are overdue at `now` as interrupted, each with an event that has one of the ids; at most as
     * many as there are ids. Safe with many servers, and passes over runs that others hold; with `runId` it waits for
     * that run and ends its retry alone. Answers how many.
     */
    readonly expire: (now: Timestamp, eventIds: ReadonlyArray<EventId>, runId?: TestRunId) => Effect.Effect<number>
  }
>()("@delivery/server/runs/RetriesRepo") {
  static readonly layerSql = Layer.effect(
    RetriesRepo,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const shown = sql`select t.id, t.number, t.state, t.required_passes as "requiredPasses",
          t.test_count as "testCount", t.flaky_count as "flakyCount", t.base_url as "baseUrl", t.git_sha as "gitSha",
          t.fixture_scope as "fixtureScope", t.cleanup_status as "cleanupStatus",
          t.cleanup_deleted as "cleanupDeleted", t.cleanup_remaining as "cleanupRemaining",
          t.started_at as "startedAt", t.expires_at as "expiresAt", t.finished_at as "finishedAt",
          ${actorColumns(sql, "t.publisher")}
        from test_run_retries t ${actorJoins(sql, "t.publisher")}`
      const label = (run: string, retry: string) =>
        `'${retryLabel.retry}' || ${retry} || '${retryLabel.ofRun}' || ${run}`

      return RetriesRepo.of({
        of: (runId) =>
          sql<SqlBase>`select r.retry_count as "count", r.fixture_url as "fixtureUrl",
              r.running_retry as "number", r.running_retry_expires_at as "expiresAt",
              t.publisher_kind as "publisherKind", t.publisher_id as "publisherId"
            from test_runs r
            left join test_run_retries t on t.run_id = r.id and t.number = r.running_retry
            where r.id = ${runId}`.pipe(
            Effect.map(([row]) => {
              if (row === undefined) throw new Error("The run of a retry does not exist.")
              return {
                count: row.count,
                fixtureUrl: row.fixtureUrl,
                running:
                  row.number === null || row.expiresAt === null
                    ? null
                    : {
                        state: "running" as const,
                        number: row.number,
                        publisher: { kind: row.publisherKind, id: row.publisherId } as ActorRef,
                        expiresAt: iso(row.expiresAt)
                      }
              }
            }),
            dieOnSqlError
          ),

        tests: (runId) =>
          sql<RetriedTest>`select t.case_id as "caseId", t.title, t.file, t.status,
              1 + coalesce(a.attempts, 0) as attempts, a.last_retry as "lastRetry"
            from test_run_tests t
            left join (
              select case_id, count(*)::int as attempts, max(retry) as last_retry
              from test_run_attempts where run_id = ${runId} group by case_id
            ) a on a.case_id = t.case_id
            where t.run_id = ${runId} and t.status in ('failed', 'flaky')`.pipe(dieOnSqlError),

        start: (retry, event) =>
          sql<StartedRetry>`with claimed as (
              update test_runs set retry_count = retry_count + 1, running_retry = retry_count + 1,
                running_retry_expires_at = ${date(retry.expiresAt)}
              where id = ${retry.runId} and state = 'finished' and running_retry is null
                and retry_count = ${retry.after}
              returning id, workspace_id, number, running_retry, failed
            ), started as (
              insert into test_run_retries (id, workspace_id, run_id, number, publisher_kind, publisher_id,
                required_passes, test_count, flaky_count, base_url, git_sha, git_dirty, hostname, platform, token_hash,
                fixture_scope, fixture_url, cleanup_status, state, started_at, expires_at)
              select ${retry.id}::uuid, workspace_id, id, running_retry, ${retry.publisher.kind},
                ${retry.publisher.id}::uuid, ${PgTypes.int4(retry.requiredPasses)}, failed, 0, ${retry.baseUrl},
                ${retry.git.sha}, ${retry.git.dirty}::boolean, ${retry.machine.hostname}, ${retry.machine.platform},
                ${retry.tokenHash},
                'run-' || number || '-retry-' || running_retry || '-' || ${retry.fixture?.scopeKey ?? null}::text,
                ${retry.fixture?.url ?? null}, ${retry.fixture === null ? null : "pending"}, 'running',
                ${date(retry.startedAt)}::timestamptz, ${date(retry.expiresAt)}::timestamptz
              from claimed
              returning number, fixture_scope as scope
            ), told as (
              ${insertEvent(sql, event, "claimed", {
                label: label("claimed.number", "claimed.running_retry"),
                path: `'${runPath}' || claimed.number`
              })}
            )
            select number, scope from started`.pipe(
            Effect.map(([row]) => row),
            dieOnSqlError
          ),

        find: (runId, number) =>
          sql<SqlRow>`${shown} where t.run_id = ${runId} and t.number = ${number}`.pipe(
            Effect.map((rows) => rows.map(readRetry)[0]),
            dieOnSqlError
          ),

        list: (runId) =>
          sql<SqlRow>`${shown} where t.run_id = ${runId} order by t.number`.pipe(
            Effect.map((rows) => rows.map(readRetry)),
            dieOnSqlError
          ),

        attempts: (runId) =>
          sql<SqlAttempt>`select case_id as "caseId", number, retry, status, duration_ms as "durationMs",
              started_at as "startedAt", error_message as "errorMessage", error_stack as "errorStack", files
            from test_run_attempts where run_id = ${runId} order by number`.pipe(
            Effect.map((rows) => rows.map((row) => ({ ...row, startedAt: iso(row.startedAt) }))),
            dieOnSqlError
          ),

        finish: ({ number, runId }, { attempts, cleanup, finishedAt, flaky, run, state }, event) =>
          sql`with recounted as (
              update test_runs set result = ${run.result}, passed = ${run.counts.passed}, flaky = ${run.counts.flaky},
                failed = ${run.counts.failed}, pass_rate = ${PgTypes.float8(run.passRate)},
                running_retry = null, running_retry_expires_at = null
              where id = ${runId} and running_retry = ${number} and running_retry_expires_at > ${date(finishedAt)}
              returning id, workspace_id, number
            ), reindexed as (
              insert into test_run_reindex (workspace_id, number, retried)
              select workspace_id, number, true from recounted
              on conflict do nothing
            ), finished as (
              update test_run_retries t set state = ${state}, flaky_count = ${PgTypes.int4(flaky.length)},
                finished_at = ${date(finishedAt)}, cleanup_status = ${cleanup?.status ?? null},
                cleanup_deleted = ${PgTypes.int4(cleanup?.deleted ?? null)},
                cleanup_remaining = ${PgTypes.int4(cleanup?.remaining ?? null)}
              from recounted where t.run_id = recounted.id and t.number = ${number}
              returning t.id
            ), made_flaky as (
              update test_run_tests t set status = 'flaky'
              from recounted where t.run_id = recounted.id and t.case_id = any(${texts(flaky, (caseId) => caseId)})
            ), recorded as (
              insert into test_run_attempts (workspace_id, run_id, case_id, number, retry, status, duration_ms,
                started_at, error_message, error_stack, files)
              select recounted.workspace_id, recounted.id, a.case_id, a.number, ${PgTypes.int4(number)}, a.status,
                a.duration_ms, a.started_at, a.error_message, a.error_stack, a.files::jsonb
              from recounted, unnest(${texts(attempts, (attempt) => attempt.caseId)},
                ${column(attempts, PgTypes.OID.int4, (attempt) => attempt.number)},
                ${texts(attempts, (attempt) => attempt.status)},
                ${column(attempts, PgTypes.OID.float8, (attempt) => attempt.durationMs)},
                ${column(attempts, PgTypes.OID.timestamptz, (attempt) => date(attempt.startedAt))},
                ${texts(attempts, (attempt) => attempt.errorMessage)},
                ${texts(attempts, (attempt) => attempt.errorStack)},
                ${texts(attempts, (attempt) => JSON.stringify(attempt.files))}
              ) as a (case_id, number, status, duration_ms, started_at, error_message, error_stack, files)
            ), told as (
              ${insertEvent(sql, event, "finished")}
            )
            select id, ${endLeases(sql, sql`array[${runId}::uuid]`)} from finished`.pipe(
            Effect.map((rows) => rows.length === 1),
            dieOnSqlError
          ),

        expire: (now, eventIds, runId) =>
          sql`with overdue as (
              select id, number, running_retry from test_runs
              where running_retry is not null and running_retry_expires_at <= ${date(now)}
                ${runId === undefined ? sql.literal("") : sql`and id = ${runId}`}
              order by running_retry_expires_at limit ${sql.literal(String(eventIds.length))}
              for update ${sql.literal(runId === undefined ? "skip locked" : "")}
            ), freed as (
              update test_runs r set running_retry = null, running_retry_expires_at = null
              from overdue where r.id = overdue.id
            ), interrupted as (
              update test_run_retries t set state = 'interrupted', finished_at = t.expires_at,
                cleanup_status = case when t.cleanup_status is not null then 'incomplete' end
              from overdue where t.run_id = overdue.id and t.number = overdue.running_retry
              returning t.id, t.run_id, t.workspace_id, overdue.number as run, t.number, t.publisher_kind, t.publisher_id
            ), events_of as (
              select event.id, t.workspace_id, 'retry_interrupted' as kind, t.publisher_kind as actor_kind,
                t.publisher_id as actor_id, 'retry' as subject_type, t.id::text as subject_id,
                ${sql.literal(label("t.run", "t.number"))} as subject_label,
                ${sql.literal(`'${runPath}'`)} || t.run as subject_path, '[]'::jsonb as changes,
                ${date(now)}::timestamptz as created_at
              from (select *, row_number() over () as row from interrupted) t
              join unnest(${column(eventIds, PgTypes.OID.uuid, (id) => id)}) with ordinality as event (id, row)
                on event.row = t.row
            ), told as (
              ${insertEventRows(sql, "events_of")}
            )
            select interrupted.id
            from interrupted, (select ${endLeases(sql, sql`array_agg(run_id)`)} from interrupted) as leases`.pipe(
            Effect.map((rows) => rows.length),
            dieOnSqlError
          )
      })
    })
  )

  static readonly layerMemory = Layer.effect(
    RetriesRepo,
    Effect.gen(function* () {
      const memory = yield* MemoryStorage
      return RetriesRepo.of({
        of: (runId) =>
          memory.read((database) => {
            const run = runsOf(database).get(runId)
            if (run === undefined) throw new Error("The run of a retry does not exist.")
            const retries = ofRun(database, runId)
            const running = retries.find((retry) => retry.number === run.runningRetry?.number)
            return {
              count: retries.length,
              fixtureUrl: run.fixtureUrl,
              running:
                running === undefined
                  ? null
                  : {
                      state: "running" as const,
                      number: running.number,
                      publisher: running.publisher,
                      expiresAt: running.expiresAt
                    }
            }
          }),

        tests: (runId) =>
          memory.read((database) => {
            const attempts = Map.groupBy(attemptsOf(database).get(runId) ?? [], (attempt) => attempt.caseId)
            return (testsOf(database).get(runId) ?? []).flatMap(({ caseId, file, status, title }) => {
              if (status !== "failed" && status !== "flaky") return []
              const retried = attempts.get(caseId) ?? []
              return [
                {
                  caseId,
                  title,
                  file,
                  status,
                  attempts: 1 + retried.length,
                  lastRetry: retried.at(-1)?.retry ?? null
                }
              ]
            })
          }),

        start: ({ after, fixture, git, machine: _, tokenHash, ...retry }, event) =>
          memory.write((database) =>
            Effect.sync(() => {
              const run = runsOf(database).get(retry.runId)
              const before = ofRun(database, retry.runId)
              if (run?.state !== "finished" || run.runningRetry !== null || before.length !== after) return undefined
              const number = after + 1
              const scope = fixture === null ? null : `run-${run.number}-retry-${number}-${fixture.scopeKey}`
              retriesOf(database).set(retry.id, {
                ...retry,
                tokenHash,
                number,
                state: "running",
                testCount: run.counts.failed,
                flakyCount: 0,
                gitSha: git.sha,
                cleanup:
                  scope === null
                    ? null
                    : { scope, expiresAt: retry.expiresAt, status: "pending", deleted: null, remaining: null },
                finishedAt: null
              })
              runsOf(database).set(run.id, { ...run, runningRetry: { number, expiresAt: retry.expiresAt } })
              eventsOf(database).set(event.id, {
                ...event,
                subjectLabel: labelOfRetry(run.number, number),
                subjectPath: runPath + run.number
              })
              return { number, scope }
            })
          ),

        find: (runId, number) =>
          memory.read((database) => {
            const retry = ofRun(database, runId).find((retry) => retry.number === number)
            return retry === undefined ? undefined : show(database, retry)
          }),

        list: (runId) => memory.read((database) => ofRun(database, runId).map((retry) => show(database, retry))),

        attempts: (runId) => memory.read((database) => attemptsOf(database).get(runId) ?? []),

        finish: ({ number, runId }, { attempts, cleanup, finishedAt, flaky, run: recounted, state }, event) =>
          memory.write((database) =>
            Effect.sync(() => {
              const run = runsOf(database).get(runId)
              const retry = ofRun(database, runId).find((retry) => retry.number === number)
              if (run === undefined || retry === undefined || !isRunning(retry, finishedAt)) return false
              const madeFlaky = new Set(flaky)
              retriesOf(database).set(retry.id, {
                ...retry,
                state,
                flakyCount: flaky.length,
                finishedAt,
                cleanup: retry.cleanup === null || cleanup === null ? null : { ...retry.cleanup, ...cleanup }
              })
              runsOf(database).set(runId, { ...run, ...recounted, runningRetry: null })
              testsOf(database).set(
                runId,
                (testsOf(database).get(runId) ?? []).map((test) =>
                  madeFlaky.has(test.caseId) ? { ...test, status: "flaky" } : test
                )
              )
              attemptsOf(database).set(runId, [...(attemptsOf(database).get(runId) ?? []), ...attempts])
              new MemorySemaphores(database, Date.parse(finishedAt)).endRun(runId)
              eventsOf(database).set(event.id, event)
              return true
            })
          ),

        expire: (now, eventIds, runId) =>
          memory.write((database) =>
            Effect.sync(() => {
              const overdue = retriesOf(database).filter(
                (retry) =>
                  retry.state === "running" && !isRunning(retry, now) && (runId === undefined || retry.runId === runId)
              )
              const ended = overdue.slice(0, eventIds.length)
              for (const [index, retry] of ended.entries()) {
                const [id, run] = [eventIds[index], runsOf(database).get(retry.runId)]
                if (id === undefined || run === undefined) throw new Error("A retry refers to what does not exist.")
                retriesOf(database).set(retry.id, expired(retry))
                runsOf(database).set(run.id, { ...run, runningRetry: null })
                new MemorySemaphores(database, Date.parse(now)).endRun(run.id)
                eventsOf(database).set(id, {
                  id,
                  workspaceId: retry.workspaceId,
                  kind: "retry_interrupted",
                  actor: retry.publisher,
                  subjectType: "retry",
                  subjectId: retry.id,
                  subjectLabel: labelOfRetry(run.number, retry.number),
                  subjectPath: runPath + run.number,
                  changes: [],
                  teamIds: null,
                  createdAt: now
                })
              }
              return ended.length
            })
          )
      })
    })
  )
}

interface SqlBase {
  readonly count: number
  readonly fixtureUrl: string | null
  readonly number: number | null
  readonly expiresAt: Date | null
  readonly publisherKind: string | null
  readonly publisherId: string | null
}

interface SqlRow extends ActorRow {
  readonly id: RetryId
  readonly number: number
  readonly state: RunState
  readonly requiredPasses: number
  readonly testCount: number
  readonly flakyCount: number
  readonly baseUrl: string
  readonly gitSha: string
  readonly fixtureScope: string | null
  readonly cleanupStatus: Cleanup["status"] | null
  readonly cleanupDeleted: number | null
  readonly cleanupRemaining: number | null
  readonly startedAt: Date
  readonly expiresAt: Date
  readonly finishedAt: Date | null
}

const readRetry = (row: SqlRow): ShownRetry => {
  const expiresAt = iso(row.expiresAt)
  return {
    id: row.id,
    number: row.number,
    state: row.state,
    requiredPasses: row.requiredPasses,
    testCount: row.testCount,
    flakyCount: row.flakyCount,
    baseUrl: row.baseUrl,
    gitSha: row.gitSha,
    cleanup: readCleanup(row, expiresAt),
    publisher: { kind: row.actorKind, id: row.actorId } as ActorRef,
    publishedBy: readActor(row),
    startedAt: iso(row.startedAt),
    expiresAt,
    finishedAt: isoOrNull(row.finishedAt)
  }
}

type SqlAttempt = Omit<RetryAttempt, "startedAt"> & { readonly startedAt: Date }

/** A retry as the memory keeps it: references instead of what they show. */
type MemoryRetry = Omit<ShownRetry, "publishedBy"> & Pick<NewRetry, "workspaceId" | "runId" | "tokenHash">

const retriesOf = (database: MemoryDatabase) => database.table<MemoryRetry>("test_run_retries")
const attemptsOf = (database: MemoryDatabase) => database.table<ReadonlyArray<RetryAttempt>>("test_run_attempts")
const eventsOf = (database: MemoryDatabase) => database.table<StoredEvent>("events")

const ofRun = (database: MemoryDatabase, runId: TestRunId): ReadonlyArray<MemoryRetry> =>
  retriesOf(database)
    .filter((retry) => retry.runId === runId)
    .toSorted((a, b) => a.number - b.number)

const show = (
  database: MemoryDatabase,
  { runId: _, tokenHash: __, workspaceId: ___, ...retry }: MemoryRetry
): ShownRetry => ({ ...retry, publishedBy: resolveActor(database, retry.publisher) })

import type { EventId, RetryId, TestRunId, WorkspaceId } from "@delivery/domain/Ids"
import type { Actor } from "@delivery/domain/identity/Actor"
import type { RetriedTest, RetryAttempt, RetryOutcome } from "@delivery/domain/runs/TestResults"
import type { Cleanup, Counts, Git, Machine, Retry, RunResult, RunState } from "@delivery/domain/runs/TestRun"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"
import type { StoredEvent } from "../events/EventsRepo.ts"
import { memoryTable } from "../storage/MemoryStorage.ts"
import { boolean, double, instant, integer, json, nullable, type Row, table, text, uuid } from "../storage/Table.ts"
import { publicationColumns } from "./PublicationColumns.ts"
import { cleanupOf, type EndedPublishers, type Numbered } from "./TestRunsRepo.ts"

/** The retries of each run, numbered from 1. */
export const testRunRetries = table("test_run_retries", {
  id: uuid<RetryId>(),
  workspaceId: uuid<WorkspaceId>(),
  ...publicationColumns,
  runId: uuid<TestRunId>(),
  requiredPasses: integer(),
  testCount: integer(),
  flakyCount: integer(),
  /** Whether it tested another release or address than the run; null until it has ended, and where an earlier server ended it. */
  elsewhere: nullable(boolean())
})

export type RetryRow = Row<typeof testRunRetries>

/** The attempts of retries. A test's own attempt is number 1, in `testRunTests`. */
export const testRunAttempts = table("test_run_attempts", {
  workspaceId: uuid<WorkspaceId>(),
  runId: uuid<TestRunId>(),
  caseId: text(),
  number: integer(),
  retry: integer(),
  status: text<"failed" | "passed">(),
  durationMs: double(),
  startedAt: instant(),
  errorMessage: nullable(text()),
  errorStack: nullable(text()),
  files: json<ReadonlyArray<string>>()
})

/** The same in memory, by the run's id: those of all its retries, in the order of their numbers. */
export const testRunAttemptsTable = memoryTable<ReadonlyArray<RetryAttempt>>("test_run_attempts")

/** What is known of a retry when it starts. */
export interface NewRetry {
  readonly id: RetryId
  readonly workspaceId: WorkspaceId
  readonly runId: TestRunId
  /** How many retries the run had when its failed tests were read. */
  readonly after: number
  readonly publisher: ActorRef
  /** The credential that it is started with: the run token ends with it. */
  readonly makerId: string | null
  readonly requiredPasses: number
  /** How many tests it is to run. */
  readonly testCount: number
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

/** What a finish call makes of a retry. */
export interface FinishedRetry extends RetryOutcome {
  readonly state: Exclude<RunState, "running">
  readonly cleanup: Pick<Cleanup, "status" | "deleted" | "remaining"> | null
  readonly finishedAt: Timestamp
  /**
   * Whether it tested another address than the run, or had changes that are in no commit, and the run had none. It was elsewhere as well where
   * all its attempts began before the first test of the run.
   */
  readonly isOther: boolean
  /** Whether tests that are not muted have then passed elsewhere alone: if this retry was elsewhere, and if it was not. */
  readonly left: { readonly ifElsewhere: boolean; readonly ifHere: boolean }
  /** The run's counts, recounted. */
  readonly run: {
    readonly counts: Counts
    readonly passRate: number | null
    readonly result: RunResult
    readonly gateResult: RunResult | null
  }
}

/** A retry with the current name of its publisher. */
export interface FoundRetry extends Retry {
  readonly id: RetryId
  readonly publisher: ActorRef
  readonly gitDirty: boolean
  readonly expiresAt: Timestamp
}

/** The retry that runs, or ran until its time was up and nothing has ended it yet. */
export interface RunningRetry extends Pick<FoundRetry, "number" | "publisher" | "expiresAt"> {
  readonly state: "running"
}

/** Stores the retries of test runs with their attempts. A run has at most one that runs; the run's row says which. */
export class RetriesRepo extends Context.Service<
  RetriesRepo,
  {
    /**
     * Of a run: how many retries it has had, its Fixture API, the retry that runs, and whether what it tested is gone: its deployment
     * has another release or address by now, or was deleted. Undefined where the run is gone.
     */
    readonly of: (runId: TestRunId) => Effect.Effect<
      | {
          readonly count: number
          readonly fixtureUrl: string | null
          readonly running: RunningRetry | null
          readonly isGone: boolean
        }
      | undefined
    >
    /** The run's failed and flaky tests, in no order. */
    readonly tests: (runId: TestRunId) => Effect.Effect<ReadonlyArray<RetriedTest>>
    /**
     * Stores a retry that starts, under the run's next number, with its event, whose label and path are those of the
     * number. Undefined where a retry runs, or one has started since the run had `after`; of concurrent starts, one succeeds.
     */
    readonly start: (retry: NewRetry, event: StoredEvent) => Effect.Effect<Numbered | undefined>
    readonly find: (runId: TestRunId, number: number) => Effect.Effect<FoundRetry | undefined>
    /** Oldest first. */
    readonly list: (runId: TestRunId) => Effect.Effect<ReadonlyArray<FoundRetry>>
    /** The attempts of all retries of the run, in the order of their numbers. */
    readonly attempts: (runId: TestRunId) => Effect.Effect<ReadonlyArray<RetryAttempt>>
    /**
     * Stores the attempts of a retry and recounts its run, with the event, if the retry still runs at `finishedAt`; of
     * all finish calls and the expiry, one wins. Answers undefined if this one did not, else whether tests of the run, muted ones aside,
     * have passed elsewhere alone. That decides which event it is.
     */
    readonly finish: (
      retry: { readonly runId: TestRunId; readonly number: number },
      finished: FinishedRetry,
      eventOf: (retriedElsewhere: boolean) => StoredEvent
    ) => Effect.Effect<{ readonly retriedElsewhere: boolean } | undefined>
    /**
     * Ends retries that are overdue at `now` as interrupted, each with an event that has one of the ids; at most as
     * many as there are ids. Safe with many servers, and passes over runs that others hold; with `runId` it waits for
     * that run and ends its retry alone. Answers how many.
     */
    readonly expire: (now: Timestamp, eventIds: ReadonlyArray<EventId>, runId?: TestRunId) => Effect.Effect<number>
    /** Like `TestRunsRepo.interrupt`, for running retries of the publishers. */
    readonly interrupt: (
      which: EndedPublishers,
      now: Timestamp,
      eventIds: ReadonlyArray<EventId>
    ) => Effect.Effect<number>
  }
>()("@delivery/server/runs/RetriesRepo") {}

/** The columns of which `foundRetry` makes a retry. */
export const foundColumns = [
  "id",
  "number",
  "state",
  "requiredPasses",
  "testCount",
  "flakyCount",
  "elsewhere",
  "baseUrl",
  "gitSha",
  "gitDirty",
  "fixtureScope",
  "cleanupStatus",
  "cleanupDeleted",
  "cleanupRemaining",
  "startedAt",
  "expiresAt",
  "finishedAt"
] as const satisfies ReadonlyArray<keyof RetryRow>

export const foundRetry = (
  row: Pick<RetryRow, (typeof foundColumns)[number]>,
  publisher: ActorRef,
  publishedBy: Actor
): FoundRetry => ({
  id: row.id,
  number: row.number,
  state: row.state,
  requiredPasses: row.requiredPasses,
  testCount: row.testCount,
  flakyCount: row.flakyCount,
  elsewhere: row.elsewhere === true,
  baseUrl: row.baseUrl,
  gitSha: row.gitSha,
  gitDirty: row.gitDirty,
  cleanup: cleanupOf(row),
  publisher,
  publishedBy,
  startedAt: row.startedAt,
  expiresAt: row.expiresAt,
  finishedAt: row.finishedAt
})

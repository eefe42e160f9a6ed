import type {
  DeploymentId,
  EnvironmentId,
  EventId,
  PersonId,
  ProductId,
  TestRunId,
  WorkspaceId
} from "@delivery/domain/Ids"
import type { Actor } from "@delivery/domain/identity/Actor"
import type { ShardCounts } from "@delivery/domain/runs/Shard"
import type { Coverage, TestStatus } from "@delivery/domain/runs/TestEntry"
import type { Outcome, RecordedTest } from "@delivery/domain/runs/TestResults"
import type { Cleanup, Git, Machine, RunResult, Selection, TestRunSummary } from "@delivery/domain/runs/TestRun"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"
import type { StoredEvent } from "../events/EventsRepo.ts"
import { memoryTable } from "../storage/MemoryStorage.ts"
import { boolean, double, instant, integer, json, nullable, type Row, table, text, uuid } from "../storage/Table.ts"
import { publicationColumns } from "./PublicationColumns.ts"
import type { StoredRunMute } from "./RunMutes.ts"

/** The test runs of each workspace. `runningRetry` is the number of the retry that runs or ran until its time was up. */
export const testRuns = table("test_runs", {
  id: uuid<TestRunId>(),
  workspaceId: uuid<WorkspaceId>(),
  ...publicationColumns,
  productId: uuid<ProductId>(),
  environmentId: uuid<EnvironmentId>(),
  deploymentBaseUrl: nullable(text()),
  deploymentVersion: nullable(text()),
  /** Null, with the release, for runs of before releases were numbered. */
  deploymentId: nullable(uuid<DeploymentId>()),
  release: nullable(integer()),
  /** Whether the release was another when the run ended; null while it runs. */
  deploymentChanged: nullable(boolean()),
  /** Whether tests that are not muted have passed only in retries of another release or address, or with uncommitted changes; null where none has. */
  retriedElsewhere: nullable(boolean()),
  locked: boolean(),
  gitBranch: text(),
  gitSubject: text(),
  gitPullRequest: nullable(integer()),
  ciUrl: nullable(text()),
  /** What `q` searches: the `searchText` of branch and subject. */
  search: text(),
  coverage: nullable(text<Coverage>()),
  selection: json<Pick<Selection, "folders" | "caseIds">>(),
  result: nullable(text<RunResult>()),
  /** Null where nothing was muted: it is the result. */
  gateResult: nullable(text<RunResult>()),
  /** The tests that were muted when it started; null where there were none. */
  mutes: nullable(json<ReadonlyArray<StoredRunMute>>()),
  mutedCount: nullable(integer()),
  error: nullable(text()),
  total: integer(),
  passed: integer(),
  flaky: integer(),
  failed: integer(),
  skipped: integer(),
  passRate: nullable(double()),
  firstAttemptPassRate: nullable(double()),
  durationMs: double(),
  /** When its first test began, at the latest when the run ended; null where none ran, or nobody knows. */
  firstTestAt: nullable(instant()),
  /** When its last test began, also in a retry. */
  lastTestAt: nullable(instant()),
  /** Null, with the next four, for runs without shards. */
  build: nullable(text()),
  /** The person, the key or the trusted publisher whose build it is. */
  buildPublisherId: nullable(uuid()),
  shardTotal: nullable(integer()),
  shardsStarted: nullable(integer()),
  shardsFinished: nullable(integer()),
  retryCount: integer(),
  runningRetry: nullable(integer()),
  runningRetryExpiresAt: nullable(instant())
})

export type TestRunRow = Row<typeof testRuns>

/** The tests of each run, with the run's own attempt; those of retries are in `testRunAttempts`. */
export const testRunTests = table("test_run_tests", {
  workspaceId: uuid<WorkspaceId>(),
  runId: uuid<TestRunId>(),
  caseId: text(),
  title: text(),
  file: text(),
  coverage: text<Coverage>(),
  testKind: text(),
  priority: nullable(text()),
  status: text<TestStatus>(),
  files: json<ReadonlyArray<string>>(),
  /** Null, with all that follows, where the test was skipped. */
  attemptStatus: nullable(text<"failed" | "passed">()),
  attemptDurationMs: nullable(double()),
  attemptStartedAt: nullable(instant()),
  attemptErrorMessage: nullable(text()),
  attemptErrorStack: nullable(text()),
  attemptFiles: nullable(json<ReadonlyArray<string>>())
})

export type TestRunTestRow = Row<typeof testRunTests>

/** The same in memory, by the run's id: the tests of a run are stored together, and read together. */
export const testRunTestsTable = memoryTable<ReadonlyArray<RecordedTest>>("test_run_tests")

/** What is known of a run when it starts. */
export interface NewTestRun {
  readonly id: TestRunId
  readonly workspaceId: WorkspaceId
  readonly productId: ProductId
  readonly environmentId: EnvironmentId
  readonly publisher: ActorRef
  /** The credential that it is started with: the run token ends with it. */
  readonly makerId: string | null
  readonly baseUrl: string
  readonly deploymentBaseUrl: string | null
  readonly deploymentVersion: string | null
  readonly deploymentId: DeploymentId | null
  readonly release: number | null
  /** Whether it takes the deployment. */
  readonly locked: boolean
  readonly git: Git
  readonly machine: Machine
  /** The page of the CI job or build. */
  readonly ciUrl: string | null
  readonly selection: Selection
  /** By the id of the test. */
  readonly mutes: ReadonlyArray<StoredRunMute>
  /** The hash of the run token, with which tests take semaphore leases. */
  readonly tokenHash: string
  /** The Fixture API, and what makes the scope unguessable: the scope is `run-{number}-{key}`. */
  readonly fixture: { readonly url: string; readonly scopeKey: string } | null
  readonly startedAt: Timestamp
  readonly expiresAt: Timestamp
}

/** What storage gives a run that starts. */
export interface Numbered {
  readonly number: number
  readonly scope: string | null
}

/** What a finish call makes of a run. */
export interface FinishedTestRun extends Outcome {
  readonly cleanup: Pick<Cleanup, "status" | "deleted" | "remaining"> | null
  readonly durationMs: number
  readonly finishedAt: Timestamp
}

/** A run with the current names of what it refers to. */
export interface FoundTestRun extends Omit<TestRunSummary, "url"> {
  readonly workspaceId: WorkspaceId
  readonly publisher: ActorRef
  readonly expiresAt: Timestamp
  /** How many tests were muted when it started. */
  readonly mutedCount: number
}

/** A run whose row is held: its state, and the retry that runs or ran until its time was up. */
export interface LockedTestRun extends Pick<FoundTestRun, "state" | "expiresAt"> {
  readonly runningRetry: RetryInRun | null
}

/** What a run's row says of the retry that runs. */
export interface RetryInRun {
  readonly number: number
  readonly expiresAt: Timestamp
}

/** Which runs a list holds; conditions combine. */
export interface TestRunFilter {
  readonly productId?: ProductId | undefined
  readonly environmentId?: EnvironmentId | undefined
  readonly result?: RunResult | "flaky" | undefined
  /** Part of the branch or the commit subject, or the start of a commit SHA, in any case. */
  readonly q?: string | undefined
  /** A whole commit SHA, in any case. */
  readonly commit?: string | undefined
  readonly publisher?: ActorRef | undefined
  /** Only the newest finished run of each deployment of a product and an environment that are not archived. */
  readonly latest?: boolean | undefined
  /** Only runs numbered below it. */
  readonly below?: number | undefined
}

/** How a list shows runs. */
export interface ShownRuns {
  /** They are as of this instant. */
  readonly at: Timestamp
  /** The URLs of their pages, to be followed by their numbers. */
  readonly pages: string
}

/** A run as JSON of `TestRunSummary`. */
export interface TestRunJson {
  readonly number: number
  readonly json: Uint8Array
}

/** A version of a product. */
export interface ProductVersion {
  readonly productId: ProductId
  readonly version: string
}

/** Whose runs and retries end, and who ends them. */
export interface EndedPublishers {
  readonly workspaceId: WorkspaceId
  readonly publishers: ReadonlyArray<ActorRef>
  readonly actor: ActorRef
}

/** A person who may not publish in the workspace. */
export interface StrayPublisher {
  readonly workspaceId: WorkspaceId
  readonly personId: PersonId
}

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
     * Stores a run's results with its event, beside the tests that its shards have stored, if it still runs at `finishedAt`; of
     * all finish calls and the expiry, one wins. Undefined where this one did not. Whoever waits for the deployment of a locked run is notified.
     */
    readonly finish: (
      id: TestRunId,
      finished: FinishedTestRun,
      tests: ReadonlyArray<RecordedTest>,
      event: StoredEvent
    ) => Effect.Effect<{ readonly deploymentChanged: boolean } | undefined>
    /**
     * Ends runs that are overdue at `now` as interrupted, each with an event that has one of the ids; at most as many
     * as there are ids. Safe with many servers. Answers which.
     */
    readonly expire: (
      now: Timestamp,
      eventIds: ReadonlyArray<EventId>
    ) => Effect.Effect<ReadonlyArray<{ readonly workspaceId: WorkspaceId; readonly number: number }>>
    /**
     * Ends running runs of the publishers as interrupted at `now`, each with an event that has one of the ids; at most as
     * many as there are ids. Answers how many.
     */
    readonly interrupt: (
      which: EndedPublishers,
      now: Timestamp,
      eventIds: ReadonlyArray<EventId>
    ) => Effect.Effect<number>
    /**
     * Persons who have runs or retries running and may publish no longer: what they started was under way while their access
     * ended.
     */
    readonly strayPublishers: Effect.Effect<ReadonlyArray<StrayPublisher>>
    readonly find: (workspaceId: WorkspaceId, number: number) => Effect.Effect<FoundTestRun | undefined>
    /** The tests that were muted when the run started, by id. */
    readonly mutes: (id: TestRunId) => Effect.Effect<ReadonlyArray<StoredRunMute>>
    /** With the tests as of the same instant, and how many retries have started. */
    readonly findWithTests: (
      workspaceId: WorkspaceId,
      number: number
    ) => Effect.Effect<
      | {
          readonly run: FoundTestRun
          readonly tests: ReadonlyArray<RecordedTest>
          readonly retryCount: number
        }
      | undefined
    >
    /** All, or the one of the case, each with the run's own attempt alone. In no order. */
    readonly tests: (id: TestRunId, caseId?: string) => Effect.Effect<ReadonlyArray<RecordedTest>>
    /**
     * Takes the deployment for a locked run that the transaction has started: changes of the version that have not looked
     * for locked runs since will look again. The run begins on the release of that moment.
     */
    readonly takeDeployment: (run: TestRunId, deployment: DeploymentId) => Effect.Effect<void>
    /** The numbers of the locked runs of the deployment that run at `now`, lowest first. */
    readonly locks: (deployment: DeploymentId, now: Timestamp) => Effect.Effect<ReadonlyArray<number>>
    /** Runs of one of the versions, each of a product, newest first, at most `limit`. */
    readonly ofVersions: (
      workspaceId: WorkspaceId,
      versions: ReadonlyArray<ProductVersion>,
      limit: number
    ) => Effect.Effect<ReadonlyArray<FoundTestRun>>
    /** Newest first, at most `limit`. */
    readonly list: (
      workspaceId: WorkspaceId,
      filter: TestRunFilter,
      limit: number
    ) => Effect.Effect<ReadonlyArray<FoundTestRun>>
    /** The same runs as JSON of `TestRunSummary`. */
    readonly listJson: (
      workspaceId: WorkspaceId,
      filter: TestRunFilter,
      limit: number,
      shown: ShownRuns
    ) => Effect.Effect<ReadonlyArray<TestRunJson>>
    /**
     * Makes `q` find runs sooner: indexes the next full block of runs of any workspace, in a transaction. Safe with many
     * servers. Answers whether there was one.
     */
    readonly indexBlock: Effect.Effect<boolean>
    /**
     * Updates the results that the index has of a block's runs that ended or were retried since they were indexed, so that
     * `q` with `result`, and several filters, compare fewer runs. In a transaction, and safe with many servers. Answers
     * whether there were some.
     */
    readonly indexResults: Effect.Effect<boolean>
    /** The run's state; holds its row until the transaction ends. */
    readonly lock: (id: TestRunId) => Effect.Effect<LockedTestRun | undefined>
  }
>()("@delivery/server/runs/TestRunsRepo") {}

/** The columns of which `foundRun` makes a run. */
export const foundColumns = [
  "id",
  "workspaceId",
  "number",
  "state",
  "result",
  "gateResult",
  "retriedElsewhere",
  "mutedCount",
  "error",
  "total",
  "passed",
  "flaky",
  "failed",
  "skipped",
  "passRate",
  "firstAttemptPassRate",
  "baseUrl",
  "deploymentBaseUrl",
  "deploymentVersion",
  "release",
  "locked",
  "selection",
  "gitBranch",
  "gitSha",
  "gitDirty",
  "gitSubject",
  "gitPullRequest",
  "ciUrl",
  "shardTotal",
  "shardsStarted",
  "shardsFinished",
  "hostname",
  "platform",
  "coverage",
  "fixtureScope",
  "cleanupStatus",
  "cleanupDeleted",
  "cleanupRemaining",
  "durationMs",
  "startedAt",
  "expiresAt",
  "finishedAt"
] as const satisfies ReadonlyArray<keyof TestRunRow>

/** What a run refers to, with current names. */
export interface TestRunRefs extends Pick<FoundTestRun, "product" | "environment" | "publisher"> {
  readonly publishedBy: Actor
  readonly deploymentChanged: boolean
}

/** What a retry has passed on another release or address, or with uncommitted changes says nothing of those that the run tested. */
export const gateResultAfter = ({
  gateResult,
  result,
  retriedElsewhere
}: Pick<TestRunRow, "gateResult" | "result" | "retriedElsewhere">): TestRunRow["gateResult"] => {
  if (result !== null && retriedElsewhere === true) return "failed"
  // A server that knew nothing of mutes may have retried the run.
  return result === "failed" ? (gateResult ?? "failed") : result
}

export const foundRun = (row: Pick<TestRunRow, (typeof foundColumns)[number]>, refs: TestRunRefs): FoundTestRun => ({
  id: row.id,
  workspaceId: row.workspaceId,
  number: row.number,
  state: row.state,
  result: row.result,
  gateResult: gateResultAfter(row),
  mutedCount: row.mutedCount ?? 0,
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
  product: refs.product,
  environment: refs.environment,
  baseUrl: row.baseUrl,
  deploymentBaseUrl: row.deploymentBaseUrl,
  deploymentVersion: row.deploymentVersion,
  release: row.release,
  deploymentChanged: refs.deploymentChanged,
  locked: row.locked,
  partOfTests: row.selection.folders.length + row.selection.caseIds.length > 0,
  git: {
    branch: row.gitBranch,
    sha: row.gitSha,
    dirty: row.gitDirty,
    subject: row.gitSubject,
    ...(row.gitPullRequest === null ? {} : { pullRequest: row.gitPullRequest })
  },
  machine: { hostname: row.hostname, platform: row.platform },
  ciUrl: row.ciUrl,
  shards: shardsOf(row),
  coverage: row.coverage,
  cleanup: cleanupOf(row),
  publisher: refs.publisher,
  publishedBy: refs.publishedBy,
  startedAt: row.startedAt,
  expiresAt: row.expiresAt,
  finishedAt: row.finishedAt,
  durationMs: row.durationMs
})

/** How far the shards of a run are; null where it has none. */
const shardsOf = (row: Pick<TestRunRow, "shardTotal" | "shardsStarted" | "shardsFinished">): ShardCounts | null =>
  row.shardTotal === null
    ? null
    : { total: row.shardTotal, started: row.shardsStarted ?? 0, finished: row.shardsFinished ?? 0 }

/** The cleanup of a run or retry; null where it has no scope. */
export const cleanupOf = (
  row: Pick<TestRunRow, "fixtureScope" | "cleanupStatus" | "cleanupDeleted" | "cleanupRemaining" | "expiresAt">
): Cleanup | null =>
  row.fixtureScope === null || row.cleanupStatus === null
    ? null
    : {
        scope: row.fixtureScope,
        expiresAt: row.expiresAt,
        status: row.cleanupStatus,
        deleted: row.cleanupDeleted,
        remaining: row.cleanupRemaining
      }

/** The retry that a run's row names. */
export const runningRetryOf = (row: Pick<TestRunRow, "runningRetry" | "runningRetryExpiresAt">): RetryInRun | null =>
  row.runningRetry === null || row.runningRetryExpiresAt === null
    ? null
    : { number: row.runningRetry, expiresAt: row.runningRetryExpiresAt }

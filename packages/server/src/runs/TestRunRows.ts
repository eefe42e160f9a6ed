import type { EnvironmentId, ProductId, TestRunId, WorkspaceId } from "@delivery/domain/Ids"
import type { Actor } from "@delivery/domain/identity/Actor"
import type { Coverage } from "@delivery/domain/runs/TestEntry"
import type { Outcome } from "@delivery/domain/runs/TestResults"
import type {
  Cleanup,
  Git,
  Machine,
  RunResult,
  RunState,
  Selection,
  TestRunSummary
} from "@delivery/domain/runs/TestRun"
import type { Timestamp } from "@delivery/domain/Timestamp"
import type { ActorRef } from "../access/Access.ts"
import { boolean, double, instant, integer, json, nullable, type Row, table, text, uuid } from "../storage/Table.ts"

/** The test runs of each workspace. `runningRetry` is the number of the retry that runs or ran until its time was up. */
export const testRuns = table("test_runs", {
  id: uuid<TestRunId>(),
  workspaceId: uuid<WorkspaceId>(),
  number: integer(),
  productId: uuid<ProductId>(),
  environmentId: uuid<EnvironmentId>(),
  publisherKind: text<ActorRef["kind"]>(),
  publisherId: uuid<ActorRef["id"]>(),
  baseUrl: text(),
  deploymentBaseUrl: nullable(text()),
  deploymentVersion: nullable(text()),
  gitBranch: text(),
  gitSha: text(),
  gitDirty: boolean(),
  gitSubject: text(),
  /** What `q` searches: the `searchText` of branch and subject. */
  search: text(),
  hostname: text(),
  platform: text(),
  coverage: nullable(text<Coverage>()),
  selection: json<Pick<Selection, "folders" | "caseIds">>(),
  tokenHash: text(),
  fixtureScope: nullable(text()),
  fixtureUrl: nullable(text()),
  cleanupStatus: nullable(text<Cleanup["status"]>()),
  cleanupDeleted: nullable(integer()),
  cleanupRemaining: nullable(integer()),
  state: text<RunState>(),
  result: nullable(text<RunResult>()),
  error: nullable(text()),
  total: integer(),
  passed: integer(),
  flaky: integer(),
  failed: integer(),
  skipped: integer(),
  passRate: nullable(double()),
  firstAttemptPassRate: nullable(double()),
  durationMs: double(),
  startedAt: instant(),
  expiresAt: instant(),
  finishedAt: nullable(instant()),
  retryCount: integer(),
  runningRetry: nullable(integer()),
  runningRetryExpiresAt: nullable(instant())
})

export type TestRunRow = Row<typeof testRuns>

/** What is known of a run when it starts. */
export interface NewTestRun {
  readonly id: TestRunId
  readonly workspaceId: WorkspaceId
  readonly productId: ProductId
  readonly environmentId: EnvironmentId
  readonly publisher: ActorRef
  readonly baseUrl: string
  readonly deploymentBaseUrl: string | null
  readonly deploymentVersion: string | null
  readonly git: Git
  readonly machine: Machine
  readonly selection: Selection
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
  /** Only runs numbered below it. */
  readonly below?: number | undefined
}

/** The columns of which `foundRun` makes a run. */
export const foundColumns = [
  "id",
  "workspaceId",
  "number",
  "state",
  "result",
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
  "gitBranch",
  "gitSha",
  "gitDirty",
  "gitSubject",
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
}

export const foundRun = (row: Pick<TestRunRow, (typeof foundColumns)[number]>, refs: TestRunRefs): FoundTestRun => ({
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
  product: refs.product,
  environment: refs.environment,
  baseUrl: row.baseUrl,
  deploymentBaseUrl: row.deploymentBaseUrl,
  deploymentVersion: row.deploymentVersion,
  git: { branch: row.gitBranch, sha: row.gitSha, dirty: row.gitDirty, subject: row.gitSubject },
  machine: { hostname: row.hostname, platform: row.platform },
  coverage: row.coverage,
  cleanup: cleanupOf(row),
  publisher: refs.publisher,
  publishedBy: refs.publishedBy,
  startedAt: row.startedAt,
  expiresAt: row.expiresAt,
  finishedAt: row.finishedAt,
  durationMs: row.durationMs
})

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

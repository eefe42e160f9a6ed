import type { EnvironmentId, ProductId, TestRunId, WorkspaceId } from "@delivery/domain/Ids"
import type { Outcome } from "@delivery/domain/runs/TestResults"
import type { Cleanup, Git, Machine, RunResult, Selection, TestRunSummary } from "@delivery/domain/runs/TestRun"
import type { Timestamp } from "@delivery/domain/Timestamp"
import type { ActorRef } from "../access/Access.ts"

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

/** A run as answers show it, with the present names of what it refers to. */
export interface ShownTestRun extends Omit<TestRunSummary, "url"> {
  readonly workspaceId: WorkspaceId
  readonly publisher: ActorRef
  readonly expiresAt: Timestamp
}

/** A run whose row is held: its state, and the retry that runs or ran until its time was up. */
export interface LockedTestRun extends Pick<ShownTestRun, "state" | "expiresAt"> {
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

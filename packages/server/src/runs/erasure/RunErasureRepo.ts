import type { DeploymentId, EnvironmentId, ProductId, TestRunId, WorkspaceId } from "@delivery/domain/Ids"
import type { RunResult } from "@delivery/domain/runs/TestRun"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import { boolean, double, doubles, instant, integer, nullable, table, text, uuid } from "../../storage/Table.ts"

/** Runs that are gone, some of whose rows may still be there. */
export const erasedRuns = table("erased_runs", {
  runId: uuid<TestRunId>(),
  workspaceId: uuid<WorkspaceId>()
})

/** What is kept of finished runs that are gone, for trends and the counts of releases. */
export const pastRuns = table("past_runs", {
  workspaceId: uuid<WorkspaceId>(),
  number: integer(),
  productId: uuid<ProductId>(),
  environmentId: uuid<EnvironmentId>(),
  deploymentId: nullable(uuid<DeploymentId>()),
  deploymentVersion: nullable(text()),
  release: nullable(integer()),
  result: text<RunResult>(),
  /** Whether it tested another address than its deployment had; null where that is not known. */
  testedElsewhere: nullable(boolean()),
  /** Whether what failed in it passed only in a retry of another release or address, or with uncommitted changes. */
  retriedElsewhere: nullable(boolean()),
  total: integer(),
  passed: integer(),
  flaky: integer(),
  failed: integer(),
  skipped: integer(),
  /** Tests that passed on their first attempt. */
  passedFirst: integer(),
  durationMs: double(),
  /** Of the tests that ran, in milliseconds, as the run showed them; in no order. */
  durations: doubles(),
  startedAt: instant(),
  finishedAt: instant()
})

/** How long runs and files are kept where their workspace does not say it. Null: for ever. */
export interface KeptDays {
  readonly runDays: number | null
  readonly fileDays: number | null
}

/** How much one step erases. */
export interface StepSizes {
  readonly runs: number
  /** Tests of these runs together, unless one run has more. */
  readonly tests: number
  readonly files: number
  readonly rows: number
}

/**
 * Erases runs. A run is gone for everybody with its own row; the rows that belong to it follow in small steps. What is erased in
 * one transaction is small, whatever a run has.
 */
export class RunErasureRepo extends Context.Service<
  RunErasureRepo,
  {
    /** Whether no other transaction erases, on any server. If so, none can until this one ends. */
    readonly claim: Effect.Effect<boolean>
    /**
     * Ended runs, of any workspace, whose days are over at `now`, oldest first. A run counts from its end, or the end of its last
     * retry; one with a retry that runs is kept. Holds their rows until the transaction ends, and passes over those that
     * others hold.
     */
    readonly dueRuns: (
      now: Timestamp,
      days: KeptDays,
      sizes: Pick<StepSizes, "runs" | "tests">
    ) => Effect.Effect<ReadonlyArray<TestRunId>>
    /**
     * Erases runs whose rows the transaction holds, none of which runs or has a retry that runs. Of finished ones, what
     * `pastRuns` has is kept.
     */
    readonly erase: (runs: ReadonlyArray<TestRunId>) => Effect.Effect<void>
    /** Erases rows of runs that are gone, at most `limit`. Their blobs are garbage from then on. Answers how many rows. */
    readonly eraseRows: (limit: number) => Effect.Effect<number>
    /** Erases files whose days are over at `now`, at most `limit`, of what does not run. Answers how many. */
    readonly eraseFiles: (now: Timestamp, days: KeptDays, limit: number) => Effect.Effect<number>
    /** Lets the search forget a part of its oldest block, if all runs of that are gone. Answers how many terms. */
    readonly forgetBlock: Effect.Effect<number>
  }
>()("@delivery/server/runs/RunErasureRepo") {}

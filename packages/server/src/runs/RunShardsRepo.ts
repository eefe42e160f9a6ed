import type { EnvironmentId, ProductId, TestRunId, WorkspaceId } from "@delivery/domain/Ids"
import type { Cleanup, Git, Selection } from "@delivery/domain/runs/TestRun"
import type { RecordedTest, ReportedShard, Tally } from "@delivery/domain/runs/TestResults"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { boolean, double, instant, integer, nullable, type Row, table, text, uuid } from "../storage/Table.ts"
import type { FinishedTestRun, FoundTestRun } from "./TestRunsRepo.ts"

/** The shards that have started of each run of a build. */
export const testRunShards = table("test_run_shards", {
  workspaceId: uuid<WorkspaceId>(),
  runId: uuid<TestRunId>(),
  /** From 1. */
  number: integer(),
  publisherKind: text<ActorRef["kind"]>(),
  publisherId: uuid<ActorRef["id"]>(),
  /** The credential that it was started with. */
  makerId: nullable(uuid()),
  tokenHash: text(),
  startedAt: instant(),
  /** Null, with all that follows, until it has finished. */
  finishedAt: nullable(instant()),
  /** Tells whether another report is the same again. */
  reportHash: nullable(text()),
  interrupted: nullable(boolean()),
  error: nullable(text()),
  durationMs: nullable(double()),
  /** Null where the run has no scope. */
  cleanupStatus: nullable(text<Exclude<Cleanup["status"], "pending">>()),
  cleanupDeleted: nullable(integer()),
  cleanupRemaining: nullable(integer()),
  /** How many characters its tests have. */
  characters: nullable(integer())
})

export type TestRunShardRow = Row<typeof testRunShards>

/** The key of a shard in memory. */
export const shardKey = (run: TestRunId, number: number): string => `${run}/${number}`

/** What identifies a run of shards, among all that publishers start. */
export interface Build {
  readonly workspaceId: WorkspaceId
  readonly productId: ProductId
  readonly environmentId: EnvironmentId
  /** A person or a key, or the trusted publisher of keys. */
  readonly publisherId: string
  readonly build: string
}

/** A run that has shards, whose row is held. */
export interface HeldRun extends Pick<
  FoundTestRun,
  "id" | "number" | "state" | "expiresAt" | "baseUrl" | "deploymentBaseUrl"
> {
  readonly selection: Selection
  readonly git: Pick<Git, "sha" | "dirty">
  readonly shardTotal: number
  readonly scope: string | null
  readonly fixtureUrl: string | null
}

/** A shard that starts, or starts again. */
export interface NewShard {
  readonly workspaceId: WorkspaceId
  readonly runId: TestRunId
  readonly number: number
  readonly publisher: ActorRef
  readonly makerId: string | null
  readonly tokenHash: string
  readonly startedAt: Timestamp
}

/** What a shard that finishes reports beside its tests. */
export interface FinishedShard extends Omit<ReportedShard, "index"> {
  readonly runId: TestRunId
  readonly number: number
  readonly reportHash: string
  readonly durationMs: number
  readonly cleanup: FinishedTestRun["cleanup"]
  readonly characters: number
  readonly finishedAt: Timestamp
}

/** What all shards of a run that have finished have reported. */
export interface ReportedShards {
  /** In the order of their numbers. */
  readonly shards: ReadonlyArray<ReportedShard & Pick<FinishedShard, "durationMs" | "cleanup">>
  readonly characters: number
  readonly tally: Tally
}

/** Stores the shards of runs. All but `stateOf` belongs into a transaction that holds the build or the run. */
export class RunShardsRepo extends Context.Service<
  RunShardsRepo,
  {
    /** The run of the build, if there is one; nobody else starts or finishes a shard of it until the transaction ends. */
    readonly holdBuild: (build: Build) => Effect.Effect<HeldRun | undefined>
    /** Makes a run that the transaction has started that of the build. */
    readonly open: (run: TestRunId, build: Build, total: number) => Effect.Effect<void>
    /** Says of the run that a shard of it has uncommitted changes. */
    readonly markDirty: (run: TestRunId) => Effect.Effect<void>
    /** Stores a shard that starts. One that had started before gets the new token; false where it has finished. */
    readonly start: (shard: NewShard) => Effect.Effect<boolean>
    /** The run; nobody else starts or finishes a shard of it until the transaction ends. */
    readonly holdRun: (run: TestRunId) => Effect.Effect<HeldRun | undefined>
    readonly stateOf: (
      run: TestRunId,
      number: number
    ) => Effect.Effect<Pick<TestRunShardRow, "finishedAt" | "reportHash"> | undefined>
    /** Stores what a shard that runs reports, and answers what all have reported so far. */
    readonly finish: (shard: FinishedShard, tests: ReadonlyArray<RecordedTest>) => Effect.Effect<ReportedShards>
  }
>()("@delivery/server/runs/RunShardsRepo") {}

/** A shard that has finished, as it reported. */
export const reportedShard = (row: TestRunShardRow): ReportedShards["shards"][number] => ({
  index: row.number,
  interrupted: row.interrupted === true,
  error: row.error,
  durationMs: row.durationMs ?? 0,
  cleanup:
    row.cleanupStatus === null
      ? null
      : { status: row.cleanupStatus, deleted: row.cleanupDeleted, remaining: row.cleanupRemaining }
})

import type { TestRunId } from "@delivery/domain/Ids"
import { tally, withTestsOfShard } from "@delivery/domain/runs/TestResults"
import { Effect, Layer } from "effect"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import {
  type Build,
  type HeldRun,
  reportedShard,
  type ReportedShards,
  RunShardsRepo,
  shardKey,
  testRunShards
} from "./RunShardsRepo.ts"
import { type TestRunRow, testRuns, testRunTestsTable } from "./TestRunsRepo.ts"
import { testTimesOf, withTimes } from "./TestTimes.ts"

type Memory = MemoryStorage["Service"]
type Service = RunShardsRepo["Service"]

/** Transactions run one after the other, so that nothing has to be held. */
export const layer = Layer.effect(
  RunShardsRepo,
  Effect.map(MemoryStorage, (memory) =>
    RunShardsRepo.of({
      holdBuild: (build) => memory.read((database) => heldRun(database.table(testRuns).find(isOf(build)))),
      open: open(memory),
      markDirty: (run) => memory.write((database) => Effect.sync(() => update(database, run, { gitDirty: true }))),
      start: start(memory),
      holdRun: (run) => memory.read((database) => heldRun(database.table(testRuns).get(run))),
      stateOf: (run, number) => memory.read((database) => database.table(testRunShards).get(shardKey(run, number))),
      finish: finish(memory)
    })
  )
)

const isOf =
  ({ build, environmentId, productId, publisherId, workspaceId }: Build) =>
  (run: TestRunRow): boolean =>
    run.build === build &&
    run.buildPublisherId === publisherId &&
    run.workspaceId === workspaceId &&
    run.productId === productId &&
    run.environmentId === environmentId

const heldRun = (run: TestRunRow | undefined): HeldRun | undefined =>
  run === undefined || run.shardTotal === null
    ? undefined
    : {
        id: run.id,
        number: run.number,
        state: run.state,
        expiresAt: run.expiresAt,
        shardTotal: run.shardTotal,
        git: { sha: run.gitSha, dirty: run.gitDirty },
        baseUrl: run.baseUrl,
        deploymentBaseUrl: run.deploymentBaseUrl,
        selection: { coverage: run.coverage, ...run.selection },
        scope: run.fixtureScope,
        fixtureUrl: run.fixtureUrl
      }

const update = (database: MemoryDatabase, id: TestRunId, fields: Partial<TestRunRow>): void => {
  const runs = database.table(testRuns)
  runs.set(id, { ...runs.get(id)!, ...fields })
}

const shardsOf = (database: MemoryDatabase, run: TestRunId) =>
  database
    .table(testRunShards)
    .filter(({ runId }) => runId === run)
    .toSorted((a, b) => a.number - b.number)

const open =
  (memory: Memory): Service["open"] =>
  (run, { build, publisherId }, shardTotal) =>
    memory.write((database) =>
      Effect.sync(() =>
        update(database, run, { build, buildPublisherId: publisherId, shardTotal, shardsStarted: 0, shardsFinished: 0 })
      )
    )

const start =
  (memory: Memory): Service["start"] =>
  ({ publisher, ...shard }) =>
    memory.write((database) =>
      Effect.sync(() => {
        const key = shardKey(shard.runId, shard.number)
        if ((database.table(testRunShards).get(key)?.finishedAt ?? null) !== null) return false
        database.table(testRunShards).set(key, {
          ...shard,
          publisherKind: publisher.kind,
          publisherId: publisher.id,
          finishedAt: null,
          reportHash: null,
          interrupted: null,
          error: null,
          durationMs: null,
          cleanupStatus: null,
          cleanupDeleted: null,
          cleanupRemaining: null,
          characters: null
        })
        update(database, shard.runId, { shardsStarted: shardsOf(database, shard.runId).length })
        return true
      })
    )

const finish =
  (memory: Memory): Service["finish"] =>
  ({ cleanup, ...shard }, tests) =>
    memory.write((database) =>
      Effect.sync((): ReportedShards => {
        const { runId } = shard
        const key = shardKey(runId, shard.number)
        database.table(testRunShards).set(key, {
          ...database.table(testRunShards).get(key)!,
          ...shard,
          cleanupStatus: cleanup === null || cleanup.status === "pending" ? null : cleanup.status,
          cleanupDeleted: cleanup?.deleted ?? null,
          cleanupRemaining: cleanup?.remaining ?? null
        })
        const all = withTestsOfShard(database.table(testRunTestsTable).get(runId) ?? [], tests)
        database.table(testRunTestsTable).set(runId, all)
        const { counts, ...rates } = tally(all)
        const finished = shardsOf(database, runId).filter(({ finishedAt }) => finishedAt !== null)
        const times = withTimes(database.table(testRuns).get(runId)!, testTimesOf(tests, shard.finishedAt))
        update(database, runId, { ...counts, ...rates, ...times, shardsFinished: finished.length })
        return {
          shards: finished.map(reportedShard),
          characters: finished.reduce((sum, { characters }) => sum + (characters ?? 0), 0),
          tally: { counts, ...rates }
        }
      })
    )

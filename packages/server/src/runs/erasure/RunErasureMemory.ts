import type { TestRunId, WorkspaceId } from "@delivery/domain/Ids"
import { testsDeployment } from "@delivery/domain/runs/TestedAddress"
import { testEntry, withAttempts } from "@delivery/domain/runs/TestResults"
import { type Timestamp, timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect, Layer } from "effect"
import { pendingBlobs } from "../../files/PendingBlobsRepo.ts"
import { workspaces } from "../../identity/WorkspacesRepo.ts"
import { type MemoryDatabase, MemoryStorage } from "../../storage/MemoryStorage.ts"
import { testRunAttemptsTable, testRunRetries } from "../RetriesRepo.ts"
import { testRunRequests } from "../RunRequestsRepo.ts"
import { testRunShards } from "../RunShardsRepo.ts"
import { testRunFiles } from "../TestRunFilesRepo.ts"
import { type TestRunRow, testRuns, testRunTestsTable } from "../TestRunsRepo.ts"
import { erasedRuns, pastRuns, RunErasureRepo } from "./RunErasureRepo.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  RunErasureRepo,
  Effect.map(MemoryStorage, (memory) =>
    RunErasureRepo.of({
      // Transactions run one after the other.
      claim: Effect.succeed(true),
      dueRuns: dueRuns(memory),
      erase: erase(memory),
      eraseRows: eraseRows(memory),
      eraseFiles: eraseFiles(memory),
      forgetBlock: Effect.succeed(0)
    })
  )
)

const dayMillis = 86_400_000

/** What is not younger than this is due, in each workspace: milliseconds of the epoch. Where nothing is, it is before all times. */
const dueBefore =
  (database: MemoryDatabase, now: Timestamp, field: "runDays" | "fileDays", days: number | null) =>
  (workspaceId: WorkspaceId): number => {
    const kept = database.table(workspaces).get(workspaceId)?.[field] ?? days
    return kept === null ? Number.NEGATIVE_INFINITY : Date.parse(now) - kept * dayMillis
  }

/** When a run ended, in milliseconds of the epoch; never while it, or a retry of it, runs. */
const endOf = (run: TestRunRow | undefined): number =>
  run === undefined || run.finishedAt === null || run.runningRetry !== null
    ? Number.POSITIVE_INFINITY
    : Date.parse(run.finishedAt)

const dueRuns =
  (memory: Memory): RunErasureRepo["Service"]["dueRuns"] =>
  (now, { runDays }, sizes) =>
    memory.read((database) => {
      const before = dueBefore(database, now, "runDays", runDays)
      const due = database
        .table(testRuns)
        .filter((run) => Math.max(endOf(run), lastRetryEnd(database, run)) <= before(run.workspaceId))
        .toSorted((a, b) => endOf(a) - endOf(b))
        .slice(0, sizes.runs)
      let tests = 0
      return due.flatMap((run) => {
        const isFull = tests >= sizes.tests
        tests += run.total
        return isFull ? [] : [run.id]
      })
    })

const lastRetryEnd = (database: MemoryDatabase, { id, retryCount }: TestRunRow): number =>
  retryCount === 0
    ? Number.NEGATIVE_INFINITY
    : database
        .table(testRunRetries)
        .filter(({ runId }) => runId === id)
        .reduce(
          (last, { finishedAt }) => Math.max(last, finishedAt === null ? last : Date.parse(finishedAt)),
          Number.NEGATIVE_INFINITY
        )

const erase = (memory: Memory) => (runs: ReadonlyArray<TestRunId>) =>
  memory.write((database) =>
    Effect.sync(() => {
      for (const id of runs) {
        const run = database.table(testRuns).get(id)!
        const past = pastRun(database, run)
        if (past !== undefined) database.table(pastRuns).set(`${run.workspaceId}/${run.number}`, past)
        database.table(testRuns).delete(id)
        database.table(erasedRuns).set(id, { runId: id, workspaceId: run.workspaceId })
      }
    })
  )

const pastRun = (database: MemoryDatabase, run: TestRunRow) => {
  const { deploymentId, deploymentVersion, environmentId, finishedAt, number, productId, release, result } = run
  if (result === null || finishedAt === null) return undefined
  const { durationMs, failed, flaky, passed, skipped, startedAt, total, workspaceId } = run
  const ran = withAttempts(
    database.table(testRunTestsTable).get(run.id) ?? [],
    database.table(testRunAttemptsTable).get(run.id) ?? []
  ).filter(({ attempts }) => attempts.length > 0)
  return {
    workspaceId,
    number,
    productId,
    environmentId,
    deploymentId,
    deploymentVersion,
    release,
    result,
    testedElsewhere: !testsDeployment(run),
    retriedElsewhere: run.retriedElsewhere,
    total,
    passed,
    flaky,
    failed,
    skipped,
    passedFirst: ran.filter(({ attempts }) => attempts[0]!.status === "passed").length,
    durationMs,
    durations: ran.map((test) => testEntry(test).durationMs),
    startedAt,
    finishedAt
  }
}

const eraseRows = (memory: Memory) => (limit: number) =>
  write(memory, (database, now) => {
    const erased = [...database.table(erasedRuns).values()].slice(0, limit)
    for (const { runId } of erased) {
      for (const file of database.table(testRunFiles).filter((file) => file.runId === runId)) {
        eraseFile(database, now, file)
      }
      database.table(testRunAttemptsTable).delete(runId)
      database.table(testRunTestsTable).delete(runId)
      database.table(testRunRetries).deleteWhere((retry) => retry.runId === runId)
      database.table(testRunShards).deleteWhere((shard) => shard.runId === runId)
      database.table(testRunRequests).deleteWhere((request) => request.runId === runId)
      database.table(erasedRuns).delete(runId)
    }
    return erased.length
  })

const eraseFiles =
  (memory: Memory): RunErasureRepo["Service"]["eraseFiles"] =>
  (now, { fileDays }, limit) =>
    write(memory, (database, at) => {
      const before = dueBefore(database, now, "fileDays", fileDays)
      const due = database
        .table(testRunFiles)
        .filter(
          (file) =>
            Date.parse(file.createdAt) <= before(file.workspaceId) &&
            Number.isFinite(endOf(database.table(testRuns).get(file.runId)))
        )
        .slice(0, limit)
      for (const file of due) eraseFile(database, at, file)
      return due.length
    })

/** Its blob lapses at once: what deletes lapsed uploads deletes it. */
const eraseFile = (
  database: MemoryDatabase,
  now: Timestamp,
  { blobId, path, runId, workspaceId }: NonNullable<(typeof testRunFiles)["Row"]>
): void => {
  database.table(testRunFiles).delete(`${runId}/${path}`)
  database.table(pendingBlobs).set(blobId, { id: blobId, runId, workspaceId, lapsesAt: now })
}

const write = <A>(memory: Memory, write: (database: MemoryDatabase, now: Timestamp) => A): Effect.Effect<A> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    memory.write((database) => Effect.sync(() => write(database, timestamp(now))))
  )

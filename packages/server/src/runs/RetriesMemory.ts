import type { EventId, TestRunId } from "@delivery/domain/Ids"
import { passedElsewhere } from "@delivery/domain/runs/PassedElsewhere"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Effect, Layer } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { isActorOrAgent, resolveActor } from "../access/Actors.ts"
import { storeEvent, type StoredEvent } from "../events/EventsRepo.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { tested } from "./EndChanges.ts"
import {
  type FinishedRetry,
  foundRetry,
  type FoundRetry,
  type NewRetry,
  RetriesRepo,
  type RetryRow,
  testRunAttemptsTable,
  testRunRetries
} from "./RetriesRepo.ts"
import { endLeases } from "./SemaphoresMemory.ts"
import { type TestRunRow, testRuns, testRunTestsTable } from "./TestRunsRepo.ts"
import { interrupted, isRunning, labelOfRetry, runPath } from "./TestRunState.ts"
import { hasMoved } from "./TestedDeployment.ts"
import { isChanged, withNames as runWithNames } from "./TestRunsMemory.ts"
import { isBefore, withAttempts } from "./TestTimes.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  RetriesRepo,
  Effect.map(MemoryStorage, (memory) =>
    RetriesRepo.of({
      of: ofRun(memory),
      tests: tests(memory),
      start: start(memory),
      find: find(memory),
      list: (runId) => memory.read((database) => rowsOf(database, runId).map((row) => withNames(database, row))),
      attempts: (runId) => memory.read((database) => attemptsOf(database, runId)),
      finish: finish(memory),
      expire: expire(memory),
      interrupt: interrupt(memory)
    })
  )
)

/** Whether what the run tested is gone: the release or the address of its deployment. */
const isGone = (database: MemoryDatabase, run: TestRunRow): boolean =>
  isChanged(database, run) || hasMoved(database, run)

const ofRun = (memory: Memory) => (runId: TestRunId) =>
  memory.read((database) => {
    const run = database.table(testRuns).get(runId)
    if (run === undefined) return undefined
    const running = rowsOf(database, runId).find((retry) => retry.number === run.runningRetry)
    return {
      count: run.retryCount,
      fixtureUrl: run.fixtureUrl,
      isGone: isGone(database, run),
      running:
        running === undefined
          ? null
          : {
              state: "running" as const,
              number: running.number,
              publisher: publisherOf(running),
              expiresAt: running.expiresAt
            }
    }
  })

const tests =
  (memory: Memory): RetriesRepo["Service"]["tests"] =>
  (runId) =>
    memory.read((database) => {
      const attempts = Map.groupBy(attemptsOf(database, runId), (attempt) => attempt.caseId)
      const retries = rowsOf(database, runId).map((row) => ({ ...row, elsewhere: row.elsewhere === true }))
      return testsOf(database, runId).flatMap(({ caseId, file, status, title }) => {
        if (status !== "failed" && status !== "flaky") return []
        const retried = attempts.get(caseId) ?? []
        const lastRetry = retried.at(-1)?.retry ?? null
        const isElsewhere = passedElsewhere({ attempts: retried, status }, retries)
        return [{ caseId, title, file, status, attempts: 1 + retried.length, lastRetry, passedElsewhere: isElsewhere }]
      })
    })

const start = (memory: Memory) => (retry: NewRetry, event: StoredEvent) =>
  memory.write((database) =>
    Effect.sync(() => {
      const run = database.table(testRuns).get(retry.runId)
      if (run?.state !== "finished" || run.runningRetry !== null || run.retryCount !== retry.after) return undefined
      const number = run.retryCount + 1
      const row = startedRow(retry, number, run.number)
      database.table(testRunRetries).set(retry.id, row)
      database.table(testRuns).set(run.id, {
        ...run,
        retryCount: number,
        runningRetry: number,
        runningRetryExpiresAt: retry.expiresAt
      })
      storeEvent(database, {
        ...event,
        subjectLabel: labelOfRetry(run.number, number),
        subjectPath: runPath + run.number
      })
      return { number, scope: row.fixtureScope }
    })
  )

const startedRow = (
  { after: _, fixture, git, machine, publisher, ...retry }: NewRetry,
  number: number,
  run: number
): RetryRow => ({
  ...retry,
  number,
  publisherKind: publisher.kind,
  publisherId: publisher.id,
  flakyCount: 0,
  elsewhere: null,
  gitSha: git.sha,
  gitDirty: git.dirty,
  hostname: machine.hostname,
  platform: machine.platform,
  fixtureScope: fixture === null ? null : `run-${run}-retry-${number}-${fixture.scopeKey}`,
  fixtureUrl: fixture?.url ?? null,
  cleanupStatus: fixture === null ? null : "pending",
  cleanupDeleted: null,
  cleanupRemaining: null,
  state: "running",
  finishedAt: null
})

const find = (memory: Memory) => (runId: TestRunId, number: number) =>
  memory.read((database) => {
    const row = rowsOf(database, runId).find((row) => row.number === number)
    return row === undefined ? undefined : withNames(database, row)
  })

const finish =
  (memory: Memory) =>
  (
    { number, runId }: { readonly runId: TestRunId; readonly number: number },
    { again, attempts, cleanup, finishedAt, flaky, left, isOther, run: recounted, state }: FinishedRetry,
    eventOf: (retriedElsewhere: boolean) => StoredEvent
  ) =>
    memory.write((database) =>
      Effect.sync(() => {
        const run = database.table(testRuns).get(runId)
        const retry = rowsOf(database, runId).find((retry) => retry.number === number)
        if (run === undefined || retry === undefined || !isRunning(retry, finishedAt)) return undefined
        const elsewhere =
          isOther || isGone(database, run) || isBefore(withAttempts({ lastTestAt: null }, attempts), run.firstTestAt)
        database.table(testRunRetries).set(retry.id, {
          ...retry,
          state,
          flakyCount: flaky.length + again.length,
          elsewhere,
          finishedAt,
          cleanupStatus: cleanup?.status ?? null,
          cleanupDeleted: cleanup?.deleted ?? null,
          cleanupRemaining: cleanup?.remaining ?? null
        })
        const { counts, gateResult, passRate, result } = recounted
        const retriedElsewhere = (elsewhere ? left.ifElsewhere : left.ifHere) || null
        const lastTestAt = withAttempts(run, attempts)
        const ended = { runningRetry: null, runningRetryExpiresAt: null, retriedElsewhere, lastTestAt }
        database.table(testRuns).set(runId, { ...run, ...counts, passRate, result, gateResult, ...ended })
        const madeFlaky = new Set(flaky)
        database.table(testRunTestsTable).set(
          runId,
          testsOf(database, runId).map((test) => (madeFlaky.has(test.caseId) ? { ...test, status: "flaky" } : test))
        )
        database.table(testRunAttemptsTable).set(runId, [...attemptsOf(database, runId), ...attempts])
        endLeases(database, runId, finishedAt)
        storeEvent(database, eventOf(retriedElsewhere === true))
        return { retriedElsewhere: retriedElsewhere === true }
      })
    )

const expire = (memory: Memory) => (now: Timestamp, eventIds: ReadonlyArray<EventId>, runId?: TestRunId) =>
  memory.write((database) =>
    Effect.sync(() => {
      const overdue = database
        .table(testRunRetries)
        .filter(
          (retry) =>
            retry.state === "running" && !isRunning(retry, now) && (runId === undefined || retry.runId === runId)
        )
        .slice(0, eventIds.length)
      for (const [index, retry] of overdue.entries()) {
        interruptOne(database, retry, { id: eventIds[index]!, actor: publisherOf(retry), createdAt: now })
      }
      return overdue.length
    })
  )

const interrupt =
  (memory: Memory): RetriesRepo["Service"]["interrupt"] =>
  ({ actor, publishers, workspaceId }, now, eventIds) =>
    memory.write((database) =>
      Effect.sync(() => {
        const running = database
          .table(testRunRetries)
          .filter(
            (retry) =>
              retry.workspaceId === workspaceId &&
              retry.state === "running" &&
              isActorOrAgent(database, publisherOf(retry), publishers)
          )
          .slice(0, eventIds.length)
        for (const [index, retry] of running.entries()) {
          interruptOne(database, retry, { id: eventIds[index]!, actor, createdAt: now })
        }
        return running.length
      })
    )

const interruptOne = (
  database: MemoryDatabase,
  retry: RetryRow,
  event: Pick<StoredEvent, "id" | "actor" | "createdAt">
): void => {
  const run = database.table(testRuns).get(retry.runId)
  if (run === undefined) throw new Error("A retry refers to what does not exist.")
  database.table(testRunRetries).set(retry.id, interrupted(retry, event.createdAt))
  database.table(testRuns).set(run.id, { ...run, runningRetry: null, runningRetryExpiresAt: null })
  endLeases(database, run.id, event.createdAt)
  storeEvent(database, {
    ...event,
    workspaceId: retry.workspaceId,
    kind: "retry_interrupted",
    subjectType: "retry",
    subjectId: retry.id,
    subjectLabel: labelOfRetry(run.number, retry.number),
    subjectPath: runPath + run.number,
    changes: tested(runWithNames(database, run)),
    teamIds: null
  })
}

/** The retries of a run, oldest first. */
const rowsOf = (database: MemoryDatabase, runId: TestRunId): ReadonlyArray<RetryRow> =>
  database
    .table(testRunRetries)
    .filter((retry) => retry.runId === runId)
    .toSorted((a, b) => a.number - b.number)

const testsOf = (database: MemoryDatabase, runId: TestRunId) => database.table(testRunTestsTable).get(runId) ?? []

const attemptsOf = (database: MemoryDatabase, runId: TestRunId) => database.table(testRunAttemptsTable).get(runId) ?? []

const publisherOf = (retry: RetryRow) => ({ kind: retry.publisherKind, id: retry.publisherId }) as ActorRef

const withNames = (database: MemoryDatabase, retry: RetryRow): FoundRetry => {
  const publisher = publisherOf(retry)
  return foundRetry(retry, publisher, resolveActor(database, publisher))
}

import type { DeploymentId, EventId, PersonId, TestRunId, WorkspaceId } from "@delivery/domain/Ids"
import type { RecordedTest } from "@delivery/domain/runs/TestResults"
import { TestRunSummary } from "@delivery/domain/runs/TestRun"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { compare } from "@delivery/domain/Order"
import { Effect, Layer } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { isSameActor } from "../access/Access.ts"
import { isActorOrAgent, resolveActor } from "../access/Actors.ts"
import { deployments } from "../catalog/DeploymentsRepo.ts"
import { environments } from "../catalog/EnvironmentsRepo.ts"
import { products } from "../catalog/ProductsRepo.ts"
import { storeEvent, type StoredEvent } from "../events/EventsRepo.ts"
import { memberKey, members } from "../identity/MembersRepo.ts"
import { type MemoryDatabase, MemoryStorage, memoryTable } from "../storage/MemoryStorage.ts"
import { jsonEncoder } from "../storage/Json.ts"
import { shownRun } from "./RunAnswers.ts"
import { searchPart, searchText } from "./search/SearchText.ts"
import { testRunRetries } from "./RetriesRepo.ts"
import { tested } from "./EndChanges.ts"
import { endLeases } from "./SemaphoresMemory.ts"
import {
  type FinishedTestRun,
  foundRun,
  type FoundTestRun,
  type NewTestRun,
  runningRetryOf,
  type StrayPublisher,
  type TestRunFilter,
  type TestRunRow,
  testRuns,
  TestRunsRepo,
  testRunTestsTable
} from "./TestRunsRepo.ts"
import { hasFailed, hasTested, isWhole, proves } from "./RunScope.ts"
import { mostElsewhere, mostTelling } from "./TestedAddress.ts"
import { testsDeploymentNow } from "./TestedDeployment.ts"
import { foldSha, interrupted, isRunning, runLabel, runPath } from "./TestRunState.ts"
import { testTimesOf, withTimes } from "./TestTimes.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  TestRunsRepo,
  Effect.map(MemoryStorage, (memory) =>
    TestRunsRepo.of({
      start: start(memory),
      finish: finish(memory),
      expire: expire(memory),
      interrupt: interrupt(memory),
      strayPublishers: strayPublishers(memory),
      find: find(memory),
      mutes: (id) => memory.read((database) => database.table(testRuns).get(id)?.mutes ?? []),
      findWithTests: findWithTests(memory),
      tests: (id, caseId) =>
        memory.read((database) =>
          testsOf(database, id).filter((test) => caseId === undefined || test.caseId === caseId)
        ),
      list: list(memory),
      listJson: listJson(memory),
      indexBlock: Effect.succeed(false),
      indexResults: Effect.succeed(false),
      lock: lock(memory),
      takeDeployment: takeDeployment(memory),
      locks: locks(memory),
      ofVersions: ofVersions(memory)
    })
  )
)

/** The number of each workspace's newest run. */
const lastRunNumbers = memoryTable<number>("last_run_numbers")

const start = (memory: Memory) => (run: NewTestRun, event: StoredEvent) =>
  memory.write((database) =>
    Effect.sync(() => {
      const numbers = database.table(lastRunNumbers)
      const number = (numbers.get(run.workspaceId) ?? 0) + 1
      numbers.set(run.workspaceId, number)
      const row = startedRow(run, number)
      database.table(testRuns).set(run.id, row)
      storeEvent(database, { ...event, subjectLabel: runLabel + number, subjectPath: runPath + number })
      return { number, scope: row.fixtureScope }
    })
  )

const startedRow = (
  { fixture, git, machine, mutes, publisher, selection, ...run }: NewTestRun,
  number: number
): TestRunRow => ({
  ...run,
  number,
  publisherKind: publisher.kind,
  publisherId: publisher.id,
  gitBranch: git.branch,
  gitSha: git.sha,
  gitDirty: git.dirty,
  gitSubject: git.subject,
  gitPullRequest: git.pullRequest ?? null,
  search: searchText(git),
  hostname: machine.hostname,
  platform: machine.platform,
  coverage: selection.coverage,
  selection: { folders: selection.folders, caseIds: selection.caseIds },
  fixtureScope: fixture === null ? null : `run-${number}-${fixture.scopeKey}`,
  fixtureUrl: fixture?.url ?? null,
  cleanupStatus: fixture === null ? null : "pending",
  cleanupDeleted: null,
  cleanupRemaining: null,
  state: "running",
  result: null,
  gateResult: null,
  mutes: mutes.length === 0 ? null : mutes,
  mutedCount: mutes.length === 0 ? null : mutes.length,
  error: null,
  deploymentChanged: null,
  retriedElsewhere: null,
  total: 0,
  passed: 0,
  flaky: 0,
  failed: 0,
  skipped: 0,
  passRate: null,
  firstAttemptPassRate: null,
  durationMs: 0,
  firstTestAt: null,
  lastTestAt: null,
  finishedAt: null,
  build: null,
  buildPublisherId: null,
  shardTotal: null,
  shardsStarted: null,
  shardsFinished: null,
  retryCount: 0,
  runningRetry: null,
  runningRetryExpiresAt: null
})

const finish =
  (memory: Memory) =>
  (
    id: TestRunId,
    { cleanup, counts, ...finished }: FinishedTestRun,
    tests: ReadonlyArray<RecordedTest>,
    event: StoredEvent
  ) =>
    memory.write((database) =>
      Effect.sync(() => {
        const run = database.table(testRuns).get(id)
        if (run === undefined || !isRunning(run, finished.finishedAt)) return undefined
        const deploymentChanged = isChanged(database, run)
        database.table(testRuns).set(id, {
          ...run,
          ...finished,
          ...counts,
          ...withTimes(run, testTimesOf(tests, finished.finishedAt)),
          deploymentChanged,
          cleanupStatus: cleanup?.status ?? null,
          cleanupDeleted: cleanup?.deleted ?? null,
          cleanupRemaining: cleanup?.remaining ?? null
        })
        database.table(testRunTestsTable).set(id, [...testsOf(database, id), ...tests])
        storeEvent(database, event)
        endLeases(database, id, finished.finishedAt)
        giveBack(database, run)
        return { deploymentChanged }
      })
    )

/** Whether the release of the deployment is another than that which the run began on, or the deployment was deleted. */
export const isChanged = (database: MemoryDatabase, { deploymentId, release }: TestRunRow): boolean => {
  const deployment = deploymentId === null ? undefined : database.table(deployments).get(deploymentId)
  return deployment !== undefined && (deployment.release !== (release ?? 0) || deployment.deletedAt !== null)
}

/** Notifies whoever waits for the deployment of a locked run. */
const giveBack = (database: MemoryDatabase, { deploymentId, locked }: TestRunRow): void => {
  if (locked && deploymentId !== null) database.notify("deployments", deploymentId)
}

const takeDeployment = (memory: Memory) => (run: TestRunId, id: DeploymentId) =>
  memory.write((database) =>
    Effect.sync(() => {
      const deployment = database.table(deployments).get(id)!
      database.table(deployments).set(id, { ...deployment, locks: deployment.locks + 1 })
      database.table(testRuns).set(run, {
        ...database.table(testRuns).get(run)!,
        release: deployment.release === 0 ? null : deployment.release,
        deploymentVersion: deployment.version,
        deploymentBaseUrl: deployment.baseUrl
      })
    })
  )

const locks = (memory: Memory) => (deployment: DeploymentId, now: Timestamp) =>
  memory.read((database) =>
    database
      .table(testRuns)
      .filter((run) => run.locked && run.deploymentId === deployment && isRunning(run, now))
      .map(({ number }) => number)
      .toSorted((a, b) => a - b)
  )

const ofVersions =
  (memory: Memory): TestRunsRepo["Service"]["ofVersions"] =>
  (workspaceId, versions, limit) =>
    memory.read((database) =>
      database
        .table(testRuns)
        .filter(
          (run) =>
            run.workspaceId === workspaceId &&
            versions.some(({ productId, version }) => run.productId === productId && run.deploymentVersion === version)
        )
        .toSorted((a, b) => b.number - a.number)
        .slice(0, limit)
        .map((run) => withNames(database, run))
    )

const expire = (memory: Memory) => (now: Timestamp, eventIds: ReadonlyArray<EventId>) =>
  memory.write((database) =>
    Effect.sync(() => {
      const runs = database.table(testRuns)
      const overdue = runs.filter((run) => run.state === "running" && !isRunning(run, now))
      return eventIds.slice(0, overdue.length).map((eventId, index) => {
        const run = overdue[index]!
        interruptOne(database, run, { id: eventId, actor: publisherOf(run), createdAt: now })
        return { workspaceId: run.workspaceId, number: run.number }
      })
    })
  )

const strayPublishers = (memory: Memory): TestRunsRepo["Service"]["strayPublishers"] =>
  memory.read((database) => {
    const stray = new Map<string, StrayPublisher>()
    const running = [...database.table(testRuns).values(), ...database.table(testRunRetries).values()].filter(
      ({ publisherKind, state }) => state === "running" && publisherKind === "user"
    )
    for (const { publisherId, workspaceId } of running) {
      const personId = publisherId as PersonId
      const key = memberKey(workspaceId, personId)
      const member = database.table(members).get(key)
      if (member?.active !== true || member.role === "viewer") stray.set(key, { workspaceId, personId })
    }
    return [...stray.values()]
  })

const interrupt =
  (memory: Memory): TestRunsRepo["Service"]["interrupt"] =>
  ({ actor, publishers, workspaceId }, now, eventIds) =>
    memory.write((database) =>
      Effect.sync(() => {
        const running = database
          .table(testRuns)
          .filter(
            (run) =>
              run.workspaceId === workspaceId &&
              run.state === "running" &&
              isActorOrAgent(database, publisherOf(run), publishers)
          )
          .slice(0, eventIds.length)
        for (const [index, run] of running.entries()) {
          interruptOne(database, run, { id: eventIds[index]!, actor, createdAt: now })
        }
        return running.length
      })
    )

const interruptOne = (
  database: MemoryDatabase,
  run: TestRunRow,
  event: Pick<StoredEvent, "id" | "actor" | "createdAt">
): void => {
  const deploymentChanged = isChanged(database, run)
  database.table(testRuns).set(run.id, { ...interrupted(run, event.createdAt), deploymentChanged })
  giveBack(database, run)
  endLeases(database, run.id, event.createdAt)
  storeEvent(database, {
    ...event,
    workspaceId: run.workspaceId,
    kind: "run_interrupted",
    subjectType: "run",
    subjectId: run.id,
    subjectLabel: runLabel + run.number,
    subjectPath: runPath + run.number,
    changes: tested(withNames(database, run)),
    teamIds: null
  })
}

const find = (memory: Memory) => (workspaceId: WorkspaceId, number: number) =>
  memory.read((database) => {
    const run = findRow(database, workspaceId, number)
    return run === undefined ? undefined : withNames(database, run)
  })

const findWithTests = (memory: Memory) => (workspaceId: WorkspaceId, number: number) =>
  memory.read((database) => {
    const run = findRow(database, workspaceId, number)
    if (run === undefined) return undefined
    return { run: withNames(database, run), tests: testsOf(database, run.id), retryCount: run.retryCount }
  })

const listJson = (memory: Memory): TestRunsRepo["Service"]["listJson"] => {
  const runs = list(memory)
  const json = jsonEncoder(TestRunSummary)
  return (workspaceId, filter, limit, shown) =>
    Effect.map(runs(workspaceId, filter, limit), (found) =>
      found.map((run) => ({ number: run.number, json: json(shownRun(shown, run)) }))
    )
}

const list = (memory: Memory) => (workspaceId: WorkspaceId, filter: TestRunFilter, limit: number) =>
  memory.read((database) => {
    const latest = filter.latest === true ? latestIn(database, workspaceId) : undefined
    return database
      .table(testRuns)
      .filter((run) => run.workspaceId === workspaceId && matches(run, filter))
      .filter((run) => latest?.has(run) ?? true)
      .toSorted((a, b) => b.number - a.number)
      .slice(0, limit)
      .map((run) => withNames(database, run))
  })

/** Of some runs of a deployment, the one that tells how it fares, as `TestRunSearchSql.ts` chooses it. */
const telling = (runs: ReadonlyArray<TestRunRow>): ReadonlyArray<TestRunRow> => {
  const tells = (run: TestRunRow): boolean => hasTested(run) && proves(run)
  const hasWhole = runs.some((run) => isWhole(run) && tells(run))
  const counts = (run: TestRunRow): boolean => isWhole(run) || hasFailed(run) || !hasWhole
  return runs
    .toSorted(
      (a, b) =>
        Number(tells(b)) - Number(tells(a)) ||
        Number(counts(b)) - Number(counts(a)) ||
        compare(b.finishedAt!, a.finishedAt!) ||
        b.number - a.number
    )
    .slice(0, 1)
}

/**
 * The runs that tell how the deployments fare, of products and environments that are not archived: of each among its newest
 * runs, as `TestRunSearchSql.ts` looks for them.
 */
const latestIn = (database: MemoryDatabase, workspaceId: WorkspaceId): ReadonlySet<TestRunRow> =>
  new Set(
    database
      .table(deployments)
      .filter((one) => one.workspaceId === workspaceId && one.deletedAt === null)
      .filter((one) => database.table(products).get(one.productId)?.archivedAt === null)
      .filter((one) => database.table(environments).get(one.environmentId)?.archivedAt === null)
      .flatMap(({ environmentId, productId }) => {
        const newest = database
          .table(testRuns)
          .filter((run) => run.productId === productId && run.environmentId === environmentId && run.result !== null)
          .toSorted((a, b) => b.number - a.number)
          .slice(0, mostElsewhere)
        return telling(newest.filter((run) => testsDeploymentNow(database, run)).slice(0, mostTelling))
      })
  )

const lock = (memory: Memory) => (id: TestRunId) =>
  memory.read((database) => {
    const run = database.table(testRuns).get(id)
    if (run === undefined) return undefined
    return { state: run.state, expiresAt: run.expiresAt, runningRetry: runningRetryOf(run) }
  })

const findRow = (database: MemoryDatabase, workspaceId: WorkspaceId, number: number) =>
  database.table(testRuns).find((run) => run.workspaceId === workspaceId && run.number === number)

const testsOf = (database: MemoryDatabase, id: TestRunId) => database.table(testRunTestsTable).get(id) ?? []

const publisherOf = (run: TestRunRow) => ({ kind: run.publisherKind, id: run.publisherId }) as ActorRef

export const withNames = (database: MemoryDatabase, run: TestRunRow): FoundTestRun => {
  const product = database.table(products).get(run.productId)
  const environment = database.table(environments).get(run.environmentId)
  if (product === undefined || environment === undefined) throw new Error("A run refers to what does not exist.")
  const publisher = publisherOf(run)
  return foundRun(run, {
    product: { slug: product.slug, name: product.name },
    environment: { slug: environment.slug, name: environment.name, class: environment.class },
    publisher,
    publishedBy: resolveActor(database, publisher),
    deploymentChanged: run.deploymentChanged ?? isChanged(database, run)
  })
}

const matches = (run: TestRunRow, filter: TestRunFilter): boolean =>
  (filter.productId === undefined || run.productId === filter.productId) &&
  (filter.environmentId === undefined || run.environmentId === filter.environmentId) &&
  (filter.result === undefined || hasResult(run, filter.result)) &&
  (filter.q === undefined ||
    run.search.includes(searchPart(filter.q)) ||
    foldSha(run.gitSha).startsWith(foldSha(filter.q))) &&
  (filter.commit === undefined || foldSha(run.gitSha) === foldSha(filter.commit)) &&
  (filter.publisher === undefined || isSameActor(publisherOf(run), filter.publisher)) &&
  (filter.below === undefined || run.number < filter.below)

const hasResult = (run: TestRunRow, result: "passed" | "failed" | "flaky"): boolean =>
  result === "flaky" ? run.state === "finished" && run.flaky > 0 : run.result === result

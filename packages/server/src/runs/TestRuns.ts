import { Conflict, Forbidden, InvalidInput, type NotFound } from "@delivery/domain/Errors"
import { Caller } from "@delivery/domain/identity/Authorization"
import type { EventId, TestRunId, WorkspaceId } from "@delivery/domain/Ids"
import type { FinishTestRun } from "@delivery/domain/runs/FinishTestRun"
import { orderTests, outcome, recordTest, testEntry, withAttempts } from "@delivery/domain/runs/TestResults"
import {
  type Retry,
  runsPageSize,
  type StartedTestRun,
  type StartTestRun,
  type TestRun,
  type TestRunPage,
  type TestRunSummary
} from "@delivery/domain/runs/TestRun"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Latch, Layer, Metric } from "effect"
import { SecureRandom } from "effect/crypto"
import { type Access, anyRole, atLeast } from "../access/Access.ts"
import { Deployments, type DeploymentTarget } from "../catalog/Deployments.ts"
import { Settings } from "../Config.ts"
import { Events } from "../events/Events.ts"
import { ApiKeysRepo } from "../identity/ApiKeysRepo.ts"
import { NextId } from "../ids/NextId.ts"
import { hashToken, NewToken } from "../ids/Tokens.ts"
import { Storage } from "../storage/Storage.ts"
import { retriesExpired, runsExpired } from "../telemetry/Metrics.ts"
import { Fixtures, newScopeKey } from "./Fixtures.ts"
import { type FoundRetry, RetriesRepo } from "./RetriesRepo.ts"
import { ResultChanges } from "./ResultChanges.ts"
import { cleanupAfter, noRun, notRunning, pageOf, pagesOf, semaphoresOf, summaryOf } from "./RunAnswers.ts"
import { endOfRun } from "./EndChanges.ts"
import { RunEnds } from "./RunEnds.ts"
import { RunMutes } from "./RunMutes.ts"
import { SearchBlocks } from "./search/SearchBlocks.ts"
import { interruptAll } from "./EndedPublishers.ts"
import { startOnce } from "./RunRequests.ts"
import { RunRequestsRepo } from "./RunRequestsRepo.ts"
import { type BegunRun, finishShard, shardOf, startShard } from "./RunShards.ts"
import { RunShardsRepo } from "./RunShardsRepo.ts"
import { isPublishedBy } from "./SamePublisher.ts"
import {
  type FinishedTestRun,
  type FoundTestRun,
  type NewTestRun,
  type ProductVersion,
  TestRunsRepo
} from "./TestRunsRepo.ts"
import { asOf, isRunning, runLabel, runPath } from "./TestRunState.ts"

/** The query of a list of runs. */
export interface TestRunQuery {
  readonly product?: string | undefined
  readonly environment?: string | undefined
  readonly result?: "passed" | "failed" | "flaky" | undefined
  readonly q?: string | undefined
  readonly commit?: string | undefined
  readonly mine?: boolean | undefined
  readonly latest?: boolean | undefined
  /** The page holds runs numbered below it. */
  readonly cursor?: number | undefined
}

/** Test runs (docs/contract.md, Test runs). */
export class TestRuns extends Context.Service<
  TestRuns,
  {
    readonly list: (query: TestRunQuery) => Effect.Effect<TestRunPage, NotFound, Caller>
    /** The same page, its runs as JSON of `TestRunSummary`. */
    readonly listJson: (
      query: TestRunQuery
    ) => Effect.Effect<
      { readonly runs: ReadonlyArray<Uint8Array>; readonly nextCursor: number | null },
      NotFound,
      Caller
    >
    /** The newest runs of one of the versions, each of a product. */
    readonly ofVersions: (
      access: Access,
      versions: ReadonlyArray<ProductVersion>
    ) => Effect.Effect<ReadonlyArray<TestRunSummary>>
    readonly start: (input: StartTestRun) => Effect.Effect<StartedTestRun, NotFound | Forbidden | Conflict, Caller>
    readonly get: (number: number) => Effect.Effect<TestRun, NotFound, Caller>
    /** With the test of the case alone, if it has that. */
    readonly getTest: (number: number, caseId: string) => Effect.Effect<TestRun, NotFound, Caller>
    /** Fails as `finish` would, whatever the report. */
    readonly checkFinish: (number: number) => Effect.Effect<void, NotFound | Forbidden | Conflict, Caller>
    /** `Forbidden` by another than the publisher, then `Conflict` `not_running`, then `InvalidInput`. */
    readonly finish: (
      number: number,
      report: FinishTestRun
    ) => Effect.Effect<TestRunSummary, InvalidInput | NotFound | Forbidden | Conflict, Caller>
    /**
     * The run, where the caller publishes it and it runs, or publishes its running retry, whose number is `retry`:
     * `Forbidden` by another, then `Conflict` `not_running`.
     */
    readonly publishing: (
      number: number
    ) => Effect.Effect<
      { readonly access: Access; readonly run: FoundTestRun; readonly retry: number | null },
      NotFound | Forbidden | Conflict,
      Caller
    >
    /** Ends the runs and retries that are overdue. */
    readonly expire: Effect.Effect<void>
    /** Indexes runs for the search, as long as there are enough of them. */
    readonly index: Effect.Effect<void>
    /** Waits until a run started here since the last `index` makes enough of them. */
    readonly awaitFullBlock: Effect.Effect<void>
  }
>()("@delivery/server/runs/TestRuns") {
  static readonly layer = Layer.effect(TestRuns, Effect.gen(make))
}

interface Dependencies {
  readonly baseUrl: string
  readonly runLimitMillis: number
  readonly repo: TestRunsRepo["Service"]
  readonly keys: ApiKeysRepo["Service"]
  readonly retries: RetriesRepo["Service"]
  readonly shards: RunShardsRepo["Service"]
  readonly requests: RunRequestsRepo["Service"]
  readonly deployments: Deployments["Service"]
  readonly fixtures: Fixtures["Service"]
  readonly storage: Storage["Service"]
  readonly events: Events["Service"]
  readonly nextId: NextId["Service"]
  readonly newToken: NewToken["Service"]
  readonly random: SecureRandom.SecureRandom["Service"]
  readonly changes: ResultChanges["Service"]
  readonly mutes: RunMutes["Service"]
  readonly ends: RunEnds["Service"]
  /** How many runs make a block of the search index. */
  readonly blockSize: number
  /** Open when a run that started here has filled a block. */
  readonly blockIsFull: Latch.Latch
}

function* make() {
  const { baseUrl, runLimitMillis } = yield* Settings
  const dependencies: Dependencies = {
    baseUrl,
    runLimitMillis,
    repo: yield* TestRunsRepo,
    keys: yield* ApiKeysRepo,
    retries: yield* RetriesRepo,
    shards: yield* RunShardsRepo,
    requests: yield* RunRequestsRepo,
    deployments: yield* Deployments,
    fixtures: yield* Fixtures,
    storage: yield* Storage,
    events: yield* Events,
    nextId: yield* NextId,
    newToken: yield* NewToken,
    random: yield* SecureRandom.SecureRandom,
    changes: yield* ResultChanges,
    mutes: yield* RunMutes,
    ends: yield* RunEnds,
    blockSize: (yield* SearchBlocks).runs,
    blockIsFull: yield* Latch.make(false)
  }
  return TestRuns.of({
    list: list(dependencies),
    listJson: listJson(dependencies),
    ofVersions: ofVersions(dependencies),
    start: start(dependencies),
    get: get(dependencies),
    getTest: get(dependencies),
    checkFinish: (number) => Effect.asVoid(finishable(dependencies)(number)),
    finish: finish(dependencies),
    publishing: publishing(dependencies),
    expire: expire(dependencies),
    index: index(dependencies),
    awaitFullBlock: dependencies.blockIsFull.await
  })
}

const now = Effect.map(Clock.currentTimeMillis, timestamp)

/** The runs that a query asks for, as a repository finds them: one more than a page has. */
const asked = ({ deployments }: Dependencies) =>
  Effect.fnUntraced(function* ({ cursor, environment, mine, product, ...filter }: TestRunQuery) {
    const access = yield* anyRole
    const workspaceId = access.workspace.id
    const refs = yield* deployments.resolveRefs(workspaceId, { product, environment })
    const publisher = mine === true ? access.actor : undefined
    return { access, which: [workspaceId, { ...filter, ...refs, publisher, below: cursor }, runsPageSize + 1] as const }
  })

/** The page of what was found. */
const pageOfFound = <Run extends { readonly number: number }>(found: ReadonlyArray<Run>) => {
  const runs = found.slice(0, runsPageSize)
  return { runs, nextCursor: found.length > runsPageSize ? (runs.at(-1)?.number ?? null) : null }
}

const list = (dependencies: Dependencies) => {
  const ask = asked(dependencies)
  return Effect.fn("TestRuns.list")(function* (query: TestRunQuery) {
    const { access, which } = yield* ask(query)
    const { nextCursor, runs } = pageOfFound(yield* dependencies.repo.list(...which))
    const at = yield* now
    return { runs: runs.map((run) => summaryOf(dependencies.baseUrl, access, asOf(run, at))), nextCursor }
  })
}

const listJson = (dependencies: Dependencies) => {
  const ask = asked(dependencies)
  return Effect.fn("TestRuns.listJson")(function* (query: TestRunQuery) {
    const { access, which } = yield* ask(query)
    const shown = { at: yield* now, pages: pagesOf(dependencies.baseUrl, access.workspace.slug) }
    const { nextCursor, runs } = pageOfFound(yield* dependencies.repo.listJson(...which, shown))
    return { runs: runs.map(({ json }) => json), nextCursor }
  })
}

/** How many runs of versions are shown. */
const runsOfVersions = 100

const ofVersions = ({ baseUrl, repo }: Dependencies): TestRuns["Service"]["ofVersions"] =>
  Effect.fnUntraced(function* (access, versions) {
    if (versions.length === 0) return []
    const found = yield* repo.ofVersions(access.workspace.id, versions, runsOfVersions)
    const at = yield* now
    return found.map((run) => summaryOf(baseUrl, access, asOf(run, at)))
  })

const start = (dependencies: Dependencies) => {
  const { baseUrl, blockIsFull, blockSize, deployments, events, fixtures } = dependencies
  const { mutes, newToken, nextId, random, repo, runLimitMillis, storage } = dependencies
  const begin = startShard(dependencies)
  const beginOnce = startOnce(dependencies)
  return Effect.fn("TestRuns.start")(function* (input: StartTestRun) {
    const access = yield* atLeast("member")
    const { credential } = yield* Caller
    const { workspace } = access
    const target = yield* deployments.target(workspace.id, input.product, input.environment)
    const deployment = yield* deploymentOf(target)
    const id = yield* nextId<TestRunId>()
    const token = yield* newToken("stk_")
    const scopeKey = yield* newScopeKey(random)
    // The conversation of an agent is no place for tokens: its runs have no test data.
    const url = access.actor.kind === "agent" ? null : (input.fixtureUrl ?? deployment.fixtureUrl)
    const millis = yield* Clock.currentTimeMillis
    const locked = input.locked ?? false
    const shard = shardOf(input)
    const { requestId } = input
    const muted = yield* mutes.ofProduct(workspace.id, target.product.id)
    const run: NewTestRun = {
      id,
      workspaceId: workspace.id,
      productId: target.product.id,
      environmentId: target.environment.id,
      publisher: access.actor,
      makerId: credential.id,
      baseUrl: input.baseUrl,
      deploymentBaseUrl: deployment.baseUrl,
      deploymentVersion: deployment.version,
      deploymentId: deployment.id,
      release: deployment.release === 0 ? null : deployment.release,
      locked,
      git: input.git,
      machine: input.machine,
      ciUrl: input.ciUrl ?? null,
      selection: input.selection,
      mutes: muted,
      // Nobody has the token of a run whose shards have their own.
      tokenHash: hashToken(shard === undefined ? token : yield* newToken("stk_")),
      fixture: url === null ? null : { url, scopeKey },
      startedAt: timestamp(millis),
      expiresAt: timestamp(millis + runLimitMillis)
    }
    const numbered = repo.start(
      run,
      yield* events.make(access, { kind: "run_started", subject: { type: "run", id, label: "", path: "" } })
    )
    const starting = locked
      ? storage.transaction(Effect.tap(numbered, () => repo.takeDeployment(id, deployment.id)))
      : numbered
    const {
      expiresAt,
      fixtureUrl,
      mutes: answered,
      number,
      scope
    }: BegunRun = shard !== undefined
      ? yield* begin(shard, run, hashToken(token), starting)
      : requestId !== undefined
        ? yield* beginOnce({ ...input, requestId }, run, starting)
        : { ...(yield* starting), fixtureUrl: url, expiresAt: run.expiresAt, mutes: muted }
    if (number % blockSize === 0) yield* blockIsFull.open
    const fixture = scope === null || fixtureUrl === null ? null : { scope, url: fixtureUrl, expiresAt }
    return {
      number,
      url: pageOf(baseUrl, workspace.slug, number),
      fixture: fixture && (yield* fixtures.access({ workspaceId: workspace.id, number }, fixture)),
      semaphores: semaphoresOf(baseUrl, access, token, expiresAt),
      muted: answered.map(({ caseId }) => caseId)
    }
  })
}

/** The deployment that a run may test. */
const deploymentOf = ({ deployment, environment, product }: DeploymentTarget) => {
  if (product.archived) return Effect.fail(Conflict.archived("product"))
  if (environment.archived) return Effect.fail(Conflict.archived("environment"))
  return deployment === undefined
    ? Effect.fail(
        new Conflict({
          message:
            "The product has no deployment in the environment. Deploy it there first, or name another environment.",
          reason: "not_deployed"
        })
      )
    : Effect.succeed(deployment)
}

const get = (dependencies: Dependencies) => {
  const { baseUrl, mutes, repo } = dependencies
  const find = findComplete(dependencies)
  return Effect.fn("TestRuns.get")(function* (number: number, caseId?: string) {
    const access = yield* anyRole
    const found = yield* find(access.workspace.id, number, caseId)
    if (found === undefined) return yield* noRun(number)
    const at = yield* now
    return {
      ...summaryOf(baseUrl, access, asOf(found.run, at)),
      mutes: found.run.mutedCount === 0 ? [] : yield* mutes.shown(access, yield* repo.mutes(found.run.id)),
      retries: found.retries.map((retry) => presentRetry(asOf(retry, at))),
      tests: orderTests(withAttempts(found.tests, found.attempts).map(testEntry))
    }
  })
}

/** A run with all that it consists of, as of one instant: one statement where it has no retries, as most have. */
const findComplete = ({ repo, retries, storage }: Dependencies) =>
  Effect.fnUntraced(function* (workspaceId: WorkspaceId, number: number, caseId?: string) {
    const found = caseId === undefined ? yield* repo.findWithTests(workspaceId, number) : undefined
    if (found?.retryCount === 0) return { ...found, retries: [], attempts: [] }
    const id = found?.run.id ?? (caseId === undefined ? undefined : (yield* repo.find(workspaceId, number))?.id)
    if (id === undefined) return undefined
    const complete = yield* storage.snapshot(
      Effect.all({
        run: repo.find(workspaceId, number),
        tests: repo.tests(id, caseId),
        retries: retries.list(id),
        attempts: Effect.map(retries.attempts(id), (all) =>
          caseId === undefined ? all : all.filter((attempt) => attempt.caseId === caseId)
        )
      })
    )
    return complete.run && { ...complete, run: complete.run }
  })

/** The run that the caller may finish. Of one with shards, a shard may have: the report says whether it is the same again. */
const finishable = ({ keys, repo }: Dependencies) =>
  Effect.fnUntraced(function* (number: number) {
    const access = yield* atLeast("member")
    const run = yield* repo.find(access.workspace.id, number)
    if (run === undefined) return yield* noRun(number)
    if (!(yield* isPublishedBy({ keys }, run.publisher, access.actor))) return yield* notPublisher
    if (run.shards === null && !isRunning(run, yield* now)) return yield* notRunning("run")
    return { access, run }
  })

const finish = (dependencies: Dependencies) => {
  const { baseUrl, changes, ends, events, repo, storage } = dependencies
  const find = finishable(dependencies)
  const endShard = finishShard(dependencies)
  return Effect.fn("TestRuns.finish")(function* (number: number, report: FinishTestRun) {
    const { access, run } = yield* find(number)
    const tests = report.tests.map(recordTest)
    // Ids that differ in what cannot be stored become equal.
    if (new Set(tests.map((test) => test.caseId)).size < tests.length) {
      return yield* InvalidInput.at("tests", "Expected each caseId once")
    }
    const subject = { type: "run", id: run.id, label: runLabel + number, path: runPath + number }
    const eventOf = (ended: FinishedTestRun) =>
      events.make(access, {
        kind: ended.state === "finished" ? "run_finished" : "run_interrupted",
        subject,
        changes: endOfRun(run, ended)
      })
    const at = yield* now
    if (run.shards !== null) {
      const progressed = (finished: number, total: number) => {
        const [from, to] = [finished - 1, finished].map((count) => `${count} of ${total} finished`)
        return events.record(access, {
          kind: "run_updated",
          subject,
          changes: [{ field: "shards", from: from!, to: to! }]
        })
      }
      const follow = Effect.flatMap(ends.isWatched(run.id), (isWatched) =>
        isWatched ? ends.finished(access, run) : Effect.void
      )
      if (yield* endShard(run, at, report, tests, eventOf, progressed, follow)) yield* changes.note
      const found = yield* repo.find(run.workspaceId, number)
      return found === undefined ? yield* noRun(number) : summaryOf(baseUrl, access, asOf(found, at))
    }
    const finished = {
      ...outcome(report, tests, run.mutedCount === 0 ? [] : yield* repo.mutes(run.id)),
      durationMs: report.durationMs,
      finishedAt: at,
      cleanup: cleanupAfter(run.cleanup, report.cleanup)
    }
    const store = repo.finish(run.id, finished, tests, yield* eventOf(finished))
    const isWatched = finished.state === "finished" && (yield* ends.isWatched(run.id))
    const ended = yield* isWatched
      ? storage.transaction(Effect.tap(store, (one) => (one === undefined ? Effect.void : ends.finished(access, run))))
      : store
    if (ended === undefined) return yield* notRunning("run")
    yield* changes.note
    const cleanup = run.cleanup === null || finished.cleanup === null ? null : { ...run.cleanup, ...finished.cleanup }
    return summaryOf(baseUrl, access, { ...run, ...finished, ...ended, cleanup })
  })
}

const publishing = ({ keys, repo, retries }: Dependencies) =>
  Effect.fnUntraced(function* (number: number) {
    const access = yield* atLeast("member")
    const run = yield* repo.find(access.workspace.id, number)
    if (run === undefined) return yield* noRun(number)
    const at = yield* now
    const isPublisher = yield* isPublishedBy({ keys }, run.publisher, access.actor)
    if (isPublisher && isRunning(run, at)) return { access, run, retry: null }
    const running = run.state === "finished" ? ((yield* retries.of(run.id))?.running ?? null) : null
    const isRetrying = running !== null && (yield* isPublishedBy({ keys }, running.publisher, access.actor))
    if (isRetrying && isRunning(running, at)) {
      return { access, run, retry: running.number }
    }
    return yield* isPublisher ? notRunning("run") : notPublisher
  })

/** How many runs or retries one statement ends. */
const expiryBatch = 100

const expire = ({ nextId, repo, retries }: Dependencies) => {
  const interrupt = interruptAll({ nextId, repo, retries })
  const ids = Effect.replicateEffect(nextId<EventId>(), expiryBatch)
  return Effect.gen(function* () {
    for (const { personId, workspaceId } of yield* repo.strayPublishers) {
      const actor = { kind: "user", id: personId } as const
      yield* interrupt({ workspaceId, publishers: [actor], actor })
    }
    for (let expired = expiryBatch; expired === expiryBatch;) {
      expired = (yield* repo.expire(yield* now, yield* ids)).length
      yield* Metric.update(runsExpired, expired)
    }
    for (let expired = expiryBatch; expired === expiryBatch;) {
      expired = yield* retries.expire(yield* now, yield* ids)
      yield* Metric.update(retriesExpired, expired)
    }
  }).pipe(Effect.withSpan("TestRuns.expire"))
}

const index = ({ blockIsFull, repo, storage }: Dependencies) =>
  Effect.gen(function* () {
    yield* blockIsFull.close
    while (yield* storage.transaction(repo.indexBlock)) yield* Effect.yieldNow
    while (yield* storage.transaction(repo.indexResults)) yield* Effect.yieldNow
  }).pipe(Effect.withSpan("TestRuns.index"))

const presentRetry = ({ expiresAt: _, gitDirty: __, id: ___, publisher: ____, ...retry }: FoundRetry): Retry => retry

const notPublisher = Effect.suspend(() =>
  Effect.fail(new Forbidden({ message: "Only the publisher of the run may do this.", reason: "not_publisher" }))
)

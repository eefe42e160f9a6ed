import { Conflict, Forbidden, InvalidInput, NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
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
import { Deployments } from "../catalog/Deployments.ts"
import { Settings } from "../Config.ts"
import { nextId } from "../ids/NextId.ts"
import { hashToken, makeToken } from "../ids/Tokens.ts"
import { Events } from "../events/Events.ts"
import { type Access, anyRole, atLeast, isSameActor } from "../access/Access.ts"
import { Storage } from "../storage/Storage.ts"
import { retriesExpired, runsExpired } from "../telemetry/Metrics.ts"
import { Fixtures } from "./Fixtures.ts"
import { RetriesRepo, type FoundRetry } from "./RetriesRepo.ts"
import { SearchBlocks } from "./search/SearchBlocks.ts"
import type { FoundTestRun } from "./TestRunRows.ts"
import { asOf, isRunning, runLabel, runPath } from "./TestRunState.ts"
import { TestRunsRepo } from "./TestRunsRepo.ts"

/** Which runs a list holds, as its query says it. */
export interface TestRunQuery {
  readonly product?: string | undefined
  readonly environment?: string | undefined
  readonly result?: "passed" | "failed" | "flaky" | undefined
  readonly q?: string | undefined
  readonly commit?: string | undefined
  readonly mine?: boolean | undefined
  /** The page holds runs numbered below it. */
  readonly cursor?: number | undefined
}

/** Test runs (service document, Test runs; contract, section 6). */
export class TestRuns extends Context.Service<
  TestRuns,
  {
    readonly list: (query: TestRunQuery) => Effect.Effect<TestRunPage, NotFound, Caller>
    readonly start: (input: StartTestRun) => Effect.Effect<StartedTestRun, NotFound | Forbidden | Conflict, Caller>
    readonly get: (number: number) => Effect.Effect<TestRun, NotFound, Caller>
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
    readonly mayIndex: Effect.Effect<void>
  }
>()("@delivery/server/runs/TestRuns") {
  static readonly layer = Layer.effect(
    TestRuns,
    Effect.gen(function* () {
      const random = yield* SecureRandom.SecureRandom
      const { baseUrl, runLimitMillis } = yield* Settings
      const storage = yield* Storage
      const repo = yield* TestRunsRepo
      const retriesRepo = yield* RetriesRepo
      const deployments = yield* Deployments
      const fixtures = yield* Fixtures
      const events = yield* Events
      const block = yield* SearchBlocks
      const blockIsFull = yield* Latch.make(false)

      const now = Effect.map(Clock.currentTimeMillis, timestamp)
      const summary = (access: Access, run: FoundTestRun) => summaryOf(baseUrl, access, run)

      const publishing = Effect.fnUntraced(function* (number: number) {
        const access = yield* atLeast("member")
        const run = yield* repo.find(access.workspace.id, number)
        if (run === undefined) return yield* NotFound.of("test run")
        const at = yield* now
        const isPublisher = isSameActor(run.publisher, access.actor)
        if (isPublisher && isRunning(run, at)) return { access, run, retry: null }
        const { running } = run.state === "finished" ? yield* retriesRepo.of(run.id) : { running: null }
        if (running !== null && isSameActor(running.publisher, access.actor) && isRunning(running, at)) {
          return { access, run, retry: running.number }
        }
        return yield* isPublisher ? notRunning : notPublisher
      })

      /** A run with all that it consists of, as of one instant: one statement where it has no retries, as most have. */
      const whole = Effect.fnUntraced(function* (workspaceId: WorkspaceId, number: number) {
        const found = yield* repo.findWithTests(workspaceId, number)
        if (found === undefined || found.retryCount === 0) return found && { ...found, retries: [], attempts: [] }
        return yield* storage.snapshot(
          Effect.all({
            run: repo.find(workspaceId, number).pipe(Effect.map((run) => run!)),
            tests: repo.tests(found.run.id),
            retries: retriesRepo.list(found.run.id),
            attempts: retriesRepo.attempts(found.run.id)
          })
        )
      })

      return TestRuns.of({
        publishing,

        list: Effect.fn("TestRuns.list")(function* ({ cursor, environment, mine, product, ...filter }: TestRunQuery) {
          const access = yield* anyRole
          const workspaceId = access.workspace.id
          const found = yield* repo.list(
            workspaceId,
            {
              ...filter,
              ...(yield* deployments.resolveRefs(workspaceId, { product, environment })),
              publisher: mine === true ? access.actor : undefined,
              below: cursor
            },
            runsPageSize + 1
          )
          const at = yield* now
          const runs = found.slice(0, runsPageSize).map((run) => summary(access, asOf(run, at)))
          return { runs, nextCursor: found.length > runsPageSize ? (runs.at(-1)?.number ?? null) : null }
        }),

        start: Effect.fn("TestRuns.start")(
          function* (input: StartTestRun) {
            const access = yield* atLeast("member")
            const { workspace } = access
            const { deployment, environment, product } = yield* deployments.target(
              workspace.id,
              input.product,
              input.environment
            )
            if (product.archived || environment.archived) {
              return yield* new Conflict({
                message: `The ${product.archived ? "product" : "environment"} is archived.`,
                reason: "archived"
              })
            }
            if (deployment === undefined) {
              return yield* new Conflict({
                message: "The product has no deployment in the environment.",
                reason: "not_deployed"
              })
            }

            const id = yield* nextId<TestRunId>()
            const token = yield* makeToken("stk_")
            const scopeKey = Buffer.from(yield* random.randomBytes(8)).toString("hex")
            const fixtureUrl = input.fixtureUrl ?? deployment.fixtureUrl
            const millis = yield* Clock.currentTimeMillis
            const expiresAt = timestamp(millis + runLimitMillis)
            const { number, scope } = yield* repo.start(
              {
                id,
                workspaceId: workspace.id,
                productId: product.id,
                environmentId: environment.id,
                publisher: access.actor,
                baseUrl: input.baseUrl,
                deploymentBaseUrl: deployment.baseUrl,
                deploymentVersion: deployment.version,
                git: input.git,
                machine: input.machine,
                selection: input.selection,
                tokenHash: hashToken(token),
                fixture: fixtureUrl === null ? null : { url: fixtureUrl, scopeKey },
                startedAt: timestamp(millis),
                expiresAt
              },
              yield* events.make(access, { kind: "run_started", subject: { type: "run", id, label: "", path: "" } })
            )
            if (number % block.runs === 0) yield* blockIsFull.open
            return {
              number,
              url: urlOf(baseUrl, workspace.slug, number),
              fixture:
                scope === null || fixtureUrl === null
                  ? null
                  : yield* fixtures.access(
                      { workspaceId: workspace.id, number },
                      { scope, url: fixtureUrl, expiresAt }
                    ),
              semaphores: { url: `${baseUrl}/v1/workspaces/${workspace.slug}/semaphores`, token, expiresAt }
            }
          },
          Effect.provideService(SecureRandom.SecureRandom, random)
        ),

        get: Effect.fn("TestRuns.get")(function* (number: number) {
          const access = yield* anyRole
          const found = yield* whole(access.workspace.id, number)
          if (found === undefined) return yield* NotFound.of("test run")
          const at = yield* now
          return {
            ...summary(access, asOf(found.run, at)),
            retries: found.retries.map((retry) => shownRetry(asOf(retry, at))),
            tests: orderTests(withAttempts(found.tests, found.attempts).map(testEntry))
          }
        }),

        finish: Effect.fn("TestRuns.finish")(function* (number: number, report: FinishTestRun) {
          const tests = report.tests.map(recordTest)
          // Ids that differ in what cannot be stored become equal.
          if (new Set(tests.map((test) => test.caseId)).size < tests.length) {
            return yield* InvalidInput.at("tests", "Expected each caseId once")
          }
          const access = yield* atLeast("member")
          const run = yield* repo.find(access.workspace.id, number)
          if (run === undefined) return yield* NotFound.of("test run")
          if (!isSameActor(run.publisher, access.actor)) return yield* notPublisher
          if (!isRunning(run, yield* now)) return yield* notRunning
          const finished = {
            ...outcome(report, tests),
            durationMs: report.durationMs,
            finishedAt: yield* now,
            cleanup:
              run.cleanup === null
                ? null
                : {
                    status: report.cleanup?.status ?? ("incomplete" as const),
                    deleted: report.cleanup?.deleted ?? null,
                    remaining: report.cleanup?.remaining ?? null
                  }
          }
          const event = yield* events.make(access, {
            kind: finished.state === "finished" ? "run_finished" : "run_interrupted",
            subject: { type: "run", id: run.id, label: runLabel + number, path: runPath + number },
            changes: finished.result === null ? [] : [{ field: "result", from: null, to: finished.result }]
          })
          if (!(yield* repo.finish(run.id, finished, tests, event))) return yield* notRunning
          const cleanup =
            run.cleanup === null || finished.cleanup === null ? null : { ...run.cleanup, ...finished.cleanup }
          return summary(access, { ...run, ...finished, cleanup })
        }),

        expire: Effect.gen(function* () {
          const ids = Effect.replicateEffect(nextId<EventId>(), expiryBatch)
          for (let expired = expiryBatch; expired === expiryBatch;) {
            expired = (yield* repo.expire(yield* now, yield* ids)).length
            yield* Metric.update(runsExpired, expired)
          }
          for (let expired = expiryBatch; expired === expiryBatch;) {
            expired = yield* retriesRepo.expire(yield* now, yield* ids)
            yield* Metric.update(retriesExpired, expired)
          }
        }).pipe(Effect.provideService(SecureRandom.SecureRandom, random), Effect.withSpan("TestRuns.expire")),

        index: Effect.gen(function* () {
          yield* blockIsFull.close
          while (yield* storage.transaction(repo.indexBlock)) yield* Effect.yieldNow
          while (yield* storage.transaction(repo.indexResults)) yield* Effect.yieldNow
        }).pipe(Effect.withSpan("TestRuns.index")),

        mayIndex: blockIsFull.await
      })
    })
  )
}

const urlOf = (baseUrl: string, slug: string, number: number) => `${baseUrl}/w/${slug}/${runPath}${number}`

/** The run as lists and finish calls answer it; `baseUrl` is the service's. */
export const summaryOf = (
  baseUrl: string,
  { workspace }: Access,
  { expiresAt: _, publisher: __, workspaceId: ___, ...run }: FoundTestRun
): TestRunSummary => ({ ...run, url: urlOf(baseUrl, workspace.slug, run.number) })

const shownRetry = ({ expiresAt: _, id: __, publisher: ___, ...retry }: FoundRetry): Retry => retry

/** How many runs or retries one statement ends. */
const expiryBatch = 100

const notPublisher = Effect.suspend(() =>
  Effect.fail(new Forbidden({ message: "Only the publisher of the run may do this.", reason: "not_publisher" }))
)

/** What a call that needs a running run fails with. */
export const notRunning = Effect.suspend(() =>
  Effect.fail(new Conflict({ message: "The run is no longer running.", reason: "not_running" }))
)

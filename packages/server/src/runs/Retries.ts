import { Conflict, Forbidden, InvalidInput, NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { EventId, RetryId } from "@delivery/domain/Ids"
import { recount, retryOutcome, testsToRetry } from "@delivery/domain/runs/TestResults"
import type { FinishRetry, StartedRetry, StartRetry } from "@delivery/domain/runs/TestRetry"
import type { TestRunSummary } from "@delivery/domain/runs/TestRun"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { Settings } from "../Config.ts"
import { nextId } from "../ids/NextId.ts"
import { hashToken, makeToken } from "../ids/Tokens.ts"
import { Events } from "../events/Events.ts"
import { atLeast, isSameActor } from "../access/Access.ts"
import { Fixtures } from "./Fixtures.ts"
import { RetriesRepo } from "./RetriesRepo.ts"
import { asOf, foldSha, isRunning, labelOfRetry, runPath } from "./TestRunState.ts"
import { summaryOf } from "./TestRuns.ts"
import type { FoundTestRun } from "./TestRunRows.ts"
import { TestRunsRepo } from "./TestRunsRepo.ts"

/** Retries of the failed tests of runs (service document, Test runs; contract, section 6). */
export class Retries extends Context.Service<
  Retries,
  {
    /** `Conflict` `not_retryable`, `other_commit`, `retry_running` or `nothing_to_retry`, in this order. */
    readonly start: (
      run: number,
      input: StartRetry
    ) => Effect.Effect<StartedRetry, NotFound | Forbidden | Conflict, Caller>
    /** The run, recounted. `Forbidden` by another than the publisher, before `Conflict` `not_running`. */
    readonly finish: (
      run: number,
      retry: number,
      report: FinishRetry
    ) => Effect.Effect<TestRunSummary, InvalidInput | NotFound | Forbidden | Conflict, Caller>
  }
>()("@delivery/server/runs/Retries") {
  static readonly layer = Layer.effect(
    Retries,
    Effect.gen(function* () {
      const random = yield* SecureRandom.SecureRandom
      const { baseUrl, runLimitMillis } = yield* Settings
      const repo = yield* RetriesRepo
      const runs = yield* TestRunsRepo
      const fixtures = yield* Fixtures
      const events = yield* Events

      const now = Effect.map(Clock.currentTimeMillis, timestamp)

      return Retries.of({
        start: Effect.fn("Retries.start")(
          function* (number: number, input: StartRetry) {
            const access = yield* atLeast("member")
            const { workspace } = access
            const id = yield* nextId<RetryId>()
            const token = yield* makeToken("stk_")
            const scopeKey = Buffer.from(yield* random.randomBytes(8)).toString("hex")
            // Each turn ends unless a retry has started or was ended between its reads and its write.
            for (;;) {
              const run = yield* runs.find(workspace.id, number)
              if (run === undefined) return yield* NotFound.of("test run")
              const millis = yield* Clock.currentTimeMillis
              yield* checkRetryable(asOf(run, timestamp(millis)), input.git.sha)
              const { count, fixtureUrl: runFixtureUrl, running } = yield* repo.of(run.id)
              if (running !== null) {
                if (isRunning(running, timestamp(millis))) {
                  return yield* new Conflict({
                    message: `Retry ${running.number} of the run is still running.`,
                    reason: "retry_running"
                  })
                }
                yield* repo.expire(timestamp(millis), [yield* nextId<EventId>()], run.id)
                continue
              }
              const tests = testsToRetry(yield* repo.tests(run.id))
              if (tests.length === 0) {
                return yield* new Conflict({ message: "No test of the run has failed.", reason: "nothing_to_retry" })
              }
              const expiresAt = timestamp(millis + runLimitMillis)
              const fixtureUrl = runFixtureUrl === null ? null : (input.fixtureUrl ?? runFixtureUrl)
              const started = yield* repo.start(
                {
                  id,
                  workspaceId: workspace.id,
                  runId: run.id,
                  after: count,
                  publisher: access.actor,
                  requiredPasses: input.passes,
                  baseUrl: input.baseUrl ?? run.baseUrl,
                  git: { sha: run.git.sha, dirty: input.git.dirty },
                  machine: input.machine,
                  tokenHash: hashToken(token),
                  fixture: fixtureUrl === null ? null : { url: fixtureUrl, scopeKey },
                  startedAt: timestamp(millis),
                  expiresAt
                },
                yield* events.make(access, {
                  kind: "retry_started",
                  subject: { type: "retry", id, label: "", path: "" }
                })
              )
              if (started === undefined) continue
              return {
                retry: started.number,
                requiredPasses: input.passes,
                baseUrl: input.baseUrl ?? run.baseUrl,
                tests,
                environment: { slug: run.environment.slug, class: run.environment.class },
                fixture:
                  started.scope === null || fixtureUrl === null
                    ? null
                    : yield* fixtures.access(
                        { workspaceId: workspace.id, number, retry: started.number },
                        { scope: started.scope, url: fixtureUrl, expiresAt }
                      ),
                semaphores: { url: `${baseUrl}/v1/workspaces/${workspace.slug}/semaphores`, token, expiresAt }
              }
            }
          },
          Effect.provideService(SecureRandom.SecureRandom, random)
        ),

        finish: Effect.fn("Retries.finish")(function* (number: number, retryNumber: number, report: FinishRetry) {
          const access = yield* atLeast("member")
          const found = yield* runs.find(access.workspace.id, number)
          if (found === undefined) return yield* NotFound.of("test run")
          const retry = yield* repo.find(found.id, retryNumber)
          if (retry === undefined) return yield* NotFound.of("retry")
          // Whoever guessed the number may have come between the end of one retry and the start of this one.
          const isOld = retry.state === "running" && found.counts.failed !== retry.testCount
          const run = isOld ? ((yield* runs.find(access.workspace.id, number)) ?? found) : found
          if (!isSameActor(retry.publisher, access.actor)) {
            return yield* new Forbidden({
              message: "Only the publisher of the retry may do this.",
              reason: "not_publisher"
            })
          }
          // While the retry runs, nothing else changes the run's tests and counts; if it no longer does, nothing is stored.
          const outcome = retryOutcome(report, retry, yield* repo.tests(run.id))
          if (typeof outcome === "string") return yield* InvalidInput.at("tests", outcome)
          const finishedAt = yield* now
          if (!isRunning(retry, finishedAt)) return yield* notRunning
          const recounted = recount(run.counts, outcome.flaky.length)
          const finished = {
            ...outcome,
            state: report.interrupted ? ("interrupted" as const) : ("finished" as const),
            cleanup:
              retry.cleanup === null
                ? null
                : {
                    status: report.cleanup?.status ?? ("incomplete" as const),
                    deleted: report.cleanup?.deleted ?? null,
                    remaining: report.cleanup?.remaining ?? null
                  },
            finishedAt,
            run: recounted
          }
          const event = yield* events.make(access, {
            kind: report.interrupted ? "retry_interrupted" : "retry_finished",
            subject: {
              type: "retry",
              id: retry.id,
              label: labelOfRetry(number, retryNumber),
              path: runPath + number
            },
            changes:
              outcome.flaky.length === 0 ? [] : [{ field: "flakyCount", from: "0", to: String(outcome.flaky.length) }]
          })
          if (!(yield* repo.finish({ runId: run.id, number: retryNumber }, finished, event))) return yield* notRunning
          return summaryOf(baseUrl, access, { ...run, ...recounted })
        })
      })
    })
  )
}

const checkRetryable = (run: FoundTestRun, sha: string): Effect.Effect<void, Conflict> => {
  const refused = (reason: string, message: string) => Effect.fail(new Conflict({ message, reason }))
  if (run.state !== "finished") {
    return refused("not_retryable", run.state === "running" ? "The run is not finished." : "The run was interrupted.")
  }
  if (run.error !== null) return refused("not_retryable", "The run has an error.")
  if (foldSha(run.git.sha) !== foldSha(sha)) {
    return refused("other_commit", `The run is of another commit, ${run.git.sha}.`)
  }
  return Effect.void
}

const notRunning = Effect.suspend(() =>
  Effect.fail(new Conflict({ message: "The retry is no longer running.", reason: "not_running" }))
)

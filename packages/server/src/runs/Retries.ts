import { isAtLeast } from "@delivery/domain/identity/Role"
import { Conflict, Forbidden, InvalidInput, type NotFound } from "@delivery/domain/Errors"
import { Caller } from "@delivery/domain/identity/Authorization"
import { shownName } from "@delivery/domain/flow/ShownName"
import type { EventId, RetryId } from "@delivery/domain/Ids"
import {
  gateResultOf,
  recount,
  type RetriedTest,
  retryOutcome,
  type RetryOutcome,
  testsToRetry
} from "@delivery/domain/runs/TestResults"
import type { FinishRetry, RetryTest, StartedRetry, StartRetry } from "@delivery/domain/runs/TestRetry"
import type { TestRunSummary } from "@delivery/domain/runs/TestRun"
import { type Timestamp, timestamp } from "@delivery/domain/Timestamp"
import { isSameAddress } from "@delivery/domain/runs/TestedAddress"
import { Clock, Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { type Access, atLeast } from "../access/Access.ts"
import { Settings } from "../Config.ts"
import { Events } from "../events/Events.ts"
import { ApiKeysRepo } from "../identity/ApiKeysRepo.ts"
import { NextId } from "../ids/NextId.ts"
import { hashToken, NewToken } from "../ids/Tokens.ts"
import { endOfRetry } from "./EndChanges.ts"
import { Fixtures, newScopeKey } from "./Fixtures.ts"
import { type FinishedRetry, RetriesRepo } from "./RetriesRepo.ts"
import { ResultChanges } from "./ResultChanges.ts"
import { cleanupAfter, noRetry, noRun, notRunning, semaphoresOf, summaryOf } from "./RunAnswers.ts"
import { isPublishedBy } from "./SamePublisher.ts"
import { type FoundTestRun, gateResultAfter, TestRunsRepo } from "./TestRunsRepo.ts"
import { asOf, foldSha, isRunning, labelOfRetry, runPath } from "./TestRunState.ts"

/** Retries of the failed tests of runs (docs/contract.md, Retries). */
export class Retries extends Context.Service<
  Retries,
  {
    /** `Conflict` `not_retryable`, `other_commit`, `retry_running` or `nothing_to_retry`, in this order. */
    readonly start: (
      run: number,
      input: StartRetry
    ) => Effect.Effect<StartedRetry, NotFound | Forbidden | Conflict, Caller>
    /** The run, recounted. `Forbidden` by another than the publisher, then `Conflict` `not_running`, then `InvalidInput`. */
    readonly finish: (
      run: number,
      retry: number,
      report: FinishRetry
    ) => Effect.Effect<TestRunSummary, InvalidInput | NotFound | Forbidden | Conflict, Caller>
    /** Fails as `finish` would, whatever the report. */
    readonly checkFinish: (
      number: number,
      retry: number
    ) => Effect.Effect<void, NotFound | Forbidden | Conflict, Caller>
  }
>()("@delivery/server/runs/Retries") {
  static readonly layer = Layer.effect(Retries, Effect.gen(make))
}

interface Dependencies {
  readonly baseUrl: string
  readonly runLimitMillis: number
  readonly repo: RetriesRepo["Service"]
  readonly runs: TestRunsRepo["Service"]
  readonly keys: ApiKeysRepo["Service"]
  readonly fixtures: Fixtures["Service"]
  readonly events: Events["Service"]
  readonly nextId: NextId["Service"]
  readonly newToken: NewToken["Service"]
  readonly random: SecureRandom.SecureRandom["Service"]
  readonly changes: ResultChanges["Service"]
}

function* make() {
  const { baseUrl, runLimitMillis } = yield* Settings
  const dependencies: Dependencies = {
    baseUrl,
    runLimitMillis,
    repo: yield* RetriesRepo,
    runs: yield* TestRunsRepo,
    keys: yield* ApiKeysRepo,
    fixtures: yield* Fixtures,
    events: yield* Events,
    nextId: yield* NextId,
    newToken: yield* NewToken,
    random: yield* SecureRandom.SecureRandom,
    changes: yield* ResultChanges
  }
  return Retries.of({
    start: start(dependencies),
    checkFinish: checkFinish(dependencies),
    finish: finish(dependencies)
  })
}

/** What a retry that starts is named and reached by. */
interface Secrets {
  readonly id: RetryId
  readonly token: string
  readonly scopeKey: string
}

const start = (dependencies: Dependencies) => {
  const { newToken, nextId, random } = dependencies
  const findStartable = startable(dependencies)
  const store = storeStarted(dependencies)
  return Effect.fn("Retries.start")(function* (number: number, input: StartRetry) {
    const access = yield* atLeast("member")
    const secrets: Secrets = {
      id: yield* nextId<RetryId>(),
      token: yield* newToken("stk_"),
      scopeKey: yield* newScopeKey(random)
    }
    // Each turn ends unless a retry has started or was ended between its reads and its write.
    for (;;) {
      const found = yield* findStartable(access, number, input)
      if (found === undefined) continue
      const started = yield* store(access, input, secrets, found)
      if (started !== undefined) return started
    }
  })
}

/** A run that a retry may start of, as it was read. */
interface Startable {
  readonly run: FoundTestRun
  readonly millis: number
  /** How many retries it has had. */
  readonly count: number
  readonly fixtureUrl: string | null
  readonly tests: ReadonlyArray<RetryTest>
}

const nothingToRetry = (message: string) => new Conflict({ message, reason: "nothing_to_retry" })

/** The run with the tests to retry. Undefined where it has ended a retry that was overdue, or the run has gone meanwhile: look again. */
const startable = ({ nextId, repo, runs }: Dependencies) =>
  Effect.fnUntraced(function* (access: Access, number: number, input: Pick<StartRetry, "baseUrl" | "git">) {
    const run = yield* runs.find(access.workspace.id, number)
    if (run === undefined) return yield* noRun(number)
    const millis = yield* Clock.currentTimeMillis
    yield* checkRetryable(asOf(run, timestamp(millis)), input.git.sha)
    const found = yield* repo.of(run.id)
    if (found === undefined) return undefined
    const { count, fixtureUrl, isGone, running } = found
    if (running !== null) {
      if (isRunning(running, timestamp(millis))) return yield* stillRunning(running.number)
      yield* repo.expire(timestamp(millis), [yield* nextId<EventId>()], run.id)
      return undefined
    }
    const retried = yield* repo.tests(run.id)
    const tests = testsToRetry(retried, !isGone && !isOther(run, input.baseUrl ?? run.baseUrl, input.git.dirty))
    if (tests.length === 0) return yield* nothingToRetry(whyNothing(run, isGone, retried))
    return { run, millis, count, fixtureUrl, tests }
  })

const whyNothing = ({ baseUrl, git }: FoundTestRun, isGone: boolean, tests: ReadonlyArray<RetriedTest>): string => {
  if (!tests.some(({ passedElsewhere }) => passedElsewhere)) return "The run has no failed tests."
  return isGone
    ? "What failed in the run has passed elsewhere, and the release or the address that the run tested is not that of the deployment any more: start a new run."
    : `What failed in the run has passed elsewhere. To show that it passes where the run failed, retry it against ${shownName(baseUrl)}${git.dirty ? "" : ", without uncommitted changes"}.`
}

/** Whether a retry tests another address than the run, or changes that are in no commit, and the run had none. */
const isOther = (run: FoundTestRun, baseUrl: string, isDirty: boolean): boolean =>
  !isSameAddress(baseUrl, run.baseUrl) || (isDirty && !run.git.dirty)

/** Undefined where another retry has started since the run was read. */
const storeStarted = ({ baseUrl, events, fixtures, repo, runLimitMillis }: Dependencies) =>
  Effect.fnUntraced(function* (
    access: Access,
    input: StartRetry,
    { id, scopeKey, token }: Secrets,
    { count, fixtureUrl, millis, run, tests }: Startable
  ) {
    const { credential } = yield* Caller
    const expiresAt: Timestamp = timestamp(millis + runLimitMillis)
    const url = fixtureUrl === null ? null : (input.fixtureUrl ?? fixtureUrl)
    const started = yield* repo.start(
      {
        id,
        workspaceId: run.workspaceId,
        runId: run.id,
        after: count,
        publisher: access.actor,
        makerId: credential.id,
        requiredPasses: input.passes,
        testCount: tests.length,
        baseUrl: input.baseUrl ?? run.baseUrl,
        git: { sha: run.git.sha, dirty: input.git.dirty },
        machine: input.machine,
        tokenHash: hashToken(token),
        fixture: url === null ? null : { url, scopeKey },
        startedAt: timestamp(millis),
        expiresAt
      },
      yield* events.make(access, { kind: "retry_started", subject: { type: "retry", id, label: "", path: "" } })
    )
    if (started === undefined) return undefined
    const { number, scope } = started
    const retry = { workspaceId: run.workspaceId, number: run.number, retry: number }
    return {
      retry: number,
      requiredPasses: input.passes,
      baseUrl: input.baseUrl ?? run.baseUrl,
      tests,
      environment: { slug: run.environment.slug, class: run.environment.class },
      fixture: scope === null || url === null ? null : yield* fixtures.access(retry, { scope, url, expiresAt }),
      semaphores: semaphoresOf(baseUrl, access, token, expiresAt)
    }
  })

const finish = (dependencies: Dependencies) => {
  const { baseUrl, changes, events, repo } = dependencies
  const find = findPublished(dependencies)
  const mutesOf = findMutes(dependencies)
  return Effect.fn("Retries.finish")(function* (number: number, retryNumber: number, report: FinishRetry) {
    const { access, retry, run } = yield* find(number, retryNumber, report.interrupted && report.tests.length === 0)
    const finishedAt = timestamp(yield* Clock.currentTimeMillis)
    if (!isRunning(retry, finishedAt)) return yield* notRunning("retry")
    // While the retry runs, nothing else changes the run's tests and counts; if it no longer does, nothing is stored.
    const retried = yield* repo.tests(run.id)
    const outcome = retryOutcome(report, retry, retried)
    if (typeof outcome === "string") return yield* InvalidInput.at("tests", outcome)
    const recounted = recount(run.counts, outcome.flaky.length)
    const muted = yield* mutesOf(run)
    const gateResult = gateResultOf({ ...recounted, error: null }, stillFailed(retried, outcome.flaky), muted)
    const finished = {
      ...outcome,
      state: report.interrupted ? ("interrupted" as const) : ("finished" as const),
      cleanup: cleanupAfter(retry.cleanup, report.cleanup),
      finishedAt,
      isOther: isOther(run, retry.baseUrl, retry.gitDirty),
      left: leftElsewhere(retried, outcome, muted),
      run: { ...recounted, gateResult }
    }
    const event = yield* events.make(access, {
      kind: report.interrupted ? "retry_interrupted" : "retry_finished",
      subject: { type: "retry", id: retry.id, label: labelOfRetry(number, retryNumber), path: runPath + number }
    })
    const stored = yield* repo.finish({ runId: run.id, number: retryNumber }, finished, (retriedElsewhere) => ({
      ...event,
      changes: [
        ...endOfRetry(run, outcome.flaky.length + outcome.again.length, {
          ...recounted,
          gateResult: gateResultAfter({ ...recounted, gateResult, retriedElsewhere })
        }),
        ...event.changes
      ]
    }))
    if (stored === undefined) return yield* notRunning("retry")
    yield* changes.note
    const gate = gateResultAfter({ ...recounted, gateResult, ...stored })
    return summaryOf(baseUrl, access, { ...run, ...recounted, gateResult: gate })
  })
}

const stillFailed = (tests: ReadonlyArray<RetriedTest>, flaky: ReadonlyArray<string>): ReadonlyArray<string> => {
  const passed = new Set(flaky)
  return tests.flatMap(({ caseId, status }) => (status === "failed" && !passed.has(caseId) ? [caseId] : []))
}

/** Whether tests have passed elsewhere alone after a retry, its muted ones aside: those hold no gate. */
const leftElsewhere = (
  tests: ReadonlyArray<RetriedTest>,
  { again, flaky }: RetryOutcome,
  muted: ReadonlyArray<{ readonly caseId: string }>
): FinishedRetry["left"] => {
  const [mutedIds, passed] = [new Set(muted.map(({ caseId }) => caseId)), new Set(again)]
  const before = tests.filter(({ caseId, passedElsewhere }) => passedElsewhere && !mutedIds.has(caseId))
  return {
    ifElsewhere: before.length > 0 || flaky.some((caseId) => !mutedIds.has(caseId)),
    ifHere: before.some(({ caseId }) => !passed.has(caseId))
  }
}

/** The tests that were muted when the run started. */
const findMutes =
  ({ runs }: Dependencies) =>
  (run: FoundTestRun) =>
    run.mutedCount === 0 ? Effect.succeed([]) : runs.mutes(run.id)

const checkFinish = (dependencies: Dependencies) => {
  const find = findPublished(dependencies)
  return Effect.fnUntraced(function* (number: number, retryNumber: number) {
    // The report is not read yet: an admin may be about to end the retry.
    const { retry } = yield* find(number, retryNumber, true)
    if (!isRunning(retry, timestamp(yield* Clock.currentTimeMillis))) return yield* notRunning("retry")
  })
}

/** The retry with its run, where the caller publishes it, or is an admin who ends it without a report. */
const findPublished = ({ keys, repo, runs }: Dependencies) =>
  Effect.fnUntraced(function* (number: number, retryNumber: number, isEnd: boolean) {
    const access = yield* atLeast("member")
    const run = yield* runs.find(access.workspace.id, number)
    if (run === undefined) return yield* noRun(number)
    const retry = yield* repo.find(run.id, retryNumber)
    if (retry === undefined) return yield* noRetry(retryNumber)
    // This retry may have started between the two reads, after another that has changed the run: then the run is read again.
    const isOld = retry.state === "running" && run.counts.failed !== retry.testCount
    const mayEnd = isEnd && isAtLeast(access.workspace.role, "admin")
    if (!mayEnd && !(yield* isPublishedBy({ keys }, retry.publisher, access.actor))) {
      return yield* new Forbidden({
        message: "Only the publisher of the retry may do this.",
        reason: "not_publisher"
      })
    }
    return { access, retry, run: isOld ? ((yield* runs.find(access.workspace.id, number)) ?? run) : run }
  })

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

const stillRunning = (retry: number) =>
  Effect.fail(new Conflict({ message: `Retry ${retry} of the run is still running.`, reason: "retry_running" }))

import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { Retries } from "../../src/runs/Retries.ts"
import { TestRuns } from "../../src/runs/TestRuns.ts"
import { answer, as, type CallerOf } from "../identity/Scene.ts"
import { finishOf, layerServices, retried, runLimit, startOf, upload } from "./RetriesScene.ts"
import { type Repositories, sharedStorages } from "../support/Storages.ts"
import { attempt, type Deployed, finishBody, git, makeDeployed, report, startBody } from "./Scene.ts"

/** Runs and retries against a plain model of the contract's words, command by command. */

type Status = "failed" | "passed"
type Who = "member" | "memberKey" | "viewer"

interface ModelTest {
  status: Status | "flaky" | "skipped"
  readonly attempts: Array<readonly [retry: number | null, status: Status]>
}

interface ModelRetry {
  readonly by: Who
  readonly passes: number
  readonly failed: ReadonlyArray<string>
  readonly until: number
  state: "running" | "finished" | "interrupted"
  flaky: number
}

interface ModelRun {
  readonly by: Who
  readonly until: number
  state: "running" | "finished" | "interrupted"
  error: boolean
  passedFirst: number
  readonly tests: Map<string, ModelTest>
  readonly retries: Array<ModelRetry>
}

interface Model {
  now: number
  readonly runs: Array<ModelRun>
}

const caseIds = ["a", "b", "c", "d"]

/** What has run out of time is interrupted. */
const passTime = (model: Model, millis: number): void => {
  model.now += millis
  for (const run of model.runs) {
    for (const one of [run, ...run.retries]) {
      if (one.state === "running" && one.until <= model.now) one.state = "interrupted"
    }
  }
}

const runningRetry = (run: ModelRun) => run.retries.find((retry) => retry.state === "running")
const withStatus = (run: ModelRun, status: ModelTest["status"]) =>
  [...run.tests].filter(([, test]) => test.status === status).map(([caseId]) => caseId)

const expected = (run: ModelRun) => {
  const count = (status: ModelTest["status"]) => withStatus(run, status).length
  const counts = {
    total: run.tests.size,
    passed: count("passed"),
    flaky: count("flaky"),
    failed: count("failed"),
    skipped: count("skipped")
  }
  const counted = counts.total - counts.skipped
  const isOver = run.state !== "running" && counted > 0
  return {
    state: run.state,
    result: run.state !== "finished" ? null : run.error || counts.failed > 0 ? "failed" : "passed",
    counts,
    passRate: isOver ? (counts.passed + counts.flaky) / counted : null,
    firstAttemptPassRate: isOver ? run.passedFirst / counted : null,
    tests: Object.fromEntries(
      [...run.tests].map(([caseId, test]) => [
        caseId,
        [test.status, test.attempts.map(([retry, status], index) => [index + 1, retry, status])]
      ])
    ),
    retries: run.retries.map((retry, index) => [index + 1, retry.state, retry.passes, retry.failed.length, retry.flaky])
  }
}

interface Real {
  readonly at: Deployed
  readonly run: <A>(effect: Effect.Effect<A, never, Services>) => Promise<A>
}

type Services = Layer.Success<typeof layerServices> | Repositories

/** A command: what the model answers and becomes, and what the service answers; then both must show the same runs. */
class Command implements fc.AsyncCommand<Model, Real> {
  readonly name: string
  readonly model: (model: Model) => string
  readonly real: (at: Deployed, run: Real["run"]) => Promise<string>
  constructor(name: string, model: Command["model"], real: Command["real"]) {
    this.name = name
    this.model = model
    this.real = real
  }
  check(): boolean {
    return true
  }
  toString(): string {
    return this.name
  }
  async run(model: Model, { at, run }: Real): Promise<void> {
    const wanted = this.model(model)
    assert.strictEqual(await this.real(at, run), wanted, this.name)
    for (const [index, modelled] of model.runs.entries()) {
      const shown = await run(Effect.orDie(Effect.flatMap(TestRuns, (runs) => as(at.viewer)(runs.get(index + 1)))))
      assert.deepStrictEqual(
        {
          state: shown.state,
          result: shown.result,
          counts: shown.counts,
          passRate: shown.passRate,
          firstAttemptPassRate: shown.firstAttemptPassRate,
          tests: Object.fromEntries(
            shown.tests.map((test) => [
              test.caseId,
              [test.status, test.attempts.map((one) => [one.number, one.retry, one.status])]
            ])
          ),
          retries: shown.retries.map((one) => [
            one.number,
            one.state,
            one.requiredPasses,
            one.testCount,
            one.flakyCount
          ])
        },
        expected(modelled),
        `${this.name}, run ${index + 1}`
      )
    }
  }
}

const callerOf = (at: Deployed, who: Who): CallerOf => at[who]

const startRun = (by: Who) =>
  new Command(
    `startRun(${by})`,
    (model) => {
      if (by === "viewer") return "Forbidden role_too_low"
      const until = model.now + runLimit
      model.runs.push({ by, until, state: "running", error: false, passedFirst: 0, tests: new Map(), retries: [] })
      return "ok"
    },
    (at, run) => run(Effect.flatMap(TestRuns, (runs) => answer(as(callerOf(at, by))(runs.start(startBody(at))))))
  )

const finishRun = (number: number, by: Who, statuses: ReadonlyArray<Status | "skipped">, how: string) =>
  new Command(
    `finishRun(${number}, ${by}, ${statuses.join()}, ${how})`,
    (model) => {
      const run = model.runs[number - 1]
      if (by === "viewer") return "Forbidden role_too_low"
      if (run === undefined) return "NotFound"
      if (run.by !== by) return "Forbidden not_publisher"
      if (run.state !== "running") return "Conflict not_running"
      run.state = how === "interrupted" ? "interrupted" : "finished"
      run.error = how === "error" || statuses.length === 0
      for (const [index, status] of statuses.entries()) {
        run.tests.set(caseIds[index]!, { status, attempts: status === "skipped" ? [] : [[null, status]] })
        if (status === "passed") run.passedFirst++
      }
      return "ok"
    },
    (at, run) =>
      run(
        Effect.flatMap(TestRuns, (runs) =>
          answer(
            as(callerOf(at, by))(
              runs.finish(
                number,
                finishBody({
                  interrupted: how === "interrupted",
                  error: how === "error" ? "No server" : null,
                  tests: statuses.map((status, index) =>
                    report(caseIds[index]!, { attempt: status === "skipped" ? { status } : attempt(status) })
                  )
                })
              )
            )
          )
        )
      )
  )

const startRetry = (number: number, by: Who, passes: number, isSameCommit: boolean) =>
  new Command(
    `startRetry(${number}, ${by}, ${passes}, ${isSameCommit})`,
    (model) => {
      const run = model.runs[number - 1]
      if (by === "viewer") return "Forbidden role_too_low"
      if (run === undefined) return "NotFound"
      if (run.state !== "finished" || run.error) return "Conflict not_retryable"
      if (!isSameCommit) return "Conflict other_commit"
      if (runningRetry(run) !== undefined) return "Conflict retry_running"
      const failed = withStatus(run, "failed")
      if (failed.length === 0) return "Conflict nothing_to_retry"
      run.retries.push({ by, passes, failed, until: model.now + runLimit, state: "running", flaky: 0 })
      return `ok ${failed.map((caseId) => `${caseId}:${run.tests.get(caseId)!.attempts.length + 1}`).join()}`
    },
    (at, run) =>
      run(
        Effect.flatMap(Retries, (retries) => {
          const input = startOf({ passes, git: isSameCommit ? git : { ...git, sha: "0000" } })
          return Effect.match(as(callerOf(at, by))(retries.start(number, input)), {
            onSuccess: ({ tests }) => `ok ${tests.map((test) => `${test.caseId}:${test.nextAttempt}`).join()}`,
            onFailure: (error) => ("reason" in error ? `${error._tag} ${error.reason}` : error._tag)
          })
        })
      )
  )

type Reports = ReadonlyArray<readonly [caseId: string, statuses: ReadonlyArray<Status>]>

const finishRetry = (number: number, retryNumber: number, by: Who, reports: Reports, interrupted: boolean) =>
  new Command(
    `finishRetry(${number}, ${retryNumber}, ${by}, ${JSON.stringify(reports)}, ${interrupted})`,
    (model) => {
      const run = model.runs[number - 1]
      const retry = run?.retries[retryNumber - 1]
      if (by === "viewer") return "Forbidden role_too_low"
      if (run === undefined || retry === undefined) return "NotFound"
      if (retry.by !== by) return "Forbidden not_publisher"
      if (retry.state !== "running") return "Conflict not_running"
      if (reports.some(([caseId]) => !retry.failed.includes(caseId))) return "InvalidInput"
      retry.state = interrupted ? "interrupted" : "finished"
      for (const [caseId, statuses] of reports) {
        const test = run.tests.get(caseId)!
        test.attempts.push(...statuses.map((status) => [retryNumber, status] as const))
        if (statuses.length < retry.passes || statuses.includes("failed")) continue
        test.status = "flaky"
        retry.flaky++
      }
      return "ok"
    },
    (at, run) =>
      run(
        Effect.flatMap(Retries, (retries) =>
          answer(
            as(callerOf(at, by))(
              retries.finish(
                number,
                retryNumber,
                finishOf(
                  reports.map(([caseId, statuses]) => retried(caseId, ...statuses)),
                  { interrupted }
                )
              )
            )
          )
        )
      )
  )

const uploadTo = (number: number, by: Who) =>
  new Command(
    `upload(${number}, ${by})`,
    (model) => {
      const run = model.runs[number - 1]
      if (by === "viewer") return "Forbidden role_too_low"
      if (run === undefined) return "NotFound"
      const retry = runningRetry(run)
      if (run.by !== by && retry?.by !== by) return "Forbidden not_publisher"
      return (run.by === by && run.state === "running") || retry?.by === by ? "ok" : "Conflict not_running"
    },
    (at, run) => run(upload(callerOf(at, by), number))
  )

const wait = (millis: number, isExpired: boolean) =>
  new Command(
    `wait(${millis}, ${isExpired})`,
    (model) => {
      passTime(model, millis)
      return "ok"
    },
    (_, run) =>
      run(
        Effect.gen(function* () {
          yield* TestClock.adjust(millis)
          if (isExpired) yield* (yield* TestRuns).expire
          return "ok"
        })
      )
  )

const who = fc.oneof(
  { weight: 8, arbitrary: fc.constant<Who>("member") },
  { weight: 3, arbitrary: fc.constant<Who>("memberKey") },
  { weight: 1, arbitrary: fc.constant<Who>("viewer") }
)
const number = fc.constantFrom(1, 1, 1, 2)
const retryNumber = fc.constantFrom(1, 1, 1, 2, 2, 3)
const status = fc.constantFrom<Status>("passed", "passed", "failed")
const reports: fc.Arbitrary<Reports> = fc.uniqueArray(
  fc.tuple(
    fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom(...caseIds.slice(0, 3)) },
      { weight: 1, arbitrary: fc.constant("x") }
    ),
    fc.array(status, { maxLength: 4 })
  ),
  { selector: ([caseId]) => caseId, maxLength: 3 }
)

const commands = fc.commands(
  [
    who.map(startRun),
    fc
      .tuple(
        number,
        who,
        fc.array(fc.constantFrom<Status | "skipped">("failed", "failed", "passed", "skipped"), { maxLength: 4 }),
        fc.constantFrom("normal", "normal", "normal", "normal", "interrupted", "error")
      )
      .map((given) => finishRun(...given)),
    fc
      .tuple(number, who, fc.integer({ min: 1, max: 3 }), fc.constantFrom(true, true, true, true, true, false))
      .map((given) => startRetry(...given)),
    fc
      .tuple(number, retryNumber, who, reports, fc.constantFrom(false, false, true))
      .map((given) => finishRetry(...given)),
    fc.tuple(number, who).map((given) => uploadTo(...given)),
    fc.tuple(fc.constantFrom(1, 1_000, runLimit - 1, runLimit), fc.boolean()).map((given) => wait(...given))
  ],
  { maxCommands: 40, size: "max" }
)

for (const storage of sharedStorages) {
  layer(Layer.provideMerge(layerServices, storage.layer))(`Runs and retries on ${storage.name}`, (it) => {
    it.effect("behave as the model does", () =>
      Effect.gen(function* () {
        const context = yield* Effect.context<Services>()
        const run: Real["run"] = (effect) => Effect.runPromiseWith(context)(effect)
        const setup = async () => ({
          model: { now: 0, runs: [] },
          real: { at: await run(Effect.orDie(makeDeployed())), run }
        })
        const property = fc.asyncProperty(commands, (commands) => fc.asyncModelRun(setup, commands))
        yield* Effect.promise(() => fc.assert(property, { numRuns: storage.name === "memory" ? 200 : 40 }))
      })
    )
  })
}

import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { CaseCounting } from "../../../src/runs/cases/CaseCounting.ts"
import { TestRuns } from "../../../src/runs/TestRuns.ts"
import type { ModelAttempt, ModelRun } from "./CasesModel.ts"
import {
  assertCases,
  assertErrors,
  assertLists,
  assertTrends,
  type CasesScene,
  countAll,
  makeCases,
  type PlantedRun,
  spoil
} from "./CasesScene.ts"

/** Random histories of runs, beside a plain model. */

const errors = ["Expected 200, got 500", "Expected 201, got 404", "Timed out 5000ms", "", null]
const titles = ["Checkout › pays", "Checkout › pays 10", "basket 2", "é basket", "Zoo 🚀"]
const files = ["a.spec.ts", "b/a.spec.ts"]

const attempt: fc.Arbitrary<ModelAttempt> = fc.oneof(
  fc.record({
    status: fc.constant("passed" as const),
    durationMs: fc.oneof(fc.integer({ min: 0, max: 30_000 }), fc.constantFrom(0.5, 12.25, 10_000)),
    error: fc.constant(null)
  }),
  fc.record({
    status: fc.constant("failed" as const),
    durationMs: fc.integer({ min: 0, max: 30_000 }),
    error: fc.constantFrom(...errors)
  })
)

const test = fc.record({
  caseId: fc.constantFrom("c1", "c2", "c3", "c/4 › x", "C5"),
  title: fc.constantFrom(...titles),
  file: fc.constantFrom(...files),
  attempt: fc.oneof({ weight: 6, arbitrary: attempt }, { weight: 1, arbitrary: fc.constant(null) })
})

const planted: fc.Arbitrary<PlantedRun> = fc.record({
  environment: fc.constantFrom(0, 0, 1),
  branch: fc.constantFrom("main", "main", "feature", "develop"),
  tests: fc.uniqueArray(test, { maxLength: 5, selector: ({ caseId }) => caseId }),
  interrupted: fc.constantFrom(false, false, false, false, true)
})

/** A run that runs, and since when, in milliseconds. */
interface Running {
  readonly run: ModelRun
  readonly since: number
}

type StepServices = Effect.Services<ReturnType<CasesScene["publish" | "retry" | "erase" | "rebase"]>> | CaseCounting

/** What happens next, and its name for the message of a failure. */
interface NamedStep {
  readonly name: string
  readonly take: (scene: CasesScene, running: Array<Running>) => Effect.Effect<unknown, unknown, StepServices>
}

/** Finishes a run that was started earlier, unless its time is over. */
const finishOne = Effect.fnUntraced(function* (scene: CasesScene, running: Array<Running>, planted: PlantedRun) {
  const started = running.shift()
  if (started === undefined) return
  if ((yield* Clock.currentTimeMillis) < started.since + runLimit) return yield* scene.finish(started.run, planted)
  yield* Effect.flatMap(TestRuns, (runs) => runs.expire)
  started.run.state = "interrupted"
})

/** Milliseconds. */
const runLimit = 6 * 3_600_000

const place = fc.nat(1_000)
const attempts = fc.array(attempt, { minLength: 0, maxLength: 3 })

const step: fc.Arbitrary<NamedStep> = fc.oneof(
  {
    weight: 8,
    arbitrary: planted.map(
      (run) => ({ name: `publish ${JSON.stringify(run)}`, take: (scene) => scene.publish(run) }) satisfies NamedStep
    )
  },
  {
    weight: 2,
    arbitrary: planted.map(
      (run) =>
        ({
          name: `start ${JSON.stringify(run)}`,
          take: (scene, running) =>
            Effect.zipWith(scene.start(run), Clock.currentTimeMillis, (run, since) => running.push({ run, since }))
        }) satisfies NamedStep
    )
  },
  {
    weight: 2,
    arbitrary: planted.map(
      (run) =>
        ({
          name: `finish ${JSON.stringify(run)}`,
          take: (scene, running) => finishOne(scene, running, run)
        }) satisfies NamedStep
    )
  },
  {
    weight: 4,
    arbitrary: fc.tuple(place, attempts, attempts, fc.integer({ min: 1, max: 2 }), fc.boolean()).map(
      ([at, one, other, passes, interrupted]) =>
        ({
          name: `retry ${at} ${JSON.stringify([one, other, passes, interrupted])}`,
          take: (scene) => {
            const able = scene.runs.filter(
              (run) => run.state === "finished" && !run.isErased && run.tests.some(({ status }) => status === "failed")
            )
            const run = able[at % able.length]
            if (run === undefined) return Effect.void
            return scene.retry(run, (caseId) => (caseId < "c2" ? one : other), { passes, interrupted })
          }
        }) satisfies NamedStep
    )
  },
  {
    weight: 1,
    arbitrary: place.map(
      (at) =>
        ({
          name: `erase ${at}`,
          take: (scene) => {
            const able = scene.runs.filter((run) => run.state !== "running" && !run.isErased)
            const run = able[at % able.length]
            return run === undefined ? Effect.void : scene.erase(run)
          }
        }) satisfies NamedStep
    )
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom("main", "develop", "feature")
      .map((branch) => ({ name: `rebase ${branch}`, take: (scene) => scene.rebase(branch) }) satisfies NamedStep)
  },
  {
    weight: 3,
    arbitrary: fc
      .integer({ min: 1, max: 300 })
      .map((hours) => ({ name: `pass ${hours} h`, take: () => TestClock.adjust(`${hours} hours`) }) satisfies NamedStep)
  },
  {
    weight: 3,
    arbitrary: fc.integer({ min: 1, max: 4 }).map(
      (times) =>
        ({
          name: `count ${times}`,
          take: () => Effect.flatMap(CaseCounting, ({ step }) => Effect.replicateEffect(step, times))
        }) satisfies NamedStep
    )
  },
  {
    weight: 1,
    arbitrary: fc.constant({
      name: "rebuild",
      take: () => Effect.flatMap(CaseCounting, ({ rebuild }) => rebuild)
    } satisfies NamedStep)
  }
)

const histories = fc.array(step, { minLength: 10, maxLength: 45 })

/** Lets the histories happen, and compares. */
export const compareHistories = Effect.fnUntraced(function* (count: number) {
  yield* TestClock.setTime(Date.parse("2026-01-31T12:00:00.000Z"))
  for (const history of fc.sample(histories, count)) {
    const scene = yield* makeCases
    const first = (yield* scene.model).now.slice(0, 10)
    const running: Array<Running> = []
    const lived = Effect.gen(function* () {
      for (const { take } of history) yield* take(scene, running)
      yield* countAll
      yield* assertLists(scene, ["pays", "b/a", "c5"])
      yield* assertCases(scene)
      yield* assertErrors(scene)
      yield* assertTrends(scene, first, (yield* scene.model).now.slice(0, 10))
      yield* spoil(scene)
      yield* Effect.flatMap(CaseCounting, ({ rebuild }) => rebuild)
      yield* assertLists(scene)
      yield* assertErrors(scene)
      // Time alone changes states and rates.
      yield* TestClock.adjust("20 days")
      yield* assertLists(scene)
    })
    yield* Effect.onError(lived, () => Effect.sync(() => console.log(history.map(({ name }) => name).join("\n"))))
  }
})

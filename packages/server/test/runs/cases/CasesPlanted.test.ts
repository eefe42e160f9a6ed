import { layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock, TestConsole } from "effect/testing"
import { CountingSizes } from "../../../src/runs/cases/CaseCountingRepo.ts"
import { layerServices, newStorages } from "../../support/Storages.ts"
import type { ModelRun } from "./CasesModel.ts"
import { compareHistories } from "./CasesHistories.ts"
import {
  assertCases,
  assertErrors,
  assertLists,
  assertTrends,
  type CasesScene,
  countAll,
  failed,
  makeCases,
  passed,
  type PlantedRun,
  type PlantedTest
} from "./CasesScene.ts"

/**
 * Long histories beside the plain model: `PLANTED_RUNS` of 50 tests, and random ones that are counted in small steps.
 * `pnpm soak:cases` plants 10,000 (docs/measurements.md).
 */

const layerTest = Layer.merge(TestConsole.layer, TestClock.layer({ warningDelay: "1 hour" }))

const onStorages = (names: ReadonlyArray<string>) => newStorages.filter(({ name }) => names.includes(name))

// With steps that take few runs, whatever is counted is counted in several.
for (const { layer: storage, name } of onStorages(["the embedded database", "PostgreSQL"])) {
  const sizes = Layer.succeed(CountingSizes, { tests: 6, runs: 2 })
  layer(Layer.mergeAll(Layer.provideMerge(layerServices, Layer.provide(storage, sizes)), layerTest), {
    excludeTestServices: true
  })(`Random histories of runs, counted in small steps on ${name}`, (it) => {
    it.effect("come to what a plain model computes", () => compareHistories(8), 600_000)
  })
}

const runs = Number(process.env["PLANTED_RUNS"] ?? 2_000)
const tests = 50

/** The same numbers each time, from 0 up to 1. */
const makeRandom = (seed: number) => {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const said = [
  (number: number) => `Expected ${number}, got 500`,
  (number: number) => `Timed out ${number}ms waiting for locator('#id-${number}')`,
  (number: number) => `No order ${String(number).padStart(8, "0")}ab at https://shop.example/orders/${number}`,
  () => "Connection lost"
]

/** Case n fails in spells of its own, is flaky now and then, and has a duration of its own. */
const plantedTest = (random: () => number, run: number, n: number): PlantedTest => {
  const caseId = `checkout/case-${n % 7}.spec.ts › basket › ${n}`
  const titled = {
    caseId,
    title: `Basket › case ${n}${run > runs / 2 && n % 11 === 0 ? " (renamed)" : ""}`,
    file: `f${n % 7}.spec.ts`
  }
  if (random() < 0.03) return { ...titled, attempt: null }
  const slowness = n % 10 === 0 ? 20_000 : 100 * (n + 1)
  const durationMs = Math.round(slowness * (0.5 + random()) * 4) / 4
  const isInSpell = Math.floor(run / (40 + n)) % 9 === n % 9
  const fails = isInSpell ? random() < 0.97 : random() < 0.01
  const text = said[(n + Math.floor((run * 5) / runs)) % said.length]!(Math.floor(random() * 1_000))
  return { ...titled, attempt: fails ? failed(text, durationMs) : passed(durationMs) }
}

const plantedRun = (random: () => number, run: number): PlantedRun => ({
  environment: random() < 0.7 ? 0 : 1,
  branch: random() < 0.1 ? "main" : `feature-${Math.floor(random() * 20)}`,
  interrupted: random() < 0.02,
  tests: Array.from({ length: tests }, (_, n) => plantedTest(random, run, n))
})

/** Publishes the runs, a hundred a day; retries some, and erases some of the oldest. */
const plant = Effect.fnUntraced(function* (scene: CasesScene) {
  const random = makeRandom(7)
  for (let run = 0; run < runs; run++) {
    if (run % 100 === 0) yield* TestClock.adjust("1 day")
    const published: ModelRun = yield* scene.publish(plantedRun(random, run))
    const isFailed = published.state === "finished" && published.tests.some(({ status }) => status === "failed")
    if (isFailed && random() < 0.05)
      yield* scene.retry(published, () => [random() < 0.6 ? passed(7.5) : failed("Expected 1")])
    if (run === Math.floor(runs * 0.6)) for (const old of scene.runs.slice(0, 150)) yield* scene.erase(old)
    if (run % 1_000 === 0) yield* countAll
  }
})

for (const { layer: storage, name } of onStorages(["memory", "PostgreSQL"])) {
  layer(Layer.mergeAll(Layer.provideMerge(layerServices, storage), layerTest), { excludeTestServices: true })(
    `${runs} runs of 50 tests on ${name}`,
    (it) => {
      it.effect(
        "come to what a plain model computes",
        () =>
          Effect.gen(function* () {
            yield* TestClock.setTime(Date.parse("2026-01-31T12:00:00.000Z"))
            const scene = yield* makeCases
            yield* plant(scene)
            yield* countAll
            // In memory, each read looks through all runs.
            const [asked, pages, every] = name === "memory" ? [/› 0$/, 2, 2_001] : [/› [0-4]$/, 1_000, 397]
            yield* assertLists(scene, name === "memory" ? [] : ["case 4", "f3.spec"])
            yield* assertCases(scene, (caseId) => asked.test(caseId), pages)
            yield* assertErrors(scene, ({ number }) => number % every === 0)
            const to = (yield* scene.model).now.slice(0, 10)
            yield* assertTrends(scene, "2026-01-31", to)
          }),
        1_200_000
      )
    }
  )
}

import { assert } from "@effect/vitest"
import type { NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { CaseCounting } from "../../../src/runs/cases/CaseCounting.ts"
import { Cases } from "../../../src/runs/cases/Cases.ts"
import { as, everyRole, refusal, whoMay } from "../../identity/Scene.ts"
import { withServicesOnNewStorages } from "../../support/Storages.ts"
import {
  assertCases,
  assertErrors,
  assertLists,
  assertTrends,
  type CasesScene,
  countAll,
  failed,
  listAll,
  makeCases,
  passed,
  spoil
} from "./CasesScene.ts"

/** Tests over time: rules that random histories seldom meet. */

const one = (attempt: ReturnType<typeof passed>) => [{ caseId: "a", attempt }]

/** The states of the errors of a run. */
const errorStates = Effect.fnUntraced(function* ({ at }: CasesScene, run: number) {
  const { errors } = yield* as(at.viewer)(Effect.flatMap(Cases, (cases) => cases.errors(run)))
  return errors.map(({ state }) => state)
})

withServicesOnNewStorages("Tests over time", (it, storage) => {
  it.effect("are seen by everybody in the workspace", () =>
    Effect.gen(function* () {
      const scene = yield* makeCases
      const { at } = scene
      const run = yield* scene.publish({ tests: one(failed()) })
      yield* countAll
      const cases = yield* Cases
      const calls: ReadonlyArray<Effect.Effect<unknown, NotFound, Caller>> = [
        cases.list(at.product.slug, {}),
        cases.get(at.product.slug, "a", {}),
        cases.errors(run.number),
        cases.trends(at.product.slug, {})
      ]
      for (const call of calls) {
        assert.deepStrictEqual(yield* whoMay(at, call), everyRole)
      }
      const other = yield* makeCases
      assert.strictEqual(yield* as(other.at.owner)(refusal(cases.list(at.product.id, {}))), "NotFound")
      assert.strictEqual(yield* as(other.at.owner)(refusal(cases.get(at.product.id, "a", {}))), "NotFound")
    })
  )

  it.effect("know a failure of the base branch, however long ago, and one of the 20 runs before", () =>
    Effect.gen(function* () {
      const scene = yield* makeCases
      const onBranch = { branch: "feature", tests: one(passed()) }
      yield* scene.publish({ tests: one(failed("Expected 1")) })
      for (let i = 0; i < 25; i++) yield* scene.publish(onBranch)
      const known = yield* scene.publish({ branch: "feature", tests: one(failed("Expected 2")) })
      yield* countAll
      assert.deepStrictEqual(yield* errorStates(scene, known.number), ["known"])
      // The base branch fails in another way since, so what it did before is no longer known.
      yield* scene.publish({ tests: one(failed("gone")) })
      for (let i = 0; i < 19; i++) yield* scene.publish(onBranch)
      const last = yield* scene.publish({ branch: "feature", tests: one(failed("lost")) })
      const within = yield* scene.publish({ branch: "feature", tests: one(failed("lost")) })
      const base = yield* scene.publish({ branch: "feature", tests: one(failed("gone")) })
      const before = yield* scene.publish({ branch: "feature", tests: one(failed("Expected 3")) })
      yield* countAll
      assert.deepStrictEqual(yield* errorStates(scene, last.number), ["new"])
      assert.deepStrictEqual(yield* errorStates(scene, within.number), ["known"])
      assert.deepStrictEqual(yield* errorStates(scene, base.number), ["known"])
      assert.deepStrictEqual(yield* errorStates(scene, before.number), ["new"])
      // Another branch is the base now. It has never failed.
      yield* scene.rebase("develop")
      yield* countAll
      assert.deepStrictEqual(yield* errorStates(scene, known.number), ["new"])
      yield* assertErrors(scene)
      yield* scene.rebase("feature")
      yield* countAll
      yield* assertErrors(scene)
    })
  )

  it.effect("count runs by their numbers, in whichever order they finish", () =>
    Effect.gen(function* () {
      const scene = yield* makeCases
      const started = yield* Effect.replicateEffect(scene.start({ tests: [] }), 5)
      for (const place of [3, 0, 4, 1, 2]) {
        yield* scene.finish(started[place]!, { tests: one(place % 2 === 0 ? failed() : passed(place)) })
        yield* countAll
        yield* assertLists(scene)
        yield* assertCases(scene)
      }
    })
  )

  it.effect("follow retries, and forget what is erased", () =>
    Effect.gen(function* () {
      const scene = yield* makeCases
      const first = yield* scene.publish({ tests: one(failed("Expected 1")) })
      const second = yield* scene.publish({ environment: 1, tests: one(failed("Expected 1")) })
      yield* countAll
      yield* scene.retry(second, () => [passed(5), passed(6)], { passes: 2 })
      yield* scene.retry(first, () => [failed("gone")])
      yield* countAll
      yield* assertLists(scene)
      yield* assertCases(scene)
      yield* scene.erase(second)
      yield* countAll
      yield* assertLists(scene)
      yield* assertCases(scene)
      yield* scene.erase(first)
      yield* countAll
      assert.deepStrictEqual(yield* listAll(scene, {}), [])
      const day = (yield* scene.model).now.slice(0, 10)
      yield* assertTrends(scene, day, day)
    })
  )

  it.effect("are built again though the base branch of a product without runs has changed", () =>
    Effect.gen(function* () {
      const scene = yield* makeCases
      yield* scene.rebase("develop")
      yield* Effect.flatMap(CaseCounting, ({ rebuild }) => rebuild)
      yield* scene.publish({ branch: "develop", tests: one(failed("Expected 1")) })
      yield* Effect.flatMap(CaseCounting, ({ rebuild }) => rebuild)
      yield* assertLists(scene)
      yield* assertCases(scene)
    })
  )

  it.effect("have retries in trends whose run is erased before they are counted", () =>
    Effect.gen(function* () {
      const scene = yield* makeCases
      const [slower, flaky] = [
        yield* scene.publish({ tests: one(failed("Expected 1", 10)) }),
        yield* scene.publish({ environment: 1, tests: one(failed("Expected 1", 10)) })
      ]
      yield* countAll
      yield* scene.retry(slower, () => [failed("Expected 1", 20)])
      yield* scene.retry(flaky, () => [passed(10)])
      for (const run of [slower, flaky]) yield* scene.erase(run)
      yield* countAll
      const day = (yield* scene.model).now.slice(0, 10)
      yield* assertTrends(scene, day, day)
    })
  )

  it.effect("have runs in trends that are erased before they are counted", () =>
    Effect.gen(function* () {
      const scene = yield* makeCases
      yield* scene.erase(yield* scene.publish({ tests: one(failed()) }))
      yield* countAll
      const day = (yield* scene.model).now.slice(0, 10)
      yield* assertTrends(scene, day, day)
      assert.deepStrictEqual(yield* listAll(scene, {}), [])
    })
  )

  it.effect("are built again from the runs, whatever was counted", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.parse("2026-01-31T12:00:00.000Z"))
      const scene = yield* makeCases
      for (let i = 0; i < 8; i++) {
        const tests = [
          { caseId: "a", attempt: i % 3 === 0 ? failed("Expected 1", i) : passed(i) },
          { caseId: "b", attempt: passed(20_000 + i) }
        ]
        const run = yield* scene.publish({ environment: i % 2, tests })
        if (i === 3) yield* scene.retry(run, () => [passed()])
        yield* TestClock.adjust("1 day")
      }
      yield* scene.erase(scene.runs[0]!)
      yield* countAll
      yield* spoil(scene)
      const { rebuild } = yield* CaseCounting
      assert.isAtLeast(yield* rebuild, storage === "memory" ? 0 : 1)
      yield* assertLists(scene, ["a"])
      yield* assertCases(scene)
      yield* assertErrors(scene)
      yield* assertTrends(scene, "2026-01-31", (yield* scene.model).now.slice(0, 10))
    })
  )
})

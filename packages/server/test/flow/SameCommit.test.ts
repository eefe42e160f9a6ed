import type { Coverage } from "@delivery/domain/runs/TestEntry"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { attempt, git, report } from "../runs/Scene.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import { makeReadinessScene, newShop } from "./ReadinessScene.ts"

/** One commit is one version for readiness, however it was written when it was released (docs/contract.md, Readiness). */

const commit = "abcdef1234567890abcdef1234567890abcdef12"
const spellings = [commit, commit.toUpperCase(), `ABCDEF${commit.slice(6)}`, commit.slice(0, 12), "ABCdef1"]

const makeScene = Effect.gen(function* () {
  const scene = yield* makeReadinessScene
  const shop = yield* newShop(scene)
  yield* shop.setPolicy({ from: "staging", requires: [{ coverage: "critical" }] })
  const started = (version: string, fields: Parameters<typeof shop.staging.start>[0] = {}) =>
    Effect.gen(function* () {
      yield* shop.staging.update({ version })
      yield* TestClock.adjust("1 second")
      const selection = { coverage: "critical" as Coverage, folders: [], caseIds: [] }
      return yield* shop.staging.start({ selection, ...fields })
    })
  const tested = Effect.fnUntraced(function* (
    version: string,
    tests: Readonly<Record<string, "failed" | "passed">>,
    fields: Parameters<typeof started>[1] = {}
  ) {
    const run = yield* started(version, fields)
    yield* TestClock.adjust("1 second")
    yield* shop.staging.finish(run, "passed", {
      tests: Object.entries(tests).map(([caseId, status]) => report(caseId, { attempt: attempt(status) }))
    })
    return run
  })
  const told = (version: string) =>
    Effect.map(shop.ready(version), ({ notCounted, ready, reasons, runs }) => [
      ready,
      runs.map(({ newer, run }) => (newer === null ? run : [run, newer.run])),
      reasons.map(({ kind }) => kind),
      notCounted.map(({ reason, run }) => [run, reason])
    ])
  return { scene, shop, started, tested, told }
})

withServicesOnEachStorage("One commit", (it) => {
  it.effect("is kept back by what failed in it, however it is written", () =>
    Effect.gen(function* () {
      const { tested, told } = yield* makeScene
      for (const failed of spellings) {
        const run = yield* tested(failed, { [`f${failed}`]: "failed", b: "passed" })
        for (const version of spellings) {
          assert.deepStrictEqual(yield* told(version), [false, [run], ["run_failed"], []], `${failed} as ${version}`)
        }
      }
      const without = yield* tested(spellings[1]!, { b: "passed" })
      for (const version of spellings) {
        assert.deepStrictEqual(yield* told(version), [false, [without], ["test_missing"], []], version)
      }
      const all = Object.fromEntries(spellings.map((version) => [`f${version}`, "passed" as const]))
      const mended = yield* tested(spellings[4]!, all)
      for (const version of [...spellings, commit.slice(0, 20)]) {
        assert.deepStrictEqual(yield* told(version), [true, [mended], [], []], version)
      }
      assert.deepStrictEqual(yield* told("abcdef2"), [false, [], ["run_missing", "version_unknown"], []])
    })
  )

  it.effect("has what runs and what does not count in it, however it is written", () =>
    Effect.gen(function* () {
      const { shop, started, tested, told } = yield* makeScene
      const passed = yield* tested(commit, { a: "passed" })
      const dirty = yield* tested(spellings[3]!, { a: "failed" }, { git: { ...git, dirty: true } })
      const running = yield* started(spellings[1]!)
      assert.deepStrictEqual(yield* told(commit), [true, [[passed, running]], [], [[dirty, "uncommitted_changes"]]])
      yield* shop.staging.finish(running, "passed")
      assert.deepStrictEqual(yield* told(commit), [true, [running], [], []])
      yield* shop.staging.update({ baseUrl: "https://staging.shop.example" })
      const [last] = (yield* shop.ready(commit)).notCounted
      assert.deepStrictEqual([last?.run, last?.reason], [running, "other_address"])
    })
  )

  it.effect("is none that only begins so, where several do, and no number of a build or day", () =>
    Effect.gen(function* () {
      const { tested, told } = yield* makeScene
      const other = `abcdef1${"0".repeat(33)}`
      yield* tested(other, { a: "failed" })
      const short = yield* tested("abcdef1", { b: "passed" })
      const whole = yield* tested(commit, { c: "passed" })
      assert.deepStrictEqual(yield* told("abcdef1"), [true, [short], ["test_dropped"], []])
      assert.deepStrictEqual(yield* told(commit), [true, [whole], ["test_dropped"], []])
      const day = yield* tested("20261130", { a: "passed" })
      yield* tested("202611301", { a: "failed" })
      assert.deepStrictEqual(yield* told("20261130"), [true, [day], [], []])
    })
  )
})

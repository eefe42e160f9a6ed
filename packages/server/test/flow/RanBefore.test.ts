import { timestamp } from "@delivery/domain/Timestamp"
import type { Coverage } from "@delivery/domain/runs/TestEntry"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Retries } from "../../src/runs/Retries.ts"
import { as, minute } from "../identity/Scene.ts"
import { attempt, git, machine, report } from "../runs/Scene.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import { addQa, makeReadinessScene, newShop } from "./ReadinessScene.ts"

/** Runs that are told of tests which ran before what they are to prove (docs/contract.md, Readiness). */

type Tests = Readonly<Record<string, readonly ["failed" | "passed" | "skipped", number]>>

/** Each with the seconds at which it began. */
const reportsOf = (tests: Tests) =>
  Object.entries(tests).map(([caseId, [status, second]]) =>
    report(caseId, {
      attempt: status === "skipped" ? null : { ...attempt(status), startedAt: timestamp(second * 1000) }
    })
  )

const second = (at: number) => TestClock.setTime(at * 1000)

/** Staging gets v1 at the second 1,000. */
const makeScene = Effect.gen(function* () {
  yield* TestClock.setTime(Date.parse(minute(0)))
  const scene = yield* makeReadinessScene
  const shop = yield* newShop(scene)
  yield* shop.setPolicy({ from: "staging", requires: [{ coverage: "critical" }] })
  yield* second(1000)
  yield* shop.staging.update({ version: "v1" })
  const tested = Effect.fnUntraced(function* (tests: Tests, coverage: Coverage = "critical") {
    yield* TestClock.adjust("1 second")
    const run = yield* shop.staging.start({ selection: { coverage, folders: [], caseIds: [] } })
    yield* TestClock.adjust("1 second")
    yield* shop.staging.finish(run, "passed", { tests: reportsOf(tests) })
    return run
  })
  const told = Effect.map(shop.ready(), ({ notCounted, ready, reasons, runs }): ReadonlyArray<unknown> => [
    ready,
    reasons.map(({ kind }) => kind),
    runs.map(({ run }) => run),
    notCounted.map(({ reason, result, run }) => [run, result, reason])
  ])
  return { scene, shop, tested, told }
})

withServicesOnEachStorage("Runs of tests that ran before", (it) => {
  it.effect("do not make a version ready that came after all of their tests began", () =>
    Effect.gen(function* () {
      const { shop, tested, told } = yield* makeScene
      const old = yield* tested({ a: ["passed", 400], b: ["passed", 939], c: ["skipped", 0] })
      assert.deepStrictEqual(yield* told, [false, ["run_missing"], [], [[old, "passed", "ran_before"]]])
      assert.strictEqual(
        (yield* shop.ready()).reasons[0]?.message,
        `No run of v1 with the whole coverage critical has finished in Staging. Run ${old} passed, but does not count: by the times of its tests they ran before the version was set there, or before those of a run that failed.`
      )
      // One that began since shows that they ran on it, and so does what the difference of two clocks may be.
      const since = yield* tested({ a: ["passed", 400], b: ["passed", 1001] })
      assert.deepStrictEqual(yield* told, [true, [], [since], []])
      yield* second(2000)
      yield* shop.staging.update({ version: "v2" })
      const near = yield* tested({ a: ["passed", 1940] })
      assert.deepStrictEqual(yield* told, [true, [], [near], []])
      // The version that comes back came now.
      yield* second(3000)
      yield* shop.staging.update({ version: "v1" })
      const between = yield* tested({ a: ["passed", 1500] })
      assert.deepStrictEqual(yield* told, [true, [], [since], []])
      const failed = yield* tested({ a: ["failed", 1500] })
      assert.deepStrictEqual(yield* told, [false, ["run_failed"], [failed], []])
      assert.isBelow(between, failed)
    })
  )

  it.effect("do not undo what a run since has seen fail, and count again once that has passed", () =>
    Effect.gen(function* () {
      const { scene, shop, tested, told } = yield* makeScene
      yield* second(2000)
      const failed = yield* tested({ a: ["failed", 1990], b: ["passed", 1995] })
      const old = yield* tested({ a: ["passed", 1500], b: ["passed", 1929] })
      const blocked = [false, ["run_failed"], [failed], [[old, "passed", "ran_before"]]]
      assert.deepStrictEqual(yield* told, blocked)
      // With another coverage, or in another deployment, nothing has failed.
      const qa = yield* addQa(scene, shop)
      yield* qa.create("v1")
      yield* shop.setPolicy({ from: "staging", requires: [{ coverage: "acceptance" }] })
      const beside = yield* tested({ a: ["passed", 1500] }, "acceptance")
      assert.deepStrictEqual(yield* told, [true, [], [beside], []])
      yield* shop.setPolicy({ from: "staging", requires: [{ coverage: "critical" }] })
      // What it has passed has not passed, for what leaves it out.
      const without = yield* tested({ b: ["passed", 2100] })
      assert.deepStrictEqual(yield* told, [false, ["test_missing"], [without], []])
      const near = yield* tested({ a: ["passed", 1930], b: ["passed", 1930] })
      assert.deepStrictEqual(yield* told, [true, [], [near], []])
    })
  )

  it.effect("are none that the server was told of before they ran", () =>
    Effect.gen(function* () {
      const { shop, tested, told } = yield* makeScene
      yield* second(2000)
      const slow = yield* shop.staging.start({ selection: { coverage: "critical", folders: [], caseIds: [] } })
      yield* second(2200)
      const failed = yield* tested({ a: ["failed", 2190] })
      assert.deepStrictEqual(yield* told, [false, ["run_failed"], [failed], []])
      // The one decides that finished last, whichever began first. The test has failed since all the same.
      yield* second(2300)
      yield* shop.staging.finish(slow, "passed", { tests: reportsOf({ a: ["passed", 2001] }) })
      assert.deepStrictEqual(yield* told, [false, ["test_missing"], [slow], []])
    })
  )

  it.effect("are not known by what a clock ahead says, nor by a failure that a retry has undone", () =>
    Effect.gen(function* () {
      const { scene, shop, tested, told } = yield* makeScene
      yield* second(2000)
      yield* tested({ a: ["failed", 9_999_999] })
      const after = yield* tested({ a: ["passed", 2003] })
      assert.deepStrictEqual(yield* told, [true, [], [after], []])
      yield* second(3000)
      yield* shop.staging.update({ version: "v2" })
      yield* second(4000)
      const failed = yield* tested({ a: ["failed", 3900] })
      const old = yield* tested({ a: ["passed", 3500] })
      assert.deepStrictEqual(yield* told, [false, ["run_failed"], [failed], [[old, "passed", "ran_before"]]])
      const retry = Effect.fnUntraced(function* (run: number, at: number) {
        const retries = yield* Retries
        const { retry } = yield* retries.start(run, { passes: 1, baseUrl: null, git, machine })
        const attempts = [{ ...attempt("passed"), startedAt: timestamp(at * 1000) }]
        yield* retries.finish(run, retry, { interrupted: false, tests: [{ caseId: "a", attempts }] })
      }, as(scene.member))
      // What was told of a retry may be older than the failure, too.
      yield* retry(failed, 3800)
      assert.deepStrictEqual(yield* told, [false, ["run_failed"], [failed], [[old, "passed", "ran_before"]]])
      assert.strictEqual(
        (yield* shop.ready()).reasons[0]?.message,
        `Run ${failed} in Staging, the newest of v2 with the coverage critical, failed; its retry passed, but by the times of its tests it ran before the run: a. Run all of critical again.`
      )
      yield* retry(failed, 4010)
      assert.deepStrictEqual(yield* told, [true, [], [old], []])
    })
  )

  it.effect("undo by none of their tests what has failed since that began", () =>
    Effect.gen(function* () {
      const { shop, tested, told } = yield* makeScene
      const messages = Effect.map(shop.ready(), ({ reasons }) => reasons.map(({ message }) => message))
      yield* second(2000)
      const failed = yield* tested({ a: ["failed", 1990], b: ["passed", 1995] })
      const merged = yield* tested({ a: ["passed", 1500], b: ["passed", 2002] })
      assert.deepStrictEqual(yield* told, [false, ["test_missing"], [merged], []])
      const missing = (run: number, old: number) =>
        `Run ${run} in Staging, the newest of v1 with the coverage critical, passed, but a test that failed before has not passed since: a (run ${failed}, its pass in run ${old} began before it failed). Run all of critical again with it, or mute it with a ticket.`
      assert.deepStrictEqual(yield* messages, [missing(merged, merged)])
      // Neither does it for the runs after.
      const without = yield* tested({ b: ["passed", 2100] })
      assert.deepStrictEqual(yield* told, [false, ["test_missing"], [without], []])
      assert.deepStrictEqual(yield* messages, [missing(without, merged)])
      // A failure of before that is told later, and has passed since, hides none.
      yield* tested({ a: ["failed", 1400], b: ["passed", 2110] })
      const again = yield* tested({ a: ["passed", 1500], b: ["passed", 2120] })
      assert.deepStrictEqual(yield* messages, [missing(again, again)])
      // Another version is told of it.
      yield* second(3000)
      yield* shop.staging.update({ version: "v2" })
      const other = yield* tested({ a: ["passed", 1500], b: ["passed", 3001] })
      assert.deepStrictEqual(yield* told, [true, ["test_dropped"], [other], []])
      assert.deepStrictEqual(yield* messages, [
        `Run ${other} in Staging, the newest of v2 with the coverage critical, passed, but a test that failed before has not passed since: a (run ${failed} of v1, its pass in run ${other} began before it failed). No run of critical that counts has passed it since. Run it with this version, or mute it with a ticket. Where it was renamed or taken out on purpose, complete a ticket that needs evidence of it, with the reason as its override.`
      ])
      // As much as clocks may differ it may have begun before.
      const near = yield* tested({ a: ["passed", 1930], b: ["passed", 3010] })
      assert.deepStrictEqual(yield* told, [true, [], [near], []])
    })
  )

  it.effect("undo nothing by a retry of one test that began before it failed", () =>
    Effect.gen(function* () {
      const { scene, shop, tested, told } = yield* makeScene
      const retries = yield* Retries
      const retry = Effect.fnUntraced(function* (run: number, times: Readonly<Record<string, number>>) {
        const { retry } = yield* retries.start(run, { passes: 1, baseUrl: null, git, machine })
        const tests = Object.entries(times).map(([caseId, at]) => ({
          caseId,
          attempts: [{ ...attempt("passed"), startedAt: timestamp(at * 1000) }]
        }))
        yield* retries.finish(run, retry, { interrupted: false, tests })
      }, as(scene.member))
      yield* second(2000)
      const failed = yield* tested({ a: ["failed", 1990], b: ["failed", 1000] })
      yield* retry(failed, { a: 1500, b: 2010 })
      assert.deepStrictEqual(yield* told, [false, ["test_missing"], [failed], []])
      assert.strictEqual(
        (yield* shop.ready()).reasons[0]?.message,
        `Run ${failed} in Staging, the newest of v1 with the coverage critical, passed, but a test that failed before has not passed since: a (run ${failed}, passed in a retry that began before it failed). Run all of critical again with it, or mute it with a ticket.`
      )
      const without = yield* tested({ b: ["passed", 2020] })
      assert.deepStrictEqual(yield* told, [false, ["test_missing"], [without], []])
      // That of a later run undoes it by when it began itself.
      const later = yield* tested({ a: ["failed", 1300], b: ["failed", 2030] })
      yield* retry(later, { a: 1500, b: 2040 })
      assert.deepStrictEqual(yield* told, [false, ["test_missing"], [later], []])
      const last = yield* tested({ a: ["failed", 1300], b: ["failed", 2030] })
      yield* retry(last, { a: 2050, b: 2050 })
      assert.deepStrictEqual(yield* told, [true, [], [last], []])
    })
  )

  it.effect("began with the last test of all shards and retries", () =>
    Effect.gen(function* () {
      const { scene, shop, told } = yield* makeScene
      const retries = yield* Retries
      const of = (coverage: Coverage) => ({ selection: { coverage, folders: [], caseIds: [] } })
      const inShards = Effect.fnUntraced(function* (build: string, ...times: ReadonlyArray<number>) {
        const numbers: Array<number> = []
        for (const [index, at] of times.entries()) {
          const shard = { index: index + 1, total: times.length }
          const run = yield* shop.staging.start({ ...of("critical"), build, shard })
          const tests = reportsOf({ [`t${index}`]: ["passed", at] })
          yield* shop.staging.finish(run, "passed", { shard, tests })
          numbers.push(run)
        }
        yield* TestClock.adjust("1 second")
        assert.strictEqual(new Set(numbers).size, 1)
        return numbers[0]!
      })
      const old = yield* inShards("old", 500, 400)
      assert.deepStrictEqual(yield* told, [false, ["run_missing"], [], [[old, "passed", "ran_before"]]])
      const first = yield* inShards("first", 1000, 400)
      assert.deepStrictEqual(yield* told, [true, [], [first], []])
      yield* second(2000)
      yield* shop.staging.update({ version: "v2" })
      const last = yield* inShards("last", 400, 2000)
      assert.deepStrictEqual(yield* told, [true, [], [last], []])
      yield* second(3000)
      yield* shop.staging.update({ version: "v3" })
      const failed = yield* shop.staging.start(of("critical"))
      yield* shop.staging.finish(failed, "failed", { tests: reportsOf({ a: ["failed", 400], b: ["passed", 400] }) })
      assert.deepStrictEqual(yield* told, [false, ["run_failed"], [failed], []])
      for (const [at, ready] of [
        [500, false],
        [3000, true]
      ] as const) {
        const retried = yield* shop.staging.start(of("critical"))
        yield* shop.staging.finish(retried, "failed", { tests: reportsOf({ a: ["failed", 400] }) })
        yield* Effect.gen(function* () {
          const { retry } = yield* retries.start(retried, { passes: 1, baseUrl: null, git, machine })
          const attempts = [{ ...attempt("passed"), startedAt: timestamp(at * 1000) }]
          yield* retries.finish(retried, retry, { interrupted: false, tests: [{ caseId: "a", attempts }] })
        }).pipe(as(scene.member))
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* told)[0], ready)
      }
    })
  )
})

import type { Coverage } from "@delivery/domain/runs/TestEntry"
import type { FinishTestRun } from "@delivery/domain/runs/FinishTestRun"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Audit } from "../../src/audit/Audit.ts"
import { Mutes } from "../../src/flow/Mutes.ts"
import { Tickets } from "../../src/planning/Tickets.ts"
import { Retries } from "../../src/runs/Retries.ts"
import { as, minute, refusal } from "../identity/Scene.ts"
import { addAgent } from "../planning/TicketsScene.ts"
import { attempt, git, machine, report } from "../runs/Scene.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import { addQa, makeReadinessScene, newShop, statusesFor } from "./ReadinessScene.ts"

/** What the run that decides has left out of the tests before it (docs/contract.md, Readiness). */

type Tests = Readonly<Record<string, "failed" | "passed" | "skipped">>

const reportsOf = (tests: Tests) =>
  Object.entries(tests).map(([caseId, status]) =>
    report(caseId, { title: `Test ${caseId}`, attempt: status === "skipped" ? null : attempt(status) })
  )

/** So many tests that passed. */
const many = (count: number, status: "passed" | "skipped" = "passed"): Tests =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`t${String(index).padStart(2, "0")}`, status]))

const makeScene = Effect.gen(function* () {
  yield* TestClock.setTime(Date.parse(minute(0)))
  const scene = yield* makeReadinessScene
  const shop = yield* newShop(scene)
  yield* shop.setPolicy({ requires: [{ coverage: "critical" }] })
  const tested = Effect.fnUntraced(function* (
    version: string,
    tests: Tests,
    {
      at = shop.staging,
      coverage = "critical",
      fields = {},
      start = {}
    }: {
      readonly at?: typeof shop.staging
      readonly coverage?: Coverage
      readonly fields?: Partial<FinishTestRun>
      readonly start?: Parameters<typeof shop.staging.start>[0]
    } = {}
  ) {
    yield* at.update({ version })
    yield* TestClock.adjust("1 second")
    const run = yield* at.start({ selection: { coverage, folders: [], caseIds: [] }, ...start })
    yield* TestClock.adjust("1 second")
    yield* at.finish(run, "passed", { tests: reportsOf(tests), ...fields })
    return run
  })
  /** What is told beside the verdict: the kind, and the tests or the count that it names. */
  const told = (version: string) =>
    Effect.map(shop.ready(version), ({ ready, reasons }) => [
      ready,
      ...reasons.map(
        ({ kind, message }) =>
          `${kind} ${/(?:last ran there|before|since|muted): (.*?)\. |(\d+ tests fewer.*?)\./.exec(`${message} `)?.slice(1).join("")}`
      )
    ])
  return { scene, shop, tested, told }
})

withServicesOnEachStorage("What a version has left out", (it) => {
  it.effect("is told also where a run of another version was between, or it failed in one that was interrupted", () =>
    Effect.gen(function* () {
      const { tested, told } = yield* makeScene
      const failed = yield* tested("v1", { a: "failed", b: "passed" })
      yield* tested("feature", { b: "passed" })
      yield* tested("v2", { b: "passed" })
      assert.deepStrictEqual(yield* told("v2"), [true, `test_dropped Test a (run ${failed} of v1)`])
      const cut = yield* tested("v3", { a: "passed", c: "failed" }, { fields: { interrupted: true } })
      yield* tested("v4", { b: "passed" })
      // What passed in a run that was interrupted has not passed.
      const both = `test_dropped Test a (run ${failed} of v1), Test c (run ${cut} of v3)`
      assert.deepStrictEqual(yield* told("v4"), [true, both])
      yield* tested("feature", { a: "passed", c: "passed" })
      yield* tested("v5", { b: "passed" })
      assert.deepStrictEqual(yield* told("v5"), [true])
      // That of the version before stays as it was.
      assert.deepStrictEqual(yield* told("v4"), [true, both])
    })
  )

  it.effect("is told of the runs that count there alone", () =>
    Effect.gen(function* () {
      const { scene, shop, tested, told } = yield* makeScene
      const agent = yield* addAgent(scene.member)
      const qa = yield* addQa(scene, shop)
      yield* qa.create("v1")
      yield* shop.setPolicy({ from: "staging", requires: [{ coverage: "critical" }] })
      yield* tested("v1", { a: "failed" }, { at: qa })
      yield* tested("v1", { b: "failed" }, { coverage: "acceptance" })
      yield* tested("v1", { c: "failed" }, { start: { git: { ...git, dirty: true } } })
      yield* tested(
        "v1",
        { d: "failed" },
        { start: { selection: { coverage: "critical", folders: [], caseIds: ["d"] } } }
      )
      const invented = yield* shop.staging.start(
        { selection: { coverage: "critical", folders: [], caseIds: [] } },
        agent
      )
      yield* shop.staging.finish(invented, "failed", { tests: reportsOf({ e: "failed" }) }, agent)
      yield* tested("v2", { z: "passed" })
      assert.deepStrictEqual(yield* told("v2"), [true])
      const failed = yield* tested("v1", { f: "failed", g: "failed" })
      // Neither these, where it passes.
      yield* tested("v3", { f: "passed" }, { at: qa })
      const besides = yield* tested("v3", { f: "passed" }, { coverage: "acceptance" })
      yield* tested("v3", { f: "passed" }, { start: { git: { ...git, dirty: true } } })
      yield* tested("v3", { z: "passed", g: "passed" })
      assert.deepStrictEqual(yield* told("v3"), [
        true,
        `test_dropped Test f (run ${failed} of v1, passed in run ${besides} of this version with the coverage acceptance)`
      ])
    })
  )

  it.effect("has failed at an address that the deployment had then, too, until it passes in a run that counts", () =>
    Effect.gen(function* () {
      const { shop, tested, told } = yield* makeScene
      const [http, https, preview] = ["http", "https", "https://preview"].map((begin) =>
        begin.includes(":") ? `${begin}.example` : `${begin}://staging.example`
      ) as [string, string, string]
      const at = (baseUrl: string) => ({ start: { baseUrl } })
      yield* shop.staging.update({ baseUrl: http })
      const cut = yield* tested("v1", { e: "failed" }, { ...at(http), fields: { interrupted: true } })
      const failed = yield* tested("v1", { a: "failed", b: "passed", c: "failed" }, at(http))
      // What passed at the same address has passed there.
      yield* tested("v1", { b: "passed", c: "passed" }, at(`${http}/`))
      yield* tested("v1", { d: "failed" }, at(preview))
      yield* shop.staging.update({ baseUrl: https })
      assert.deepStrictEqual(
        (yield* shop.ready("v1")).reasons.map(({ kind }) => kind),
        ["run_missing"]
      )
      yield* tested("v1", { b: "passed" }, at(https))
      const named = (of = "") =>
        `Test a (run ${failed}${of} at the address of before), Test e (run ${cut}${of} at the address of before)`
      assert.deepStrictEqual(yield* told("v1"), [false, `test_missing ${named()}`])
      yield* tested("v2", { b: "passed" }, at(https))
      assert.deepStrictEqual(yield* told("v2"), [true, `test_dropped ${named(" of v1")}`])
      // A pass at an address that was the deployment's for a run alone undoes nothing elsewhere.
      yield* shop.staging.update({ baseUrl: preview })
      const away = yield* tested("v1", { a: "passed", e: "passed" }, at(preview))
      yield* shop.staging.update({ baseUrl: https })
      const namedAway = named().replaceAll(")", `, passed in run ${away} at another address, which does not count)`)
      assert.deepStrictEqual(yield* told("v1"), [false, `test_missing ${named()}`])
      yield* tested("v1", { b: "passed" }, at(https))
      assert.deepStrictEqual(yield* told("v1"), [false, `test_missing ${namedAway}`])
      yield* tested("v3", { b: "passed" }, at(https))
      assert.include(
        (yield* shop.ready("v3")).reasons.find(({ kind }) => kind === "test_dropped")?.message,
        `passed without 2 tests that failed before: ${namedAway.replaceAll(" at", " of v1 at").replaceAll(" of v1 at another", " at another")}. `
      )
      assert.deepStrictEqual(yield* told("v2"), [true, `test_dropped ${named(" of v1")}`])
      // Where it failed at the address of now, it passes there alone.
      const now = yield* tested("v1", { b: "failed" }, at(https))
      yield* shop.staging.update({ baseUrl: http })
      const back = yield* tested("v1", { a: "passed", b: "passed", e: "passed" }, at(http))
      assert.deepStrictEqual(yield* told("v1"), [true])
      yield* shop.staging.update({ baseUrl: `${https}/?` })
      yield* tested("v1", { z: "passed" }, at(`${https}.`))
      assert.deepStrictEqual(yield* told("v1"), [
        false,
        `test_missing Test b (run ${now}, passed in run ${back} at another address, which does not count)`
      ])
      yield* tested("v1", { b: "passed" }, at(`${https}.:443/#`))
      assert.deepStrictEqual(yield* told("v1"), [true])
      assert.deepStrictEqual(yield* told("v2"), [true, `test_dropped ${named(" of v1")}`])
    })
  )

  it.effect("is not undone by a retry at the address of before, but by one before the address changed", () =>
    Effect.gen(function* () {
      const { scene, shop, tested, told } = yield* makeScene
      const retries = yield* Retries
      const retry = Effect.fnUntraced(function* (run: number) {
        const { retry } = yield* retries.start(run, { passes: 1, baseUrl: null, git, machine })
        yield* TestClock.adjust("1 second")
        return yield* retries.finish(run, retry, {
          interrupted: false,
          tests: [{ caseId: "a", attempts: [attempt("passed")] }]
        })
      }, as(scene.member))
      const start = { baseUrl: "http://staging.example" }
      yield* shop.staging.update(start)
      const failed = yield* tested("v1", { a: "failed", b: "passed" }, { start })
      const moved = { baseUrl: "https://staging.example" }
      yield* shop.staging.update(moved)
      const { gateResult, result } = yield* retry(failed)
      assert.deepStrictEqual([result, gateResult], ["passed", "failed"])
      yield* tested("v1", { b: "passed" }, { start: moved })
      const told1 = [false, `test_missing Test a (run ${failed} at the address of before)`]
      assert.deepStrictEqual(yield* told("v1"), told1)
      const nothing = yield* Effect.flip(retry(failed))
      assert.include(
        nothing.message,
        "the release or the address that the run tested is not that of the deployment any more"
      )
      // Back there, it may be retried, and stays so wherever the deployment moves then.
      yield* shop.staging.update(start)
      assert.deepInclude(yield* retry(failed), { result: "passed", gateResult: "passed" })
      yield* shop.staging.update(moved)
      assert.deepStrictEqual(yield* told("v1"), [true])
    })
  )

  it.effect("has no tests that a version never had which was put back", () =>
    Effect.gen(function* () {
      const { tested, told } = yield* makeScene
      const old = yield* tested("v1", { a: "failed" })
      yield* tested("v2", { b: "passed", c: "passed" })
      const bad = yield* tested("v3", { b: "failed", c: "passed", new: "failed" })
      yield* tested("v2", { c: "passed" })
      assert.deepStrictEqual(yield* told("v2"), [
        true,
        `test_dropped Test a (run ${old} of v1), Test b (run ${bad} of v3)`
      ])
      // The version after it had better have them.
      yield* tested("v4", { c: "passed" })
      assert.deepStrictEqual(yield* told("v4"), [
        true,
        `test_dropped Test a (run ${old} of v1), Test b (run ${bad} of v3), Test new (run ${bad} of v3)`
      ])
    })
  )

  it.effect("is named where it is muted, and is told as any failure once the mute has ended", () =>
    Effect.gen(function* () {
      const { scene, shop, tested, told } = yield* makeScene
      const { identifier } = yield* shop.ticket({ blocks: false }, true)
      yield* (yield* Tickets).update(identifier, { owner: scene.owner.principal.id }).pipe(as(scene.owner))
      const mutes = yield* Mutes
      const muted = { product: shop.product.slug, cases: ["a", "b"], until: minute(600) }
      yield* tested("v1", { b: "failed", c: "passed" })
      yield* mutes.set(identifier, muted).pipe(as(scene.owner))
      const failed = yield* tested("v1", { a: "failed", b: "failed", c: "passed" })
      yield* tested("v1", { c: "passed" })
      const named = (of = "") => `Test a (run ${failed}${of}), Test b (run ${failed}${of})`
      // A caller who does not see the ticket sees that it is muted.
      assert.deepStrictEqual(yield* told("v1"), [true, `test_muted ${named()}`])
      const seen = yield* shop.ready("v1", scene.owner)
      assert.include(seen.reasons[0]!.message, `Test a (run ${failed}, muted by ${identifier})`)
      yield* tested("v2", { c: "passed" })
      assert.deepStrictEqual(yield* told("v2"), [true, `test_muted ${named(" of v1")}`])
      yield* mutes.end(identifier).pipe(as(scene.owner))
      assert.deepStrictEqual(yield* told("v2"), [true, `test_dropped ${named(" of v1")}`])
      assert.deepStrictEqual(yield* told("v1"), [false, `test_missing ${named()}`])
      // That of the version itself keeps it back, whatever failed since in another one.
      yield* tested("v3", { a: "failed", b: "failed" })
      yield* tested("v1", { c: "passed" })
      assert.deepStrictEqual(yield* told("v1"), [false, `test_missing ${named()}`])
      yield* mutes.set(identifier, muted).pipe(as(scene.owner))
      yield* tested("v2", { a: "passed", b: "passed" })
      yield* tested("v2", { c: "passed" })
      assert.deepStrictEqual(yield* told("v2"), [true])
    })
  )

  it.effect(
    "is settled by people who say why, in the audit, and not where it fails again or keeps its version back",
    () =>
      Effect.gen(function* () {
        const { scene, shop, tested, told } = yield* makeScene
        const [tickets, agent] = [yield* Tickets, yield* addAgent(scene.member)]
        const feature = { start: { git: { ...git, branch: "feature/x" } } }
        const failed = yield* tested("f1", { b: "passed", new: "failed" }, feature)
        yield* tested("v2", { b: "passed" })
        const dropped = [true, `test_dropped Test new (run ${failed} of f1 on feature/x)`]
        assert.deepStrictEqual(yield* told("v2"), dropped)
        const { id, team } = yield* shop.ticket({ blocks: false })
        const cases = { product: shop.product.slug, caseIds: ["new"] }
        const update = (input: Parameters<typeof tickets.update>[1], by = scene.owner) =>
          tickets.update(id, input).pipe(as(by))
        const statuses = yield* statusesFor(scene, { team })
        const statusOf = (category: string) => statuses.find((one) => one.category === category)!.id
        // A ticket that needs no evidence says nothing, whoever completes it.
        yield* update({ cases, status: statusOf("completed") })
        assert.deepStrictEqual(yield* told("v2"), dropped)
        assert.strictEqual(yield* refusal(update({ completion: "evidence" })), "Conflict evidence_missing")
        yield* update({ completion: "evidence", status: statusOf("started") })
        assert.deepStrictEqual(yield* told("v2"), dropped)
        const override = "The branch was given up."
        const done = { status: statusOf("completed"), override }
        assert.strictEqual(yield* refusal(tickets.update(id, done).pipe(as(agent))), "Forbidden persons_only")
        yield* TestClock.adjust("1 second")
        yield* update(done)
        assert.deepStrictEqual(yield* told("v2"), [true])
        yield* tested("v3", { b: "passed" })
        assert.deepStrictEqual(yield* told("v3"), [true])
        const { entries } = yield* (yield* Audit).list({ action: "evidence_overridden" }).pipe(as(scene.owner))
        assert.deepStrictEqual(
          entries.map(({ changes }) => changes),
          [[{ field: "override", from: null, to: override }]]
        )
        // The same version is kept back all the same.
        yield* tested("f1", { b: "passed" }, feature)
        assert.deepStrictEqual(yield* told("f1"), [false, `test_missing Test new (run ${failed})`])
        // What is opened again, or is about another test, settles nothing, nor does it settle what failed since.
        yield* update({ status: statusOf("started") })
        assert.deepStrictEqual(yield* told("v3"), dropped)
        yield* update(done)
        assert.deepStrictEqual(yield* told("v3"), [true])
        yield* update({ cases: { ...cases, caseIds: ["another"] }, override })
        assert.deepStrictEqual(yield* told("v3"), dropped)
        yield* update({ cases, override })
        const again = yield* tested("f2", { new: "failed" }, feature)
        yield* tested("v4", { b: "passed" })
        const since = [true, `test_dropped Test new (run ${again} of f2 on feature/x)`]
        assert.deepStrictEqual(yield* told("v4"), since)
        // A test that is asked of the completed ticket with an override is settled from then on. Those of before are not.
        yield* TestClock.adjust("1 second")
        yield* update({ cases: { ...cases, caseIds: ["new", "another"] }, override })
        assert.deepStrictEqual(yield* told("v4"), since)
        yield* update({ cases: { ...cases, caseIds: ["another"] } })
        yield* update({ cases: { ...cases, caseIds: ["another", "new"] }, override })
        assert.deepStrictEqual(yield* told("v4"), [true])
        yield* update({ title: "Settled", cases })
        assert.deepStrictEqual(yield* told("v4"), [true])
        yield* TestClock.adjust("1 second")
        const failedAnew = yield* tested("f3", { new: "failed" }, feature)
        yield* tested("v5", { b: "passed" })
        assert.deepStrictEqual(yield* told("v5"), [
          true,
          `test_dropped Test new (run ${failedAnew} of f3 on feature/x)`
        ])
        // So is a failure in a retry.
        yield* update({ status: statusOf("started") })
        yield* TestClock.adjust("1 second")
        yield* update(done)
        assert.deepStrictEqual(yield* told("v4"), [true])
        yield* TestClock.adjust("1 second")
        const retries = yield* Retries
        const retry = (status: "failed" | "passed", tests: Tests) =>
          Effect.gen(function* () {
            const { retry } = yield* retries.start(again, { passes: 1, baseUrl: null, git, machine })
            const attempts = Object.keys(tests).map((caseId) => ({ caseId, attempts: [attempt(status)] }))
            yield* retries.finish(again, retry, { interrupted: false, tests: attempts })
          }).pipe(as(scene.member))
        yield* retry("failed", {})
        assert.deepStrictEqual(yield* told("v4"), [true])
        yield* retry("failed", { new: "failed" })
        assert.deepStrictEqual(yield* told("v4"), since)
      })
  )

  it.effect("is told as a test of another branch, and where it passed with another coverage", () =>
    Effect.gen(function* () {
      const { tested, told } = yield* makeScene
      const feature = { start: { git: { ...git, branch: "feature/x" } } }
      const failed = yield* tested("f1", { b: "passed", new: "failed" }, feature)
      yield* tested("v2", { b: "passed" })
      const dropped = (where = "") => [true, `test_dropped Test new (run ${failed} of f1${where})`]
      assert.deepStrictEqual(yield* told("v2"), dropped(" on feature/x"))
      yield* tested("f2", { b: "passed" }, feature)
      assert.deepStrictEqual(yield* told("f2"), dropped())
      // Neither another version nor a part of the tests says that it passed in this one.
      yield* tested("f2", { new: "passed" }, { coverage: "acceptance" })
      const part = { coverage: "regression", folders: [], caseIds: ["new"] } as const
      yield* tested("v2", { new: "passed" }, { coverage: "regression", start: { selection: part } })
      assert.deepStrictEqual(yield* told("v2"), dropped(" on feature/x"))
      const passed = yield* tested("v2", { new: "passed" }, { coverage: "acceptance" })
      const besides = ` on feature/x, passed in run ${passed} of this version with the coverage acceptance`
      assert.deepStrictEqual(yield* told("v2"), dropped(besides))
      yield* tested("v2", { new: "failed" }, { coverage: "exhaustive" })
      assert.deepStrictEqual(yield* told("v2"), dropped(besides))
      // The newest with that coverage tells.
      yield* tested("v2", { new: "failed" }, { coverage: "acceptance" })
      assert.deepStrictEqual(yield* told("v2"), dropped(" on feature/x"))
    })
  )

  it.effect("is told beside the largest of the last five other versions, also where the one before failed", () =>
    Effect.gen(function* () {
      const { tested, told } = yield* makeScene
      const whole = yield* tested("v1", many(30))
      yield* tested("v2", { t00: "failed" })
      const lost = `tests_fewer 29 tests fewer than run ${whole} of v1, for example ${[1, 2, 3, 4, 5].map((n) => `Test t0${n}`).join(", ")}`
      for (const version of ["v3", "v4", "v5", "v6"]) {
        yield* tested(version, many(1))
        // However often one of them ran.
        yield* tested(version, many(1))
        assert.deepStrictEqual(yield* told(version), [true, lost], version)
      }
      yield* tested("v7", many(1))
      assert.deepStrictEqual(yield* told("v7"), [true])
      // Many that failed are many, and of a version its newest run alone is compared.
      const failed = yield* tested("v8", { ...many(10), z: "failed" })
      yield* tested("v9", { ...many(5), z: "passed" })
      const since = `tests_fewer 5 tests fewer than run ${failed} of v8, for example ${[5, 6, 7, 8, 9].map((n) => `Test t0${n}`).join(", ")}`
      assert.deepStrictEqual(yield* told("v9"), [true, since])
      yield* tested("v8", { t00: "passed", z: "passed" })
      yield* tested("v10", { ...many(5), z: "passed" })
      assert.deepStrictEqual(yield* told("v10"), [true])
    })
  )

  it.effect("is told where markedly fewer tests ran than in the version before", () =>
    Effect.gen(function* () {
      const { tested, told } = yield* makeScene
      const whole = yield* tested("v1", many(30))
      yield* tested("v2", many(1))
      const fewer = (count: number, run: number, version: string, from: number) =>
        `tests_fewer ${count} tests fewer than run ${run} of ${version}, for example ${Array.from({ length: Math.min(5, count) }, (_, index) => `Test t${String(from + index).padStart(2, "0")}`).join(", ")}`
      assert.deepStrictEqual(yield* told("v2"), [true, fewer(29, whole, "v1", 1)])
      // What is skipped did not run, and what was interrupted or ran in part is not whole.
      yield* tested("v1", many(60), { fields: { interrupted: true } })
      yield* tested("v1", many(60), { start: { selection: { coverage: "critical", folders: [], caseIds: ["t01"] } } })
      yield* tested("v3", { ...many(30, "skipped"), ...many(27) })
      assert.deepStrictEqual(yield* told("v3"), [true, fewer(3, whole, "v1", 27)])
      const last = yield* tested("v4", many(30))
      yield* tested("v5", { ...many(30, "skipped"), ...many(27) })
      assert.deepStrictEqual(yield* told("v5"), [true, fewer(3, last, "v4", 27)])
      yield* tested("v4", many(30))
      yield* tested("v6", many(28))
      assert.deepStrictEqual(yield* told("v6"), [true])
      // Three of many are few.
      const before = yield* tested("v7", many(61))
      yield* tested("v8", many(58))
      assert.deepStrictEqual(yield* told("v8"), [true])
      yield* tested("v9", many(60))
      yield* tested("v8", many(57))
      // It was put back: what came after it says nothing of it, what was before does.
      assert.deepStrictEqual(yield* told("v8"), [true, fewer(4, before, "v7", 57)])
    })
  )
})

import { maxMutedFailures, type Reason, type ReasonKind } from "@delivery/domain/flow/Readiness"
import { defaultPolicy, type ReasonSetting } from "@delivery/domain/flow/ReadinessPolicy"
import type { Coverage, TestReport } from "@delivery/domain/runs/TestEntry"
import type { FinishTestRun } from "@delivery/domain/runs/FinishTestRun"
import type { ProductId, TicketId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Deployments } from "../../src/catalog/Deployments.ts"
import { Environments } from "../../src/catalog/Environments.ts"
import type { OverdueMute } from "../../src/flow/OverdueMutes.ts"
import { Audit } from "../../src/audit/Audit.ts"
import { Mutes } from "../../src/flow/Mutes.ts"
import { Readiness } from "../../src/flow/Readiness.ts"
import { whoseRuns } from "../../src/flow/ReadinessReasons.ts"
import { Projects } from "../../src/planning/Projects.ts"
import { Teams } from "../../src/planning/Teams.ts"
import { Retries } from "../../src/runs/Retries.ts"
import { CaseCounting } from "../../src/runs/cases/CaseCounting.ts"
import { TestRuns } from "../../src/runs/TestRuns.ts"
import { Tickets } from "../../src/planning/Tickets.ts"
import {
  adminsAndUp,
  as,
  assertChain,
  everyRole,
  eventsOf,
  minute,
  newId,
  now,
  refusal,
  unique,
  whoMay
} from "../identity/Scene.ts"
import { addEnvironment } from "../catalog/Rows.ts"
import { attempt, git, machine, report } from "../runs/Scene.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import { addAgent } from "../planning/TicketsScene.ts"
import { daysFromNow } from "./FlowScene.ts"
import { addQa, makeReadinessScene, newShop, readinessWith, statusesFor } from "./ReadinessScene.ts"

const kinds: ReadonlyArray<ReasonKind> = [
  "version_unknown",
  "version_missing",
  "run_missing",
  "run_failed",
  "test_missing",
  "mute_overdue",
  "ticket_blocks",
  "secret_missing",
  "drift",
  "frozen"
]

const canary = "canary-d41d8cd98f00b204"

/** A run of all tests of a coverage. */
const startOf = (coverage: Coverage) => ({ selection: { coverage, folders: [], caseIds: [] } })

/** None, each alone, and all pairs, by the first of the two. */
const subsets: ReadonlyArray<readonly [name: string, subsets: ReadonlyArray<ReadonlyArray<ReasonKind>>]> = [
  ["each reason alone", [[], ...kinds.map((kind) => [kind])]],
  ...kinds
    .slice(0, -1)
    .map(
      (first, index) => [`${first} with each other`, kinds.slice(index + 1).map((second) => [first, second])] as const
    )
]

const settings = ["block", "warn", "off"] as const

withServicesOnEachStorage("Readiness", (it) => {
  it.effect("is told to every role, and its policy set by admins", () =>
    Effect.gen(function* () {
      const readiness = yield* Readiness
      const scene = yield* makeReadinessScene
      const [product, environment] = [unique("unknown"), unique("unknown")]
      assert.deepStrictEqual(yield* whoMay(scene, readiness.get(product, environment, undefined)), everyRole)
      assert.deepStrictEqual(yield* whoMay(scene, readiness.policy(product, environment)), everyRole)
      assert.deepStrictEqual(yield* whoMay(scene, readiness.setPolicy(product, environment, {})), adminsAndUp)
    })
  )

  for (const [name, those] of subsets) {
    it.effect(`has ${name}, as a plain computation has it`, () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(Date.parse(minute(600)))
        const scene = yield* makeReadinessScene
        const mutes = new Map<ProductId, ReadonlyArray<OverdueMute>>()
        const readiness = yield* readinessWith(mutes)
        for (const present of those) {
          const has = (kind: ReasonKind) => present.includes(kind)
          const shop = yield* newShop(scene)
          // What is as it should be, whatever there is beside it.
          yield* shop.set("KEPT", canary, "staging")
          yield* shop.set("KEPT", canary)
          yield* shop.set("LOADED", canary)
          yield* shop.load
          yield* shop.ticket({ blocks: false })
          const done = yield* shop.ticket()
          const [, , , completed] = yield* statusesFor(scene, done)
          yield* as(scene.owner)((yield* Tickets).update(done.identifier, { status: completed!.id }))
          yield* shop.staging.update({ version: "v1" })
          yield* shop.tested("failed", "critical")
          yield* shop.tested("passed", "acceptance")
          const runs: Record<string, number> = {}
          yield* shop.staging.update({ version: "v2" })

          const failing = { tests: [report("refunds", { title: "Refunds", attempt: attempt("failed") })] }
          const lost = has("test_missing") ? yield* shop.staging.start(startOf("acceptance")) : undefined
          if (lost !== undefined) yield* shop.staging.finish(lost, "failed", failing)
          if (!has("run_missing")) runs["critical"] = yield* shop.tested("passed", "critical")
          yield* shop.tested("failed", "acceptance")
          runs["acceptance"] = yield* shop.tested("passed", "acceptance")
          if (has("run_failed")) runs["acceptance"] = yield* shop.tested("failed", "acceptance")
          // In production itself, and of no coverage: neither says anything.
          yield* shop.production.update({ version: "v2" })
          yield* shop.tested("failed", "critical", shop.production)
          yield* shop.staging.finish(yield* shop.staging.start(), "failed")
          const muted = { id: newId<TicketId>(), identifier: "ENG-7", title: "Flaky payment" }
          if (has("mute_overdue")) mutes.set(shop.product.id, [{ caseId: "pays", until: minute(5), ticket: muted }])
          const ticket = has("ticket_blocks") ? yield* shop.ticket({ title: "Refunds fail" }) : undefined
          if (has("secret_missing")) yield* shop.set("MISSING", canary, "staging")
          if (has("drift")) yield* shop.set("LOADED", `${canary}2`)
          // What went out from there runs here, and is looked at.
          if (has("version_missing")) yield* shop.staging.update({ version: null })
          const freezes = [
            { from: minute(0), to: minute(600), reason: "Over" },
            { from: minute(601), to: minute(700), reason: "Later" },
            ...(has("frozen") ? [{ from: minute(600), to: minute(601), reason: "Holidays" }] : [])
          ]

          for (const setting of settings) {
            const severity = setting === "warn" ? "warn" : "block"
            const requires = [
              { coverage: "critical" as const, severity },
              { coverage: "acceptance" as const, severity }
            ]
            const weights = { tickets: setting, secrets: setting, drift: setting, mutes: setting }
            yield* shop.setPolicy({ from: "staging", requires, freezes, ...weights } as never)
            // What anybody would say who knows what was done above.
            const expected: Array<readonly [ReasonKind, string, string]> = []
            const weigh = (kind: ReasonKind, weight: ReasonSetting, label: string) => {
              if (has(kind) && weight !== "off") expected.push([kind, weight, label])
            }
            const asked = has("version_unknown") ? "v2-typo" : undefined
            if (asked === undefined) {
              weigh("version_missing", "block", "Staging")
              weigh("run_missing", severity, "critical")
              weigh("run_failed", severity, `Run ${runs["acceptance"]}`)
              // What failed is told once.
              if (!has("run_failed")) weigh("test_missing", severity, `Run ${runs["acceptance"]}`)
            } else {
              // What nobody knows has no runs either, whatever those of others say.
              expected.push(
                ["version_unknown", "warn", asked],
                ["run_missing", severity, "critical"],
                ["run_missing", severity, "acceptance"]
              )
            }
            weigh("mute_overdue", setting, "ENG-7 Flaky payment")
            weigh("ticket_blocks", setting, `${ticket?.identifier} Refunds fail`)
            weigh("secret_missing", setting, "MISSING")
            weigh("drift", setting, "LOADED")
            weigh("frozen", "block", "Holidays")
            const answer = yield* as(scene.viewer)(readiness.get(shop.product.slug, "production", asked))
            const told = `${present.join(" and ")}, ${setting}`
            // What keeps it back is not to be looked for among warnings.
            expected.sort(([, a], [, b]) => compare(a, b))
            assert.deepStrictEqual(
              answer.reasons.map(({ kind, severity, subject }) => [kind, severity, subject?.label]),
              expected as never,
              told
            )
            assert.strictEqual(answer.ready, !expected.some(([, weight]) => weight === "block"), told)
            assert.deepStrictEqual([answer.version, answer.at], [asked ?? "v2", yield* now])
            assert.deepStrictEqual(
              answer.runs.map(({ coverage, environment, result, run }) => [coverage, environment, result, run]),
              (["critical", "acceptance"] as const).flatMap((coverage) =>
                runs[coverage] === undefined || asked !== undefined
                  ? []
                  : [
                      [
                        coverage,
                        "staging",
                        coverage === "acceptance" && has("run_failed") ? "failed" : "passed",
                        runs[coverage]!
                      ]
                    ]
              ) as never
            )
            assert.notInclude(JSON.stringify(answer), canary)
          }
        }
      })
    )
  }

  it.effect("is by the newest run of the version that finished elsewhere, on an unchanged deployment", () =>
    Effect.gen(function* () {
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      const qa = yield* addQa(scene, shop)
      yield* qa.create("v1")
      yield* shop.staging.update({ version: "v1" })
      yield* shop.setPolicy({ requires: [{ coverage: "critical" }] })
      const kindsOf = (version?: string) =>
        Effect.map(shop.ready(version), ({ reasons, runs }) => [
          ...reasons.map(({ kind }) => kind),
          ...runs.map(({ environment, run }) => `${run} in ${environment}`)
        ])
      assert.deepStrictEqual(yield* kindsOf("v1"), ["run_missing"])
      const first = yield* shop.tested("passed", "critical")
      assert.deepStrictEqual(yield* kindsOf("v1"), [`${first} in staging`])
      const second = yield* shop.tested("failed", "critical", qa)
      assert.deepStrictEqual(yield* kindsOf("v1"), ["run_failed", `${second} in qa`])
      const third = yield* shop.tested("passed", "critical")
      assert.deepStrictEqual(yield* kindsOf("v1"), [`${third} in staging`])
      // Neither what runs, nor what was interrupted, nor what another version was deployed beneath.
      const running = yield* qa.start({ selection: { coverage: "critical", folders: [], caseIds: [] } })
      const interrupted = yield* qa.start({ selection: { coverage: "critical", folders: [], caseIds: [] } })
      yield* qa.finish(interrupted, "failed", { interrupted: true })
      yield* shop.tested("failed", "regression")
      // Nor what ran a part, or nothing.
      for (const part of [{ folders: ["basket"] }, { caseIds: ["a"] }]) {
        const narrowed = yield* qa.start({ selection: { coverage: "critical", folders: [], caseIds: [], ...part } })
        yield* qa.finish(narrowed, "failed")
      }
      const skipping = yield* qa.start({ selection: { coverage: "critical", folders: [], caseIds: [] } })
      yield* qa.finish(skipping, "passed", { tests: [report("a", { attempt: null })] })
      assert.deepStrictEqual(yield* kindsOf("v1"), [`${third} in staging`])
      yield* qa.update({ version: "v2" })
      yield* qa.finish(running, "failed")
      assert.deepStrictEqual(yield* kindsOf("v1"), [`${third} in staging`])
      assert.deepStrictEqual(yield* kindsOf("v2"), ["run_missing"])
      // By default, of what runs here.
      assert.strictEqual((yield* shop.ready()).version, "v0")
      assert.deepStrictEqual(yield* kindsOf(), ["run_missing"])
      yield* shop.setPolicy({ from: "qa", requires: [{ coverage: "critical", severity: "warn" }] })
      const coming = yield* shop.ready()
      assert.deepStrictEqual([coming.version, coming.ready], ["v2", true])
      yield* qa.update({ version: null })
      assert.strictEqual((yield* shop.ready()).version, "v0")
      yield* shop.production.update({ version: null })
      const unknown = yield* shop.ready()
      assert.deepStrictEqual(
        [unknown.version, unknown.reasons.map(({ kind }) => kind)],
        [null, ["version_missing", "run_missing"]]
      )
    })
  )

  it.effect("is not shown by a run whose deployment was made anew, nor by a retry on another release", () =>
    Effect.gen(function* () {
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      const [deployments, retries] = [yield* Deployments, yield* Retries]
      yield* shop.setPolicy({ requires: [{ coverage: "critical" }] })
      const critical = { selection: { coverage: "critical", folders: [], caseIds: [] } } as const
      const kindsOf = (version: string) =>
        Effect.map(shop.ready(version), ({ reasons }) => reasons.map(({ kind }) => kind))
      yield* shop.staging.update({ version: "v1" })
      const untested = yield* shop.staging.start({ ...critical, locked: true })
      yield* deployments.delete(shop.product.slug, "staging").pipe(as(scene.member))
      yield* shop.staging.create("v2")
      assert.isTrue((yield* shop.staging.run(untested)).deploymentChanged)
      yield* shop.staging.finish(untested, "passed")
      assert.isTrue((yield* shop.staging.run(untested)).deploymentChanged)
      assert.deepStrictEqual(yield* kindsOf("v1"), ["run_missing"])

      const retry = Effect.fnUntraced(function* (run: number, { dirty = false } = {}) {
        const { retry } = yield* retries.start(run, { passes: 1, baseUrl: null, git: { ...git, dirty }, machine })
        return yield* retries.finish(run, retry, {
          interrupted: false,
          tests: [{ caseId: "a", attempts: [attempt("passed")] }]
        })
      }, as(scene.member))
      // On the same release a retry counts, but not with changes that are in no commit.
      const first = yield* shop.tested("failed", "critical")
      yield* retry(first, { dirty: true })
      assert.deepStrictEqual(yield* kindsOf("v2"), ["run_failed"])
      yield* retry(first)
      assert.deepStrictEqual(yield* kindsOf("v2"), [])
      const failed = yield* shop.tested("failed", "critical")
      yield* shop.staging.update({ version: "v3" })
      const retried = yield* retry(failed)
      const { reasons, runs } = yield* shop.ready("v2")
      // Whoever asks for the run, or for runs, hears of the gate what readiness says.
      const testRuns = yield* TestRuns
      const [listed] = (yield* testRuns.list({ product: shop.product.slug }).pipe(as(scene.viewer))).runs
      const [json] = (yield* testRuns.listJson({ product: shop.product.slug }).pipe(as(scene.viewer))).runs
      const parsed: typeof retried = JSON.parse(new TextDecoder().decode(json))
      assert.strictEqual(listed?.number, failed)
      for (const run of [retried, yield* shop.staging.run(failed), listed!, parsed]) {
        assert.deepStrictEqual([run.result, run.gateResult], ["passed", "failed"])
      }
      assert.deepInclude(runs[0], { run: failed, result: "failed", gateResult: "failed" })
      const events = (yield* eventsOf(scene.workspace)).filter(({ kind }) => kind === "retry_finished")
      const changeOf = (field: string) => events.map(({ changes }) => changes.find((one) => one.field === field)?.to)
      assert.deepStrictEqual(
        [changeOf("result"), changeOf("gateResult")],
        [
          ["passed", undefined, "passed"],
          ["failed", "passed", "failed"]
        ]
      )
      assert.deepStrictEqual(
        reasons.map(({ kind, message }) => [kind, message]),
        [
          [
            "run_failed",
            `Run ${failed} in Staging, the newest of v2 with the coverage critical, failed; its retry passed on another release or address, or with uncommitted changes: a. Run all of critical again against the deployment, from a commit.`
          ]
        ]
      )
    })
  )

  it.effect("is not shown by a run in which nothing passed and only muted tests failed", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.parse(minute(0)))
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      yield* shop.setPolicy({ requires: [{ coverage: "critical" }] })
      const { identifier } = yield* shop.ticket({ blocks: false })
      yield* (yield* Tickets).update(identifier, { owner: scene.owner.principal.id }).pipe(as(scene.owner))
      const muted = { product: shop.product.slug, cases: ["muted"], until: minute(600) }
      yield* (yield* Mutes).set(identifier, muted).pipe(as(scene.owner))
      yield* shop.staging.update({ version: "v1" })
      const critical = { selection: { coverage: "critical", folders: [], caseIds: [] } } as const
      const failed = report("muted", { attempt: attempt("failed") })
      const tested = Effect.fnUntraced(function* (...others: ReadonlyArray<TestReport>) {
        const run = yield* shop.staging.start(critical)
        const { gateResult } = yield* shop.staging.finish(run, "failed", { tests: [failed, ...others] })
        const { ready, reasons } = yield* shop.ready("v1")
        return [gateResult, ready, ...reasons.map(({ kind }) => kind)]
      })
      assert.deepStrictEqual(yield* tested(report("skipped", { attempt: null })), ["passed", false, "run_missing"])
      assert.deepStrictEqual(yield* tested(report("passes")), ["passed", true])
    })
  )

  it.effect("is not shown by a retry against another address than the run's", () =>
    Effect.gen(function* () {
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      const retries = yield* Retries
      yield* shop.setPolicy({ requires: [{ coverage: "critical" }] })
      yield* shop.staging.update({ version: "v1" })
      const tested = Effect.fnUntraced(function* (baseUrl: string | null) {
        const run = yield* shop.tested("failed", "critical")
        const { retry } = yield* retries.start(run, { passes: 1, baseUrl, git, machine })
        const { gateResult, result } = yield* retries.finish(run, retry, {
          interrupted: false,
          tests: [{ caseId: "a", attempts: [attempt("passed")] }]
        })
        const { ready, reasons } = yield* shop.ready("v1")
        return [result, gateResult, ready, ...reasons.map(({ kind }) => kind)]
      }, as(scene.member))
      assert.deepStrictEqual(yield* tested("https://preview.example.com"), ["passed", "failed", false, "run_failed"])
      // The same one, spelled otherwise.
      const { baseUrl } = yield* shop.staging.run(yield* shop.tested("failed", "critical"))
      assert.deepStrictEqual(yield* tested(`${baseUrl.toUpperCase()}/`), ["passed", "passed", true])
      assert.deepStrictEqual(yield* tested(baseUrl.replace(/\/*$/, ":443/")), ["passed", "passed", true])
      assert.deepStrictEqual(yield* tested(baseUrl.replace(/\/*$/, ":80")), ["passed", "failed", false, "run_failed"])
      for (const end of ["?", "#", "/?#", ".", ".:443/", ".?"]) {
        assert.deepStrictEqual(yield* tested(baseUrl.replace(/\/*$/, end)), ["passed", "passed", true], end)
      }
      for (const end of ["/?a", "/#a", "..", "/."]) {
        const told = yield* tested(baseUrl.replace(/\/*$/, end))
        assert.deepStrictEqual(told, ["passed", "failed", false, "run_failed"], end)
      }
      assert.deepStrictEqual(yield* tested(null), ["passed", "passed", true])
    })
  )

  it.effect("is told of tests that stay muted past their time, swept or not, until the ticket is closed", () =>
    Effect.gen(function* () {
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      const [tickets, mutes] = [yield* Tickets, yield* Mutes]
      const { id, team } = yield* shop.ticket({ blocks: false })
      yield* tickets.update(id, { owner: scene.member.principal.id }).pipe(as(scene.owner))
      const until = yield* daysFromNow(1)
      yield* mutes.set(id, { product: shop.product.slug, cases: ["a"], until }).pipe(as(scene.member))
      const told = Effect.map(shop.ready(), ({ reasons, ready }) => [
        ready,
        ...reasons.map(({ kind, severity }) => `${kind} ${severity}`)
      ])
      assert.deepStrictEqual([yield* told, (yield* shop.ready()).changesAt], [[true], until])
      yield* TestClock.adjust("1 day")
      assert.deepStrictEqual(yield* told, [true, "mute_overdue warn"])
      yield* shop.setPolicy({ mutes: "block" })
      yield* mutes.sweep
      assert.deepStrictEqual(yield* told, [false, "mute_overdue block"])
      const done = (yield* statusesFor(scene, { team })).find(({ category }) => category === "completed")!
      yield* tickets.update(id, { status: done.id }).pipe(as(scene.member))
      assert.deepStrictEqual(yield* told, [true])
    })
  )

  it.effect("says that the run that decides is being retried, until the retry ends or its time is up", () =>
    Effect.gen(function* () {
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      const retries = yield* Retries
      yield* shop.setPolicy({ requires: [{ coverage: "critical" }] })
      yield* shop.staging.update({ version: "v1" })
      const run = yield* shop.tested("failed", "critical")
      const start = retries.start(run, { passes: 1, baseUrl: null, git, machine }).pipe(as(scene.member))
      const told = Effect.map(shop.ready("v1"), ({ reasons, runs }) => [
        runs[0]!.runningRetry,
        ...reasons.map(({ message }) => message)
      ])
      const failed = `Run ${run} in Staging, the newest of v1 with the coverage critical, failed: a`
      const next = "Run all of critical again once it passes, or mute it with a ticket and run it again."
      assert.deepStrictEqual(yield* told, [null, `${failed}. ${next}`])
      yield* start
      assert.deepStrictEqual(yield* told, [1, `${failed}; retry 1 is running.`])
      // Its time is up, though nothing may have ended it.
      yield* TestClock.adjust("7 hours")
      assert.deepStrictEqual(yield* told, [null, `${failed}. ${next}`])
      const { retry } = yield* start
      assert.deepStrictEqual(yield* told, [2, `${failed}; retry 2 is running.`])
      const tests = [{ caseId: "a", attempts: [attempt("passed")] }]
      yield* retries.finish(run, retry, { interrupted: false, tests }).pipe(as(scene.member))
      assert.deepStrictEqual(yield* told, [null])
    })
  )

  it.effect("is still shown by a run that passed its gate before a retry tested another release", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.parse(minute(0)))
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      const [retries, testRuns] = [yield* Retries, yield* TestRuns]
      yield* shop.setPolicy({ requires: [{ coverage: "critical" }] })
      const { identifier } = yield* shop.ticket({ blocks: false })
      yield* (yield* Tickets).update(identifier, { owner: scene.owner.principal.id }).pipe(as(scene.owner))
      const muted = { product: shop.product.slug, cases: ["muted"], until: minute(600) }
      yield* (yield* Mutes).set(identifier, muted).pipe(as(scene.owner))
      const failed = { attempt: attempt("failed") }
      /** The gate before a retry that passes on another release, and after it, as each place tells it. */
      const gates = Effect.fnUntraced(function* (version: string, failing: ReadonlyArray<string>) {
        yield* shop.staging.update({ version })
        const run = yield* shop.staging.start({ selection: { coverage: "critical", folders: [], caseIds: [] } })
        const tests = [...failing.map((caseId) => report(caseId, failed)), report("passes")]
        const before = yield* shop.staging.finish(run, "failed", { tests })
        yield* shop.staging.update({ version: `${version} and more` })
        const { retry } = yield* retries.start(run, { passes: 1, baseUrl: null, git, machine }).pipe(as(scene.member))
        const attempts = [attempt("passed")]
        const retried = yield* retries
          .finish(run, retry, { interrupted: false, tests: failing.map((caseId) => ({ caseId, attempts })) })
          .pipe(as(scene.member))
        const [listed] = (yield* testRuns.list({ product: shop.product.slug }).pipe(as(scene.viewer))).runs
        const { ready, reasons } = yield* shop.ready(version)
        const told = [retried, yield* shop.staging.run(run), listed!].map(({ gateResult, result }) => [
          result,
          gateResult
        ])
        return [before.gateResult, ...told, ready, ...reasons.map(({ kind }) => kind)]
      })
      const flaky = (gate: string) => [0, 1, 2].map(() => ["passed", gate])
      assert.deepStrictEqual(yield* gates("v1", ["muted"]), ["passed", ...flaky("passed"), true] as never)
      assert.deepStrictEqual(yield* gates("v2", ["muted", "other"]), [
        "failed",
        ...flaky("failed"),
        false,
        "run_failed"
      ] as never)
    })
  )

  it.effect("says what the run that decides rests on: its counts, and the newer run that came to no result", () =>
    Effect.gen(function* () {
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      const qa = yield* addQa(scene, shop)
      yield* shop.staging.update({ version: "v1" })
      yield* qa.create("v1")
      yield* shop.production.update({ version: "v1" })
      yield* shop.setPolicy({ requires: [{ coverage: "critical" }] })
      const critical = { selection: { coverage: "critical", folders: [], caseIds: [] } } as const
      const told = Effect.map(shop.ready("v1"), ({ reasons, runs }) => [
        ...reasons.map(({ message }) => message),
        ...runs.map(({ counts, mutedFailures, newer, run }) => ({ run, counts, mutedFailures, newer }))
      ])
      const missing = "No run of v1 with the whole coverage critical has finished in another environment"
      assert.deepStrictEqual(yield* told, [`${missing}. ${whoseRuns}`])
      const older = yield* qa.start(critical)
      assert.deepStrictEqual(yield* told, [`${missing}: run ${older} is still running.`])
      const broken = yield* shop.staging.start(critical)
      yield* shop.staging.finish(broken, "failed", { interrupted: true })
      // What is running may still come to a result.
      assert.deepStrictEqual(yield* told, [`${missing}: run ${older} is still running.`])
      yield* qa.finish(older, "failed", { interrupted: true })
      assert.deepStrictEqual(yield* told, [`${missing}: run ${broken} was interrupted.`])

      const deciding = yield* shop.staging.start(critical)
      const skipped = (caseId: string) => report(caseId, { attempt: null })
      const tests = [report("a"), skipped("b"), skipped("c"), skipped("d")]
      yield* shop.staging.finish(deciding, "passed", { tests })
      const thin = {
        run: deciding,
        counts: { total: 4, passed: 1, flaky: 0, failed: 0, skipped: 3 },
        mutedFailures: { count: 0, tests: [] },
        newer: null
      }
      // Those that started before it and were interrupted say nothing of it.
      assert.deepStrictEqual(yield* told, [thin])
      // Nor does what ran a part, or another version, or here.
      yield* qa.start({ selection: { ...critical.selection, folders: ["basket"] } })
      yield* qa.start({ selection: { ...critical.selection, coverage: "regression" } })
      yield* shop.production.start(critical)
      yield* shop.staging.update({ version: "v2" })
      yield* shop.staging.start(critical)
      assert.deepStrictEqual(yield* told, [thin])
      const interrupted = yield* qa.start(critical)
      yield* qa.finish(interrupted, "failed", { interrupted: true })
      assert.deepStrictEqual(yield* told, [{ ...thin, newer: { run: interrupted, state: "interrupted" } }])
      const running = yield* qa.start(critical)
      assert.deepStrictEqual(yield* told, [{ ...thin, newer: { run: running, state: "running" } }])
      // Its time is up, though nothing may have ended it.
      yield* TestClock.adjust("7 hours")
      assert.deepStrictEqual(yield* told, [{ ...thin, newer: { run: running, state: "interrupted" } }])
    })
  )

  it.effect("is shown by the run that finished last, whichever started first", () =>
    Effect.gen(function* () {
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      yield* shop.staging.update({ version: "v1" })
      yield* shop.setPolicy({ requires: [{ coverage: "critical" }] })
      const critical = { selection: { coverage: "critical", folders: [], caseIds: [] } } as const
      const told = Effect.map(shop.ready("v1"), ({ ready, runs }) => [
        ready,
        ...runs.map(({ newer, run }) => ({ run, newer }))
      ])
      const [slow, quick] = [yield* shop.staging.start(critical), yield* shop.staging.start(critical)]
      yield* TestClock.adjust("1 second")
      yield* shop.staging.finish(quick, "passed")
      assert.deepStrictEqual(yield* told, [true, { run: quick, newer: { run: slow, state: "running" } }])
      yield* TestClock.adjust("1 second")
      yield* shop.staging.finish(slow, "failed")
      assert.deepStrictEqual(yield* told, [false, { run: slow, newer: null }])
    })
  )

  it.effect("is shown by runs of the environment that versions come from alone, where there is one", () =>
    Effect.gen(function* () {
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      const qa = yield* addQa(scene, shop)
      yield* qa.create("v1")
      yield* shop.staging.update({ version: "v1" })
      yield* shop.setPolicy({ from: "staging", requires: [{ coverage: "critical" }] })
      const told = Effect.map(shop.ready("v1"), ({ notCounted, ready, reasons, runs }) => [
        ready,
        ...reasons.map(({ message }) => message),
        ...runs.map(({ newer, run }) => ({ run, newer })),
        ...notCounted.map(({ run }) => run)
      ])
      const inQa = yield* shop.tested("passed", "critical", qa)
      const missing = "No run of v1 with the whole coverage critical has finished in Staging"
      assert.deepStrictEqual(yield* told, [false, `${missing}. ${whoseRuns}`])
      const deciding = yield* shop.staging.start(startOf("critical"))
      assert.deepStrictEqual(yield* told, [false, `${missing}: run ${deciding} is still running.`])
      yield* shop.staging.finish(deciding, "passed")
      const running = yield* qa.start(startOf("critical"))
      assert.deepStrictEqual(yield* told, [true, { run: deciding, newer: null }])
      yield* TestClock.adjust("1 second")
      yield* qa.finish(running, "failed")
      const part = yield* qa.start({ selection: { ...startOf("critical").selection, caseIds: ["a"] } })
      yield* qa.finish(part, "failed")
      assert.deepStrictEqual(yield* told, [true, { run: deciding, newer: null }])
      // Without a `from` the one decides that finished last, wherever.
      yield* shop.setPolicy({ requires: [{ coverage: "critical" }] })
      assert.deepInclude((yield* shop.ready("v1")).runs, { ...(yield* shop.ready("v1")).runs[0], run: running })
      assert.isBelow(inQa, running)
    })
  )

  it.effect("names what failed since, though it decides nothing", () =>
    Effect.gen(function* () {
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      yield* shop.staging.update({ version: "v1" })
      yield* shop.setPolicy({ requires: [{ coverage: "critical" }, { coverage: "acceptance" }] })
      const of = (coverage: "acceptance" | "critical" | "regression" | null, caseIds: ReadonlyArray<string> = []) => ({
        selection: { coverage, folders: [], caseIds }
      })
      const told = Effect.map(shop.ready("v1"), ({ notCounted }) =>
        notCounted.map(({ coverage, reason, result, run }) => [run, coverage, result, reason])
      )
      const run = Effect.fnUntraced(function* (
        at: typeof shop.staging,
        fields: ReturnType<typeof of>,
        result: "failed" | "passed"
      ) {
        const number = yield* at.start(fields)
        yield* TestClock.adjust("1 second")
        yield* at.finish(number, result)
        return number
      })
      const before = yield* run(shop.staging, of("critical", ["a"]), "failed")
      assert.deepStrictEqual(yield* told, [[before, "critical", "failed", "part_of_tests"]])
      yield* run(shop.staging, of("critical"), "passed")
      assert.deepStrictEqual(yield* told, [])
      const part = yield* run(shop.staging, of("critical", ["a"]), "failed")
      yield* run(shop.staging, of("critical", ["a"]), "passed")
      yield* run(shop.production, of("critical", ["a"]), "failed")
      yield* run(shop.staging, of("regression", ["a"]), "failed")
      const unnamed = yield* run(shop.staging, of(null), "failed")
      const inPart = [part, "critical", "failed", "part_of_tests"]
      assert.deepStrictEqual(yield* told, [inPart, [unnamed, null, "failed", "no_coverage"]])
      // Of no coverage: it may be of that which nothing decides.
      yield* run(shop.staging, of("critical"), "passed")
      assert.deepStrictEqual(yield* told, [[unnamed, null, "failed", "no_coverage"]])
      yield* run(shop.staging, of("acceptance"), "passed")
      assert.deepStrictEqual(yield* told, [])
      const changed = yield* shop.staging.start(of("acceptance"))
      yield* shop.staging.update({ version: "v2" })
      yield* TestClock.adjust("1 second")
      yield* shop.staging.finish(changed, "failed")
      assert.deepStrictEqual(yield* told, [[changed, "acceptance", "failed", "deployment_changed"]])
    })
  )

  it.effect("is shown neither by changes that are in no commit, nor by agents, nor by what tested nothing", () =>
    Effect.gen(function* () {
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      const agent = yield* addAgent(scene.member)
      yield* shop.staging.update({ version: "v1" })
      yield* shop.setPolicy({ requires: [{ coverage: "critical" }] })
      const told = Effect.map(shop.ready("v1"), ({ notCounted, ready, reasons, runs }): ReadonlyArray<unknown> => [
        ready,
        reasons.map(({ kind }) => kind),
        runs.map(({ run }) => run),
        notCounted.map(({ reason, run }) => [run, reason])
      ])
      const missing = (run: number, reason: string) => [false, ["run_missing"], [], [[run, reason]]]
      const skipping = yield* shop.staging.start(startOf("critical"))
      yield* shop.staging.finish(skipping, "passed", { tests: [report("a", { attempt: null })] })
      assert.deepStrictEqual(yield* told, missing(skipping, "nothing_tested"))
      yield* TestClock.adjust("1 second")
      const dirty = yield* shop.staging.start({ ...startOf("critical"), git: { ...git, dirty: true } })
      // It would not decide, so it is not waited for.
      assert.deepStrictEqual(yield* told, missing(skipping, "nothing_tested"))
      yield* shop.staging.finish(dirty, "passed")
      assert.deepStrictEqual(yield* told, missing(dirty, "uncommitted_changes"))
      yield* TestClock.adjust("1 second")
      const invented = yield* shop.staging.start(startOf("critical"), agent)
      yield* shop.staging.finish(invented, "passed", {}, agent)
      assert.deepStrictEqual(yield* told, missing(invented, "of_agent"))
      const [reason] = (yield* shop.ready("v1")).reasons
      assert.strictEqual(
        reason?.message,
        `No run of v1 with the whole coverage critical has finished in another environment. Run ${invented} passed, but does not count: an agent published it.`
      )
      yield* TestClock.adjust("1 second")
      const deciding = yield* shop.tested("passed", "critical")
      assert.deepStrictEqual(yield* told, [true, [], [deciding], []])
      yield* TestClock.adjust("1 second")
      const broken = yield* shop.staging.start(startOf("critical"), agent)
      yield* shop.staging.finish(broken, "failed", {}, agent)
      assert.deepStrictEqual(yield* told, [true, [], [deciding], [[broken, "of_agent"]]])
    })
  )

  it.effect("is not shown by a run against an address that was the deployment's only while it started", () =>
    Effect.gen(function* () {
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      const [deployed, local] = ["https://staging.shop.example", "http://localhost:3000"]
      yield* shop.staging.update({ version: "v1", baseUrl: deployed })
      yield* shop.setPolicy({ requires: [{ coverage: "critical" }] })
      const told = Effect.map(shop.ready("v1"), ({ notCounted, ready }) => [
        ready,
        ...notCounted.map(({ reason, run }) => [run, reason])
      ])
      for (const between of [local, null]) {
        yield* shop.staging.update({ baseUrl: between })
        const run = yield* shop.staging.start({ ...startOf("critical"), baseUrl: local })
        yield* shop.staging.finish(run, "passed")
        assert.deepStrictEqual(yield* told, [true])
        yield* shop.staging.update({ baseUrl: deployed })
        assert.deepStrictEqual(yield* told, [false, [run, "other_address"]])
        yield* TestClock.adjust("1 second")
      }
      const run = yield* shop.staging.start({ ...startOf("critical"), baseUrl: deployed })
      yield* shop.staging.finish(run, "passed")
      assert.deepStrictEqual(yield* told, [true])
      // Nobody has tested what is there now.
      yield* shop.staging.update({ baseUrl: "https://new.shop.example" })
      assert.deepStrictEqual(yield* told, [false, [run, "other_address"]])
    })
  )

  it.effect("is not shown by runs without what failed in one before, unless that is muted", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.parse(minute(0)))
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      yield* shop.staging.update({ version: "v1" })
      yield* shop.setPolicy({ requires: [{ coverage: "critical" }] })
      const told = Effect.map(shop.ready("v1"), ({ reasons }) =>
        reasons.map(({ kind, message }) => [kind, message.replace(/^.*coverage critical, /, "")])
      )
      const tested = Effect.fnUntraced(function* (tests: Readonly<Record<string, "failed" | "passed" | "skipped">>) {
        const run = yield* shop.staging.start(startOf("critical"))
        yield* TestClock.adjust("1 second")
        yield* shop.staging.finish(run, "passed", {
          tests: Object.entries(tests).map(([caseId, status]) =>
            report(caseId, { title: `Test ${caseId}`, attempt: status === "skipped" ? null : attempt(status) })
          )
        })
        return run
      })
      const first = yield* tested({ a: "failed", b: "failed", c: "passed" })
      const second = yield* tested({ c: "passed", d: "failed", b: "passed" })
      assert.deepStrictEqual(yield* told, [
        [
          "run_failed",
          "failed: Test d. Run all of critical again once it passes, or mute it with a ticket and run it again."
        ]
      ])
      yield* tested({ c: "passed" })
      assert.deepStrictEqual(yield* told, [
        [
          "test_missing",
          `passed without 2 tests that failed before: Test a (run ${first}), Test d (run ${second}). Run all of critical again with them, or mute them with a ticket.`
        ]
      ])
      yield* tested({ a: "skipped", d: "passed" })
      const left = (run: number) =>
        `passed without a test that failed before: Test a (run ${run}). Run all of critical again with it, or mute it with a ticket.`
      assert.deepStrictEqual(yield* told, [["test_missing", left(first)]])
      // Neither a part of the tests nor another environment makes up for it, and that is said.
      const part = yield* shop.staging.start({ selection: { ...startOf("critical").selection, caseIds: ["a"] } })
      yield* TestClock.adjust("1 second")
      yield* shop.staging.finish(part, "passed")
      assert.deepStrictEqual(
        (yield* shop.ready("v1")).notCounted.map(({ reason, result, run }) => [run, result, reason]),
        [[part, "passed", "part_of_tests"]]
      )
      const qa = yield* addQa(scene, shop)
      yield* qa.create("v1")
      assert.deepStrictEqual(yield* told, [["test_missing", left(first)]])
      const { identifier } = yield* shop.ticket({ blocks: false })
      yield* (yield* Tickets).update(identifier, { owner: scene.owner.principal.id }).pipe(as(scene.owner))
      const mutes = yield* Mutes
      yield* mutes
        .set(identifier, { product: shop.product.slug, cases: ["a"], until: minute(600) })
        .pipe(as(scene.owner))
      const inMute = (run: number) => [
        [
          "test_muted",
          `passed without a test that failed before, and is muted: Test a (run ${run}, muted by ${identifier}).`
        ]
      ]
      assert.deepStrictEqual(yield* told, inMute(first))
      const again = yield* tested({ a: "failed", b: "passed" })
      assert.deepStrictEqual(yield* told, [])
      yield* tested({ b: "passed" })
      assert.deepStrictEqual(yield* told, inMute(again))
      // What failed muted has failed once the mute has ended.
      yield* mutes.end(identifier).pipe(as(scene.owner))
      assert.deepStrictEqual(yield* told, [["test_missing", left(again)]])
      yield* tested({ a: "passed" })
      assert.deepStrictEqual(yield* told, [])
    })
  )

  it.effect("warns of tests that failed last in a version before and are not in this one", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.parse(minute(0)))
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      yield* shop.setPolicy({ requires: [{ coverage: "critical" }] })
      const tested = Effect.fnUntraced(function* (
        version: string,
        tests: Readonly<Record<string, "failed" | "passed" | "skipped">>,
        coverage: Coverage = "critical"
      ) {
        yield* shop.staging.update({ version })
        const run = yield* shop.staging.start(startOf(coverage))
        yield* TestClock.adjust("1 second")
        yield* shop.staging.finish(run, "passed", {
          tests: Object.entries(tests).map(([caseId, status]) =>
            report(caseId, { title: `Test ${caseId}`, attempt: status === "skipped" ? null : attempt(status) })
          )
        })
        return run
      })
      const told = (version: string) =>
        Effect.map(shop.ready(version), ({ ready, reasons }) => [
          ready,
          ...reasons.map(({ kind, message, severity }) => `${kind} ${severity} ${message.replace(/^.*critical, /, "")}`)
        ])
      const failed = yield* tested("v1", { a: "failed", b: "failed", c: "passed" })
      // Of other tests, it is not the one before.
      yield* tested("v1", { y: "failed" }, "acceptance")
      yield* tested("v2", { a: "skipped", b: "passed", c: "passed" })
      const left = (version: string, run: number) =>
        `test_dropped warn passed without a test that failed when it last ran there: Test a (run ${run} of ${version}). No run of critical that counts has passed it since. Run it with this version, or mute it with a ticket. Where it was renamed or taken out on purpose, complete a ticket that needs evidence of it, with the reason as its override.`
      assert.deepStrictEqual(yield* told("v2"), [true, left("v1", failed)])
      assert.deepStrictEqual((yield* shop.ready("v2")).notCounted, [])
      // What failed in this version is told once, and keeps it back.
      const again = yield* tested("v2", { a: "failed", b: "passed" })
      yield* tested("v2", { b: "passed" })
      const missing = `test_missing block passed without a test that failed before: Test a (run ${again}). Run all of critical again with it, or mute it with a ticket.`
      assert.deepStrictEqual(yield* told("v2"), [false, missing])
      // A version between that does not have it either makes up for nothing.
      for (const version of ["v3", "v4", "v5"]) {
        yield* tested(version, { b: "passed" })
        assert.deepStrictEqual(yield* told(version), [true, left("v2", again)])
      }
      const { identifier } = yield* shop.ticket({ blocks: false })
      yield* (yield* Tickets).update(identifier, { owner: scene.owner.principal.id }).pipe(as(scene.owner))
      const mutes = yield* Mutes
      yield* mutes
        .set(identifier, { product: shop.product.slug, cases: ["a"], until: minute(600) })
        .pipe(as(scene.owner))
      const muted = `test_muted warn passed without a test that failed before, and is muted: Test a (run ${again} of v2, muted by ${identifier}).`
      assert.deepStrictEqual(yield* told("v5"), [true, muted])
      yield* mutes.end(identifier).pipe(as(scene.owner))
      assert.deepStrictEqual(yield* told("v5"), [true, left("v2", again)])
      // Where it passed there, it has been seen, whatever the version.
      yield* tested("v5", { a: "passed", b: "passed" })
      yield* tested("v5", { b: "passed" })
      assert.deepStrictEqual(yield* told("v5"), [true])
      yield* tested("v6", { b: "passed" })
      assert.deepStrictEqual(yield* told("v6"), [true])
    })
  )

  it.effect("is not shown by runs without what passed elsewhere alone, or failed in a run that was interrupted", () =>
    Effect.gen(function* () {
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      const retries = yield* Retries
      yield* shop.staging.update({ version: "v1" })
      yield* shop.setPolicy({ requires: [{ coverage: "critical" }] })
      const told = Effect.map(shop.ready("v1"), ({ reasons }) =>
        reasons.map(({ kind, message }) => `${kind} ${/: (.*?)\./.exec(message)?.[1]}`)
      )
      const tested = Effect.fnUntraced(function* (
        tests: Readonly<Record<string, "failed" | "passed">>,
        fields: Partial<FinishTestRun> = {}
      ) {
        const run = yield* shop.staging.start(startOf("critical"))
        yield* TestClock.adjust("1 second")
        const reports = Object.entries(tests).map(([caseId, status]) => report(caseId, { attempt: attempt(status) }))
        yield* shop.staging.finish(run, "passed", { tests: reports, ...fields })
        return run
      })
      const failed = yield* tested({ a: "failed", b: "passed" })
      const dirty = { passes: 1, baseUrl: null, git: { ...git, dirty: true }, machine }
      const { retry } = yield* retries.start(failed, dirty).pipe(as(scene.member))
      const passing = { interrupted: false, tests: [{ caseId: "a", attempts: [attempt("passed")] }] }
      yield* retries.finish(failed, retry, passing).pipe(as(scene.member))
      yield* tested({ b: "passed" })
      assert.deepStrictEqual(yield* told, [`test_missing a (run ${failed})`])
      yield* tested({ a: "passed" })
      assert.deepStrictEqual(yield* told, [])
      const interrupted = yield* tested({ c: "failed" }, { interrupted: true })
      assert.deepStrictEqual(yield* told, [])
      yield* tested({ a: "passed", b: "passed" })
      assert.deepStrictEqual(yield* told, [`test_missing c (run ${interrupted})`])
      for (let n = 0; n < 25; n++) yield* tested({ b: "passed" })
      assert.deepStrictEqual(yield* told, [`test_missing c (run ${interrupted})`])
      yield* tested({ c: "passed" })
      assert.deepStrictEqual(yield* told, [])
    })
  )

  it.effect("writes out what others hid in what its messages quote", () =>
    Effect.gen(function* () {
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      yield* shop.staging.update({ version: "v1" })
      yield* shop.setPolicy({ requires: [{ coverage: "critical" }, { coverage: "acceptance" }] })
      const tested = Effect.fnUntraced(function* (coverage: Coverage, fields: Partial<FinishTestRun>) {
        const run = yield* shop.staging.start(startOf(coverage))
        yield* TestClock.adjust("1 second")
        yield* shop.staging.finish(run, "passed", fields)
        return run
      })
      const title = "\u001b[31mRED\u001b[0m\nready\u202e"
      const shown = "\\u{001B}[31mRED\\u{001B}[0m ready\\u{202E}"
      const failed = yield* tested("critical", { tests: [report("a", { title, attempt: attempt("failed") })] })
      yield* tested("critical", { tests: [report("b")] })
      yield* tested("acceptance", { error: "Out of \u001b[2Jmemory\u2066", tests: [report("b")] })
      const messages = (yield* shop.ready("v1")).reasons.map(({ message }) => message)
      assert.lengthOf(messages, 2)
      assert.include(messages[0], `failed before: ${shown} (run ${failed}). Run all of critical again with it`)
      assert.include(messages[1], "outside of its tests: Out of \\u{001B}[2Jmemory\\u{2066}.")
    })
  )

  it.effect("says what went wrong outside of the tests where none of them counts", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.parse(minute(0)))
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      const tickets = yield* Tickets
      yield* shop.staging.update({ version: "v1" })
      yield* shop.setPolicy({ requires: [{ coverage: "critical" }] })
      const { identifier } = yield* shop.ticket({ blocks: false })
      yield* tickets.update(identifier, { owner: scene.owner.principal.id }).pipe(as(scene.owner))
      const muted = { product: shop.product.slug, cases: ["a"], until: minute(600) }
      yield* (yield* Mutes).set(identifier, muted).pipe(as(scene.owner))
      const failing = Effect.fnUntraced(function* (...failed: ReadonlyArray<string>) {
        const run = yield* shop.staging.start({ selection: { coverage: "critical", folders: [], caseIds: [] } })
        const tests = failed.map((caseId) => report(caseId, { attempt: attempt("failed") }))
        const error = `Global teardown failed. ${"\u{1F680}".repeat(300)}\n    at teardown`
        yield* shop.staging.finish(run, "failed", { tests: [report("passes"), ...tests], error })
        const [reason] = (yield* shop.ready("v1")).reasons
        return reason?.message.replace(/^.*coverage critical, /, "")
      })
      const error = `Global teardown failed. ${"\u{1F680}".repeat(200 - "Global teardown failed. ".length)}`
      assert.strictEqual(yield* failing("a"), `failed outside of its tests: ${error}. Run all of critical again.`)
      const next = "Run all of critical again once they pass, or mute them with a ticket and run it again."
      assert.strictEqual(yield* failing("a", "b", "c"), `failed: b and c. ${next}`)
      assert.strictEqual(yield* failing("a", "d", "c", "b", "e"), `failed: b, c and 2 more. ${next}`)
    })
  )

  it.effect("names the muted failures that it rests on, as they were muted when the run started", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.parse(minute(0)))
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      const [mutes, tickets] = [yield* Mutes, yield* Tickets]
      const critical = { selection: { coverage: "critical", folders: [], caseIds: [] } } as const
      yield* shop.staging.update({ version: "v1" })
      yield* shop.setPolicy({ requires: [{ coverage: "critical" }] })
      const muting = Effect.fnUntraced(function* (cases: ReadonlyArray<string>, isPrivate: boolean) {
        const { identifier } = yield* shop.ticket({ blocks: false }, isPrivate)
        yield* tickets.update(identifier, { owner: scene.owner.principal.id }).pipe(as(scene.owner))
        yield* mutes.set(identifier, { product: shop.product.slug, cases, until: minute(600) }).pipe(as(scene.owner))
        return identifier
      })
      const open = yield* muting(["a", "passes", "absent"], false)
      const hidden = yield* muting(["b"], true)
      const run = yield* shop.staging.start(critical)
      const failed = { attempt: attempt("failed") }
      yield* shop.staging.finish(run, "passed", {
        tests: [
          report("b", { ...failed, title: "\u{1F680}".repeat(300) }),
          report("a", { ...failed, title: "pays by card" }),
          report("passes")
        ]
      })
      const mutedFailures = (ticket: string | null) => ({
        count: 2,
        tests: [
          { caseId: "a", title: "pays by card", ticket: open },
          { caseId: "b", title: "\u{1F680}".repeat(200), ticket }
        ]
      })
      const decided = (caller: typeof scene.viewer | typeof scene.owner) =>
        Effect.map(shop.ready("v1", caller), ({ ready, runs }) => ({
          ready,
          gate: runs.map(({ gateResult, result }) => [result, gateResult]),
          muted: runs[0]!.mutedFailures
        }))
      const passes = { ready: true, gate: [["failed", "passed"]] }
      assert.deepStrictEqual(yield* decided(scene.owner), { ...passes, muted: mutedFailures(hidden) } as never)
      assert.deepStrictEqual(yield* decided(scene.viewer), { ...passes, muted: mutedFailures(null) } as never)
      // Whatever is muted since, the run stays as it was judged.
      yield* mutes.end(open).pipe(as(scene.owner))
      assert.deepStrictEqual(yield* decided(scene.owner), { ...passes, muted: mutedFailures(hidden) } as never)
      // Where a test that is not muted failed too, both are told.
      const both = yield* shop.staging.start(critical)
      yield* shop.staging.finish(both, "failed", { tests: [report("a", failed), report("b", failed)] })
      const { ready, runs } = yield* shop.ready("v1")
      assert.deepStrictEqual(
        [ready, runs[0]!.gateResult, runs[0]!.counts.failed, runs[0]!.mutedFailures],
        [false, "failed", 2, { count: 1, tests: [{ caseId: "b", title: "b", ticket: null }] }]
      )
      // A retry that made it flaky leaves nothing to be muted.
      const retries = yield* Retries
      const retried = yield* retries.start(both, { passes: 1, baseUrl: null, git, machine }).pipe(as(scene.member))
      const attempts = [attempt("passed")]
      const again = { interrupted: false, tests: ["a", "b"].map((caseId) => ({ caseId, attempts })) }
      yield* retries.finish(both, retried.retry, again).pipe(as(scene.member))
      const flaky = yield* shop.ready("v1")
      assert.deepStrictEqual(
        [flaky.ready, flaky.runs[0]!.counts, flaky.runs[0]!.mutedFailures],
        [true, { total: 2, passed: 0, flaky: 2, failed: 0, skipped: 0 }, { count: 0, tests: [] }]
      )
    })
  )

  it.effect("names the first of many muted failures, and counts all", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.parse(minute(0)))
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      const { identifier } = yield* shop.ticket({ blocks: false })
      yield* (yield* Tickets).update(identifier, { owner: scene.owner.principal.id }).pipe(as(scene.owner))
      const cases = Array.from({ length: maxMutedFailures + 5 }, (_, index) => `test ${String(index).padStart(2, "0")}`)
      const muted = { product: shop.product.slug, cases, until: minute(600) }
      yield* (yield* Mutes).set(identifier, muted).pipe(as(scene.owner))
      yield* shop.setPolicy({ requires: [{ coverage: "critical" }] })
      const run = yield* shop.staging.start({ selection: { coverage: "critical", folders: [], caseIds: [] } })
      const failed = cases.toReversed().map((caseId) => report(caseId, { attempt: attempt("failed") }))
      yield* shop.staging.finish(run, "failed", { tests: [...failed, report("passes")] })
      const { runs } = yield* shop.ready("v0")
      assert.deepStrictEqual(runs[0]!.mutedFailures, {
        count: cases.length,
        tests: cases.slice(0, maxMutedFailures).map((caseId) => ({ caseId, title: caseId, ticket: identifier }))
      })
    })
  )

  it.effect("calls a test that is muted past its time by its title, once it is counted", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.parse(minute(0)))
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      const { identifier } = yield* shop.ticket({ blocks: false })
      yield* (yield* Tickets).update(identifier, { owner: scene.owner.principal.id }).pipe(as(scene.owner))
      const muted = { product: shop.product.slug, cases: ["basket.spec.ts:tax", "gone"], until: minute(5) }
      yield* (yield* Mutes).set(identifier, muted).pipe(as(scene.owner))
      const run = yield* shop.staging.start()
      yield* shop.staging.finish(run, "failed", {
        tests: [report("basket.spec.ts:tax", { title: "rounds the tax", attempt: attempt("failed") })]
      })
      const { step } = yield* CaseCounting
      while (yield* step);
      yield* TestClock.setTime(Date.parse(minute(5)))
      const { reasons } = yield* shop.ready()
      assert.deepStrictEqual(
        reasons.map(({ message }) => message),
        ["“rounds the tax”", "gone"].map(
          (name) =>
            `${name} was muted until 1970-01-01 00:05 UTC by ${identifier}, and counts again: mute it anew, or complete or cancel ${identifier}.`
        )
      )
    })
  )

  it.effect("is kept back by tickets that the caller does not see, without their names", () =>
    Effect.gen(function* () {
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      const hidden = yield* shop.ticket({ title: "Acquire the rival" }, true)
      yield* shop.ticket({ title: "Acquire another" }, true)
      const open = yield* shop.ticket({ title: "Refunds fail" })
      const seen = yield* shop.ready(undefined, scene.owner)
      assert.lengthOf(seen.reasons, 3)
      assert.include(
        seen.reasons.map(({ subject }) => subject?.url),
        `https://delivery.example/w/${scene.workspace.slug}/tickets/${hidden.identifier}`
      )
      for (const caller of [scene.viewer, scene.member, scene.memberKey]) {
        const blind = yield* shop.ready(undefined, caller)
        assert.isFalse(blind.ready)
        assert.deepStrictEqual(
          blind.reasons.map(({ kind, severity, subject }) => [kind, severity, subject?.label]),
          [
            ["ticket_blocks", "block", `${open.identifier} Refunds fail`],
            ["ticket_blocks", "block", undefined]
          ]
        )
        for (const name of ["Acquire", hidden.team.key, hidden.id, hidden.project!.slug]) {
          assert.notInclude(JSON.stringify(blind), name)
        }
      }
    })
  )

  it.effect("is kept back by open tickets of projects of the product alone", () =>
    Effect.gen(function* () {
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      const other = yield* newShop(scene)
      yield* other.ticket()
      const labels = Effect.map(shop.ready(), ({ reasons }) => reasons.map(({ subject }) => subject?.label))
      assert.deepStrictEqual(yield* labels, [])
      const ticket = yield* shop.ticket()
      const label = `${ticket.identifier} Pay by card`
      const update = (input: object) =>
        Effect.flatMap(Tickets, (tickets) => tickets.update(ticket.identifier, input)).pipe(as(scene.owner))
      assert.deepStrictEqual(yield* labels, [label])
      yield* update({ project: null })
      assert.deepStrictEqual(yield* labels, [])
      yield* update({ project: ticket.project!.slug })
      assert.deepStrictEqual(yield* labels, [label])
      yield* update({ blocks: false })
      assert.deepStrictEqual(yield* labels, [])
      yield* update({ blocks: true })
      for (const { category, id } of yield* statusesFor(scene, ticket)) {
        yield* update({ status: id })
        const isOpen = category !== "completed" && category !== "canceled"
        assert.deepStrictEqual(yield* labels, isOpen ? [label] : [], category)
      }
      const [backlog] = yield* statusesFor(scene, ticket)
      yield* update({ status: backlog!.id })
      const projects = yield* Projects
      yield* projects.archive(ticket.project!.slug).pipe(as(scene.owner))
      assert.deepStrictEqual(yield* labels, [])
      yield* projects.restore(ticket.project!.slug).pipe(as(scene.owner))
      assert.deepStrictEqual(yield* labels, [label])
      const teams = yield* Teams
      yield* teams.archive(ticket.team.key).pipe(as(scene.owner))
      assert.deepStrictEqual(yield* labels, [])
      yield* teams.restore(ticket.team.key).pipe(as(scene.owner))
      yield* projects.update(ticket.project!.slug, { products: [] }).pipe(as(scene.owner))
      assert.deepStrictEqual(yield* labels, [])
    })
  )

  it.effect("is frozen from the first instant of a window on, until its last", () =>
    Effect.gen(function* () {
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      const { freezes } = yield* shop.setPolicy({
        freezes: [
          { from: "1970-01-01T03:00:00+01:00", to: "1970-01-01T03:00:00Z", reason: "Second" },
          { from: minute(60), to: minute(120), reason: "First" }
        ]
      })
      assert.deepStrictEqual(freezes, [
        { from: minute(60), to: minute(120), reason: "First" },
        { from: minute(120), to: minute(180), reason: "Second" }
      ])
      const frozen = Effect.map(shop.ready(), ({ ready, reasons }) => [
        ready,
        ...reasons.map(({ subject }: Reason) => subject!.label)
      ])
      yield* TestClock.setTime(Date.parse(minute(60)) - 1)
      assert.deepStrictEqual(yield* frozen, [true])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(yield* frozen, [false, "First"])
      yield* TestClock.setTime(Date.parse(minute(120)))
      assert.deepStrictEqual(yield* frozen, [false, "Second"])
      yield* TestClock.setTime(Date.parse(minute(180)))
      assert.deepStrictEqual(yield* frozen, [true])
    })
  )

  it.effect("warns of a version that no deployment of the product had and no run tested, and of no other", () =>
    Effect.gen(function* () {
      const scene = yield* makeReadinessScene
      const [shop, other] = [yield* newShop(scene), yield* newShop(scene, "Other")]
      const warnings = (version?: string) =>
        Effect.map(shop.ready(version), ({ ready, reasons }) => [ready, ...reasons.map(({ kind }) => kind)])
      const unknown = [true, "version_unknown"]
      yield* other.staging.update({ version: "v1" })
      assert.deepStrictEqual(yield* warnings("v1"), unknown)
      assert.deepStrictEqual(
        (yield* shop.ready("v1")).reasons.map(({ message, severity, subject }) => [message, severity, subject?.label]),
        [["Nobody has released or tested v1: no deployment of the product ever had it.", "warn", "v1"]]
      )
      yield* shop.staging.update({ version: "v1" })
      assert.deepStrictEqual(yield* warnings("v1"), [true])
      // It had it once, before the deployment was made anew.
      yield* shop.staging.update({ version: "v2" })
      yield* (yield* Deployments).delete(shop.product.slug, "staging").pipe(as(scene.member))
      yield* shop.staging.create("v3")
      assert.deepStrictEqual(yield* warnings("v1"), [true])
      assert.deepStrictEqual(yield* warnings("v0"), [true])
      assert.deepStrictEqual(yield* warnings(), [true])
      assert.deepStrictEqual(yield* warnings("V1"), unknown)
      assert.deepStrictEqual(yield* warnings("v"), unknown)
      yield* shop.production.update({ version: null })
      assert.deepStrictEqual(yield* warnings(), [false, "version_missing"])
      assert.deepStrictEqual(yield* warnings("v3"), [true])
    })
  )

  it.effect(
    "is asked of the commit that a short id begins, of the product alone, and of none where several begin so",
    () =>
      Effect.gen(function* () {
        const scene = yield* makeReadinessScene
        const [shop, other] = [yield* newShop(scene), yield* newShop(scene, "Other")]
        yield* shop.setPolicy({ requires: [{ coverage: "critical" }] })
        const commit = (begin: string) => begin.padEnd(40, "a")
        const asked = (version: string) =>
          Effect.map(shop.ready(version), ({ ready, reasons, runs, version }) => [
            ready,
            version,
            ...runs.map(({ run }) => run),
            ...reasons.filter(({ kind }) => kind === "version_unknown").map(({ message }) => message)
          ])
        const [released, tested] = [commit("2222222b"), commit("3333333")]
        for (const version of [released, released.slice(0, -1), `${released.slice(0, 8)}-rc.1`, "2222222g"]) {
          yield* shop.staging.update({ version })
        }
        yield* other.staging.update({ version: commit("2222222c") })
        assert.deepStrictEqual(yield* asked("2222222"), [false, released])
        assert.deepStrictEqual(yield* asked("2222222B"), [false, released])
        yield* shop.staging.update({ version: tested })
        const runs = [yield* shop.tested("failed", "critical"), yield* shop.tested("passed", "critical")]
        assert.deepStrictEqual(yield* asked("3333333"), [true, tested, runs[1]!])
        const unknown = (version: string, why = "no deployment of the product ever had it.") => [
          false,
          version,
          `Nobody has released or tested ${version}: ${why}`
        ]
        assert.deepStrictEqual(yield* asked("222222"), unknown("222222"))
        assert.deepStrictEqual(yield* asked("4444444"), unknown("4444444"))
        yield* shop.staging.update({ version: commit("2222222d") })
        const several = "several versions begin with it, and it does not say which."
        assert.deepStrictEqual(yield* asked("2222222"), unknown("2222222", several))
        assert.deepStrictEqual(yield* asked("2222222d"), [false, commit("2222222d")])
        // What is known as it is written is meant itself.
        yield* shop.staging.update({ version: "2222222" })
        assert.deepStrictEqual(yield* asked("2222222"), [false, "2222222"])
      })
  )

  it.effect("warns of a version whose name other code may have, once a run decides", () =>
    Effect.gen(function* () {
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      yield* shop.setPolicy({ requires: [{ coverage: "critical" }] })
      const told = (version: string) =>
        Effect.map(shop.ready(version), ({ ready, reasons }) => [
          ready,
          reasons.map(({ kind, message, severity, subject }) => [kind, severity, subject?.id, message])
        ])
      const tested = Effect.fnUntraced(function* (version: string, sha: string) {
        yield* shop.staging.update({ version })
        const run = yield* shop.staging.start({ ...startOf("critical"), git: { ...git, branch: "release/1.4", sha } })
        yield* shop.staging.finish(run, "passed")
        return run
      })
      yield* shop.staging.update({ version: "latest" })
      const before = (yield* shop.ready("latest")).reasons
      assert.deepStrictEqual(
        before.map(({ kind }) => kind),
        ["run_missing"]
      )
      const warned = (version: string, run: number, which: string) => [
        true,
        [
          [
            "version_name",
            "warn",
            version,
            `${version} is a name that other code may have, too: whatever was deployed by it since, run ${run} decides${which}. Record the commit as the version (delivery deployments set-version).`
          ]
        ]
      ]
      const sha = "3".repeat(40)
      const latest = yield* tested("latest", sha)
      assert.deepStrictEqual(yield* told("latest"), warned("latest", latest, ", which tested 3333333"))
      const branch = yield* tested("release/1.4", "unknown")
      assert.deepStrictEqual(yield* told("release/1.4"), warned("release/1.4", branch, ""))
      for (const version of ["refs/heads/release/1.4", "refs/remotes/origin/release/1.4", "origin/release/1.4"]) {
        const run = yield* tested(version, "unknown")
        assert.deepStrictEqual(yield* told(version), warned(version, run, ""), version)
      }
      // In full it is a branch, whichever the tests came from.
      const full = yield* tested("refs/heads/main2", "unknown")
      assert.deepStrictEqual(yield* told("refs/heads/main2"), warned("refs/heads/main2", full, ""))
      // What is numbered names a build, as a tag does, and a commit is one, also without a digit.
      for (const version of ["1.4", "v2", "refs/tags/1.4", "origin/1.4", "abcdefabcdef", sha]) {
        yield* tested(version, sha)
        assert.deepStrictEqual(yield* told(version), [true, []], version)
      }
    })
  )

  it.effect("is kept back where no version is named, and none runs where versions come from", () =>
    Effect.gen(function* () {
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      const nowhere = yield* addEnvironment(scene.workspace.id, { name: "Nowhere" })
      const asked = (version?: string) =>
        Effect.map(shop.ready(version), ({ ready, reasons, version }) => [
          ready,
          version,
          reasons.map(({ kind, severity, subject }) => [
            kind,
            severity,
            subject?.type,
            subject?.id,
            subject?.url?.split("/w/")[1]
          ])
        ])
      const without = (id: string, url?: string) => [["version_missing", "block", "environment", id, url]]
      const page = `${scene.workspace.slug}/deployments/${shop.product.slug}/${scene.staging.slug}`
      yield* shop.staging.update({ version: null })
      assert.deepStrictEqual(yield* asked(), [true, "v0", []])
      yield* shop.setPolicy({ from: scene.staging.slug })
      assert.deepStrictEqual(yield* asked(), [false, "v0", without(scene.staging.id, page)])
      assert.deepStrictEqual(
        (yield* shop.ready()).reasons.map(({ message }) => message),
        [`No version is known to run in ${scene.staging.name}, from which versions come, and none was named.`]
      )
      assert.deepStrictEqual(yield* asked("v0"), [true, "v0", []])
      yield* shop.production.update({ version: null })
      assert.deepStrictEqual(yield* asked(), [false, null, without(scene.staging.id, page)])
      // Versions that come from nowhere in particular are to be named, too, where none runs here.
      yield* shop.setPolicy({})
      const here = `${scene.workspace.slug}/deployments/${shop.product.slug}/${scene.production.slug}`
      assert.deepStrictEqual(yield* asked(), [false, null, without(scene.production.id, here)])
      assert.deepStrictEqual(
        (yield* shop.ready()).reasons.map(({ message }) => message),
        ["No version is known to run here, and none was named."]
      )
      assert.deepStrictEqual(yield* asked("v0"), [true, "v0", []])
      yield* shop.setPolicy({ from: scene.staging.slug })
      yield* shop.staging.update({ version: "v1" })
      assert.deepStrictEqual(yield* asked(), [true, "v1", []])
      // Where the product is not deployed, there is no page either.
      yield* shop.setPolicy({ from: nowhere.slug })
      assert.deepStrictEqual(yield* asked(), [false, null, without(nowhere.id)])
    })
  )

  it.effect(
    "is kept back where versions come from an environment that is archived or has none, whether or not one is named",
    () =>
      Effect.gen(function* () {
        const scene = yield* makeReadinessScene
        const shop = yield* newShop(scene)
        const environments = yield* Environments
        yield* shop.setPolicy({ from: "staging", requires: [{ coverage: "critical" }] })
        yield* shop.tested("passed", "critical")
        const page = `${scene.workspace.slug}/deployments/${shop.product.slug}/staging`
        const told = (version?: string) =>
          Effect.map(shop.ready(version), ({ ready, reasons }) => [
            ready,
            ...reasons.map(({ kind, message, severity, subject }) => [
              kind,
              severity,
              subject?.id,
              subject?.url?.split("/w/")[1],
              message
            ])
          ])
        assert.deepStrictEqual(yield* told("v0"), [true])
        yield* environments.archive("staging").pipe(as(scene.admin))
        const archived = `${scene.staging.name}, from which versions come, is archived`
        assert.deepStrictEqual(yield* told("v0"), [
          false,
          [
            "source_archived",
            "block",
            scene.staging.id,
            page,
            `${archived}: nothing is tested there any more. Restore it, or name another environment in the policy.`
          ]
        ])
        assert.deepStrictEqual(yield* told(), [
          false,
          ["version_missing", "block", scene.staging.id, page, `${archived}, and no version was named.`]
        ])
        yield* environments.restore("staging").pipe(as(scene.admin))
        assert.deepStrictEqual(yield* told("v0"), [true])
        yield* shop.staging.remove
        const gone = `The product is not deployed in ${scene.staging.name}, from which versions come`
        assert.deepStrictEqual(yield* told("v0"), [
          false,
          [
            "source_archived",
            "block",
            scene.staging.id,
            undefined,
            `${gone}: nothing is tested there. Deploy it there, or name another environment in the policy.`
          ]
        ])
        yield* shop.staging.create("v1")
        assert.deepStrictEqual(yield* told("v0"), [true])
      })
  )

  it.effect("says until which minute a test was muted, and of what is to come the minute when it is there", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.parse("2026-11-21T09:40:00.000Z"))
      const scene = yield* makeReadinessScene
      const mutes = new Map<ProductId, ReadonlyArray<OverdueMute>>()
      const readiness = yield* readinessWith(mutes)
      const shop = yield* newShop(scene)
      const ends = ["2026-11-21T09:30:00.000Z", "2026-11-21T09:30:00.001Z", "2026-11-21T09:30:59.999Z"] as const
      mutes.set(
        shop.product.id,
        ends.map((until, index) => ({ caseId: `test ${index}`, until: until as OverdueMute["until"], ticket: null }))
      )
      const freeze = { from: minute(0), to: "2030-01-01T10:00:00.001Z", reason: "Move" }
      yield* shop.setPolicy({ freezes: [freeze] })
      const { reasons } = yield* as(scene.viewer)(readiness.get(shop.product.slug, "production", undefined))
      assert.deepStrictEqual(
        reasons.map(({ message }) => message),
        [
          "Nothing goes out before 2030-01-01 10:01 UTC: Move",
          ...[0, 1, 2].map((index) => `test ${index} was muted until 2026-11-21 09:30 UTC, and counts again.`)
        ]
      )
    })
  )

  it.effect("is frozen until the end of all windows that overlap or follow each other", () =>
    Effect.gen(function* () {
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      const window = (from: number, to: number, reason: string) => ({ from: minute(from), to: minute(to), reason })
      const messages = Effect.map(shop.ready(), ({ reasons }) => reasons.map(({ message }) => message))
      const page = `https://delivery.example/w/${scene.workspace.slug}/deployments/${shop.product.slug}/production`
      yield* TestClock.setTime(Date.parse(minute(60)))
      yield* shop.setPolicy({
        freezes: [
          window(300, 400, "After"),
          window(100, 200, "Holidays"),
          window(200, 240, "Audit"),
          window(0, 50, "Over"),
          window(50, 120, "Release week"),
          window(60, 90, "Move")
        ]
      })
      assert.deepStrictEqual(yield* messages, [
        "Nothing goes out before 1970-01-01 04:00 UTC: Release week, then Holidays, then Audit",
        "Nothing goes out before 1970-01-01 04:00 UTC: Move, then Holidays, then Audit"
      ])
      const [reason] = (yield* shop.ready()).reasons
      assert.deepStrictEqual(reason!.subject, {
        type: "freeze",
        id: `${minute(50)}/${minute(120)}`,
        label: "Release week",
        url: `${page}?view=readiness#policy`
      })
      // Seconds are rounded up: before what is told, nothing goes out.
      yield* shop.setPolicy({ freezes: [{ from: minute(0), to: "1970-01-01T02:00:00.001Z", reason: "Short" }] })
      assert.deepStrictEqual(yield* messages, ["Nothing goes out before 1970-01-01 02:01 UTC: Short"])
    })
  )

  it.effect("holds until the next window begins or ends, or a mute of the product runs out", () =>
    Effect.gen(function* () {
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      const mutes = yield* Mutes
      const { identifier } = yield* shop.ticket({ blocks: false })
      yield* (yield* Tickets).update(identifier, { owner: scene.member.principal.id }).pipe(as(scene.owner))
      const window = (from: number, to: number) => ({ from: minute(from), to: minute(to), reason: "Holidays" })
      const changesAt = Effect.map(shop.ready(), (readiness) => readiness.changesAt)
      yield* TestClock.setTime(Date.parse(minute(60)))
      assert.strictEqual(yield* changesAt, null)
      yield* shop.setPolicy({ freezes: [window(0, 50), window(100, 200), window(150, 300)] })
      assert.strictEqual(yield* changesAt, minute(100))
      const muted = { product: shop.product.slug, cases: ["test:one"], until: minute(80) }
      yield* mutes.set(identifier, muted).pipe(as(scene.member))
      assert.strictEqual(yield* changesAt, minute(80))
      yield* TestClock.setTime(Date.parse(minute(80)))
      assert.strictEqual(yield* changesAt, minute(100))
      yield* TestClock.setTime(Date.parse(minute(100)))
      assert.strictEqual(yield* changesAt, minute(150))
      yield* TestClock.setTime(Date.parse(minute(300)))
      assert.strictEqual(yield* changesAt, null)
      yield* mutes.set(identifier, { ...muted, until: minute(400) }).pipe(as(scene.member))
      assert.strictEqual(yield* changesAt, minute(400))
      yield* shop.setPolicy({ mutes: "off" })
      assert.strictEqual(yield* changesAt, null)
      // What a required run left out is muted as long alone.
      yield* shop.setPolicy({ mutes: "off", requires: [{ coverage: "critical" }] })
      assert.strictEqual(yield* changesAt, minute(400))
    })
  )

  it.effect("tells in events and in the audit which windows came, went and changed", () =>
    Effect.gen(function* () {
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      const window = (from: number, to: number, reason: string) => ({ from: minute(from), to: minute(to), reason })
      yield* shop.setPolicy({ freezes: [window(1, 2, "Audit"), window(5, 9, "Holidays")] })
      yield* shop.setPolicy({ freezes: [window(5, 7, "Holidays"), window(10, 11, "Move")] })
      const changes = [
        [
          "Holidays: 1970-01-01 00:05 UTC to 1970-01-01 00:09 UTC",
          "Holidays: 1970-01-01 00:05 UTC to 1970-01-01 00:07 UTC"
        ],
        ["Audit: 1970-01-01 00:01 UTC to 1970-01-01 00:02 UTC", null],
        [null, "Move: 1970-01-01 00:10 UTC to 1970-01-01 00:11 UTC"]
      ]
      const told = (from: { readonly from: string | null; readonly to: string | null }) => [from.from, from.to]
      const event = (yield* eventsOf(scene.workspace)).findLast(({ kind }) => kind === "policy_updated")
      assert.sameDeepMembers(event!.changes.map(told), changes)
      const { entries } = yield* (yield* Audit).list({ action: "policy_updated" }).pipe(as(scene.owner))
      assert.strictEqual(entries.length, 2)
      assert.sameDeepMembers(entries[0]!.changes!.map(told), changes)
      assert.strictEqual(entries[0]!.subject.label, event!.subjectLabel)
    })
  )

  it.effect("has a policy that is replaced as a whole, and told by events", () =>
    Effect.gen(function* () {
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      assert.deepStrictEqual(yield* shop.policy, defaultPolicy)
      const whole = {
        from: "staging",
        requires: [
          { coverage: "critical", severity: "block" },
          { coverage: "regression", severity: "warn" }
        ],
        tickets: "off",
        secrets: "block",
        drift: "off",
        mutes: "block",
        freezes: [{ from: minute(1), to: minute(2), reason: "Holidays" }]
      } as const
      assert.deepStrictEqual(yield* shop.setPolicy(whole), whole)
      assert.deepStrictEqual(yield* shop.policy, whole)
      // What a GET answers can be put.
      assert.deepStrictEqual(yield* shop.setPolicy(yield* shop.policy), whole)
      yield* (yield* Environments).update("staging", { slug: "stage" }).pipe(as(scene.admin))
      assert.strictEqual((yield* shop.policy).from, "stage")
      assert.deepStrictEqual(yield* shop.setPolicy({ from: scene.staging.id, drift: "block" }), {
        ...defaultPolicy,
        from: "stage",
        drift: "block"
      })
      assert.deepStrictEqual(yield* shop.setPolicy({}), defaultPolicy)
      const events = (yield* eventsOf(scene.workspace)).filter(({ kind }) => kind === "policy_updated")
      assert.deepStrictEqual(
        events.map(({ changes }) => changes.map(({ field, from, to }) => [field, from, to])),
        [
          [
            ["from", null, "staging"],
            ["requires", null, "critical (block), regression (warn)"],
            ["tickets", "block", "off"],
            ["secrets", "warn", "block"],
            ["drift", "warn", "off"],
            ["mutes", "warn", "block"],
            ["freezes", null, "Holidays: 1970-01-01 00:01 UTC to 1970-01-01 00:02 UTC"]
          ],
          [
            ["requires", "critical (block), regression (warn)", null],
            ["tickets", "off", "block"],
            ["secrets", "block", "warn"],
            ["drift", "off", "block"],
            ["mutes", "block", "warn"],
            ["freezes", "Holidays: 1970-01-01 00:01 UTC to 1970-01-01 00:02 UTC", null]
          ],
          [
            ["from", "stage", null],
            ["drift", "block", "warn"]
          ]
        ]
      )
      const { id } = yield* shop.production.get
      assert.deepInclude(events[0], {
        subjectType: "policy",
        subjectId: id,
        subjectLabel: `${shop.product.name} in Production`,
        subjectPath: `deployments/${shop.product.slug}/production`
      })
    })
  )

  it.effect("keeps its policy when the deployment is made anew", () =>
    Effect.gen(function* () {
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      yield* shop.setPolicy({ requires: [{ coverage: "critical" }] })
      const deployments = yield* Deployments
      yield* deployments.delete(shop.product.slug, "production").pipe(as(scene.member))
      for (const call of [shop.ready(), shop.policy, shop.drift(), shop.setPolicy({})]) {
        assert.strictEqual(yield* refusal(Effect.asVoid(call as typeof shop.policy)), "NotFound")
      }
      yield* shop.production.create("v0")
      assert.isFalse((yield* shop.ready()).ready)
    })
  )

  it.effect("tells every change of its policy, also of many at once", () =>
    Effect.gen(function* () {
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      yield* Effect.all(
        [...settings, ...settings, ...settings].map((tickets) => shop.setPolicy({ tickets })),
        { concurrency: "unbounded" }
      )
      const events = (yield* eventsOf(scene.workspace)).filter(({ kind }) => kind === "policy_updated")
      assertChain(events, { tickets: defaultPolicy.tickets }, { tickets: (yield* shop.policy).tickets })
    })
  )

  it.effect("refuses what cannot be a policy", () =>
    Effect.gen(function* () {
      const scene = yield* makeReadinessScene
      const shop = yield* newShop(scene)
      assert.strictEqual(yield* refusal(shop.setPolicy({ from: "nowhere" })), "NotFound")
      assert.strictEqual(yield* refusal(shop.setPolicy({ from: "production" })), "InvalidInput")
      assert.strictEqual(yield* refusal(shop.setPolicy({ from: scene.production.id })), "InvalidInput")
      yield* (yield* Environments).archive("production").pipe(as(scene.admin))
      assert.strictEqual(yield* refusal(shop.setPolicy({ from: "staging" })), "Conflict archived")
      assert.strictEqual(yield* refusal(shop.ready()), "Conflict archived")
      assert.deepStrictEqual(yield* shop.policy, defaultPolicy)
      assert.deepStrictEqual((yield* shop.drift()).changed, [])
    })
  )
})

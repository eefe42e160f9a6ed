import type { StartTestRun } from "@delivery/domain/runs/TestRun"
import { assert, layer } from "@effect/vitest"
import type { PersonId } from "@delivery/domain/Ids"
import type { Role } from "@delivery/domain/identity/Role"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { decodeJwt } from "jose"
import { Deployments } from "../../src/catalog/Deployments.ts"
import { Environments } from "../../src/catalog/Environments.ts"
import { Products } from "../../src/catalog/Products.ts"
import { Settings } from "../../src/Config.ts"
import { MembersRepo } from "../../src/identity/MembersRepo.ts"
import * as Keys from "../../src/keys/Keys.ts"
import { isToken } from "../../src/ids/Tokens.ts"
import * as Files from "../../src/files/Files.ts"
import * as Runs from "../../src/runs/Runs.ts"
import { TestRuns } from "../../src/runs/TestRuns.ts"
import { answer, as, type CallerOf, eventsOf, everyRole, membersAndUp, refusal, whoMay } from "../identity/Scene.ts"
import { addAgent } from "../planning/TicketsScene.ts"
import { eventually } from "../support/Eventually.ts"
import { layerSigningKeys, sharedStorages } from "../support/Storages.ts"
import { attempt, finishBody, git, machine, makeDeployed, report, startBody, endedOf, toldOf } from "./Scene.ts"
import { layerRuns } from "./Services.ts"

const runLimit = 60_000
const baseUrl = "https://delivery.example"

const layerServices = layerRuns.pipe(
  Layer.provideMerge([layerSigningKeys, Files.layerMemory]),
  Layer.provideMerge([Keys.layerMemoryKeyring, Settings.layer({ BASE_URL: baseUrl, RUN_LIMIT_MS: String(runLimit) })])
)

/** The instant at which a test begins. Small steps: clients of databases live by the same clock. */
const begin = Effect.andThen(TestClock.adjust(123), Clock.currentTimeMillis)

for (const storage of sharedStorages) {
  layer(Layer.provideMerge(layerServices, storage.layer))(`TestRuns on ${storage.name}`, (it) => {
    it.effect("starts a run", () =>
      Effect.gen(function* () {
        const runs = yield* TestRuns
        const at = yield* makeDeployed()
        const start = yield* begin
        const started = yield* as(at.member)(runs.start(startBody(at)))
        const { semaphores, ...rest } = started
        assert.deepStrictEqual(rest, {
          number: 1,
          url: `${baseUrl}/w/${at.workspace.slug}/test-runs/1`,
          fixture: null,
          muted: []
        })
        assert.isTrue(isToken("stk_", semaphores.token))
        assert.deepStrictEqual(semaphores, {
          url: `${baseUrl}/v1/workspaces/${at.workspace.slug}/semaphores`,
          token: semaphores.token,
          expiresAt: timestamp(start + runLimit)
        })

        const run = yield* as(at.viewer)(runs.get(1))
        assert.deepStrictEqual(run, {
          id: run.id,
          number: 1,
          url: rest.url,
          state: "running",
          result: null,
          gateResult: null,
          counts: { total: 0, passed: 0, flaky: 0, failed: 0, skipped: 0 },
          passRate: null,
          firstAttemptPassRate: null,
          error: null,
          product: { slug: at.product.slug, name: at.product.name },
          environment: { slug: at.environment.slug, name: at.environment.name, class: "non-production" },
          baseUrl: at.deployment.baseUrl!,
          deploymentBaseUrl: "https://shop.example",
          deploymentVersion: "v1",
          release: 1,
          deploymentChanged: false,
          partOfTests: true,
          locked: false,
          git,
          machine,
          ciUrl: null,
          shards: null,
          coverage: "acceptance",
          cleanup: null,
          publishedBy: { ...at.member.principal },
          startedAt: timestamp(start),
          finishedAt: null,
          durationMs: 0,
          mutes: [],
          retries: [],
          tests: []
        })
        const [event] = yield* eventsOf(at.workspace)
        assert.deepInclude(event, {
          kind: "run_started",
          actor: { ...at.member.principal },
          subjectType: "run",
          subjectId: run.id,
          subjectLabel: "Run 1",
          subjectPath: "test-runs/1",
          createdAt: timestamp(start)
        })
      })
    )

    it.effect("returns a scope and a token if there is a Fixture API", () =>
      Effect.gen(function* () {
        const runs = yield* TestRuns
        const at = yield* makeDeployed({ fixtureUrl: "https://fixtures.example" })
        const start = yield* begin
        const start_ = (fixtureUrl?: string | null) =>
          as(at.member)(runs.start(startBody(at, fixtureUrl === undefined ? {} : { fixtureUrl })))
        const own = (yield* start_()).fixture!
        assert.match(own.scope, /^run-1-[0-9a-f]{16}$/)
        assert.deepInclude(own, { url: "https://fixtures.example", expiresAt: timestamp(start + runLimit) })
        const { aud, iss, scope, sub } = decodeJwt<{ readonly scope: string }>(own.token)
        assert.deepStrictEqual([iss, aud, sub, scope], [baseUrl, own.url, `${at.workspace.id}/1`, own.scope])
        assert.strictEqual((yield* start_(null)).fixture?.url, "https://fixtures.example")
        assert.strictEqual((yield* start_("https://other.example/x")).fixture?.url, "https://other.example/x")
        assert.deepStrictEqual((yield* as(at.viewer)(runs.get(1))).cleanup, {
          scope: own.scope,
          expiresAt: own.expiresAt,
          status: "pending",
          deleted: null,
          remaining: null
        })

        const without = yield* makeDeployed()
        const given = yield* as(without.member)(runs.start(startBody(without, { fixtureUrl: "https://given.example" })))
        assert.strictEqual(given.fixture?.url, "https://given.example")
      })
    )

    it.effect("starts runs only of deployed products that are not archived", () =>
      Effect.gen(function* () {
        const runs = yield* TestRuns
        const at = yield* makeDeployed()
        const beside = yield* makeDeployed({ workspace: at })
        const refused = (body: Parameters<typeof startBody>[1]) =>
          refusal(as(at.member)(runs.start(startBody(at, body))))
        assert.strictEqual(yield* refused({ product: "none" }), "NotFound")
        assert.strictEqual(yield* refused({ environment: "none" }), "NotFound")
        assert.strictEqual(yield* refused({ environment: beside.environment.id }), "Conflict not_deployed")
        yield* as(at.admin)((yield* Products).archive(at.product.slug))
        assert.strictEqual(yield* refused({}), "Conflict archived")
        yield* as(at.admin)((yield* Products).restore(at.product.slug))
        yield* as(at.admin)((yield* Environments).archive(at.environment.slug))
        assert.strictEqual(yield* refused({}), "Conflict archived")
        yield* as(at.admin)((yield* Environments).restore(at.environment.slug))
        yield* as(at.member)((yield* Deployments).delete(at.product.slug, at.environment.slug))
        assert.strictEqual(yield* refused({}), "Conflict not_deployed")
        // None of these used a number.
        const ids = startBody(at, { product: beside.product.id, environment: beside.environment.id })
        assert.strictEqual((yield* as(at.memberKey)(runs.start(ids))).number, 1)
      })
    )

    it.effect("requires the roles of the contract", () =>
      Effect.gen(function* () {
        const runs = yield* TestRuns
        const at = yield* makeDeployed()
        assert.deepStrictEqual(yield* whoMay(at, runs.start(startBody(at))), membersAndUp)
        assert.deepStrictEqual(yield* whoMay(at, runs.list({})), everyRole)
        assert.deepStrictEqual(yield* whoMay(at, runs.get(1)), everyRole)
        const finish = yield* whoMay(at, runs.finish(99, finishBody()))
        assert.deepStrictEqual(finish, membersAndUp)
      })
    )

    it.effect("finishes a run with its tests", () =>
      Effect.gen(function* () {
        const runs = yield* TestRuns
        const at = yield* makeDeployed({ fixtureUrl: "https://fixtures.example" })
        const start = yield* begin
        yield* as(at.member)(runs.start(startBody(at)))
        yield* TestClock.adjust(1_000)
        const before = yield* as(at.member)(runs.get(1))
        const summary = yield* as(at.member)(
          runs.finish(
            1,
            finishBody({
              cleanup: { status: "complete", deleted: 14, remaining: 1, error: "secret" },
              tests: [
                report("p2", { title: "b passes" }),
                report("p1", { title: "A passes" }),
                report("s", { title: "a skipped", attempt: { status: "skipped" } }),
                report("n", { title: "b skipped", attempt: null }),
                report("f", { title: "z fails", attempt: attempt("failed") })
              ]
            })
          )
        )
        const { mutes, retries, tests, ...rest } = before
        assert.deepStrictEqual(summary, {
          ...rest,
          state: "finished",
          result: "failed",
          gateResult: "failed",
          counts: { total: 5, passed: 2, flaky: 0, failed: 1, skipped: 2 },
          passRate: 2 / 3,
          firstAttemptPassRate: 2 / 3,
          cleanup: { ...rest.cleanup!, status: "complete", deleted: 14, remaining: 1 },
          finishedAt: timestamp(start + 1_000),
          durationMs: 64_210.5
        })
        const run = yield* as(at.viewer)(runs.get(1))
        assert.deepStrictEqual(
          run.tests.map((test) => [test.title, test.status]),
          [
            ["z fails", "failed"],
            ["A passes", "passed"],
            ["b passes", "passed"],
            ["a skipped", "skipped"],
            ["b skipped", "skipped"]
          ]
        )
        assert.deepStrictEqual({ ...run, tests: [] }, { ...summary, mutes, retries, tests })
        assert.deepStrictEqual(run.tests[0], {
          caseId: "f",
          title: "z fails",
          file: "checkout.spec.ts",
          coverage: "acceptance",
          testKind: "journey",
          priority: null,
          status: "failed",
          durationMs: 12.5,
          errorMessage: "Expected 200, got 500",
          files: [],
          attempts: [
            {
              number: 1,
              retry: null,
              status: "failed",
              durationMs: 12.5,
              startedAt: "2026-11-21T09:30:10.123Z",
              errorMessage: "Expected 200, got 500",
              errorStack: "Error: Expected 200\n  at x",
              files: ["trace.zip"]
            }
          ]
        })
        assert.deepStrictEqual(
          (yield* eventsOf(at.workspace)).map((event) => [event.kind, event.subjectLabel, event.changes]),
          [
            ["run_started", "Run 1", []],
            [
              "run_finished",
              "Run 1",
              [
                { field: "result", from: null, to: "failed" },
                { field: "counts", from: null, to: "1 of 5 failed" },
                ...endedOf(at)
              ]
            ]
          ]
        )
      })
    )

    it.effect("records how a run ends", () =>
      Effect.gen(function* () {
        const runs = yield* TestRuns
        const at = yield* makeDeployed({ fixtureUrl: "https://fixtures.example" })
        let number = 0
        const end = (body: Parameters<typeof finishBody>[0]) =>
          Effect.gen(function* () {
            number = (yield* as(at.memberKey)(runs.start(startBody(at)))).number
            const run = yield* as(at.memberKey)(runs.finish(number, finishBody(body)))
            return [run.state, run.result, run.error, run.cleanup?.status, run.passRate]
          })
        const passing = [report("a"), report("b", { attempt: null })]
        assert.deepStrictEqual(yield* end({ tests: passing }), ["finished", "passed", null, "incomplete", 1])
        assert.deepStrictEqual(yield* end({ tests: [] }), ["finished", "failed", "No tests ran.", "incomplete", null])
        assert.deepStrictEqual(yield* end({ tests: [], error: "No server" }), [
          "finished",
          "failed",
          "No server",
          "incomplete",
          null
        ])
        assert.deepStrictEqual(yield* end({ tests: passing, error: "a\0b" }), [
          "finished",
          "failed",
          "a\uFFFDb",
          "incomplete",
          1
        ])
        assert.deepStrictEqual(
          yield* end({
            interrupted: true,
            error: "ignored",
            cleanup: { status: "failed", deleted: 0, remaining: 3 }
          }),
          ["interrupted", null, null, "failed", 0.5]
        )
        const kept = yield* as(at.viewer)(runs.get(number))
        assert.strictEqual(kept.tests.length, 2)
        assert.deepStrictEqual(kept.counts, { total: 2, passed: 1, flaky: 0, failed: 1, skipped: 0 })
        const interrupted = (yield* eventsOf(at.workspace)).filter(({ kind }) => kind === "run_interrupted")
        assert.deepStrictEqual(
          interrupted.map(({ changes }) => changes),
          [toldOf(at)]
        )
      })
    )

    it.effect("is finished by its publisher alone, and once", () =>
      Effect.gen(function* () {
        const runs = yield* TestRuns
        const at = yield* makeDeployed()
        yield* as(at.member)(runs.start(startBody(at)))
        const finish = (by: CallerOf, body = finishBody()) => answer(as(by)(runs.finish(1, body)))
        assert.strictEqual(yield* finish(at.admin), "Forbidden not_publisher")
        assert.strictEqual(yield* finish(at.memberKey), "Forbidden not_publisher")
        assert.strictEqual(yield* finish(at.viewer), "Forbidden role_too_low")
        const twice = finishBody({ tests: [report("a\0"), report("a\uFFFD")] })
        assert.strictEqual(yield* finish(at.outsider, twice), "NotFound")
        assert.strictEqual(yield* finish(at.viewer, twice), "Forbidden role_too_low")
        assert.strictEqual(yield* finish(at.admin, twice), "Forbidden not_publisher")
        assert.strictEqual(yield* finish(at.member, twice), "InvalidInput")
        assert.strictEqual(yield* finish(at.outsider), "NotFound")
        assert.strictEqual(yield* answer(as(at.member)(runs.finish(2, finishBody()))), "NotFound")
        assert.strictEqual(yield* finish(at.member), "ok")
        assert.strictEqual(yield* finish(at.member), "Conflict not_running")
        assert.strictEqual(yield* finish(at.member, twice), "Conflict not_running")
        assert.strictEqual(yield* finish(at.owner), "Forbidden not_publisher")
      })
    )

    it.effect("shows an overdue run as interrupted before the expiry ends it, and the same after", () =>
      Effect.gen(function* () {
        const runs = yield* TestRuns
        const at = yield* makeDeployed({ fixtureUrl: "https://fixtures.example" })
        const start = yield* begin
        yield* as(at.member)(runs.start(startBody(at)))
        yield* TestClock.adjust(runLimit - 1)
        assert.strictEqual((yield* as(at.member)(runs.get(1))).state, "running")
        yield* TestClock.adjust(1)
        const overdue = yield* as(at.member)(runs.get(1))
        assert.deepInclude(overdue, {
          state: "interrupted",
          result: null,
          finishedAt: timestamp(start + runLimit),
          durationMs: 0
        })
        assert.deepInclude(overdue.cleanup, { status: "incomplete", deleted: null, remaining: null })
        const { mutes: _, retries: __, tests: ___, ...summary } = overdue
        assert.deepStrictEqual((yield* as(at.member)(runs.list({}))).runs, [summary])
        assert.strictEqual(yield* answer(as(at.member)(runs.finish(1, finishBody()))), "Conflict not_running")

        yield* TestClock.adjust(5_000)
        yield* runs.expire
        assert.deepStrictEqual(yield* as(at.member)(runs.get(1)), overdue)
        assert.deepStrictEqual(
          (yield* eventsOf(at.workspace)).map((event) => [event.kind, event.actor, event.changes]),
          [
            ["run_started", { ...at.member.principal }, []],
            ["run_interrupted", { ...at.member.principal }, toldOf(at)]
          ]
        )
      })
    )

    it.effect("ends what somebody started while their access ended, each minute", () =>
      Effect.gen(function* () {
        const runs = yield* TestRuns
        const members = yield* MembersRepo
        const at = yield* makeDeployed()
        const personId = at.member.principal.id as PersonId
        const change = (to: { readonly role: Role; readonly active: boolean }) =>
          members.update({ workspaceId: at.workspace.id, personId, ...to })
        yield* as(at.member)(runs.start(startBody(at)))
        yield* as(at.admin)(runs.start(startBody(at)))
        yield* runs.expire
        assert.strictEqual((yield* as(at.admin)(runs.get(1))).state, "running")
        yield* change({ role: "viewer", active: true })
        yield* runs.expire
        assert.strictEqual((yield* as(at.admin)(runs.get(1))).state, "interrupted")
        yield* change({ role: "member", active: true })
        yield* as(at.member)(runs.start(startBody(at)))
        yield* change({ role: "member", active: false })
        yield* runs.expire
        const states = (yield* as(at.admin)(runs.list({}))).runs.map(({ state }) => state)
        assert.deepStrictEqual(states, ["interrupted", "running", "interrupted"])
      })
    )

    it.effect("ends overdue runs at start and then each minute", () =>
      Effect.gen(function* () {
        const runs = yield* TestRuns
        const at = yield* makeDeployed()
        const interrupted = Effect.map(
          eventsOf(at.workspace),
          (events) => events.filter((event) => event.kind === "run_interrupted").length
        )
        // More than one statement ends.
        yield* Effect.forEach(Array.from({ length: 105 }), () => as(at.member)(runs.start(startBody(at))), {
          discard: true
        })
        yield* TestClock.adjust(runLimit)
        yield* Layer.build(Runs.layerExpiry)
        assert.strictEqual(yield* eventually(interrupted, (count) => count >= 105), 105)
        yield* as(at.member)(runs.start(startBody(at)))
        // The round that ended the others may not be over yet.
        const aMinuteLater = Effect.andThen(TestClock.adjust(runLimit), interrupted)
        assert.strictEqual(yield* eventually(aMinuteLater, (count) => count >= 106), 106)
      })
    )

    it.effect("lists pages of 50, newest first", () =>
      Effect.gen(function* () {
        const runs = yield* TestRuns
        const at = yield* makeDeployed()
        const list = (cursor?: number) =>
          Effect.map(as(at.viewer)(runs.list(cursor === undefined ? {} : { cursor })), ({ nextCursor, runs }) => [
            runs.length,
            runs[0]?.number,
            runs.at(-1)?.number,
            nextCursor
          ])
        assert.deepStrictEqual(yield* list(), [0, undefined, undefined, null])
        const startMany = (count: number) =>
          Effect.forEach(Array.from({ length: count }), () => as(at.member)(runs.start(startBody(at))))
        yield* startMany(50)
        assert.deepStrictEqual(yield* list(), [50, 50, 1, null])
        yield* startMany(51)
        assert.deepStrictEqual(yield* list(), [50, 101, 52, 52])
        assert.deepStrictEqual(yield* list(52), [50, 51, 2, 2])
        assert.deepStrictEqual(yield* list(2), [1, 1, 1, null])
        assert.deepStrictEqual(yield* list(1), [0, undefined, undefined, null])
      })
    )

    it.effect("filters lists by references and by the caller", () =>
      Effect.gen(function* () {
        const runs = yield* TestRuns
        const at = yield* makeDeployed()
        const beside = yield* makeDeployed({ workspace: at })
        yield* as(at.member)(runs.start(startBody(at)))
        yield* as(at.memberKey)(runs.start(startBody(beside)))
        const list = (query: Parameters<typeof runs.list>[0]) =>
          Effect.map(as(at.member)(runs.list(query)), ({ runs }) => runs.map((run) => run.number))
        assert.deepStrictEqual(yield* list({ product: at.product.slug }), [1])
        assert.deepStrictEqual(yield* list({ product: beside.product.id }), [2])
        assert.deepStrictEqual(yield* list({ environment: beside.environment.slug }), [2])
        assert.deepStrictEqual(yield* list({ product: at.product.slug, environment: beside.environment.slug }), [])
        assert.deepStrictEqual(yield* list({ mine: true }), [1])
        assert.deepStrictEqual(yield* list({ mine: false }), [2, 1])
        assert.deepStrictEqual(yield* list({ result: "passed" }), [])
        assert.strictEqual(yield* refusal(as(at.member)(runs.list({ product: "none" }))), "NotFound")
        assert.strictEqual(yield* refusal(as(at.member)(runs.list({ environment: "none" }))), "NotFound")
        assert.strictEqual(yield* refusal(as(at.member)(runs.get(3))), "NotFound")
        assert.strictEqual(yield* refusal(as(at.outsider)(runs.get(1))), "NotFound")
      })
    )

    it.effect("lists the newest finished run of each deployment", () =>
      Effect.gen(function* () {
        const runs = yield* TestRuns
        const at = yield* makeDeployed()
        const beside = yield* makeDeployed({ workspace: at })
        const deleted = yield* makeDeployed({ workspace: at })
        const archived = yield* makeDeployed({ workspace: at })
        const runAt = Effect.fnUntraced(function* (
          of: typeof at,
          fields: Partial<StartTestRun>,
          status: "passed" | "failed"
        ) {
          const { number } = yield* as(at.member)(runs.start(startBody(of, fields)))
          yield* as(at.member)(
            runs.finish(number, finishBody({ tests: [report("case", { attempt: attempt(status) })] }))
          )
        })
        const run = (of: typeof at, status?: "passed" | "failed") =>
          status === undefined ? as(at.member)(runs.start(startBody(of))) : runAt(of, {}, status)
        yield* run(at, "failed")
        yield* run(beside, "passed")
        yield* run(at, "passed")
        yield* run(deleted, "failed")
        yield* run(archived, "failed")
        yield* run(beside, "failed")
        // Of another address, they say nothing of the deployment.
        const preview = { baseUrl: "https://preview.example" }
        yield* runAt(at, preview, "failed")
        yield* runAt(beside, preview, "passed")
        // Two that run say nothing yet.
        yield* run(at)
        yield* run(beside)
        const list = (query: Parameters<typeof runs.list>[0] = {}) =>
          Effect.map(as(at.viewer)(runs.list({ ...query, latest: true })), ({ runs }) => runs.map((run) => run.number))
        assert.deepStrictEqual(yield* list(), [6, 5, 4, 3])
        yield* as(at.admin)((yield* Deployments).delete(deleted.product.slug, deleted.environment.slug))
        yield* as(at.admin)((yield* Products).archive(archived.product.slug))
        assert.deepStrictEqual(yield* list(), [6, 3])
        assert.deepStrictEqual(yield* list({ cursor: 6 }), [3])
        assert.deepStrictEqual(yield* list({ result: "failed" }), [6])
        assert.deepStrictEqual(yield* list({ product: at.product.slug, result: "passed", q: git.branch }), [3])
        assert.deepStrictEqual(yield* list({ product: at.product.slug, result: "failed" }), [])
      })
    )

    it.effect(
      "takes the run that tells how a deployment fares: the last to finish, of all its tests, and not of none",
      () =>
        Effect.gen(function* () {
          const runs = yield* TestRuns
          const at = yield* makeDeployed()
          const part = { selection: { coverage: null, folders: ["basket"], caseIds: [] } } as const
          const all = { selection: { coverage: null, folders: [], caseIds: [] } } as const
          const start = (fields: Partial<StartTestRun> = all) =>
            Effect.map(as(at.member)(runs.start(startBody(at, fields))), ({ number }) => number)
          const end = (number: number, status: "passed" | "failed" | null) =>
            as(at.member)(
              runs.finish(
                number,
                finishBody({ tests: [report("case", { attempt: status === null ? null : attempt(status) })] })
              )
            )
          const told = Effect.map(as(at.viewer)(runs.list({ latest: true })), (list) =>
            list.runs.map(({ number }) => number)
          )
          const run = Effect.fnUntraced(function* (status: "passed" | "failed" | null, fields?: Partial<StartTestRun>) {
            const number = yield* start(fields)
            yield* TestClock.adjust("1 second")
            yield* end(number, status)
            return number
          })
          // Where no run has tested anything, or all of it, what there is.
          const skipped = yield* run(null)
          assert.deepStrictEqual(yield* told, [skipped])
          const some = yield* run("passed", part)
          assert.deepStrictEqual(yield* told, [some])
          yield* run(null)
          assert.deepStrictEqual(yield* told, [some])
          const whole = yield* run("failed")
          yield* run("passed", part)
          yield* run(null)
          assert.deepStrictEqual(yield* told, [whole])
          // Of two at once, the one that ended last.
          const [slow, quick] = [yield* start(), yield* start()]
          yield* end(quick, "passed")
          yield* TestClock.adjust("1 second")
          yield* end(slow, "failed")
          assert.deepStrictEqual(yield* told, [slow])
          const passed = yield* run("passed")
          assert.deepStrictEqual(yield* told, [passed])
          // A part that failed is news.
          const broken = yield* run("failed", part)
          assert.deepStrictEqual(yield* told, [broken])
          const mended = yield* run("passed")
          assert.deepStrictEqual(yield* told, [mended])
          // Nor what nobody could run again, nor what another version was deployed beneath, nor what an agent says.
          yield* run("failed", { ...all, git: { ...git, dirty: true } })
          const changed = yield* start()
          yield* as(at.admin)((yield* Deployments).update(at.product.slug, at.environment.slug, { version: "v2" }))
          yield* end(changed, "failed")
          const agent = yield* addAgent(at.member)
          const ofAgent = yield* as(agent)(runs.start(startBody(at, all)))
          yield* TestClock.adjust("1 second")
          yield* as(agent)(
            runs.finish(ofAgent.number, finishBody({ tests: [report("case", { attempt: attempt("failed") })] }))
          )
          assert.deepStrictEqual(yield* told, [mended])
        })
    )
  })
}

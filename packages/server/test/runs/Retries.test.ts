import { assert, layer } from "@effect/vitest"
import type { FinishRetry, StartRetry } from "@delivery/domain/runs/TestRetry"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { decodeJwt } from "jose"
import { Deployments } from "../../src/catalog/Deployments.ts"
import { isToken } from "../../src/ids/Tokens.ts"
import { Retries } from "../../src/runs/Retries.ts"
import { TestRuns } from "../../src/runs/TestRuns.ts"
import { answer, as, type CallerOf, eventsOf, kindsOf, membersAndUp, whoMay } from "../identity/Scene.ts"
import { baseUrl, finishedRun, finishOf, layerServices, retried, runLimit, startOf, upload } from "./RetriesScene.ts"
import { sharedStorages } from "../support/Storages.ts"
import { attempt, finishBody, git, makeDeployed, startBody, endedOf, toldOf } from "./Scene.ts"

const begin = Effect.andThen(TestClock.adjust(123), Clock.currentTimeMillis)

for (const storage of sharedStorages) {
  layer(Layer.provideMerge(layerServices, storage.layer))(`Retries on ${storage.name}`, (it) => {
    it.effect("starts a retry of the failed tests, and counts only when it finishes", () =>
      Effect.gen(function* () {
        const [runs, retries] = [yield* TestRuns, yield* Retries]
        const at = yield* makeDeployed({ fixtureUrl: "https://fixtures.example" })
        const start = yield* begin
        yield* finishedRun(at, ["b", "a"])
        const before = yield* as(at.viewer)(runs.get(1))
        const { fixture, semaphores, ...started } = yield* as(at.memberKey)(
          retries.start(1, startOf({ baseUrl: "https://other.example" }))
        )
        assert.deepStrictEqual(started, {
          retry: 1,
          requiredPasses: 2,
          baseUrl: "https://other.example",
          tests: [
            { caseId: "a", title: "Title a", file: "checkout.spec.ts", nextAttempt: 2 },
            { caseId: "b", title: "Title b", file: "checkout.spec.ts", nextAttempt: 2 }
          ],
          environment: { slug: at.environment.slug, class: "non-production" }
        })
        assert.match(fixture!.scope, /^run-1-retry-1-[0-9a-f]{16}$/)
        assert.deepInclude(fixture, { url: "https://fixtures.example", expiresAt: timestamp(start + runLimit) })
        const { aud, iss, scope, sub } = decodeJwt(fixture!.token)
        assert.deepStrictEqual(
          [iss, aud, sub, scope],
          [baseUrl, "https://fixtures.example", `${at.workspace.id}/1/1`, fixture!.scope]
        )
        assert.isTrue(isToken("stk_", semaphores.token))
        assert.deepStrictEqual(semaphores, {
          url: `${baseUrl}/v1/workspaces/${at.workspace.slug}/semaphores`,
          token: semaphores.token,
          expiresAt: timestamp(start + runLimit)
        })
        const running = {
          number: 1,
          state: "running" as const,
          requiredPasses: 2,
          testCount: 2,
          flakyCount: 0,
          elsewhere: false,
          baseUrl: "https://other.example",
          gitSha: git.sha,
          cleanup: {
            scope: fixture!.scope,
            expiresAt: fixture!.expiresAt,
            status: "pending" as const,
            deleted: null,
            remaining: null
          },
          publishedBy: { ...at.memberKey.principal },
          startedAt: timestamp(start),
          finishedAt: null
        }
        assert.deepStrictEqual(yield* as(at.viewer)(runs.get(1)), { ...before, retries: [running] })

        yield* TestClock.adjust(1_000)
        const summary = yield* as(at.memberKey)(
          retries.finish(
            1,
            1,
            finishOf([retried("a", "passed", "passed"), retried("b", "passed", "failed")], {
              cleanup: { status: "complete", deleted: 3, remaining: 0 }
            })
          )
        )
        const run = yield* as(at.viewer)(runs.get(1))
        const { mutes, retries: _, tests: __, ...rest } = before
        assert.deepStrictEqual(summary, {
          ...rest,
          result: "failed",
          counts: { total: 5, passed: 2, flaky: 1, failed: 1, skipped: 1 },
          passRate: 3 / 4,
          firstAttemptPassRate: 2 / 4
        })
        assert.deepStrictEqual({ ...run, retries: [], tests: [] }, { ...summary, mutes, retries: [], tests: [] })
        assert.deepStrictEqual(run.retries, [
          {
            ...running,
            state: "finished",
            flakyCount: 1,
            elsewhere: true,
            cleanup: { ...running.cleanup, status: "complete", deleted: 3, remaining: 0 },
            finishedAt: timestamp(start + 1_000)
          }
        ])
        assert.deepStrictEqual(
          run.tests.map((test) => [
            test.caseId,
            test.status,
            test.attempts.map((one) => [one.number, one.retry, one.status])
          ]),
          [
            [
              "b",
              "failed",
              [
                [1, null, "failed"],
                [2, 1, "passed"],
                [3, 1, "failed"]
              ]
            ],
            [
              "a",
              "flaky",
              [
                [1, null, "failed"],
                [2, 1, "passed"],
                [3, 1, "passed"]
              ]
            ],
            ["p1", "passed", [[1, null, "passed"]]],
            ["p2", "passed", [[1, null, "passed"]]],
            ["s", "skipped", []]
          ]
        )
        assert.deepStrictEqual(run.tests[0]?.attempts[2], {
          number: 3,
          retry: 1,
          ...attempt("failed")
        })
        assert.strictEqual(run.tests[1]?.errorMessage, "Expected 200, got 500")
        // A finished run with a flaky test, though another still fails.
        for (const result of ["flaky", "failed"] as const) {
          assert.deepStrictEqual((yield* as(at.viewer)(runs.list({ result }))).runs, [summary])
        }
        assert.deepStrictEqual((yield* as(at.viewer)(runs.list({ result: "passed" }))).runs, [])
        assert.deepStrictEqual(
          (yield* eventsOf(at.workspace))
            .slice(2)
            .map((event) => [event.kind, event.subjectType, event.subjectLabel, event.subjectPath, event.changes]),
          [
            ["retry_started", "retry", "Retry 1 of run 1", "test-runs/1", []],
            [
              "retry_finished",
              "retry",
              "Retry 1 of run 1",
              "test-runs/1",
              [
                { field: "flakyCount", from: "0", to: "1" },
                { field: "counts", from: "2 of 5 failed", to: "1 of 5 failed" },
                ...endedOf(at)
              ]
            ]
          ]
        )
      })
    )

    it.effect("continues from retry to retry until no test fails", () =>
      Effect.gen(function* () {
        const [runs, retries] = [yield* TestRuns, yield* Retries]
        const at = yield* makeDeployed()
        yield* finishedRun(at, ["a", "b"])
        const round = Effect.fnUntraced(function* (tests: FinishRetry["tests"], fields: Partial<FinishRetry> = {}) {
          const started = yield* as(at.member)(retries.start(1, startOf()))
          assert.strictEqual(started.fixture, null)
          assert.strictEqual(started.baseUrl, at.deployment.baseUrl)
          const run = yield* as(at.member)(retries.finish(1, started.retry, finishOf(tests, fields)))
          return [
            started.retry,
            started.tests.map((test) => [test.caseId, test.nextAttempt]),
            run.result,
            run.counts.flaky,
            run.counts.failed
          ]
        })
        // Too few passes; nothing at all; enough of them in a retry that is given up.
        assert.deepStrictEqual(yield* round([retried("a", "passed"), retried("b", "failed", "passed", "passed")]), [
          1,
          [
            ["a", 2],
            ["b", 2]
          ],
          "failed",
          0,
          2
        ])
        assert.deepStrictEqual(yield* round([]), [
          2,
          [
            ["a", 3],
            ["b", 5]
          ],
          "failed",
          0,
          2
        ])
        assert.deepStrictEqual(yield* round([retried("a", "passed", "passed"), retried("b")], { interrupted: true }), [
          3,
          [
            ["a", 3],
            ["b", 5]
          ],
          "failed",
          1,
          1
        ])
        assert.deepStrictEqual(yield* round([retried("b", "passed", "passed", "passed")]), [
          4,
          [["b", 5]],
          "passed",
          2,
          0
        ])
        const told = (yield* eventsOf(at.workspace)).filter(({ kind }) => kind === "retry_finished")
        assert.deepStrictEqual(told[0]?.changes, [{ field: "counts", from: null, to: "2 of 5 failed" }, ...endedOf(at)])
        assert.deepStrictEqual(told.at(-1)?.changes, [
          { field: "flakyCount", from: "0", to: "1" },
          { field: "result", from: "failed", to: "passed" },
          { field: "counts", from: "1 of 5 failed", to: "0 of 5 failed" },
          ...endedOf(at)
        ])
        assert.strictEqual(yield* answer(as(at.member)(retries.start(1, startOf()))), "Conflict nothing_to_retry")
        const run = yield* as(at.member)(runs.get(1))
        assert.deepInclude(run, { result: "passed", passRate: 1, firstAttemptPassRate: 0.5, state: "finished" })
        assert.deepStrictEqual(
          run.retries.map(({ flakyCount, number, state, testCount }) => [number, state, testCount, flakyCount]),
          [
            [1, "finished", 2, 0],
            [2, "finished", 2, 0],
            [3, "interrupted", 2, 1],
            [4, "finished", 1, 1]
          ]
        )
        assert.deepStrictEqual((yield* as(at.member)(runs.list({ result: "flaky" }))).runs.length, 1)
        assert.deepStrictEqual((yield* as(at.member)(runs.list({ result: "failed" }))).runs.length, 0)
        assert.deepStrictEqual((yield* kindsOf(at.workspace)).slice(2), [
          "retry_started",
          "retry_finished",
          "retry_started",
          "retry_finished",
          "retry_started",
          "retry_interrupted",
          "retry_started",
          "retry_finished"
        ])
      })
    )

    it.effect("rejects a start for the first reason that applies", () =>
      Effect.gen(function* () {
        const [runs, retries] = [yield* TestRuns, yield* Retries]
        const at = yield* makeDeployed()
        const other = { git: { ...git, sha: "0".repeat(40) } }
        const refused = (run: number, fields: Partial<StartRetry> = {}, by: CallerOf = at.member) =>
          answer(as(by)(retries.start(run, startOf(fields))))
        assert.deepStrictEqual(yield* whoMay(at, retries.start(99, startOf())), membersAndUp)
        assert.strictEqual(yield* refused(1, {}, at.outsider), "NotFound")
        assert.strictEqual(yield* refused(1), "NotFound")
        yield* as(at.member)(runs.start(startBody(at)))
        assert.strictEqual(yield* refused(1, other), "Conflict not_retryable")
        yield* as(at.member)(runs.finish(1, finishBody({ interrupted: true })))
        assert.strictEqual(yield* refused(1, other), "Conflict not_retryable")
        yield* finishedRun(at, ["a"], { error: "No server" })
        assert.strictEqual(yield* refused(2, other), "Conflict not_retryable")
        yield* finishedRun(at, [], { tests: [] })
        assert.strictEqual(yield* refused(3), "Conflict not_retryable")
        yield* finishedRun(at, [])
        assert.strictEqual(yield* refused(4, other), "Conflict other_commit")
        assert.strictEqual(yield* refused(4), "Conflict nothing_to_retry")
        yield* finishedRun(at, ["a"])
        assert.strictEqual(yield* refused(5, { git: { ...git, sha: git.sha.toUpperCase() } }, at.memberKey), "ok")
        assert.strictEqual(yield* refused(5, other), "Conflict other_commit")
        assert.strictEqual(yield* refused(5), "Conflict retry_running")
      })
    )

    it.effect("has what passed elsewhere alone retried where it failed, which opens the gate", () =>
      Effect.gen(function* () {
        const [runs, retries] = [yield* TestRuns, yield* Retries]
        const at = yield* makeDeployed()
        yield* finishedRun(at, ["a", "b"])
        const preview = "https://pr-1.preview.example"
        const start = (baseUrl: string | null) => as(at.member)(retries.start(1, startOf({ passes: 1, baseUrl })))
        const refusedStart = (baseUrl: string | null) => as(at.member)(answer(retries.start(1, startOf({ baseUrl }))))
        const finish = Effect.fnUntraced(function* (retry: number, ...tests: FinishRetry["tests"]) {
          const { counts, gateResult, result } = yield* retries.finish(1, retry, finishOf(tests))
          return [counts.failed, counts.flaky, result, gateResult]
        }, as(at.member))
        const named = Effect.map(({ tests }: { readonly tests: ReadonlyArray<{ readonly caseId: string }> }) =>
          tests.map(({ caseId }) => caseId)
        )
        assert.deepStrictEqual(yield* named(start(preview)), ["a", "b"])
        assert.deepStrictEqual(yield* finish(1, retried("a", "passed"), retried("b", "failed")), [
          1,
          1,
          "failed",
          "failed"
        ])
        // Elsewhere, it has passed.
        assert.deepStrictEqual(yield* named(start(preview)), ["b"])
        assert.deepStrictEqual(yield* finish(2, retried("b", "passed")), [0, 2, "passed", "failed"])
        assert.strictEqual(yield* refusedStart(preview), "Conflict nothing_to_retry")
        // Nor could one with changes show that it passes there.
        const dirty = startOf({ git: { ...git, dirty: true } })
        assert.strictEqual(yield* as(at.member)(answer(retries.start(1, dirty))), "Conflict nothing_to_retry")
        assert.deepStrictEqual(yield* named(start(null)), ["a", "b"])
        assert.deepStrictEqual(yield* finish(3, retried("a", "passed"), retried("b", "failed")), [
          0,
          2,
          "passed",
          "failed"
        ])
        assert.deepStrictEqual(yield* named(start(null)), ["b"])
        assert.deepStrictEqual(yield* finish(4, retried("b", "passed")), [0, 2, "passed", "passed"])
        assert.strictEqual(yield* refusedStart(null), "Conflict nothing_to_retry")
        const run = yield* as(at.member)(runs.get(1))
        assert.deepInclude(run, { result: "passed", gateResult: "passed" })
        assert.deepStrictEqual(
          run.retries.map(({ elsewhere, flakyCount, testCount }) => [elsewhere, testCount, flakyCount]),
          [
            [true, 2, 1],
            [true, 1, 1],
            [false, 2, 1],
            [false, 1, 1]
          ]
        )
        const told = (yield* eventsOf(at.workspace)).filter(({ kind }) => kind === "retry_finished")
        assert.deepStrictEqual(told.at(-1)?.changes, [
          { field: "flakyCount", from: "0", to: "1" },
          { field: "gateResult", from: "failed", to: "passed" },
          { field: "counts", from: null, to: "0 of 5 failed" },
          ...endedOf(at)
        ])

        yield* finishedRun(at, ["a"])
        yield* as(at.member)(retries.start(2, startOf({ passes: 1, baseUrl: preview })))
        yield* as(at.member)(retries.finish(2, 1, finishOf([retried("a", "passed")])))
        const { environment, product } = at
        yield* as(at.member)(
          Effect.flatMap(Deployments, (deployments) =>
            deployments.update(product.slug, environment.slug, { version: "v2" })
          )
        )
        // No retry of the run can show any more what passes on its release.
        assert.strictEqual(
          yield* as(at.member)(answer(retries.start(2, startOf({ baseUrl: null })))),
          "Conflict nothing_to_retry"
        )
      })
    )

    it.effect("is ended by an admin, where its publisher is gone, and by nobody else", () =>
      Effect.gen(function* () {
        const [runs, retries] = [yield* TestRuns, yield* Retries]
        const at = yield* makeDeployed()
        yield* finishedRun(at, ["a"])
        yield* as(at.memberKey)(retries.start(1, startOf()))
        const end = (by: CallerOf, fields: Partial<FinishRetry> = {}) =>
          answer(as(by)(retries.finish(1, 1, { ...finishOf([]), interrupted: true, ...fields })))
        assert.strictEqual(yield* end(at.member), "Forbidden not_publisher")
        // What an admin did not see is not reported as theirs.
        assert.strictEqual(yield* end(at.admin, { tests: [retried("a", "passed")] }), "Forbidden not_publisher")
        assert.strictEqual(yield* end(at.admin, { interrupted: false }), "Forbidden not_publisher")
        assert.strictEqual(yield* end(at.admin), "ok")
        const [retry] = (yield* as(at.member)(runs.get(1))).retries
        assert.strictEqual(retry!.state, "interrupted")
        const ended = (yield* eventsOf(at.workspace)).find(({ kind }) => kind === "retry_interrupted")
        assert.deepInclude(ended!.actor, { kind: "user", id: at.admin.principal.id })
      })
    )

    it.effect("rejects a finish for the first reason that applies, and stores nothing", () =>
      Effect.gen(function* () {
        const [runs, retries] = [yield* TestRuns, yield* Retries]
        const at = yield* makeDeployed()
        yield* finishedRun(at, ["a", "b", "c\uFFFD"])
        const finish = (
          tests: FinishRetry["tests"],
          by: CallerOf = at.memberKey,
          [run, retry]: readonly [number, number] = [1, 1]
        ) => answer(as(by)(retries.finish(run, retry, finishOf(tests))))
        assert.deepStrictEqual(yield* whoMay(at, retries.finish(99, 1, finishOf([]))), membersAndUp)
        assert.strictEqual(yield* finish([]), "NotFound")
        yield* as(at.memberKey)(retries.start(1, startOf()))
        const before = yield* as(at.member)(runs.get(1))
        assert.strictEqual(yield* finish([], at.memberKey, [2, 1]), "NotFound")
        assert.strictEqual(yield* finish([], at.memberKey, [1, 2]), "NotFound")
        const wrong = [retried("unknown", "passed")]
        for (const by of [at.member, at.admin, at.owner])
          assert.strictEqual(yield* finish(wrong, by), "Forbidden not_publisher")
        assert.strictEqual(yield* finish(wrong), "InvalidInput")
        assert.strictEqual(yield* finish([retried("p1", "passed")]), "InvalidInput")
        assert.strictEqual(yield* finish([retried("s", "passed")]), "InvalidInput")
        const twice = [retried("a", "passed", "passed"), retried("c\0", "passed"), retried("c\uFFFD", "passed")]
        assert.strictEqual(yield* finish(twice), "InvalidInput")
        assert.deepStrictEqual(yield* as(at.member)(runs.get(1)), before)
        assert.strictEqual(yield* finish([retried("a", "passed", "passed")]), "ok")
        // The state counts before the report, which may be too long to be read first.
        assert.strictEqual(yield* finish(wrong, at.member), "Forbidden not_publisher")
        assert.strictEqual(yield* finish(wrong), "Conflict not_running")
        assert.strictEqual(yield* finish([retried("a", "passed")]), "Conflict not_running")
        assert.strictEqual(yield* finish([retried("a")], at.member), "Forbidden not_publisher")
        yield* as(at.memberKey)(retries.start(1, startOf()))
        assert.strictEqual(yield* finish([retried("a", "passed")], at.memberKey, [1, 2]), "InvalidInput")
        assert.strictEqual(yield* finish([retried("b", "passed")], at.memberKey, [1, 2]), "ok")
      })
    )

    it.effect("uses the run's Fixture API, or the given one if the run had one", () =>
      Effect.gen(function* () {
        const [runs, retries] = [yield* TestRuns, yield* Retries]
        const at = yield* makeDeployed({ fixtureUrl: "https://deployed.example" })
        const run = Effect.fnUntraced(function* (fixtureUrl: string | null) {
          const { number } = yield* as(at.member)(runs.start(startBody(at, { fixtureUrl })))
          yield* as(at.member)(runs.finish(number, finishBody()))
          return number
        })
        const url = Effect.fnUntraced(function* (number: number, fields: Partial<StartRetry> = {}) {
          const { fixture, retry } = yield* as(at.member)(retries.start(number, startOf(fields)))
          yield* as(at.member)(retries.finish(number, retry, finishOf([])))
          return fixture?.url
        })
        const overridden = yield* run("https://override.example")
        assert.strictEqual(yield* url(overridden), "https://override.example")
        assert.strictEqual(yield* url(overridden, { fixtureUrl: null }), "https://override.example")
        assert.strictEqual(yield* url(overridden, { fixtureUrl: "https://own.example" }), "https://own.example")
        assert.strictEqual(yield* url(yield* run(null)), "https://deployed.example")
        const statuses = (yield* as(at.member)(runs.get(overridden))).retries.map((retry) => retry.cleanup?.status)
        assert.deepStrictEqual(statuses, ["incomplete", "incomplete", "incomplete"])

        const without = yield* makeDeployed()
        yield* finishedRun(without, ["a"])
        const started = yield* as(without.member)(retries.start(1, startOf({ fixtureUrl: "https://own.example" })))
        assert.strictEqual(started.fixture, null)
      })
    )

    it.effect("shows an overdue retry as interrupted before the expiry ends it, and the same after", () =>
      Effect.gen(function* () {
        const [runs, retries] = [yield* TestRuns, yield* Retries]
        const at = yield* makeDeployed({ fixtureUrl: "https://fixtures.example" })
        yield* finishedRun(at, ["a"])
        const start = yield* begin
        yield* as(at.memberKey)(retries.start(1, startOf()))
        yield* TestClock.adjust(runLimit - 1)
        assert.strictEqual((yield* as(at.member)(runs.get(1))).retries[0]?.state, "running")
        yield* TestClock.adjust(1)
        const overdue = yield* as(at.member)(runs.get(1))
        assert.deepInclude(overdue.retries[0], {
          state: "interrupted",
          finishedAt: timestamp(start + runLimit),
          flakyCount: 0
        })
        assert.deepInclude(overdue.retries[0]?.cleanup, { status: "incomplete", deleted: null, remaining: null })
        const late = as(at.memberKey)(retries.finish(1, 1, finishOf([retried("a", "passed", "passed")])))
        assert.strictEqual(yield* answer(late), "Conflict not_running")
        yield* TestClock.adjust(5_000)
        const interrupted = Effect.map(kindsOf(at.workspace), (kinds) =>
          kinds.filter((kind) => kind === "retry_interrupted")
        )
        assert.lengthOf(yield* interrupted, 0)
        yield* runs.expire
        yield* runs.expire
        assert.lengthOf(yield* interrupted, 1)
        assert.deepStrictEqual(yield* as(at.member)(runs.get(1)), overdue)
        assert.strictEqual(yield* answer(late), "Conflict not_running")

        // The next one may start, also before the fiber comes.
        yield* as(at.member)(retries.start(1, startOf()))
        yield* TestClock.adjust(runLimit)
        assert.strictEqual((yield* as(at.member)(retries.start(1, startOf()))).retry, 3)
        assert.deepStrictEqual(
          (yield* as(at.member)(runs.get(1))).retries.map((retry) => retry.state),
          ["interrupted", "interrupted", "running"]
        )
        assert.deepStrictEqual(
          (yield* eventsOf(at.workspace))
            .slice(2)
            .map((event) => [event.subjectLabel, event.kind, event.actor])
            .toSorted(),
          [
            ["Retry 1 of run 1", "retry_interrupted", { ...at.memberKey.principal }],
            ["Retry 1 of run 1", "retry_started", { ...at.memberKey.principal }],
            ["Retry 2 of run 1", "retry_interrupted", { ...at.member.principal }],
            ["Retry 2 of run 1", "retry_started", { ...at.member.principal }],
            ["Retry 3 of run 1", "retry_started", { ...at.member.principal }]
          ]
        )
        const ends = (yield* eventsOf(at.workspace)).filter(({ kind }) => kind === "retry_interrupted")
        assert.deepStrictEqual(
          ends.map(({ changes }) => changes),
          [toldOf(at), toldOf(at)]
        )
      })
    )

    it.effect("accepts files from the publisher of the running retry", () =>
      Effect.gen(function* () {
        const [runs, retries] = [yield* TestRuns, yield* Retries]
        const at = yield* makeDeployed()
        const uploads = Effect.forEach([at.member, at.memberKey, at.admin, at.viewer], (by) => upload(by, 1))
        const [mine, forbidden, viewer] = ["Conflict not_running", "Forbidden not_publisher", "Forbidden role_too_low"]
        yield* as(at.member)(runs.start(startBody(at)))
        assert.deepStrictEqual(yield* uploads, ["ok", forbidden, forbidden, viewer])
        yield* as(at.member)(runs.finish(1, finishBody()))
        assert.deepStrictEqual(yield* uploads, [mine, forbidden, forbidden, viewer])
        yield* as(at.memberKey)(retries.start(1, startOf()))
        assert.deepStrictEqual(yield* uploads, [mine, "ok", forbidden, viewer])
        yield* as(at.memberKey)(retries.finish(1, 1, finishOf([])))
        assert.deepStrictEqual(yield* uploads, [mine, forbidden, forbidden, viewer])
        yield* as(at.member)(retries.start(1, startOf()))
        assert.deepStrictEqual(yield* uploads, ["ok", forbidden, forbidden, viewer])
        yield* TestClock.adjust(runLimit)
        assert.deepStrictEqual(yield* uploads, [mine, forbidden, forbidden, viewer])
      })
    )
  })
}

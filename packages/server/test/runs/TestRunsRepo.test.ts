import { assert } from "@effect/vitest"
import type { EventId } from "@delivery/domain/Ids"
import { emptyTally, outcome, recordTest } from "@delivery/domain/runs/TestResults"
import { timestamp } from "@delivery/domain/Timestamp"
import { Effect } from "effect"
import { EventsRepo } from "../../src/events/EventsRepo.ts"
import { RetriesRepo } from "../../src/runs/RetriesRepo.ts"
import { type FinishedTestRun, type NewTestRun, TestRunsRepo } from "../../src/runs/TestRunsRepo.ts"
import { makeScene, newId, unique } from "../identity/Scene.ts"
import { actorOf, attempt, type Deployed, git, makeDeployed, newEvent, newRun, onEachStorage, report } from "./Scene.ts"

const start = Effect.fnUntraced(function* (run: NewTestRun) {
  const repo = yield* TestRunsRepo
  return yield* repo.start(run, newEvent(run, "run_started"))
})

const finished = (fields: Partial<FinishedTestRun> = {}): FinishedTestRun => ({
  ...emptyTally,
  state: "finished",
  result: "passed",
  gateResult: "passed",
  error: null,
  cleanup: null,
  durationMs: 12.5,
  finishedAt: timestamp(2_000),
  ...fields
})

const finish = Effect.fnUntraced(function* (run: NewTestRun, fields: Partial<FinishedTestRun> = {}) {
  const repo = yield* TestRunsRepo
  return (yield* repo.finish(run.id, finished(fields), [], newEvent(run, "run_finished"))) !== undefined
})

const eventIds = (count: number) => Array.from({ length: count }, () => newId<EventId>())

const events = Effect.fnUntraced(function* (at: Deployed) {
  const found = yield* (yield* EventsRepo).newest(at.workspace.id, "all", 50)
  return found.map((event) => [event.kind, event.subjectType, event.subjectId, event.subjectLabel, event.subjectPath])
})

onEachStorage("TestRunsRepo", (it) => {
  it.effect("numbers the runs of each workspace from 1 and stores events with the numbers", () =>
    Effect.gen(function* () {
      const repo = yield* TestRunsRepo
      const [here, there] = [yield* makeDeployed(), yield* makeDeployed()]
      const [first, second, other] = [newRun(here), newRun(here), newRun(there)]
      assert.deepStrictEqual(yield* start(first), { number: 1, scope: null })
      assert.deepStrictEqual(yield* start(second), { number: 2, scope: null })
      assert.deepStrictEqual(yield* start(other), { number: 1, scope: null })
      assert.deepStrictEqual(
        (yield* events(here)).toSorted(),
        [
          ["run_started", "run", first.id, "Run 1", "test-runs/1"],
          ["run_started", "run", second.id, "Run 2", "test-runs/2"]
        ].toSorted()
      )
      assert.strictEqual((yield* repo.find(here.workspace.id, 2))?.id, second.id)
      assert.strictEqual(yield* repo.find(here.workspace.id, 3), undefined)
      assert.strictEqual(yield* repo.find(here.workspace.id, 0), undefined)
    })
  )

  it.effect("leaves no gaps in numbers when many runs start at once", () =>
    Effect.gen(function* () {
      const at = yield* makeDeployed()
      const numbered = yield* Effect.forEach(Array.from({ length: 50 }), () => start(newRun(at)), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(
        numbered.map(({ number }) => number).toSorted((a, b) => a - b),
        Array.from({ length: 50 }, (_, i) => i + 1)
      )
    })
  )

  it.effect("keeps the pull request and the CI job of a run, and knows of none where there was none", () =>
    Effect.gen(function* () {
      const repo = yield* TestRunsRepo
      const at = yield* makeDeployed()
      const run = newRun(at)
      const ciUrl = "https://ci.example.com/jobs/5"
      yield* start({ ...run, git: { ...run.git, pullRequest: 42 }, ciUrl })
      yield* start(newRun(at))
      const [of, without] = [yield* repo.find(at.workspace.id, 1), yield* repo.find(at.workspace.id, 2)]
      assert.deepStrictEqual([of?.git, of?.ciUrl], [{ ...run.git, pullRequest: 42 }, ciUrl])
      assert.deepStrictEqual([without?.git, without?.ciUrl], [run.git, null])
    })
  )

  it.effect("shows a run as it was started", () =>
    Effect.gen(function* () {
      const repo = yield* TestRunsRepo
      const at = yield* makeDeployed()
      const run = newRun(at, { fixture: { url: "https://fixtures.example", scopeKey: "0a1b" } })
      assert.deepStrictEqual(yield* start(run), { number: 1, scope: "run-1-0a1b" })
      assert.deepStrictEqual(yield* repo.find(at.workspace.id, 1), {
        id: run.id,
        workspaceId: at.workspace.id,
        number: 1,
        state: "running",
        result: null,
        gateResult: null,
        mutedCount: 0,
        error: null,
        ...emptyTally,
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
        machine: run.machine,
        ciUrl: null,
        shards: null,
        coverage: "acceptance",
        cleanup: {
          scope: "run-1-0a1b",
          expiresAt: timestamp(10_000),
          status: "pending",
          deleted: null,
          remaining: null
        },
        publisher: run.publisher,
        publishedBy: { ...at.member.principal },
        durationMs: 0,
        startedAt: timestamp(1_000),
        expiresAt: timestamp(10_000),
        finishedAt: null
      })
      assert.deepStrictEqual(yield* repo.lock(run.id), {
        state: "running",
        expiresAt: timestamp(10_000),
        runningRetry: null
      })
    })
  )

  it.effect("shows account keys as publishers", () =>
    Effect.gen(function* () {
      const repo = yield* TestRunsRepo
      const at = yield* makeDeployed()
      yield* start(newRun(at, { publisher: actorOf(at.memberKey) }))
      const run = yield* repo.find(at.workspace.id, 1)
      assert.deepStrictEqual(run?.publishedBy, { ...at.memberKey.principal })
      assert.deepStrictEqual(run?.publisher, actorOf(at.memberKey))
    })
  )

  it.effect("shows a deleted publisher as removed", () =>
    Effect.gen(function* () {
      const repo = yield* TestRunsRepo
      const at = yield* makeDeployed()
      yield* start(newRun(at, { publisher: { kind: "user", id: newId() } }))
      yield* start(newRun(at, { publisher: { kind: "apiKey", id: newId() } }))
      const runs = yield* repo.list(at.workspace.id, {}, 51)
      assert.deepStrictEqual(
        [(yield* repo.find(at.workspace.id, 1))!, ...runs].map((run) => run.publishedBy),
        [{ kind: "removed" }, { kind: "removed" }, { kind: "removed" }]
      )
      const run = newRun(at)
      yield* start(run)
      yield* finish(run)
      const retries = yield* RetriesRepo
      const { baseUrl, expiresAt, git, machine, startedAt } = run
      yield* retries.start(
        {
          id: newId(),
          workspaceId: at.workspace.id,
          runId: run.id,
          after: 0,
          publisher: { kind: "user", id: newId() },
          makerId: null,
          requiredPasses: 1,
          testCount: 1,
          baseUrl,
          git,
          machine,
          tokenHash: unique("hash"),
          fixture: null,
          startedAt,
          expiresAt
        },
        newEvent(run, "retry_started")
      )
      assert.deepStrictEqual((yield* retries.find(run.id, 1))?.publishedBy, { kind: "removed" })
    })
  )

  it.effect("finishes a run once, with its tests", () =>
    Effect.gen(function* () {
      const repo = yield* TestRunsRepo
      const at = yield* makeDeployed()
      const run = newRun(at, { fixture: { url: "https://fixtures.example", scopeKey: "0a1b" } })
      const { number } = yield* start(run)
      const before = (yield* repo.find(at.workspace.id, number))!
      const tests = [
        report("passes", { priority: "high", files: ["a.png", 'b,"c".png'] }),
        report("fails", { attempt: attempt("failed") }),
        report("skipped", { attempt: null }),
        report("ünïcode ✓ {}[]\\\"'", { title: "", file: "", testKind: "" })
      ].map(recordTest)
      const results = finished({
        ...outcome({ interrupted: false }, tests),
        cleanup: { status: "complete", deleted: 14, remaining: 0 }
      })
      assert.isDefined(yield* repo.finish(run.id, results, tests, newEvent(run, "run_finished")))

      const { cleanup, ...rest } = results
      assert.deepStrictEqual(yield* repo.find(at.workspace.id, number), {
        ...before,
        ...rest,
        cleanup: { ...before.cleanup!, ...cleanup! }
      })
      const byId = (a: { caseId: string }, b: { caseId: string }) => (a.caseId < b.caseId ? -1 : 1)
      assert.deepStrictEqual((yield* repo.tests(run.id)).toSorted(byId), tests.toSorted(byId))

      assert.isUndefined(yield* repo.finish(run.id, finished({ error: "late" }), tests, newEvent(run, "run_finished")))
      assert.strictEqual((yield* repo.find(at.workspace.id, number))?.error, null)
      assert.deepStrictEqual((yield* events(at)).map(([kind]) => kind).toSorted(), ["run_finished", "run_started"])
    })
  )

  it.effect("finishes a run once, where its tests are stored in parts", () =>
    Effect.gen(function* () {
      const repo = yield* TestRunsRepo
      const at = yield* makeDeployed()
      const run = newRun(at)
      yield* start(run)
      const errorStack = "x".repeat(1024 * 1024)
      const tests = ["a", "b", "c", "d", "e"].map((caseId) =>
        recordTest(report(caseId, { attempt: { ...attempt("failed"), errorStack } }))
      )
      const finishes = Array.from({ length: 5 }, () =>
        repo.finish(run.id, finished(), tests, newEvent(run, "run_finished"))
      )
      const ended = yield* Effect.all(finishes, { concurrency: "unbounded" })
      assert.strictEqual(ended.filter((one) => one !== undefined).length, 1)
      assert.deepStrictEqual(
        new Map((yield* repo.tests(run.id)).map((test) => [test.caseId, test])),
        new Map(tests.map((test) => [test.caseId, test]))
      )
      assert.deepStrictEqual((yield* events(at)).map(([kind]) => kind).toSorted(), ["run_finished", "run_started"])
    })
  )

  it.effect("finishes a run without tests, with null for every optional field", () =>
    Effect.gen(function* () {
      const repo = yield* TestRunsRepo
      const at = yield* makeDeployed()
      const run = newRun(at)
      yield* start(run)
      assert.isTrue(yield* finish(run, { result: "failed", error: "No tests ran." }))
      const found = yield* repo.find(at.workspace.id, 1)
      assert.strictEqual(found?.error, "No tests ran.")
      assert.strictEqual(found?.passRate, null)
      assert.deepStrictEqual(yield* repo.tests(run.id), [])
    })
  )

  it.effect("rejects results at or after the run's end, and of unknown runs", () =>
    Effect.gen(function* () {
      const repo = yield* TestRunsRepo
      const at = yield* makeDeployed()
      const run = newRun(at)
      yield* start(run)
      assert.isFalse(yield* finish(run, { finishedAt: run.expiresAt }))
      assert.isFalse(yield* finish(newRun(at)))
      assert.strictEqual((yield* repo.find(at.workspace.id, 1))?.state, "running")
      assert.isTrue(yield* finish(run, { finishedAt: timestamp(9_999) }))
    })
  )

  it.effect("ends overdue runs as interrupted, a batch at a time", () =>
    Effect.gen(function* () {
      const repo = yield* TestRunsRepo
      const at = yield* makeDeployed()
      // Years before those of other tests, which share the database.
      const [past, later] = [timestamp(-10_000_000), timestamp(-9_000_000)]
      const fixture = { url: "https://fixtures.example", scopeKey: "0a1b" }
      const runs = [
        newRun(at, { startedAt: past, expiresAt: later, fixture }),
        newRun(at, { startedAt: past, expiresAt: later, publisher: actorOf(at.memberKey) }),
        newRun(at, { startedAt: past, expiresAt: later })
      ]
      for (const run of runs) yield* start(run)
      yield* finish(runs[2]!, { finishedAt: past })
      const untouched = yield* repo.find(at.workspace.id, 3)

      assert.deepStrictEqual(yield* repo.expire(timestamp(-9_000_001), eventIds(10)), [])
      assert.strictEqual((yield* repo.expire(later, eventIds(1))).length, 1)
      assert.strictEqual((yield* repo.expire(later, eventIds(10))).length, 1)
      assert.deepStrictEqual(yield* repo.expire(later, eventIds(10)), [])

      const first = yield* repo.find(at.workspace.id, 1)
      assert.deepInclude(first, { state: "interrupted", finishedAt: later, result: null, error: null, durationMs: 0 })
      assert.deepInclude(first?.cleanup, { status: "incomplete", deleted: null, remaining: null })
      assert.deepInclude(yield* repo.find(at.workspace.id, 2), { state: "interrupted", cleanup: null })
      assert.deepStrictEqual(yield* repo.find(at.workspace.id, 3), untouched)
      assert.isFalse(yield* finish(runs[0]!, { finishedAt: past }))

      const stored = (yield* (yield* EventsRepo).newest(at.workspace.id, "all", 50)).filter(
        (event) => event.kind === "run_interrupted"
      )
      assert.deepStrictEqual(
        stored
          .map((event) => [event.actor, event.subjectId, event.subjectLabel, event.subjectPath, event.createdAt])
          .toSorted(),
        [
          [{ ...at.member.principal }, runs[0]!.id, "Run 1", "test-runs/1", later],
          [{ ...at.memberKey.principal }, runs[1]!.id, "Run 2", "test-runs/2", later]
        ].toSorted()
      )
    })
  )

  it.effect("lists newest first, a page from a cursor", () =>
    Effect.gen(function* () {
      const repo = yield* TestRunsRepo
      const at = yield* makeDeployed()
      const other = yield* makeDeployed()
      yield* start(newRun(other))
      for (let i = 0; i < 5; i++) yield* start(newRun(at))
      const numbers = (below: number | undefined, limit: number) =>
        Effect.map(repo.list(at.workspace.id, { below }, limit), (runs) => runs.map((run) => run.number))
      assert.deepStrictEqual(yield* numbers(undefined, 3), [5, 4, 3])
      assert.deepStrictEqual(yield* numbers(3, 3), [2, 1])
      assert.deepStrictEqual(yield* numbers(1, 3), [])
      assert.deepStrictEqual(yield* numbers(Number.MAX_SAFE_INTEGER, 2), [5, 4])
      assert.deepStrictEqual(yield* repo.list(at.workspace.id, {}, 1), [(yield* repo.find(at.workspace.id, 5))!])
    })
  )

  it.effect("filters by product, environment, publisher and result", () =>
    Effect.gen(function* () {
      const repo = yield* TestRunsRepo
      const at = yield* makeDeployed()
      const beside = yield* makeDeployed({ workspace: at })
      const runs = [
        newRun(at),
        newRun(at, { environmentId: beside.environment.id }),
        newRun(at, { productId: beside.product.id, publisher: actorOf(at.memberKey) }),
        newRun(at, { publisher: actorOf(at.admin) }),
        newRun(at)
      ]
      for (const run of runs) yield* start(run)
      yield* finish(runs[0]!, {
        result: "passed",
        gateResult: "passed",
        counts: { ...emptyTally.counts, total: 1, flaky: 1 }
      })
      yield* finish(runs[1]!, { result: "failed" })
      yield* finish(runs[2]!, { result: "passed" })
      yield* finish(runs[3]!, { state: "interrupted", result: null })
      const numbers = (filter: Parameters<typeof repo.list>[1]) =>
        Effect.map(repo.list(at.workspace.id, filter, 51), (runs) => runs.map((run) => run.number))

      assert.deepStrictEqual(yield* numbers({ productId: at.product.id }), [5, 4, 2, 1])
      assert.deepStrictEqual(yield* numbers({ productId: beside.product.id }), [3])
      assert.deepStrictEqual(yield* numbers({ environmentId: beside.environment.id }), [2])
      assert.deepStrictEqual(yield* numbers({ productId: beside.product.id, environmentId: beside.environment.id }), [])
      assert.deepStrictEqual(yield* numbers({ result: "passed" }), [3, 1])
      assert.deepStrictEqual(yield* numbers({ result: "failed" }), [2])
      assert.deepStrictEqual(yield* numbers({ result: "flaky" }), [1])
      assert.deepStrictEqual(yield* numbers({ publisher: actorOf(at.member) }), [5, 2, 1])
      assert.deepStrictEqual(yield* numbers({ publisher: actorOf(at.memberKey) }), [3])
      assert.deepStrictEqual(yield* numbers({ publisher: { kind: "apiKey", id: at.member.principal.id as never } }), [])
      assert.deepStrictEqual(yield* numbers({ result: "passed", productId: at.product.id, below: 2 }), [1])
    })
  )

  it.effect("finds by branch, subject and commit", () =>
    Effect.gen(function* () {
      const repo = yield* TestRunsRepo
      const at = yield* makeDeployed()
      const commits = [
        { branch: "main", sha: "9fceb02d0ae598e95dc970b74767f19372d61af8", subject: "Add the BASKET", dirty: false },
        { branch: "feature/100%_done", sha: "ABCDEF0123", subject: "Größe ändern", dirty: true },
        { branch: "back\\slash", sha: "9fce", subject: "", dirty: false }
      ]
      for (const git of commits) yield* start(newRun(at, { git }))
      const find = (filter: Parameters<typeof repo.list>[1]) =>
        Effect.map(repo.list(at.workspace.id, filter, 51), (runs) => runs.map((run) => run.number))
      const q = (q: string) => find({ q })

      assert.deepStrictEqual(yield* q("basket"), [1])
      assert.deepStrictEqual(yield* q("MAIN"), [1])
      assert.deepStrictEqual(yield* q("ature/"), [2])
      assert.deepStrictEqual(yield* q("GRÖSSE"), [])
      assert.deepStrictEqual(yield* q("GRÖßE ÄND"), [2])
      assert.deepStrictEqual(yield* q("%"), [2])
      assert.deepStrictEqual(yield* q("_"), [2])
      assert.deepStrictEqual(yield* q("\\"), [3])
      assert.deepStrictEqual(yield* q("a%n"), [])
      assert.deepStrictEqual(yield* q("9fCe"), [3, 1])
      assert.deepStrictEqual(yield* q("9fceb"), [1])
      assert.deepStrictEqual(yield* q("fceb"), [])
      assert.deepStrictEqual(yield* q("abcdef"), [2])
      assert.deepStrictEqual(yield* q("mainadd"), [])
      assert.deepStrictEqual(yield* q("main\nadd"), [])
      assert.deepStrictEqual(yield* q("'; drop table test_runs; --"), [])
      assert.deepStrictEqual(yield* find({ q: "9fce", below: 3 }), [1])
      assert.deepStrictEqual(yield* find({ commit: "9fceb02d0ae598e95dc970b74767f19372d61af8" }), [1])
      assert.deepStrictEqual(yield* find({ commit: "abcdef0123" }), [2])
      assert.deepStrictEqual(yield* find({ commit: "9fceb02" }), [])
      assert.deepStrictEqual(yield* find({ commit: "9fce", q: "slash" }), [3])
    })
  )

  it.effect("keeps the largest numbers and texts unchanged", () =>
    Effect.gen(function* () {
      const repo = yield* TestRunsRepo
      const at = yield* makeDeployed()
      const run = newRun(at)
      yield* start(run)
      const tests = [
        recordTest(
          report("x".repeat(500), {
            title: "\u{1F600}".repeat(2_000),
            attempt: { ...attempt("failed"), durationMs: 1.5e300, startedAt: "9999-12-31T23:59:59.999Z" }
          })
        ),
        recordTest(
          report("\uFFFF".repeat(500), {
            attempt: { ...attempt("passed"), startedAt: "1970-01-01T00:00:00Z", errorMessage: "\0\uD800" }
          })
        )
      ]
      assert.isDefined(yield* repo.finish(run.id, finished({ durationMs: 1e21 }), tests, newEvent(run, "run_finished")))
      const found = yield* repo.tests(run.id)
      assert.deepStrictEqual(
        found.toSorted((a) => (a.caseId.startsWith("x") ? -1 : 1)),
        tests
      )
      assert.strictEqual((yield* repo.find(at.workspace.id, 1))?.durationMs, 1e21)
    })
  )

  it.effect("locks nothing if the run does not exist", () =>
    Effect.gen(function* () {
      yield* makeScene
      assert.strictEqual(yield* (yield* TestRunsRepo).lock(newId()), undefined)
    })
  )
})

import { assert, layer } from "@effect/vitest"
import type { StartTestRun } from "@delivery/domain/runs/TestRun"
import type { FinishTestRun } from "@delivery/domain/runs/FinishTestRun"
import type { PersonId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { decodeJwt } from "jose"
import { Settings } from "../../src/Config.ts"
import * as Files from "../../src/files/Files.ts"
import { hashToken } from "../../src/ids/Tokens.ts"
import { TrustedPublishersRepo } from "../../src/identity/TrustedPublishersRepo.ts"
import * as Keys from "../../src/keys/Keys.ts"
import { RunErasure } from "../../src/runs/erasure/RunErasure.ts"
import { RunShardsRepo } from "../../src/runs/RunShardsRepo.ts"
import { SemaphoresRepo } from "../../src/runs/SemaphoresRepo.ts"
import { TestRuns } from "../../src/runs/TestRuns.ts"
import { answer, as, type CallerOf, eventsOf, publisherRow, unique } from "../identity/Scene.ts"
import { layerSigningKeys, sharedStorages } from "../support/Storages.ts"
import { attempt, type Deployed, finishBody, git, makeDeployed, newKey, report, startBody } from "./Scene.ts"
import { layerRuns } from "./Services.ts"

/** Shards of one build are one run (docs/contract.md, Shards). */

const runLimit = 60_000
const baseUrl = "https://delivery.example"

const layerServices = layerRuns.pipe(
  Layer.provideMerge([layerSigningKeys, Files.layerMemory]),
  Layer.provideMerge([Keys.layerMemoryKeyring, Settings.layer({ BASE_URL: baseUrl, RUN_LIMIT_MS: String(runLimit) })])
)

/** The instant at which a test begins. Small steps: clients of databases live by the same clock. */
const begin = Effect.andThen(TestClock.adjust(123), Clock.currentTimeMillis)

const start = (
  at: Deployed,
  index: number,
  total: number,
  fields: Partial<StartTestRun> = {},
  by: CallerOf = at.member
) =>
  Effect.flatMap(TestRuns, (runs) =>
    as(by)(runs.start(startBody(at, { build: "5", shard: { index, total }, ...fields })))
  )

const finish = (
  at: Deployed,
  number: number,
  index: number,
  total: number,
  fields: Partial<FinishTestRun> = {},
  by: CallerOf = at.member
) =>
  Effect.flatMap(TestRuns, (runs) =>
    as(by)(runs.finish(number, finishBody({ tests: [report(`t${index}`)], ...fields, shard: { index, total } })))
  )

const get = (at: Deployed, number: number) => Effect.flatMap(TestRuns, (runs) => as(at.viewer)(runs.get(number)))

const kinds = (at: Deployed) => Effect.map(eventsOf(at.workspace), (events) => events.map(({ kind }) => kind))

const works = (at: Deployed, token: string) =>
  Effect.flatMap(SemaphoresRepo, (repo) =>
    Effect.map(repo.authenticate(hashToken(token), at.workspace.slug), (found) => found?.owner.run)
  )

for (const storage of sharedStorages) {
  layer(Layer.provideMerge(layerServices, storage.layer))(`The shards of a run on ${storage.name}`, (it) => {
    it.effect("are one run: the first starts it, and the last finishes it", () =>
      Effect.gen(function* () {
        const at = yield* makeDeployed()
        const from = yield* begin
        const first = yield* start(at, 2, 3)
        assert.deepStrictEqual((yield* get(at, 1)).shards, { total: 3, started: 1, finished: 0 })
        yield* TestClock.adjust(1_000)
        const second = yield* start(at, 1, 3, { git: { ...git, branch: "other" } })
        const third = yield* start(at, 3, 3)
        assert.deepStrictEqual(
          [second, third].map(({ number, url }) => [number, url]),
          [
            [1, first.url],
            [1, first.url]
          ]
        )
        assert.strictEqual(second.semaphores.expiresAt, timestamp(from + runLimit))
        assert.deepInclude(yield* get(at, 1), { state: "running", shards: { total: 3, started: 3, finished: 0 }, git })

        const after1 = yield* finish(at, 1, 1, 3, {
          durationMs: 5,
          tests: [report("a"), report("b", { attempt: null })]
        })
        assert.deepInclude(after1, {
          state: "running",
          result: null,
          counts: { total: 2, passed: 1, flaky: 0, failed: 0, skipped: 1 },
          passRate: 1,
          durationMs: 0,
          shards: { total: 3, started: 3, finished: 1 }
        })
        // One without tests is no failure.
        assert.strictEqual((yield* finish(at, 1, 3, 3, { durationMs: 1, tests: [] })).state, "running")
        // Each finish is told, the same one again is not.
        yield* finish(at, 1, 3, 3, { durationMs: 1, tests: [] })
        const told = (yield* eventsOf(at.workspace)).filter(({ kind }) => kind === "run_updated")
        assert.deepStrictEqual(
          told.map(({ changes }) => changes),
          [
            [{ field: "shards", from: "0 of 3 finished", to: "1 of 3 finished" }],
            [{ field: "shards", from: "1 of 3 finished", to: "2 of 3 finished" }]
          ]
        )
        yield* TestClock.adjust(1_000)
        const last = yield* finish(at, 1, 2, 3, { durationMs: 9, tests: [report("c", { attempt: attempt("failed") })] })
        assert.deepInclude(last, {
          state: "finished",
          result: "failed",
          error: null,
          counts: { total: 3, passed: 1, flaky: 0, failed: 1, skipped: 1 },
          passRate: 0.5,
          firstAttemptPassRate: 0.5,
          durationMs: 9,
          finishedAt: timestamp(from + 2_000),
          shards: { total: 3, started: 3, finished: 3 }
        })
        const run = yield* get(at, 1)
        assert.deepStrictEqual(
          run.tests.map(({ caseId, status }) => [caseId, status]),
          [
            ["c", "failed"],
            ["a", "passed"],
            ["b", "skipped"]
          ]
        )
        const { mutes: _, retries: __, tests: ___, ...summary } = run
        assert.deepStrictEqual(last, summary)
        assert.deepStrictEqual(yield* kinds(at), ["run_started", "run_updated", "run_updated", "run_finished"])
      })
    )

    it.effect("are of one build, publisher, product and environment; other starts are other runs", () =>
      Effect.gen(function* () {
        const at = yield* makeDeployed()
        const beside = yield* makeDeployed({ workspace: at })
        const numberOf = Effect.map(({ number }: { readonly number: number }) => number)
        assert.strictEqual(yield* numberOf(start(at, 1, 2)), 1)
        assert.strictEqual(yield* numberOf(start(at, 1, 2, { build: "6" })), 2)
        assert.strictEqual(yield* numberOf(start(at, 1, 2, {}, at.memberKey)), 3)
        assert.strictEqual(yield* numberOf(start(beside, 1, 2)), 4)
        const runs = yield* TestRuns
        assert.strictEqual(yield* numberOf(as(at.member)(runs.start(startBody(at)))), 5)
        assert.strictEqual(yield* numberOf(start(at, 2, 2)), 1)
        assert.strictEqual(yield* numberOf(start(at, 2, 2, {}, at.memberKey)), 3)
        assert.strictEqual((yield* get(at, 5)).shards, null)
        assert.strictEqual(yield* answer(start(at, 1, 3)), "Conflict total_mismatch")
        assert.strictEqual(yield* answer(finish(at, 1, 1, 2, {}, at.memberKey)), "Forbidden not_publisher")
      })
    )

    it.effect("test the same commit, address and part of the tests; another one is no part of the run", () =>
      Effect.gen(function* () {
        const at = yield* makeDeployed()
        const selection = { coverage: "acceptance", folders: [], caseIds: [] } as const
        yield* start(at, 1, 3, { selection })
        const of = (fields: Partial<StartTestRun>) => answer(start(at, 2, 3, { selection, ...fields }))
        const [folders, caseIds] = [["checkout"], ["a"]]
        for (const [reason, fields] of [
          ["other_commit", { git: { ...git, sha: "b".repeat(40) } }],
          ["other_address", { baseUrl: "https://preview.example" }],
          ["other_selection", { selection: { ...selection, coverage: "critical" } }],
          ["other_selection", { selection: { ...selection, coverage: null } }],
          ["other_selection", { selection: { ...selection, folders } }],
          ["other_selection", { selection: { ...selection, caseIds } }]
        ] as const) {
          assert.strictEqual(yield* of(fields), `Conflict ${reason}`)
        }
        assert.deepStrictEqual((yield* get(at, 1)).shards, { total: 3, started: 1, finished: 0 })
        // The same commit and address in other letters, and shards that each choose their part.
        yield* start(at, 2, 3, {
          selection,
          baseUrl: `${startBody(at).baseUrl.toUpperCase().replace("HTTPS", "https")}/`,
          git: { ...git, sha: git.sha.toUpperCase() }
        })
        yield* start(at, 1, 2, { build: "6", selection: { ...selection, folders }, baseUrl: "http://localhost:3000" })
        yield* start(at, 2, 2, { build: "6", selection: { ...selection, caseIds }, baseUrl: "http://localhost:3001" })
        assert.deepStrictEqual((yield* get(at, 2)).shards, { total: 2, started: 2, finished: 0 })
      })
    )

    it.effect("give uncommitted changes of one to the run, and to none other", () =>
      Effect.gen(function* () {
        const at = yield* makeDeployed()
        yield* start(at, 1, 3, { build: "6" })
        yield* start(at, 1, 3)
        assert.isFalse((yield* get(at, 2)).git.dirty)
        yield* start(at, 2, 3, { git: { ...git, dirty: true } })
        yield* start(at, 3, 3)
        assert.deepStrictEqual((yield* get(at, 2)).git, { ...git, dirty: true })
        assert.isFalse((yield* get(at, 1)).git.dirty)
      })
    )

    it.effect("are one run for all keys of one trusted publisher", () =>
      Effect.gen(function* () {
        const at = yield* makeDeployed()
        const publisher = publisherRow(at.workspace.id, at.admin.principal.id as PersonId)
        yield* (yield* TrustedPublishersRepo).insert(publisher)
        const trusted = publisher.id
        const [one, two, other] = [yield* newKey(at, trusted), yield* newKey(at, trusted), yield* newKey(at, null)]
        assert.strictEqual((yield* start(at, 1, 2, {}, one)).number, 1)
        assert.strictEqual((yield* start(at, 2, 2, {}, other)).number, 2)
        assert.strictEqual((yield* start(at, 2, 2, {}, two)).number, 1)
        yield* finish(at, 1, 1, 2, {}, two)
        assert.strictEqual((yield* finish(at, 1, 2, 2, {}, one)).state, "finished")
      })
    )

    it.effect("finish once, and answer the same report again with the run", () =>
      Effect.gen(function* () {
        const at = yield* makeDeployed()
        yield* start(at, 1, 2)
        assert.strictEqual(yield* answer(finish(at, 1, 2, 2)), "Conflict not_started")
        yield* start(at, 2, 2)
        const runs = yield* TestRuns
        assert.strictEqual(yield* answer(as(at.member)(runs.finish(1, finishBody()))), "InvalidInput")
        assert.strictEqual(yield* answer(finish(at, 1, 1, 3)), "Conflict total_mismatch")
        const once = yield* finish(at, 1, 1, 2)
        assert.deepStrictEqual(yield* finish(at, 1, 1, 2), once)
        assert.strictEqual(yield* answer(finish(at, 1, 1, 2, { durationMs: 1 })), "Conflict not_running")
        const last = yield* finish(at, 1, 2, 2)
        assert.deepStrictEqual(yield* finish(at, 1, 2, 2), last)
        assert.deepStrictEqual(yield* finish(at, 1, 1, 2), last)
        assert.strictEqual(yield* answer(finish(at, 1, 2, 2, { tests: [] })), "Conflict not_running")
        assert.deepStrictEqual(yield* kinds(at), ["run_started", "run_updated", "run_finished"])
        yield* as(at.member)(runs.start(startBody(at)))
        assert.deepInclude(yield* finish(at, 2, 1, 2), { state: "finished", shards: null })
      })
    )

    it.effect("keep the worst result of a test that several of them ran", () =>
      Effect.gen(function* () {
        const at = yield* makeDeployed()
        for (const index of [1, 2, 3, 4]) yield* start(at, index, 4)
        const setup = (index: number, status: "passed" | "failed" | "skipped", title: string) =>
          finish(at, 1, index, 4, {
            tests: [report("setup", { title, attempt: status === "skipped" ? { status } : attempt(status) })]
          })
        const read = Effect.map(get(at, 1), ({ counts, tests }) => [
          tests.map(({ attempts, errorMessage, status, title }) => [title, status, attempts.length, errorMessage]),
          counts.total
        ])
        yield* setup(1, "skipped", "one")
        assert.deepStrictEqual(yield* read, [[["one", "skipped", 0, null]], 1])
        yield* setup(2, "passed", "two")
        assert.deepStrictEqual(yield* read, [[["two", "passed", 1, null]], 1])
        yield* setup(3, "failed", "three")
        yield* setup(4, "passed", "four")
        assert.deepStrictEqual(yield* read, [[["three", "failed", 1, "Expected 200, got 500"]], 1])
        assert.strictEqual((yield* get(at, 1)).result, "failed")
      })
    )

    it.effect("leave a run interrupted where one was given up, and name the shards of errors", () =>
      Effect.gen(function* () {
        const at = yield* makeDeployed()
        const end = Effect.fnUntraced(function* (build: string, ...reports: ReadonlyArray<Partial<FinishTestRun>>) {
          let number = 0
          for (const index of reports.keys()) number = (yield* start(at, index + 1, reports.length, { build })).number
          for (const [index, fields] of reports.entries()) yield* finish(at, number, index + 1, reports.length, fields)
          const { error, result, state } = yield* get(at, number)
          return [state, result, error]
        })
        assert.deepStrictEqual(yield* end("a", {}, { interrupted: true, error: "ignored" }), [
          "interrupted",
          null,
          null
        ])
        assert.deepStrictEqual(yield* end("b", { error: "No server" }, {}), [
          "finished",
          "failed",
          "Shard 1: No server"
        ])
        assert.deepStrictEqual(yield* end("c", { tests: [] }, { tests: [] }), ["finished", "failed", "No tests ran."])
        assert.deepStrictEqual(yield* end("d", {}, { tests: [] }), ["finished", "passed", null])
      })
    )

    it.effect("have a scope each in that of the run, and the worst cleanup of all", () =>
      Effect.gen(function* () {
        const at = yield* makeDeployed({ fixtureUrl: "https://fixtures.example" })
        const one = (yield* start(at, 1, 2)).fixture!
        const two = (yield* start(at, 2, 2, { fixtureUrl: "https://ignored.example" })).fixture!
        const scope = (yield* get(at, 1)).cleanup!.scope
        assert.match(scope, /^run-1-[0-9a-f]{16}$/)
        assert.deepStrictEqual([one.scope, two.scope], [`${scope}-1`, `${scope}-2`])
        const signed = decodeJwt<{ readonly scope: string }>(two.token)
        assert.deepStrictEqual([signed.aud, signed.scope], ["https://fixtures.example", two.scope])
        yield* finish(at, 1, 1, 2, { cleanup: { status: "complete", deleted: 3, remaining: 0 } })
        assert.strictEqual((yield* get(at, 1)).cleanup?.status, "pending")
        const { cleanup } = yield* finish(at, 1, 2, 2, { cleanup: { status: "failed", deleted: 4, remaining: 1 } })
        assert.deepInclude(cleanup, { scope, status: "failed", deleted: 7, remaining: 1 })
      })
    )

    it.effect("that are killed leave the run to its expiry, which keeps what the others reported", () =>
      Effect.gen(function* () {
        const runs = yield* TestRuns
        const at = yield* makeDeployed({ fixtureUrl: "https://fixtures.example" })
        const from = yield* begin
        const killed = yield* start(at, 1, 3)
        yield* start(at, 2, 3)
        yield* finish(at, 1, 2, 3, { tests: [report("a"), report("b", { attempt: attempt("failed") })] })
        yield* TestClock.adjust(runLimit)
        const overdue = yield* get(at, 1)
        assert.deepInclude(overdue, {
          state: "interrupted",
          result: null,
          counts: { total: 2, passed: 1, flaky: 0, failed: 1, skipped: 0 },
          passRate: 0.5,
          finishedAt: timestamp(from + runLimit),
          shards: { total: 3, started: 2, finished: 1 }
        })
        assert.deepStrictEqual(
          overdue.tests.map(({ caseId }) => caseId),
          ["b", "a"]
        )
        assert.strictEqual(overdue.cleanup?.status, "incomplete")
        assert.strictEqual(yield* works(at, killed.semaphores.token), undefined)
        assert.strictEqual(yield* answer(start(at, 3, 3)), "Conflict finished")
        yield* runs.expire
        assert.deepStrictEqual(yield* get(at, 1), overdue)
        assert.strictEqual(yield* answer(finish(at, 1, 1, 3)), "Conflict not_running")
        assert.deepStrictEqual(yield* kinds(at), ["run_started", "run_updated", "run_interrupted"])
      })
    )

    it.effect("have 5,000 tests together, and nothing is kept of one that has more", () =>
      Effect.gen(function* () {
        const at = yield* makeDeployed()
        yield* start(at, 1, 2)
        yield* start(at, 2, 2)
        const many = (prefix: string, count: number) =>
          Array.from({ length: count }, (_, index) => report(`${prefix}${index}`))
        yield* finish(at, 1, 1, 2, { tests: many("a", 3_000) })
        assert.strictEqual(yield* answer(finish(at, 1, 2, 2, { tests: many("b", 2_001) })), "InvalidInput")
        assert.strictEqual((yield* get(at, 1)).counts.total, 3_000)
        const { counts, state } = yield* finish(at, 1, 2, 2, { tests: many("b", 2_000) })
        assert.deepStrictEqual([counts.total, state], [5_000, "finished"])
      })
    )

    it.effect("have 32 MiB of text together", () =>
      Effect.gen(function* () {
        const at = yield* makeDeployed()
        yield* start(at, 1, 2)
        yield* start(at, 2, 2)
        const long = (mebibytes: number) => ({
          tests: Array.from({ length: mebibytes }, (_, index) =>
            report(`${mebibytes}-${index}`, {
              attempt: { ...attempt("failed"), errorStack: "x".repeat(1024 * 1024) }
            })
          )
        })
        yield* finish(at, 1, 1, 2, long(20))
        assert.strictEqual(yield* answer(finish(at, 1, 2, 2, long(12))), "InvalidInput")
        assert.strictEqual((yield* finish(at, 1, 2, 2, long(11))).counts.failed, 31)
      })
    )

    it.effect("are gone with the run, whose build may start again", () =>
      Effect.gen(function* () {
        const at = yield* makeDeployed()
        const shards = yield* RunShardsRepo
        yield* start(at, 1, 2)
        yield* start(at, 2, 2)
        yield* finish(at, 1, 1, 2)
        const { id } = yield* finish(at, 1, 2, 2)
        const erasure = yield* RunErasure
        yield* as(at.admin)(erasure.delete(1))
        assert.isDefined(yield* shards.stateOf(id, 1))
        while (yield* erasure.step);
        assert.strictEqual(yield* shards.stateOf(id, 1), undefined)
        assert.strictEqual((yield* start(at, 1, 2)).number, 2)
      })
    )
  })

  // Databases compare the times of tokens with a clock of their own.
  layer(Layer.provideMerge(layerServices, storage.layer), { excludeTestServices: true })(
    `The tokens of shards on ${storage.name}`,
    (it) => {
      it.effect("start again with a new token while they run, and not once they have finished", () =>
        Effect.gen(function* () {
          const at = yield* makeDeployed()
          const [lost, other] = [yield* start(at, 1, 2), yield* start(at, 2, 2)]
          const again = yield* start(at, 1, 2)
          assert.strictEqual(again.number, lost.number)
          assert.deepStrictEqual((yield* get(at, 1)).shards, { total: 2, started: 2, finished: 0 })
          assert.deepStrictEqual(
            [
              yield* works(at, lost.semaphores.token),
              yield* works(at, again.semaphores.token),
              yield* works(at, other.semaphores.token)
            ],
            [undefined, 1, 1]
          )
          yield* finish(at, 1, 1, 2)
          assert.strictEqual(yield* answer(start(at, 1, 2)), "Conflict finished")
          assert.deepStrictEqual(
            [yield* works(at, again.semaphores.token), yield* works(at, other.semaphores.token)],
            [undefined, 1]
          )
          yield* finish(at, 1, 2, 2)
          assert.strictEqual(yield* answer(start(at, 1, 2)), "Conflict finished")
          assert.strictEqual(yield* works(at, other.semaphores.token), undefined)
        })
      )

      it.effect("lose a token that is reported, as other runs do", () =>
        Effect.gen(function* () {
          const at = yield* makeDeployed()
          const repo = yield* SemaphoresRepo
          const [one, two] = [yield* start(at, 1, 2), yield* start(at, 2, 2)]
          const holder = yield* repo.replaceToken(hashToken(one.semaphores.token), unique("hash"))
          assert.deepInclude(holder, { run: 1, workspaceId: at.workspace.id })
          assert.strictEqual(yield* works(at, one.semaphores.token), undefined)
          assert.strictEqual(yield* works(at, two.semaphores.token), 1)
          yield* finish(at, 1, 1, 2)
          yield* finish(at, 1, 2, 2)
          assert.strictEqual(yield* repo.replaceToken(hashToken(two.semaphores.token), unique("hash")), undefined)
        })
      )
    }
  )
}

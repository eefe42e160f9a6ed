import { assert, layer } from "@effect/vitest"
import { TestRunPage } from "@delivery/domain/runs/TestRun"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect, Layer, Schema } from "effect"
import { HttpBody } from "effect/http"
import { TestClock } from "effect/testing"
import { Settings } from "../../src/Config.ts"
import * as Files from "../../src/files/Files.ts"
import { jsonListAnswer } from "../../src/http/JsonAnswer.ts"
import * as Keys from "../../src/keys/Keys.ts"
import { type TestRunQuery, TestRuns } from "../../src/runs/TestRuns.ts"
import { TestRunsRepo } from "../../src/runs/TestRunsRepo.ts"
import { as, newId } from "../identity/Scene.ts"
import { addAgent } from "../planning/TicketsScene.ts"
import { layerSigningKeys, sharedStorages } from "../support/Storages.ts"
import { type Deployed, finishBody, git, makeDeployed, newEvent, newKey, newRun, startBody } from "./Scene.ts"
import { layerRuns } from "./Services.ts"

const layerServices = layerRuns.pipe(
  Layer.provideMerge([layerSigningKeys, Files.layerMemory]),
  Layer.provideMerge([
    Keys.layerMemoryKeyring,
    Settings.layer({ BASE_URL: "https://delivery.example", RUN_LIMIT_MS: "60000" })
  ])
)

/** What JSON may escape, and what it does not. */
const hostile = [
  ...Array.from({ length: 0x9f }, (_, code) => String.fromCharCode(code + 1)),
  "\u2028\u2029\u200b\u202e\ufeff\ufffe\u{1f9ea}\u{10ffff}e\u0301",
  `","x":1}]</script>'; drop table test_runs; --\\u0000 \\" %s $1 null NaN`
].join("")

const encode = Schema.encodeSync(TestRunPage)
const page = jsonListAnswer(TestRunPage, "runs")
const utf8 = new TextDecoder()

/** Holds the answer to what the schema would encode; answers it. */
const list = Effect.fnUntraced(function* (caller: Parameters<typeof as>[0], query: TestRunQuery = {}) {
  const runs = yield* TestRuns
  const { runs: items, ...rest } = yield* as(caller)(runs.listJson(query))
  const { body } = page(items, rest)
  assert.instanceOf(body, HttpBody.Uint8Array)
  const whole = yield* as(caller)(runs.list(query))
  assert.strictEqual(utf8.decode((body as HttpBody.Uint8Array).body), JSON.stringify(encode(whole)))
  return whole
})

/** Runs of all kinds: with shards, leases of test data, pull requests, results and numbers of every form. */
const makeHostileRuns = Effect.fnUntraced(function* (at: Deployed) {
  const repo = yield* TestRunsRepo
  const runs = yield* TestRuns
  const now = yield* Clock.currentTimeMillis
  const agent = yield* addAgent(at.member)
  const key = yield* newKey(at, null)
  const publishers = [
    { kind: "user", id: at.member.principal.id },
    { kind: "agent", id: agent.principal.id },
    { kind: "apiKey", id: key.principal.id },
    { kind: "user", id: newId() },
    { kind: "agent", id: newId() }
  ] as ReadonlyArray<ReturnType<typeof newRun>["publisher"]>
  const numbers = [0, -0, 1e-7, 0.000_01, 1 / 3, 1e15, 1e21, 1e23, 2 ** 60, 5e-324, Number.MAX_VALUE]
  for (const [index, durationMs] of numbers.entries()) {
    const run = newRun(at, {
      publisher: publishers[index % publishers.length]!,
      baseUrl: hostile,
      deploymentBaseUrl: index % 2 === 0 ? null : hostile,
      deploymentVersion: index % 3 === 0 ? null : hostile,
      release: index % 2 === 0 ? null : 1,
      git: {
        branch: hostile,
        sha: index % 2 === 0 ? git.sha : hostile.slice(0, 100),
        dirty: index % 2 === 0,
        subject: "",
        ...(index % 3 === 0 ? { pullRequest: 2_147_483_647 } : {})
      },
      machine: { hostname: hostile, platform: "" },
      ciUrl: index % 2 === 0 ? hostile : null,
      selection: { coverage: index % 2 === 0 ? null : "critical", folders: [], caseIds: [] },
      fixture: index % 2 === 0 ? { url: "https://fixtures.example", scopeKey: hostile } : null,
      startedAt: timestamp(now + index),
      expiresAt: timestamp(now + (index === 9 ? 100 : 50_000))
    })
    yield* repo.start(run, newEvent(run, "run_started"))
    if (index >= 8) continue
    const outcome = {
      state: "finished",
      result: index % 2 === 0 ? "failed" : "passed",
      gateResult: index % 4 === 0 ? "passed" : index % 2 === 0 ? "failed" : "passed",
      error: index % 4 === 0 ? hostile : null,
      counts: { total: 7, passed: 3, flaky: index % 2, failed: 1, skipped: 2 },
      passRate: durationMs,
      firstAttemptPassRate: index === 0 ? null : 3 / 7
    } as const
    const report =
      index % 4 === 0 ? ({ status: "complete", deleted: 14 } as const) : ({ status: "failed", deleted: 0 } as const)
    const cleanup = index % 2 === 0 ? { ...report, remaining: 0 } : null
    yield* repo.finish(
      run.id,
      { ...outcome, cleanup, durationMs, finishedAt: timestamp(now + 1_000) },
      [],
      newEvent(run, "run_finished")
    )
  }
  const shard = { build: hostile.slice(40, 60), shard: { index: 1, total: 3 } }
  yield* as(at.member)(runs.start(startBody(at, shard)))
  const { number } = yield* as(at.member)(runs.start(startBody(at)))
  yield* as(at.member)(runs.finish(number, finishBody()))
})

for (const storage of sharedStorages) {
  layer(Layer.provideMerge(layerServices, storage.layer))(`JSON of runs on ${storage.name}`, (it) => {
    it.effect("is, byte for byte, what the schema encodes: of every run, by every filter, on every page", () =>
      Effect.gen(function* () {
        yield* TestClock.adjust("2 minutes")
        const at = yield* makeDeployed({ fixtureUrl: "https://fixtures.example" })
        const other = yield* makeDeployed({ workspace: at })
        assert.deepStrictEqual(yield* list(at.viewer), { runs: [], nextCursor: null })
        yield* makeHostileRuns(at)
        yield* as(at.member)(Effect.flatMap(TestRuns, (runs) => runs.start(startBody(other))))

        const all = yield* list(at.viewer)
        assert.strictEqual(all.runs.length, 14)
        const kinds = new Set(all.runs.map(({ publishedBy }) => publishedBy.kind))
        assert.deepStrictEqual([...kinds].toSorted(), ["agent", "apiKey", "removed", "user"])
        assert.isTrue(all.runs.some(({ shards }) => shards !== null))
        assert.isTrue(all.runs.some(({ cleanup }) => cleanup?.status === "complete"))

        const filters: ReadonlyArray<TestRunQuery> = [
          { product: at.product.slug },
          { product: at.product.id, environment: at.environment.slug },
          { environment: other.environment.id },
          { result: "passed" },
          { result: "failed" },
          { result: "flaky" },
          { q: "drop TABLE" },
          { q: git.sha.slice(0, 5), result: "failed" },
          { commit: git.sha.toUpperCase() },
          { mine: true },
          { mine: true, result: "failed", product: at.product.slug, environment: at.environment.slug, q: "x" },
          { cursor: 5 },
          { cursor: 1 },
          { cursor: 2_147_483_647, result: "failed" }
        ]
        for (const filter of filters) {
          const found = yield* list(at.member, filter)
          if (filter.cursor !== 1) assert.isNotEmpty(found.runs, JSON.stringify(filter))
        }
        yield* TestClock.adjust("200 millis")
        assert.isTrue(
          (yield* list(at.viewer)).runs.some(({ state }) => state === "interrupted"),
          "one is overdue"
        )
        yield* TestClock.adjust("2 minutes")
        assert.isFalse(
          (yield* list(at.viewer)).runs.some(({ state }) => state === "running"),
          "all are overdue"
        )
      })
    )

    it.effect("has 50 runs a page, and the cursor of the next", () =>
      Effect.gen(function* () {
        const at = yield* makeDeployed()
        const repo = yield* TestRunsRepo
        yield* Effect.forEach(Array.from({ length: 51 }), () => {
          const run = newRun(at)
          return repo.start(run, newEvent(run, "run_started"))
        })
        assert.strictEqual((yield* list(at.viewer)).nextCursor, 2)
        assert.strictEqual((yield* list(at.viewer, { cursor: 51 })).nextCursor, null)
        assert.strictEqual((yield* list(at.viewer, { cursor: 52, product: at.product.slug })).nextCursor, 2)
        assert.strictEqual((yield* list(at.viewer, { cursor: 2 })).runs.length, 1)
      })
    )
  })
}

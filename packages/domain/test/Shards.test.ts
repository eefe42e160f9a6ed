import { FinishTestRun } from "@delivery/domain/runs/FinishTestRun"
import { StartTestRun } from "@delivery/domain/runs/TestRun"
import {
  outcomeOfShards,
  type RecordedTest,
  recordTest,
  tally,
  tallyOf,
  withTestsOfShard
} from "@delivery/domain/runs/TestResults"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema, SchemaIssue } from "effect"

/** Shards of one build (docs/contract.md, Shards). */

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const problems = <A, I>(schema: Schema.Codec<A, I>, input: unknown): ReadonlyArray<string> => {
  const result = Schema.decodeUnknownResult(schema, { errors: "all" })(input)
  if (Result.isSuccess(result)) return []
  return format(result.failure.issue).issues.map(({ message, path }) =>
    [...(path ?? []).map(String), message].join(": ")
  )
}

const start = {
  product: "shop",
  environment: "staging",
  baseUrl: "https://shop.example",
  git: { branch: "main", sha: "9fceb02", dirty: false, subject: "" },
  machine: { hostname: "ci-7", platform: "linux" },
  selection: { coverage: null, folders: [], caseIds: [] }
}
const ofStart = (fields: object) => problems(StartTestRun, { ...start, ...fields })
const ofFinish = (shard: unknown) => problems(FinishTestRun, { interrupted: false, durationMs: 0, tests: [], shard })

const test = (caseId: string, status: "passed" | "failed" | "skipped", title = caseId): RecordedTest =>
  recordTest({
    caseId,
    title,
    file: "a.spec.ts",
    coverage: "acceptance",
    testKind: "journey",
    attempt: status === "skipped" ? { status } : { status, durationMs: 1, startedAt: "2026-11-21T09:30:10.000Z" }
  })

describe("the shards of a build", () => {
  it("come with a build, and a build with a shard", () => {
    const shard = { index: 1, total: 2 }
    assert.deepStrictEqual(ofStart({ build: "5", shard }), [])
    assert.deepStrictEqual(ofStart({}), [])
    assert.deepStrictEqual(ofStart({ build: null, shard: null }), [])
    assert.deepStrictEqual(ofStart({ build: "5" }), ["shard: Expected build and shard together"])
    assert.deepStrictEqual(ofStart({ build: null, shard }), ["build: Expected build and shard together"])
    assert.deepStrictEqual(ofStart({ build: "", shard }), ["build: Expected text that is not empty"])
    assert.deepStrictEqual(ofStart({ build: "x".repeat(201), shard }), ["build: Expected at most 200 characters"])
  })

  it("are from 1 to their total, of at least 2 and at most 500", () => {
    for (const shard of [{ index: 1, total: 2 }, { index: 500, total: 500 }, null]) {
      assert.deepStrictEqual(ofFinish(shard), [])
    }
    assert.deepStrictEqual(ofFinish({ index: 3, total: 2 }), ["shard: index: Expected a number up to 2, the total"])
    for (const shard of [
      { index: 0, total: 2 },
      { index: 1, total: 1 },
      { index: 1, total: 501 },
      { index: 1.5, total: 2 },
      { index: 1 },
      "1/2"
    ]) {
      assert.lengthOf(ofFinish(shard), 1, JSON.stringify(shard))
    }
  })

  it("keep the worst result of a test that several of them ran, and the first of equal ones", () => {
    const first = withTestsOfShard([], [test("setup", "passed", "first"), test("a", "failed"), test("b", "skipped")])
    const both = withTestsOfShard(first, [test("setup", "passed", "second"), test("a", "passed"), test("b", "passed")])
    assert.deepStrictEqual(
      both.map(({ caseId, status, title }) => [caseId, status, title]),
      [
        ["setup", "passed", "first"],
        ["a", "failed", "a"],
        ["b", "passed", "b"]
      ]
    )
    const worse = withTestsOfShard(both, [test("setup", "failed", "third")])
    assert.deepStrictEqual([worse[0]?.status, worse[0]?.title, worse.length], ["failed", "third", 3])
  })

  it("have the outcome of the worst of them; one without tests is no failure", () => {
    const [passed, none] = [tally([test("a", "passed")]), tally([])]
    const shard = (index: number, fields: object = {}) => ({ index, interrupted: false, error: null, ...fields })
    assert.deepInclude(outcomeOfShards([shard(1), shard(2)], passed), {
      state: "finished",
      result: "passed",
      error: null
    })
    assert.deepInclude(outcomeOfShards([shard(1), shard(2)], none), { result: "failed", error: "No tests ran." })
    assert.deepInclude(outcomeOfShards([shard(1, { error: "No server" }), shard(3, { error: "Late" })], passed), {
      state: "finished",
      result: "failed",
      error: "Shard 1: No server\n\nShard 3: Late"
    })
    assert.deepInclude(outcomeOfShards([shard(1, { error: "No server" }), shard(2, { interrupted: true })], passed), {
      state: "interrupted",
      result: null,
      error: null,
      passRate: 1
    })
  })

  it("are tallied by their counts as by their tests", () => {
    const tests = [test("a", "passed"), test("b", "failed"), test("c", "skipped"), test("d", "passed")]
    assert.deepStrictEqual(tallyOf(tally(tests).counts), tally(tests))
    assert.deepStrictEqual(tallyOf(tally([]).counts), tally([]))
  })
})

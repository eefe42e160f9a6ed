import { assert, describe, it } from "@effect/vitest"
import { maxRunErrorCharacters } from "../../src/runs/RunErrorLimit.ts"
import type { TestReport } from "../../src/runs/TestEntry.ts"
import {
  emptyTally,
  orderTests,
  outcome,
  outcomeOfShards,
  recordError,
  type RecordedTest,
  recordTest,
  tally,
  testEntry
} from "../../src/runs/TestResults.ts"

const passed = {
  status: "passed",
  durationMs: 10,
  startedAt: "2026-11-21T09:30:10+01:00",
  errorMessage: null,
  errorStack: null,
  files: []
} as const
const failed = {
  ...passed,
  status: "failed",
  durationMs: 20,
  errorMessage: "Expected 200",
  errorStack: "at x"
} as const

const report = (fields: Partial<TestReport> = {}): TestReport => ({
  caseId: "case",
  title: "title",
  file: "a.spec.ts",
  coverage: "acceptance",
  testKind: "journey",
  priority: null,
  files: [],
  attempt: passed,
  ...fields
})

const tests = (...attempts: ReadonlyArray<TestReport["attempt"]>): ReadonlyArray<RecordedTest> =>
  attempts.map((attempt, i) => recordTest(report({ caseId: String(i), attempt })))

/** A test that failed and then passed every attempt of a retry. */
const flaky: RecordedTest = (() => {
  const test = recordTest(report({ attempt: failed }))
  const retried = {
    ...test.attempts[0]!,
    number: 2,
    retry: 1,
    status: "passed" as const,
    durationMs: 5,
    errorMessage: null
  }
  return { ...test, status: "flaky", attempts: [...test.attempts, retried] }
})()

describe("recordTest", () => {
  it("records the first attempt, with its instant in UTC", () => {
    assert.deepStrictEqual(recordTest(report({ priority: "high", files: ["a.png"], attempt: failed })), {
      caseId: "case",
      title: "title",
      file: "a.spec.ts",
      coverage: "acceptance",
      testKind: "journey",
      priority: "high",
      status: "failed",
      files: ["a.png"],
      attempts: [
        {
          number: 1,
          retry: null,
          status: "failed",
          durationMs: 20,
          startedAt: "2026-11-21T08:30:10.000Z",
          errorMessage: "Expected 200",
          errorStack: "at x",
          files: []
        }
      ]
    })
  })

  it("counts a missing or skipped attempt as skipped", () => {
    for (const attempt of [null, { status: "skipped" }] as const) {
      const { attempts, status } = recordTest(report({ attempt }))
      assert.deepStrictEqual({ attempts, status }, { attempts: [], status: "skipped" })
    }
  })

  it("defaults omitted fields to null or empty", () => {
    const { priority: _, files: __, ...rest } = report()
    const recorded = recordTest({
      ...rest,
      attempt: { status: "passed", durationMs: 1, startedAt: "2026-11-21T09:30:10.5Z" }
    })
    assert.strictEqual(recorded.priority, null)
    assert.deepStrictEqual(recorded.files, [])
    assert.deepInclude(recorded.attempts[0], {
      startedAt: "2026-11-21T09:30:10.500Z",
      errorMessage: null,
      errorStack: null,
      files: []
    })
  })

  it("replaces characters that cannot be stored", () => {
    const bad = "a\0b\uD800c\uDC00"
    const good = "a\uFFFDb\uFFFDc\uFFFD"
    const recorded = recordTest(
      report({
        caseId: bad,
        title: bad,
        file: bad,
        testKind: bad,
        priority: bad,
        files: [bad, "fine"],
        attempt: { ...failed, errorMessage: bad, errorStack: bad, files: [bad] }
      })
    )
    assert.deepInclude(recorded, {
      caseId: good,
      title: good,
      file: good,
      testKind: good,
      priority: good,
      files: [good, "fine"]
    })
    assert.deepInclude(recorded.attempts[0], { errorMessage: good, errorStack: good, files: [good] })
    assert.strictEqual(recordTest(report({ title: "whole \u{1F600}" })).title, "whole \u{1F600}")
  })
})

describe("testEntry", () => {
  it("shows the last attempt's duration and the last failed attempt's message", () => {
    const entryOf = (test: RecordedTest) => {
      const { durationMs, errorMessage } = testEntry(test)
      return [durationMs, errorMessage]
    }
    assert.deepStrictEqual(entryOf(recordTest(report())), [10, null])
    assert.deepStrictEqual(entryOf(recordTest(report({ attempt: failed }))), [20, "Expected 200"])
    assert.deepStrictEqual(entryOf(recordTest(report({ attempt: null }))), [0, null])
    assert.deepStrictEqual(entryOf(flaky), [5, "Expected 200"])
  })
})

describe("orderTests", () => {
  it("puts failed first, then flaky, passed and skipped, by title", () => {
    const entry = (title: string, attempt: TestReport["attempt"], file = "a") =>
      testEntry(recordTest(report({ caseId: `${title}${file}`, title, file, attempt })))
    const shuffled = [
      entry("a", null),
      entry("a 10", passed),
      entry("A 2", passed),
      entry("b", passed, "z"),
      entry("b", passed, "y"),
      testEntry({ ...flaky, title: "z" }),
      entry("z", failed),
      entry("é", failed),
      entry("e", failed)
    ]
    assert.deepStrictEqual(
      orderTests(shuffled).map((test) => `${test.status} ${test.title} ${test.file}`),
      [
        "failed e a",
        "failed é a",
        "failed z a",
        "flaky z a.spec.ts",
        "passed A 2 a",
        "passed a 10 a",
        "passed b y",
        "passed b z",
        "skipped a a"
      ]
    )
  })
})

describe("tally", () => {
  it("counts by status and rates what was not skipped", () => {
    assert.deepStrictEqual(tally([...tests(passed, passed, failed, null, null), flaky]), {
      counts: { total: 6, passed: 2, flaky: 1, failed: 1, skipped: 2 },
      passRate: 3 / 4,
      firstAttemptPassRate: 2 / 4
    })
  })

  it("has no rate if no test counts", () => {
    assert.deepStrictEqual(tally([]), emptyTally)
    assert.deepStrictEqual(tally(tests(null, null)), {
      counts: { total: 2, passed: 0, flaky: 0, failed: 0, skipped: 2 },
      passRate: null,
      firstAttemptPassRate: null
    })
  })

  it("has the same first-attempt rate with any retries", () => {
    const before = tally(tests(passed, failed))
    assert.strictEqual(before.firstAttemptPassRate, 0.5)
    const after = tally([...tests(passed), flaky])
    assert.deepStrictEqual([after.passRate, after.firstAttemptPassRate], [1, 0.5])
  })

  it("gives exact rates for all and none", () => {
    assert.strictEqual(tally(tests(passed, passed, passed)).passRate, 1)
    assert.strictEqual(tally(tests(failed, failed)).passRate, 0)
  })
})

describe("outcome", () => {
  const of = (report: Parameters<typeof outcome>[0], ...attempts: ReadonlyArray<TestReport["attempt"]>) => {
    const { error, result, state } = outcome(report, tests(...attempts))
    return [state, result, error]
  }

  it("is failed by a failed test or an error", () => {
    assert.deepStrictEqual(of({ interrupted: false, error: null }, passed, null), ["finished", "passed", null])
    assert.deepStrictEqual(of({ interrupted: false }, passed), ["finished", "passed", null])
    assert.deepStrictEqual(of({ interrupted: false }, passed, failed), ["finished", "failed", null])
    assert.deepStrictEqual(of({ interrupted: false, error: "No server" }, passed), ["finished", "failed", "No server"])
  })

  it("treats a run without tests as an error, unless one was reported", () => {
    assert.deepStrictEqual(of({ interrupted: false }), ["finished", "failed", "No tests ran."])
    assert.deepStrictEqual(of({ interrupted: false, error: "No server" }), ["finished", "failed", "No server"])
    assert.deepStrictEqual(of({ interrupted: false }, null), ["finished", "passed", null])
  })

  it("keeps the beginning of a long error, and of those of shards together", () => {
    const [long, kept] = ["\u{1F680}".repeat(maxRunErrorCharacters + 1), "\u{1F680}".repeat(maxRunErrorCharacters)]
    assert.deepStrictEqual(of({ interrupted: false, error: long }, passed), ["finished", "failed", kept])
    const shards = [1, 2].map((index) => ({ index, interrupted: false, error: recordError("x".repeat(15_000)) }))
    const { error } = outcomeOfShards(shards, tally(tests(passed)))
    assert.strictEqual(error?.length, maxRunErrorCharacters)
    assert.match(error!, /^Shard 1: x{15000}\n\nShard 2: x+$/)
  })

  it("ignores a blank error, and keeps one that cannot be stored", () => {
    assert.deepStrictEqual(of({ interrupted: false, error: " \n" }, passed), ["finished", "passed", null])
    assert.deepStrictEqual(of({ interrupted: false, error: "a\0\uD800" }, passed), [
      "finished",
      "failed",
      "a\uFFFD\uFFFD"
    ])
  })

  it("has no result and no error when interrupted, and counts the tests kept", () => {
    assert.deepStrictEqual(of({ interrupted: true, error: "ignored" }), ["interrupted", null, null])
    assert.deepStrictEqual(outcome({ interrupted: true, error: "ignored" }, tests(passed, failed, null)), {
      state: "interrupted",
      result: null,
      gateResult: null,
      error: null,
      counts: { total: 3, passed: 1, flaky: 0, failed: 1, skipped: 1 },
      passRate: 0.5,
      firstAttemptPassRate: 0.5
    })
  })
})

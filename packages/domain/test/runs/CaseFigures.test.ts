import { assert, describe, it } from "@effect/vitest"
import { caseCursor, readCaseCursor } from "../../src/runs/Case.ts"
import {
  caseFigures,
  type CaseResult,
  caseResult,
  countedFrom,
  dayFigures,
  daysBefore,
  daysFrom,
  nearestRank,
  productMedian,
  ratesOf,
  ratesOfDay,
  slowFrom,
  statesOf
} from "../../src/runs/CaseFigures.ts"
import { runErrors } from "../../src/runs/RunErrors.ts"
import { errorGroupOf } from "../../src/runs/ErrorGroups.ts"

/** What results come to, rule by rule. `packages/server/test/runs/cases` compares histories with a plain model. */

const result = (run: number, status: CaseResult["status"], fields: Partial<CaseResult> = {}): CaseResult => ({
  run,
  status,
  attempts: 1,
  durationMs: 10,
  day: "2026-11-21",
  ...fields
})

describe("days", () => {
  it("are those of UTC: today and the 29 before", () => {
    assert.strictEqual(countedFrom("2026-11-30T00:00:00.000Z"), "2026-11-01")
    assert.strictEqual(countedFrom("2026-11-30T23:59:59.999Z"), "2026-11-01")
    assert.strictEqual(daysBefore("2024-03-01", 1), "2024-02-29")
    assert.strictEqual(daysBefore("2026-12-31", -1), "2027-01-01")
    assert.deepStrictEqual(daysFrom("2026-12-30", "2027-01-02"), [
      "2026-12-30",
      "2026-12-31",
      "2027-01-01",
      "2027-01-02"
    ])
    assert.deepStrictEqual(daysFrom("9999-12-31", "9999-12-31"), ["9999-12-31"])
  })
})

describe("nearestRank", () => {
  it("is the lowest value that so many of 100 are not above", () => {
    for (let count = 1; count <= 400; count++) {
      const values = Array.from({ length: count }, (_, index) => index + 1)
      for (const percent of [50, 95]) {
        const enough = values.find((value) => value * 100 >= percent * count)
        assert.strictEqual(nearestRank(values, percent), enough, `${percent} of ${count}`)
      }
    }
  })
})

describe("caseResult", () => {
  const attempt = (status: "failed" | "passed", durationMs: number, errorMessage: string | null = null) => ({
    number: 1,
    retry: null,
    status,
    durationMs,
    startedAt: "2026-11-21T09:30:10.000Z",
    errorMessage,
    errorStack: null,
    files: []
  })
  const test = {
    caseId: "c",
    title: "t",
    file: "f",
    coverage: "acceptance",
    testKind: "k",
    priority: null,
    files: []
  } as const
  const run = { number: 7, finishedAt: "2026-11-21T23:59:59.999Z" }

  it("has the duration of the last attempt and the text of the last failed one", () => {
    const attempts = [attempt("failed", 5, "first"), attempt("failed", 6, "second"), attempt("passed", 7)]
    assert.deepStrictEqual(caseResult({ ...test, status: "flaky", attempts }, run), {
      run: 7,
      status: "flaky",
      attempts: 3,
      durationMs: 7,
      day: "2026-11-21",
      error: "second"
    })
    assert.strictEqual(caseResult({ ...test, status: "passed", attempts: [attempt("passed", 1)] }, run)?.error, null)
  })

  it("is none of a skipped test", () => {
    assert.isUndefined(caseResult({ ...test, status: "skipped", attempts: [] }, run))
  })
})

describe("caseFigures", () => {
  const since = "2026-11-01"
  it("tells since when a case fails: from the first failure after the last other result", () => {
    const figures = caseFigures(
      [result(9, "failed"), result(8, "failed"), result(7, "flaky"), result(3, "failed")],
      since
    )
    assert.deepInclude(figures, { firstFailure: 3, lastFailure: 9, failingSince: 8, newestFailed: true })
    assert.strictEqual(caseFigures([result(9, "failed"), result(2, "failed")], since).failingSince, 2)
    const passing = caseFigures([result(9, "passed"), result(8, "failed")], since)
    assert.deepInclude(passing, { firstFailure: 8, lastFailure: 8, failingSince: null, newestFailed: false })
    assert.deepInclude(caseFigures([result(1, "passed")], since), { firstFailure: null, lastFailure: null })
  })

  it("counts results of the days that count", () => {
    const figures = caseFigures(
      [
        result(4, "passed"),
        result(3, "flaky", { day: "2026-11-01" }),
        result(2, "flaky", { day: "2026-10-31" }),
        result(1, "failed", { day: "2026-10-31" })
      ],
      since
    )
    assert.deepInclude(figures, { passed: 1, flaky: 1, failed: 0, flakyDay: "2026-11-01" })
    assert.deepStrictEqual(ratesOf(figures), { flakeRate: 0.5, passRate: 1 })
    assert.deepStrictEqual(ratesOf({ passed: 0, flaky: 0, failed: 0 }), { flakeRate: null, passRate: null })
    assert.deepStrictEqual(ratesOf({ passed: 1, flaky: 1, failed: 2 }), { flakeRate: 0.25, passRate: 0.5 })
  })

  it("takes durations of the newest 200 results", () => {
    const many = Array.from({ length: 300 }, (_, index) =>
      result(300 - index, "passed", { durationMs: index < 200 ? index + 1 : 99_999 })
    )
    assert.deepInclude(caseFigures(many, since), { durationP50Ms: 100, durationP95Ms: 190 })
  })
})

describe("statesOf", () => {
  const rule = { since: "2026-11-01", slowFromMs: 10_000 }
  const figures = caseFigures([result(2, "failed", { durationMs: 9_999 }), result(1, "flaky")], rule.since)
  it("are of the newest result, and of what else holds", () => {
    assert.deepStrictEqual(statesOf(figures, rule), ["failing", "flaky"])
    assert.deepStrictEqual(statesOf({ ...figures, newestFailed: false, durationP95Ms: 10_000 }, rule), [
      "passing",
      "flaky",
      "slow"
    ])
    assert.deepStrictEqual(statesOf({ ...figures, flakyDay: "2026-10-31" }, rule), ["failing"])
    assert.deepStrictEqual(statesOf({ ...figures, newestDay: "2026-10-31" }, rule), [])
  })

  it("is slow from 10 seconds and three times the median on", () => {
    assert.strictEqual(slowFrom(null), 10_000)
    assert.strictEqual(slowFrom(3_000), 10_000)
    assert.strictEqual(slowFrom(4_000), 12_000)
    assert.strictEqual(productMedian([]), null)
    assert.strictEqual(productMedian([9, 1, 5, 3]), 3)
  })
})

describe("dayFigures", () => {
  it("takes the tests of all runs together", () => {
    const run = { counted: 2, passed: 1, flaky: 1, passedFirst: 1, durations: [30, 10] }
    const figures = dayFigures([run, { ...run, flaky: 0, durations: [20, 40] }])
    assert.deepStrictEqual(figures, {
      runs: 2,
      counted: 4,
      passed: 2,
      flaky: 1,
      passedFirst: 2,
      durationP50Ms: 20,
      durationP95Ms: 40
    })
    assert.deepStrictEqual(ratesOfDay(figures), { passRate: 0.75, firstAttemptPassRate: 0.5 })
    assert.deepStrictEqual(ratesOfDay(dayFigures([])), { passRate: null, firstAttemptPassRate: null })
    assert.deepInclude(dayFigures([]), { runs: 0, durationP50Ms: null })
  })
})

describe("runErrors", () => {
  const failure = (caseId: string, error: string) => ({
    caseId,
    title: `Title ${caseId}`,
    error,
    errorGroup: errorGroupOf(error)
  })
  it("groups failures, new ones first, then those of more tests", () => {
    const failures = [
      failure("10", "Expected 1"),
      failure("9", "Expected 2"),
      failure("a", "gone"),
      failure("b", "gone"),
      failure("c", "lost"),
      failure("d", "")
    ]
    const known = (caseId: string, error: string) => ({ caseId, errorGroup: errorGroupOf(error) })
    const errors = runErrors(failures, [
      known("9", "Expected 7"),
      known("10", "gone"),
      known("a", "gone"),
      known("b", "gone"),
      { caseId: "c", errorGroup: null }
    ])
    assert.deepStrictEqual(
      errors.map(({ cases, count, message, state }) => [
        message,
        count,
        state,
        cases.map((one) => [one.caseId, one.state])
      ]),
      [
        [
          "Expected 2",
          2,
          "new",
          [
            ["9", "known"],
            ["10", "new"]
          ]
        ],
        ...[
          ["lost", 1, "new", [["c", "new"]]],
          ["", 1, "new", [["d", "new"]]]
        ].toSorted((a, b) => (errorGroupOf(a[0] as string) < errorGroupOf(b[0] as string) ? -1 : 1)),
        [
          "gone",
          2,
          "known",
          [
            ["a", "known"],
            ["b", "known"]
          ]
        ]
      ]
    )
    assert.strictEqual(errors[0]!.id, errorGroupOf("Expected 99"))
    assert.deepStrictEqual(runErrors([], []), [])
  })
})

describe("cursors of cases", () => {
  it("name a place", () => {
    for (const place of [
      { titleKey: "a:b c", caseId: "a/b.spec.ts:1 › é 🚀" },
      { titleKey: "", caseId: "%" }
    ]) {
      assert.deepStrictEqual(readCaseCursor(caseCursor(place)), place)
    }
  })

  it("are not any text", () => {
    for (const text of [
      "",
      ":",
      "a",
      "a:",
      "a:b:c",
      "%:a",
      "a:%ff",
      "a b:c",
      "a:%00",
      "a:%61",
      `a:${"b".repeat(10_000)}`
    ]) {
      assert.isUndefined(readCaseCursor(text), text.slice(0, 20))
    }
  })
})

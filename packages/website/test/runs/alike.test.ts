import type { TestRunSummary } from "@delivery/domain/runs/TestRun"
import { describe, expect, it } from "vitest"
import { alikeOf, typicalMillis } from "../../src/runs/alike.ts"

const run = (number: number, branch: string, fields: Partial<TestRunSummary> = {}): TestRunSummary =>
  ({
    number,
    git: { branch },
    state: "finished",
    error: null,
    coverage: null,
    durationMs: 1_000,
    ...fields
  }) as TestRunSummary

const numbers = (of: TestRunSummary, others: ReadonlyArray<TestRunSummary>) => {
  const { isOfBranch, runs } = alikeOf(of, others)
  return [isOfBranch, runs.map(({ number }) => number)]
}

describe("Runs of the same kind", () => {
  it("are finished ones of its coverage, of its branch where there are enough of them", () => {
    const own = run(20, "main", { state: "running" })
    const ofMain = [run(19, "main"), run(16, "main"), run(12, "main")]
    const others = [run(18, "fix"), run(11, "fix")]
    expect(numbers(own, [own, ...ofMain, ...others])).toEqual([true, [19, 16, 12]])
    expect(numbers(own, [run(19, "main"), ...others])).toEqual([false, [19, 18, 11]])
    // All there are.
    expect(numbers(own, ofMain.slice(0, 1))).toEqual([true, [19]])
    expect(numbers(own, [])).toEqual([true, []])
    const unlike: ReadonlyArray<Partial<TestRunSummary>> = [
      { state: "interrupted" },
      { state: "running" },
      { error: "No tests ran." },
      { coverage: "critical" },
      { durationMs: 0 }
    ]
    expect(
      numbers(
        own,
        unlike.map((fields) => run(19, "main", fields))
      )
    ).toEqual([true, []])
  })

  it("say by their median how long it takes", () => {
    const of = (...millis: ReadonlyArray<number>) => typicalMillis(millis.map((durationMs) => ({ durationMs })))
    expect([of(), of(7), of(9, 1, 4), of(8, 2)]).toEqual([undefined, 7, 4, 5])
  })
})

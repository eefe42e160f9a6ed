import type { Release } from "@delivery/domain/releases/Release"
import type { TestEntry } from "@delivery/domain/runs/TestEntry"
import { describe, expect, it } from "vitest"
import { compareTests, isBetween, releasesBetween } from "../../src/runs/comparison.ts"

const test = (caseId: string, status: TestEntry["status"], durationMs = 1_000) =>
  ({ caseId, status, durationMs }) as TestEntry

const idsOf = (base: ReadonlyArray<TestEntry>, run: ReadonlyArray<TestEntry>) =>
  Object.fromEntries(
    Object.entries(compareTests(base, run)).flatMap(([kind, found]) =>
      found.length === 0 ? [] : [[kind, found.map(({ caseId }) => caseId)]]
    )
  )

describe("Two runs beside each other", () => {
  it("say what fails anew, was fixed, became flaky, and fails still", () => {
    expect(
      idsOf(
        [
          test("a", "passed"),
          test("b", "failed"),
          test("c", "failed"),
          test("d", "passed"),
          test("e", "flaky"),
          test("f", "flaky")
        ],
        [
          test("a", "failed"),
          test("b", "passed"),
          test("c", "failed"),
          test("d", "flaky"),
          test("e", "failed"),
          test("f", "flaky")
        ]
      )
    ).toEqual({ failing: ["a", "e"], fixed: ["b"], stillFailing: ["c"], flaky: ["d"] })
  })

  it("call slower what took half as long again and a second more, most first", () => {
    expect(
      idsOf(
        [
          test("a", "passed", 2_000),
          test("b", "passed", 2_000),
          test("c", "passed", 100),
          test("d", "passed", 1_000),
          test("e", "failed", 1_000)
        ],
        [
          test("a", "passed", 3_000),
          test("b", "passed", 2_999),
          test("c", "passed", 1_000),
          test("d", "passed", 9_000),
          test("e", "failed", 9_000)
        ]
      )
    ).toEqual({ slower: ["d", "a"], stillFailing: ["e"] })
  })

  it("tell apart what ran in one of them alone, where a skipped test did not run", () => {
    expect(
      idsOf(
        [test("a", "passed"), test("b", "skipped"), test("c", "skipped")],
        [test("a", "skipped"), test("b", "passed"), test("d", "failed"), test("c", "skipped")]
      )
    ).toEqual({ added: ["b", "d"], removed: ["a"] })
  })

  it("have the releases between them, whichever is older", () => {
    const releases = [5, 4, 3, 2, 1].map((number) => ({ number }) as Release)
    const numbers = (base: number | null, run: number | null) =>
      releasesBetween(releases, base, run).map(({ number }) => number)
    expect([numbers(2, 4), numbers(4, 2), numbers(3, 3), numbers(null, 4)]).toEqual([[4, 3], [4, 3], [], []])
  })

  it("count what was written after the older one started, up to the start of the newer", () => {
    const [first, second] = ["2026-11-21T09:00:00.000Z", "2026-11-21T10:00:00.000Z"]
    expect(
      [first, "2026-11-21T09:00:00.001Z", second, "2026-11-21T10:00:00.001Z"].map((at) => isBetween(at, second, first))
    ).toEqual([false, true, true, false])
  })
})

import { describe, expect, it } from "vitest"
import { summaryLine } from "../src/Publication.ts"

/** The line in which reporters say what a run came to. */

const run = {
  number: 12,
  url: "https://delivery.example/w/main/test-runs/12",
  state: "finished",
  result: "failed",
  gateResult: "failed",
  counts: { total: 4, passed: 2, flaky: 0, failed: 1, skipped: 1 },
  shards: null
} as const

const counts = "(2 passed, 1 failed, 1 skipped): https://delivery.example/w/main/test-runs/12"

describe("The summary of a run", () => {
  it("says what the gate says where that is something else, and why", () => {
    expect(summaryLine(run)).toBe(`Delivery: run 12 failed ${counts}`)
    expect(summaryLine({ ...run, gateResult: "passed" })).toBe(
      `Delivery: run 12 failed, passed without its muted tests ${counts}`
    )
    expect(summaryLine({ ...run, result: "passed" })).toBe(
      `Delivery: run 12 passed, failed for the gate: what failed passed only on another release or address, or with uncommitted changes ${counts}`
    )
    expect(summaryLine({ ...run, state: "interrupted", result: null, gateResult: null })).toBe(
      `Delivery: run 12 interrupted ${counts}`
    )
  })
})

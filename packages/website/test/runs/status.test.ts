import { describe, expect, it } from "vitest"
import { statusOf } from "../../src/runs/status.ts"

const counts = { total: 2, passed: 1, flaky: 1, failed: 0, skipped: 0 }

describe("What a run came to", () => {
  it("says both where it passed, and failed for the gate: it is among those whose result is passed", () => {
    const finished = { counts, state: "finished" as const }
    expect(statusOf({ ...finished, result: "passed", gateResult: "failed" })).toBe("gateFailed")
    expect(statusOf({ ...finished, result: "failed", gateResult: "failed" })).toBe("failed")
    expect(statusOf({ ...finished, result: "failed", gateResult: "passed" })).toBe("failed")
    expect(statusOf({ ...finished, result: "passed", gateResult: "passed" })).toBe("flaky")
    const states = ["running", "interrupted"] as const
    expect(states.map((state) => statusOf({ counts, state, result: null, gateResult: null }))).toEqual(states)
  })
})

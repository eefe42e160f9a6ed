import { describe, expect, it } from "vitest"
import { countsText } from "../../src/runs/countsText.ts"

describe("The counts of a run in words", () => {
  it("say what is wrong, else what passed and what was skipped", () => {
    const counts = { total: 16, passed: 15, flaky: 0, failed: 0, skipped: 1 }
    expect(countsText(counts)).toBe("15 passed, 1 skipped")
    expect(countsText({ ...counts, total: 15, skipped: 0 })).toBe("15 passed")
    expect(countsText({ ...counts, passed: 12, failed: 2, flaky: 1 })).toBe("2 failed, 1 flaky of 16")
    expect(countsText({ ...counts, total: 4, passed: 0, skipped: 4 })).toBe("0 passed, 4 skipped")
    expect(countsText({ ...counts, total: 0, passed: 0, skipped: 0 })).toBe("no tests")
  })
})

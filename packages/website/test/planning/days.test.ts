import { describe, expect, it } from "vitest"
import { formatDay } from "../../src/planning/days.ts"

describe("The day of a project", () => {
  it("is written as other days are, wherever one is", () => {
    const now = new Date(2026, 10, 29)
    expect(formatDay("2026-12-01", now)).toBe("Dec 1")
    expect(formatDay("2027-03-31", now)).toBe("Mar 31, 2027")
  })
})

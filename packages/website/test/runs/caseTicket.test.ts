import type { Case } from "@delivery/domain/runs/Case"
import { describe, expect, it } from "vitest"
import { caseDescriptionOf, caseTitleOf } from "../../src/runs/caseTicket.ts"

const one = (given: Partial<Case>): Case =>
  ({
    caseId: "pay.spec.ts › pays",
    title: "Checkout ›\n pays",
    file: "pay.spec.ts",
    states: ["failing", "flaky"],
    failingSince: { run: 12 },
    flakeRate: 0.05,
    muted: null,
    ...given
  }) as unknown as Case

const asked = (given: Partial<Case> = {}) => ({
  one: one(given),
  product: { name: "Shop" },
  url: "https://delivery.example.com/w/main/products/shop/cases/pays"
})

describe("A ticket about a test over many runs", () => {
  it("says what the test is called, and why", () => {
    expect(caseTitleOf(asked())).toBe("Failing: Checkout › pays")
    expect(caseDescriptionOf(asked())).toMatch(
      /^\[The results of the test\]\(https:\S+\) of `Shop`\.\n\nTest: `pay\.spec\.ts › pays`\n\n- Failing since run 12\n- Flaky 5\s?% of its results of 30 days$/
    )
  })

  it("names the worst of it, and nothing where there is nothing to say", () => {
    expect(caseTitleOf(asked({ states: ["slow", "flaky"] }))).toBe("Flaky: Checkout › pays")
    expect(caseTitleOf(asked({ states: [] }))).toBe("Test: Checkout › pays")
    expect(caseDescriptionOf(asked({ states: ["muted"] }))).not.toContain("- ")
  })

  it("stays what others wrote, character for character, and is cut between characters", () => {
    expect(caseDescriptionOf(asked({ caseId: "[x](javascript:a) `b`" }))).toContain("Test: `` [x](javascript:a) `b` ``")
    const title = caseTitleOf(asked({ title: "🧪".repeat(200) }))
    expect(title.length).toBeLessThanOrEqual(200)
    expect(title.isWellFormed()).toBe(true)
  })
})

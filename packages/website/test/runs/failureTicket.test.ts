import type { TestEntry } from "@delivery/domain/runs/TestEntry"
import type { TestRun } from "@delivery/domain/runs/TestRun"
import { describe, expect, it } from "vitest"
import { codeBlock, codeSpan } from "../../src/planning/markdown.ts"
import { descriptionOf, titleOf } from "../../src/runs/failureTicket.ts"

const run = (branch: string) =>
  ({
    number: 12,
    product: { slug: "shop", name: "Shop" },
    environment: { slug: "staging", name: "Staging", class: "non-production" },
    git: { branch, sha: "a3f9c1d5e7b20486", dirty: false, subject: "" }
  }) as TestRun

const test = (title: string, errorMessage: string | null) =>
  ({ caseId: "pay.spec.ts › pays", title, attempts: [{ status: "failed", errorMessage }] }) as unknown as TestEntry

const url = "https://delivery.example.com/w/main/test-runs/12/tests/pays"

describe("A ticket of a failing test", () => {
  it("says which test failed where, and what it said", () => {
    const failure = {
      run: run("main"),
      test: test("Checkout ›\n pays", "Expected \u001b[31m200\u001b[0m, got 500"),
      url
    }
    expect(titleOf(failure)).toBe("Failing: Checkout › pays")
    expect(descriptionOf(failure)).toBe(
      `[Run 12](${url}) of \`Shop\` in \`Staging\`, branch \`main\`, commit \`a3f9c1d\`.\n\n` +
        "Test: `pay.spec.ts › pays`\n\n```text\nExpected 200, got 500\n```"
    )
  })

  it("says nothing of a branch or an error that is not there, and cuts what is long between characters", () => {
    const failure = { run: run(""), test: test("🧪".repeat(200), null), url }
    expect(descriptionOf(failure)).not.toContain("branch")
    expect(descriptionOf(failure)).not.toContain("```")
    const title = titleOf(failure)
    expect(title.length).toBeLessThanOrEqual(200)
    expect(title.isWellFormed()).toBe(true)
    expect(descriptionOf({ ...failure, test: test("pays", "x".repeat(50_000)) }).length).toBeLessThan(5_000)
  })

  it("holds what others wrote in code that it cannot end", () => {
    expect(codeSpan("a `b`")).toBe("`` a `b` ``")
    expect(codeSpan("[@Ana](user:1)\n\n# Heading")).toBe("`[@Ana](user:1) # Heading`")
    expect(codeBlock("```\n[@Ana](user:1)")).toBe("````text\n```\n[@Ana](user:1)\n````")
    expect(descriptionOf({ run: run("a\u202eb"), test: test("pays", "\u202e"), url })).not.toContain("\u202e")
  })
})

import { describe, expect, it } from "vitest"
import { failureLines } from "../../src/runs/failureLines.ts"

/** A failure in one line: what it says, and what one came for. */

describe("A failure in one line", () => {
  it("says what Playwright expected and received", () => {
    const text =
      "\u001b[31mError: expect(received).toBe(expected) // Object.is equality\u001b[0m\n\nExpected: \u001b[32m2\u001b[39m\nReceived: 1\n\n    at tests/cart.spec.ts:7:3"
    expect(failureLines(text)).toEqual({
      first: "Error: expect(received).toBe(expected)",
      details: "Expected: 2 · Received: 1"
    })
    const locator =
      'Error: expect(locator).toHaveText(expected) failed\n\nLocator:  getByRole(\'heading\')\nExpected: "Paid"\nReceived: "Open"\nTimeout:  5000ms\n\nCall log:\n  - Expected: something else'
    expect(failureLines(locator).details).toBe('Locator: getByRole(\'heading\') · Expected: "Paid" · Received: "Open"')
    expect(failureLines('Error: toContain\n\nExpected substring: "a"\nReceived string:    "b"').details).toBe(
      'Expected substring: "a" · Received string: "b"'
    )
  })

  it("says what differs, without the legend", () => {
    const text =
      'AssertionError: expected { a: 1 } to deeply equal { a: 2 }\n\n- Expected\n+ Received\n\n  {\n-   "a": 2,\n+   "a": 1,\n  }'
    expect(failureLines(text).details).toBe('- "a": 2, · + "a": 1,')
  })

  it("says the next line where nothing is labelled, but no stack, log or source", () => {
    expect(failureLines("\n\nExpected values to be strictly equal:\n\n1 !== 2\n\n    at x").details).toBe("1 !== 2")
    expect(failureLines("Error: gone\n    at file.ts:1:1")).toEqual({ first: "Error: gone", details: "" })
    expect(failureLines("TimeoutError: page.click\nCall log:\n  - waiting").details).toBe("")
    expect(failureLines("Error: gone\n\n  5 | const a\n> 6 | expect(a)").details).toBe("")
    expect(failureLines("")).toEqual({ first: "", details: "" })
    expect(failureLines(`Expected: 1\n${"Received: x".padEnd(100_000, "y")}`).details.length).toBe(300)
  })
})

import { describe, expect, it } from "vitest"
import { beginningsOf, narrowed } from "../../src/app/foundCases.ts"

const cases = [
  { caseId: "checkout.spec.ts:pays-by-card", file: "checkout.spec.ts", title: "Checkout › pays by card" },
  { caseId: "basket.spec.ts:adds", file: "basket.spec.ts", title: "Basket › adds" }
]
const whole = { cases, isWhole: true, at: 1_000 }
const ids = (q: string) => narrowed(whole, q, 1_000)?.cases.map(({ caseId }) => caseId)

describe("Tests that the palette has found", () => {
  it("answer what begins as they were asked for, by title, file and id, whatever the case", () => {
    expect(ids("PAYS BY")).toEqual(["checkout.spec.ts:pays-by-card"])
    expect(ids("spec.ts")).toHaveLength(2)
    expect(ids("pays-by")).toHaveLength(1)
    expect(ids("nothing")).toEqual([])
  })

  it("do not where there are more of them, or where they are old", () => {
    expect(narrowed({ ...whole, isWhole: false }, "pays", 1_000)).toBeUndefined()
    expect(narrowed(whole, "pays", 61_001)).toBeUndefined()
    expect(narrowed(undefined, "pays", 1_000)).toBeUndefined()
    // What was found among them is no younger than they are.
    expect(narrowed(whole, "pays", 61_000)?.at).toBe(1_000)
  })

  it("are looked for by the longest beginning first", () => {
    expect(beginningsOf("pays", 2)).toEqual(["pay", "pa"])
    expect(beginningsOf("pa", 2)).toEqual([])
    expect(beginningsOf("p", 2)).toEqual([])
  })
})

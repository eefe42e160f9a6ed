import { Schema } from "effect"
import { assert, describe, it } from "vitest"
import { CreateTestRule } from "../../src/flow/TestRule.ts"
import { CreateTicket, UpdateTicket } from "../../src/planning/Ticket.ts"

/** The bounds of what rules and tickets that need evidence take (docs/contract.md, Test rules and Evidence). */

const rule = { product: "shop", when: { failures: 1 }, team: "ENG" }
const takesRule = Schema.is(CreateTestRule)

const within = (
  takes: (value: number) => boolean,
  { maximum, minimum }: { readonly minimum: number; readonly maximum: number }
): void => {
  for (const value of [minimum, maximum]) assert.isTrue(takes(value), String(value))
  for (const value of [minimum - 1, maximum + 1, minimum + 0.5]) assert.isFalse(takes(value), String(value))
}

describe("Test rules take", () => {
  it("1 to 10 failures", () => {
    within((failures) => takesRule({ ...rule, when: { failures } }), { minimum: 1, maximum: 10 })
  })

  it("of at most the last 20 runs, and no fewer than the failures", () => {
    within((ofLast) => takesRule({ ...rule, when: { failures: 3, ofLast } }), { minimum: 3, maximum: 20 })
  })

  it("1 to 20 passes that complete a ticket", () => {
    within((closeAfter) => takesRule({ ...rule, closeAfter }), { minimum: 1, maximum: 20 })
  })

  it("1 to 5,000 tests from which on they share a ticket", () => {
    within((above) => takesRule({ ...rule, above }), { minimum: 1, maximum: 5_000 })
  })
})

describe("Tickets take", () => {
  it("1 to 10 passes as evidence", () => {
    within((passes) => Schema.is(CreateTicket)({ team: "ENG", title: "Mend it", passes }), { minimum: 1, maximum: 10 })
    within((passes) => Schema.is(UpdateTicket)({ passes }), { minimum: 1, maximum: 10 })
  })

  it("an override beside what may ask for evidence alone", () => {
    const takes = Schema.is(UpdateTicket)
    const status = "0197a1b2-0000-7000-8000-0000000000f1"
    assert.isTrue(takes({ status, override: "Checked by hand." }))
    assert.isFalse(takes({ override: "Checked by hand." }))
    assert.isFalse(takes({ title: "Pay", override: "Checked by hand." }))
    for (const more of [{ passes: 2 }, { completion: "evidence" }, { cases: { product: "shop", caseIds: ["a"] } }]) {
      assert.isTrue(takes({ ...more, override: "Checked by hand." }))
    }
    assert.isFalse(takes({ status, override: "" }))
  })
})

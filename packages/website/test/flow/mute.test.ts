import type { ListedMute } from "@delivery/domain/flow/Mute"
import { describe, expect, it } from "vitest"
import { alreadyMuted, extendedOf, momentOf, ticketOfAll } from "../../src/flow/mute.ts"

/** What an open dialog makes of a mute that others change meanwhile. */

const mute = (fields: Partial<ListedMute> = {}): ListedMute => ({
  ticket: { id: "one" as never, identifier: "ENG-1", title: "Mend it", owner: null },
  product: "shop",
  cases: ["a"],
  tests: [],
  until: "2026-12-03T10:00:00.000Z",
  overdue: false,
  ...fields
})

describe("A mute that goes on", () => {
  it("is what it is now: its tests and its end", () => {
    const now = mute({ cases: ["a", "b"], until: "2026-12-28T10:00:00.000Z" })
    const other = mute({ ticket: { id: "two" as never, identifier: "ENG-2", title: "Other", owner: null } })
    expect(extendedOf([other, now], mute())).toEqual({ mute: now, cases: ["a", "b"], current: now })
  })

  it("is nothing any more where somebody has ended it", () => {
    expect(extendedOf([], mute())).toEqual({ mute: mute(), cases: ["a"], current: undefined })
  })

  it("is over where its time has passed meanwhile", () => {
    const late = mute({ overdue: true })
    expect(extendedOf([late], mute())).toEqual({ mute: late, cases: ["a"], current: undefined })
  })

  it("that is overdue keeps what its ticket mutes beside it, unless that is of another product", () => {
    const late = mute({ overdue: true })
    const now = mute({ cases: ["b"] })
    expect(extendedOf([late, now], late)).toEqual({ mute: late, cases: ["a", "b"], current: now })
    const elsewhere = mute({ cases: ["b"], product: "billing" })
    expect(extendedOf([late, elsewhere], late).cases).toEqual(["a"])
  })

  it("that is overdue goes on from what somebody else has muted anew", () => {
    const now = mute({ until: "2026-12-28T10:00:00.000Z" })
    expect(extendedOf([now], mute({ overdue: true }))).toEqual({ mute: now, cases: ["a"], current: now })
  })
})

describe("What mutes tests already", () => {
  it("is each other ticket that mutes them now, once", () => {
    const now = Date.parse("2026-12-01T10:00:00.000Z")
    const other = (identifier: string, fields: Partial<ListedMute> = {}) =>
      mute({ ticket: { id: identifier as never, identifier, title: "Other", owner: null }, ...fields })
    const end = momentOf(mute().until)
    expect(alreadyMuted([mute(), other("ENG-2"), other("ENG-3", { cases: ["b"] })], ["a"], "ENG-1", now)).toEqual([
      `ENG-2 mutes the test until ${end}`
    ])
    expect(
      alreadyMuted([mute({ ticket: null, cases: ["a", "b"] }), other("ENG-2")], ["a", "b"], undefined, now)
    ).toEqual([`a ticket of a private team mutes them until ${end}`, `ENG-2 mutes 1 of them until ${end}`])
    expect(alreadyMuted([other("ENG-2", { overdue: true })], ["a"], undefined, now)).toEqual([])
    expect(alreadyMuted([other("ENG-2")], ["a"], undefined, Date.parse(mute().until))).toEqual([])
  })
})

it("A ticket is offered for several tests only where it is the one of all", () => {
  const [one, two] = [{ identifier: "ENG-1" }, { identifier: "ENG-2" }]
  expect(ticketOfAll([one])).toBe(one)
  expect(ticketOfAll([one, one])).toBe(one)
  expect([[one, two], [one, null], [null, one], [null], []].map(ticketOfAll)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    undefined
  ])
})

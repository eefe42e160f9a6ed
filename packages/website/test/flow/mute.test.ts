import type { ListedMute } from "@delivery/domain/flow/Mute"
import { describe, expect, it } from "vitest"
import { extendedOf } from "../../src/flow/mute.ts"

/** What an open dialog makes of a mute that others change meanwhile. */

const mute = (fields: Partial<ListedMute> = {}): ListedMute => ({
  ticket: { id: "one" as never, identifier: "ENG-1", title: "Mend it" },
  product: "shop",
  cases: ["a"],
  until: "2026-12-03T10:00:00.000Z",
  overdue: false,
  ...fields
})

describe("A mute that goes on", () => {
  it("is what it is now: its tests and its end", () => {
    const now = mute({ cases: ["a", "b"], until: "2026-12-28T10:00:00.000Z" })
    const other = mute({ ticket: { id: "two" as never, identifier: "ENG-2", title: "Other" } })
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

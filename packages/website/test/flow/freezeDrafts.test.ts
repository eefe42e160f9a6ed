import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type FreezeDraft, freezeDraft, hintOf, issuesOf, missingOf, windowOf } from "../../src/flow/freezeDrafts.ts"

const zone = process.env["TZ"]

beforeAll(() => {
  process.env["TZ"] = "Europe/Berlin"
})

afterAll(() => {
  if (zone === undefined) delete process.env["TZ"]
  else process.env["TZ"] = zone
})

const typed = (from: string, to: string, reason = "Night"): FreezeDraft => ({ key: 1, of: undefined, from, to, reason })

describe("A freeze window that is typed", () => {
  it("is told by its name where its time does not exist, since the clocks go forward", () => {
    const draft = typed("2027-03-28T02:10", "2027-03-28T03:00")
    expect(issuesOf(draft)).toEqual({ from: "There is no such time: the clocks go forward over it", to: undefined })
    expect(missingOf([draft])).toEqual(["a time of the window Night that exists"])
    expect(missingOf([typed("2027-03-28T01:10", "2027-03-28T03:00")])).toEqual([])
    expect(missingOf([typed("2027-03-28T01:10", "2027-03-28T02:00")])).toEqual([
      "a time of the window Night that exists"
    ])
  })

  it("is told by its name where it ends before it begins", () => {
    const draft = typed("2027-05-02T10:00", "2027-05-01T10:00")
    expect(issuesOf(draft)).toEqual({ from: undefined, to: "Must be later than From" })
    expect(missingOf([draft])).toEqual(["an end after the beginning of the window Night"])
    expect(missingOf([typed("2027-05-02T10:00", "2027-05-02T10:00", " ")])).toEqual([
      "an end after the beginning of a window",
      "the reason of a window"
    ])
  })

  it("says which of two times it is where the clocks go back", () => {
    const draft = typed("2027-10-31T02:30", "2027-10-31T03:30")
    expect(hintOf(draft, "from")).toBe("The clocks go back, and it comes twice: this is the first (UTC+02:00)")
    expect(hintOf(draft, "to")).toBeUndefined()
    // What is not touched stays the second.
    const window = { from: "2027-10-31T00:30:00.000Z", to: "2027-10-31T01:30:00.000Z", reason: "Night" }
    const kept = freezeDraft(window)
    expect([kept.from, kept.to]).toEqual(["2027-10-31T02:30", "2027-10-31T02:30"])
    expect(hintOf(kept, "from")).toMatch(/first \(UTC\+02:00\)$/)
    expect(hintOf(kept, "to")).toMatch(/second \(UTC\+01:00\)$/)
    expect([windowOf(kept), missingOf([kept]), issuesOf(kept).to]).toEqual([window, [], undefined])
  })
})

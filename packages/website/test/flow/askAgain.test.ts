import { describe, expect, it } from "vitest"
import { askAgainIn, askMutesIn } from "../../src/flow/askAgain.ts"

describe("When readiness is asked again", () => {
  const at = "2026-12-01T10:00:00.000Z"
  const readAt = Date.parse("2026-12-01T12:34:00.000Z")

  it("is a little after the next window begins or ends, whatever the clock of the browser says", () => {
    const soon = { at, changesAt: "2026-12-01T10:00:20.000Z" }
    expect([0, 5_000, 19_999, 60_000].map((later) => askAgainIn(soon, readAt, readAt + later))).toEqual([
      20_500, 15_500, 501, 500
    ])
  })

  it("is never where nothing is to come, and not in more than timers wait", () => {
    expect(askAgainIn({ at, changesAt: null }, readAt, readAt)).toBe(false)
    expect(askAgainIn({ at, changesAt: "2099-01-01T00:00:00.000Z" }, readAt, readAt)).toBe(6 * 60 * 60_000)
  })
})

describe("When mutes are asked again", () => {
  const now = Date.parse("2026-12-01T10:00:00.000Z")
  const until = (seconds: number, overdue = false) => ({
    until: new Date(now + seconds * 1_000).toISOString(),
    overdue
  })

  it("is a little after the next of them runs out, and not in more than timers wait", () => {
    expect(askMutesIn([until(60), until(20), until(-60, true)], now)).toBe(20_500)
    expect(askMutesIn([until(90 * 24 * 60 * 60)], now)).toBe(6 * 60 * 60_000)
  })

  it("is now and then while the server does not say yet that one is over, and never where all are", () => {
    expect(askMutesIn([until(-1), until(20)], now)).toBe(5_000)
    expect(askMutesIn([until(-60, true)], now)).toBe(false)
    expect(askMutesIn([], now)).toBe(false)
  })
})

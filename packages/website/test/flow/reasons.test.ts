import { describe, expect, it } from "vitest"
import { markOf, told, readyWords } from "../../src/flow/reasons.ts"

const reason = (
  kind: "ticket_blocks" | "drift" | "run_missing" | "mute_overdue" | "version_missing",
  severity: "block" | "warn"
) => ({
  kind,
  severity,
  subject: null,
  message: kind
})

describe("What is ready", () => {
  it("is so by a run, or is said to be so without one, also where something warns", () => {
    const warned = [reason("drift", "warn")]
    expect(readyWords({ reasons: [], requires: ["critical"] })).toBe("ready")
    expect(readyWords({ reasons: [], requires: [] })).toBe("ready: no run is required")
    expect(readyWords({ reasons: warned, requires: ["critical"] })).toBe("ready, with 1\u00a0warning")
    expect(readyWords({ reasons: warned, requires: [] })).toBe("ready, with 1\u00a0warning: no run is required")
  })
})

describe("The mark of a deployment", () => {
  it("says drift and warnings beside what blocks", () => {
    const reasons = [reason("run_missing", "block"), reason("mute_overdue", "warn"), reason("drift", "warn")]
    const texts = [reasons, reasons.slice(1), reasons.slice(0, 1), []].map((some) =>
      markOf({ reasons: some, version: "v1" }, "v0")?.text.replaceAll("\u00a0", " ")
    )
    expect(texts).toEqual([
      "not ready: 1 reason, 1 secret changed, 1 warning",
      "1 secret changed, 1 warning",
      "not ready: 1 reason",
      undefined
    ])
  })

  it("does not call what runs there already not ready for tickets alone", () => {
    const tickets = [reason("ticket_blocks", "block"), reason("drift", "warn")]
    const mark = markOf({ reasons: tickets, version: "v1" }, "v1")
    expect([mark?.tone, mark?.text.replaceAll("\u00a0", " ")]).toEqual([
      "text-warning",
      "1 ticket blocks, 1 secret changed"
    ])
    expect(markOf({ reasons: tickets, version: "v2" }, "v1")?.tone).toBe("text-danger")
    const untested = [...tickets, reason("run_missing", "block")]
    expect(markOf({ reasons: untested, version: "v1" }, "v1")?.tone).toBe("text-danger")
  })
})

describe("The mark of a deployment whose source has no version", () => {
  it("says so, and does not call what runs there not ready for that", () => {
    const without = reason("version_missing", "block")
    const more = [without, reason("ticket_blocks", "block"), reason("drift", "warn")]
    const marks = [[without], more, [without, reason("run_missing", "block")]].map((reasons) =>
      markOf({ reasons, version: "v1" }, "v1")
    )
    expect(marks.map((mark) => [mark?.tone, mark?.text.replaceAll("\u00a0", " ")])).toEqual([
      ["text-warning", "no next version"],
      ["text-warning", "no next version, 1 ticket blocks, 1 secret changed"],
      ["text-danger", "not ready: 2 reasons"]
    ])
  })
})

describe("The sentence of a reason", () => {
  it("has times as the reader has them, and a short version", () => {
    const moment = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" })
    const end = moment.format(new Date("2027-01-02T00:00Z"))
    const sha = "9fceb02d0ae598e95dc970b74767f19372d61af8"
    expect(told(`Nothing goes out before 2027-01-02 00:00 UTC: ${sha}`, sha)).toBe(
      `Nothing goes out before ${end}: 9fceb02`
    )
    expect(told("2027-99-02 00:00 UTC", null)).toBe("2027-99-02 00:00 UTC")
  })
})

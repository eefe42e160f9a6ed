import type { ReadinessPolicy } from "@delivery/domain/flow/ReadinessPolicy"
import { describe, expect, it } from "vitest"
import { mergePolicies } from "../src/flow/mergePolicies.ts"

const window = (reason: string) => ({ from: "2026-12-01T00:00:00.000Z", to: "2026-12-02T00:00:00.000Z", reason })

const base: ReadinessPolicy = {
  from: "staging",
  requires: [{ coverage: "critical", severity: "block" }],
  tickets: "block",
  secrets: "warn",
  drift: "warn",
  mutes: "warn",
  freezes: [window("Holidays"), window("Audit")]
}

describe("mergePolicies", () => {
  it("keeps what others changed, field by field", () => {
    const mine = { ...base, mutes: "off" as const }
    const theirs = { ...base, secrets: "block" as const, from: null, freezes: [...base.freezes, window("Cyber week")] }
    expect(mergePolicies(base, mine, theirs)).toEqual({ ...theirs, mutes: "off" })
    expect(mergePolicies(base, base, theirs)).toEqual(theirs)
    expect(mergePolicies(base, mine, base)).toEqual(mine)
  })

  it("adds and removes windows and required runs, and leaves the others", () => {
    const mine: ReadinessPolicy = {
      ...base,
      requires: [{ coverage: "regression", severity: "warn" }],
      freezes: [window("Holidays"), window("Mine")]
    }
    const theirs: ReadinessPolicy = {
      ...base,
      requires: [...base.requires, { coverage: "acceptance", severity: "block" }],
      freezes: [window("Audit"), window("Theirs"), window("Mine")]
    }
    const merged = mergePolicies(base, mine, theirs)
    expect(merged.freezes.map(({ reason }) => reason)).toEqual(["Theirs", "Mine"])
    expect(merged.requires).toEqual([
      { coverage: "acceptance", severity: "block" },
      { coverage: "regression", severity: "warn" }
    ])
  })
})

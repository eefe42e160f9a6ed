import type { ReadinessPolicy } from "@delivery/domain/flow/ReadinessPolicy"
import { describe, expect, it } from "vitest"
import { mergePolicies, type MyPolicy, policyClashes } from "../../src/flow/policyChanges.ts"

type Window = ReadinessPolicy["freezes"][number]

const window = (reason: string, day = 1): Window => ({
  from: `2026-12-0${day}T00:00:00.000Z`,
  to: `2026-12-0${day + 1}T00:00:00.000Z`,
  reason
})

const [holidays, audit] = [window("Holidays"), window("Audit", 4)]

const base: ReadinessPolicy = {
  from: "staging",
  requires: [{ coverage: "critical", severity: "block" }],
  tickets: "block",
  secrets: "warn",
  drift: "off",
  mutes: "warn",
  freezes: [holidays, audit]
}

/** A policy as the dialog has it filled in: the windows that were left, changed and added. */
const filled = (
  change: Partial<ReadinessPolicy> = {},
  freezes: MyPolicy["freezes"] = base.freezes.map((one) => ({ of: one, window: one }))
): MyPolicy => ({ ...base, ...change, freezes })

const left = (one: Window) => ({ of: one, window: one })

describe("mergePolicies", () => {
  it("keeps what others changed, field by field", () => {
    const theirs = {
      ...base,
      secrets: "block" as const,
      from: null,
      freezes: [...base.freezes, window("Cyber week", 7)]
    }
    expect(mergePolicies(base, filled({ mutes: "off" }), theirs)).toEqual({ ...theirs, mutes: "off" })
    expect(mergePolicies(base, filled(), theirs)).toEqual(theirs)
    expect(mergePolicies(base, filled({ mutes: "off" }), base)).toEqual({ ...base, mutes: "off" })
    expect(policyClashes(base, filled({ mutes: "off" }), theirs)).toEqual([])
  })

  it("adds and removes windows and required runs, and leaves the others", () => {
    const mine = filled({ requires: [{ coverage: "regression", severity: "warn" }] }, [
      left(holidays),
      { of: undefined, window: window("Mine", 7) }
    ])
    const theirs: ReadinessPolicy = {
      ...base,
      requires: [...base.requires, { coverage: "acceptance", severity: "block" }],
      freezes: [audit, window("Theirs", 6), window("Mine", 7)]
    }
    const merged = mergePolicies(base, mine, theirs)
    expect(merged.freezes.map(({ reason }) => reason)).toEqual(["Theirs", "Mine"])
    expect(merged.requires).toEqual([
      { coverage: "acceptance", severity: "block" },
      { coverage: "regression", severity: "warn" }
    ])
    expect(policyClashes(base, mine, theirs)).toEqual([])
  })
})

describe("policyClashes", () => {
  it("tells of a field that both have set, what it is now", () => {
    const theirs = { ...base, drift: "block" as const, requires: [], from: null }
    const mine = filled({ drift: "warn", requires: [{ coverage: "critical", severity: "warn" }], from: "test" })
    expect(policyClashes(base, mine, theirs)).toEqual([
      "versions come from nowhere in particular",
      "critical is “Not required”",
      "Drift of secrets is “Block”"
    ])
    expect(mergePolicies(base, mine, theirs)).toEqual({ ...base, drift: "warn", requires: mine.requires, from: "test" })
    expect(policyClashes(base, filled({ drift: "block" }), theirs)).toEqual([])
  })

  it("tells of a window that one removes and the other renames", () => {
    const renamed = { ...holidays, reason: "Winter" }
    const theirs = { ...base, freezes: [renamed, audit] }
    const removed = filled({}, [left(audit)])
    expect(policyClashes(base, removed, theirs)).toEqual([
      expect.stringMatching(/^the window Holidays is now Winter, Dec .+ to Dec .+$/)
    ])
    expect(mergePolicies(base, removed, theirs).freezes).toEqual([audit])
    // Removed, and another one put in its place.
    const other = { ...base, freezes: [window("Something else", 6), audit] }
    expect(policyClashes(base, removed, other)).toEqual(["the window Holidays was removed"])
    expect(policyClashes(base, removed, { ...base, freezes: [audit] })).toEqual([])
  })

  it("tells of a window whose end both move, which stands there once", () => {
    const [longer, shorter] = [
      { ...holidays, to: "2026-12-05T00:00:00.000Z" },
      { ...holidays, to: "2026-12-01T06:00:00.000Z" }
    ]
    const theirs = { ...base, freezes: [longer, audit] }
    const mine = filled({}, [{ of: holidays, window: shorter }, left(audit)])
    expect(policyClashes(base, mine, theirs)).toEqual([expect.stringMatching(/^the window Holidays is now Holidays, /)])
    expect(mergePolicies(base, mine, theirs).freezes).toEqual([audit, shorter])
    expect(policyClashes(base, filled({}, [{ of: holidays, window: longer }, left(audit)]), theirs)).toEqual([])
    expect(mergePolicies(base, mine, { ...base, freezes: [audit] }).freezes).toEqual([audit, shorter])
    expect(policyClashes(base, mine, { ...base, freezes: [audit] })).toEqual(["the window Holidays was removed"])
  })

  it("tells of a window that both have added, which stands there once", () => {
    const [theirOne, myOne] = [window("Cyber week", 7), { ...window("Cyber week", 7), to: "2026-12-09T00:00:00.000Z" }]
    const theirs = { ...base, freezes: [...base.freezes, theirOne] }
    const mine = filled({}, [...base.freezes.map(left), { of: undefined, window: myOne }])
    expect(policyClashes(base, mine, theirs)).toEqual([expect.stringMatching(/^the window Cyber week was added: /)])
    expect(mergePolicies(base, mine, theirs).freezes).toEqual([...base.freezes, myOne])
  })
})

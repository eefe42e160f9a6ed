import type { TestRule } from "@delivery/domain/flow/TestRule"
import { describe, expect, it } from "vitest"
import { changesOf, clashesOf, type RulePayload } from "../../src/flow/ruleChanges.ts"
import { matchOf } from "../../src/flow/ruleMatch.ts"

const mine: RulePayload = {
  product: "shop",
  environment: null,
  branch: "main",
  coverage: null,
  when: { failures: 2, ofLast: 3 },
  team: "WEB",
  project: null,
  owner: null,
  ask: null,
  above: 10,
  closeAfter: 3,
  completion: "free"
}
const first = { ...mine, id: "rule" } as unknown as TestRule

describe("A rule that two change", () => {
  it("is changed by each in what each has changed", () => {
    expect(changesOf(first, mine)).toEqual({})
    expect(changesOf(first, { ...mine, closeAfter: 9 })).toEqual({ closeAfter: 9 })
    const when = { failures: 1, ofLast: 3 }
    expect(changesOf(first, { ...mine, branch: null, when })).toEqual({ branch: null, when })
  })

  it("tells what both have changed to something else", () => {
    const theirs = { ...first, branch: "release", above: 2, when: { failures: 2, ofLast: 5 } }
    expect(
      clashesOf(first, theirs, { ...mine, branch: "release", above: 2, when: theirs.when, closeAfter: 9 })
    ).toEqual([])
    expect(clashesOf(first, theirs, { ...mine, branch: "next", above: 2, when: { failures: 1, ofLast: 3 } })).toEqual([
      "branch",
      "number of failures"
    ])
  })
})

describe("A rule that no run is one for", () => {
  const deployed = "https://shop.example.com"
  const run = (branch: string, baseUrl = deployed) => ({
    baseUrl,
    deploymentBaseUrl: deployed,
    coverage: null,
    git: { branch }
  })
  const rule = { branch: "main", coverage: null }

  it("says so, and nothing where one is", () => {
    expect(matchOf(rule, { runs: [run("maintain"), run("main")], nextCursor: null })).toBeUndefined()
    expect(matchOf({ ...rule, branch: null }, { runs: [run("x")], nextCursor: null })).toBeUndefined()
    const said = "No run so far is one that it is for."
    expect(matchOf(rule, { runs: [], nextCursor: null })).toBe(said)
    expect(matchOf(rule, { runs: [run("maintain"), run("Main")], nextCursor: null })).toBe(said)
    expect(matchOf(rule, { runs: [run("main", "https://preview.example.com")], nextCursor: null })).toBe(said)
    expect(matchOf({ ...rule, coverage: "critical" }, { runs: [run("main")], nextCursor: 7 })).toMatch(/newest 1.run/)
  })
})

import { describe, expect, it } from "vitest"
import { sentenceOf } from "../../src/flow/words.ts"

const said = {
  above: 10,
  ask: null,
  branch: null,
  closeAfter: 3,
  completion: "free",
  coverage: null,
  when: { failures: 1, ofLast: 1 }
} as const

const names = {
  product: "Shop",
  environment: null,
  team: "Web",
  project: null,
  owner: "a revoked agent",
  isOwnerRevoked: true
}

describe("the sentence of a rule", () => {
  it("says that nobody owns its tickets where its agent was revoked", () => {
    expect(sentenceOf(said, names, false)).toBe(
      "When a test fails in a run of Shop, make a ticket in team Web, which nobody owns, as its agent was revoked."
    )
    expect(sentenceOf(said, { ...names, owner: "Ana", isOwnerRevoked: false }, false)).toBe(
      "When a test fails in a run of Shop, make a ticket in team Web, and give it to Ana."
    )
  })
})

import { assert, describe, it } from "vitest"
import { isFinding, notApplicable, reasonOf, runConformance } from "./McpConformance.ts"

/** MCP's own conformance suite, in every revision that the service speaks; `pnpm conformance` prints what it finds. */

describe("MCP's conformance suite", () => {
  it("fails only checks of features that the service does not offer", async () => {
    const results = [...(await runConformance())]
    const findings = results.flatMap(([revision, checks]) =>
      checks.filter(isFinding).map((check) => ({ ...check, revision }))
    )
    assert.deepStrictEqual(
      findings.filter((check) => reasonOf(check) === undefined),
      []
    )
    // Every listed check still fails, and the numbers of passed checks show that the suite did not test an empty server.
    const missed = new Set(findings.map(({ id }) => id))
    assert.deepStrictEqual(
      notApplicable.flatMap(({ checks }) => checks).filter((id) => !missed.has(id)),
      []
    )
    const passed = results.map(([, checks]) => checks.filter(({ status }) => status === "SUCCESS").length)
    assert.deepStrictEqual(passed, [3, 36, 43, 89])
  })
})

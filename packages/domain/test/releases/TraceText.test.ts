import { type TracedPlace, traceText } from "@delivery/domain/releases/TraceText"
import { assert, describe, it } from "@effect/vitest"

const place = (environment: string, origin: number | null, ...releases: ReadonlyArray<readonly [number, string]>) =>
  ({
    product: "shop",
    environment,
    class: environment === "production" ? "production" : "non-production",
    origin,
    releases: releases.map(([number, day]) => ({ number, at: `${day}T23:59:59.999Z` }))
  }) satisfies TracedPlace

const run = (number: number, result: "passed" | "failed" | null, product = "shop") => ({ number, product, result })

describe("the text of a trace", () => {
  it("says where the ticket is, what tested it, and where it is not", () => {
    const staging = place("staging", 2, [2, "2026-11-24"])
    assert.strictEqual(
      traceText("ENG-12", [staging, place("production", 1)], [run(13, null), run(12, "passed"), run(11, "failed")]),
      "In staging since 2026-11-24, tested by run 12, not in production."
    )
    assert.strictEqual(
      traceText("ENG-12", [place("production", null), place("ci", null), staging], [run(12, "failed")]),
      "In staging since 2026-11-24, run 12 failed, not in production."
    )
    assert.strictEqual(
      traceText("ENG-12", [staging, place("production", 7, [7, "2026-11-26"])], []),
      "In production since 2026-11-26 and in staging since 2026-11-24."
    )
  })

  it("takes later versions to contain it, until it is rolled back to before it", () => {
    const releases = [
      [2, "2026-11-24"],
      [4, "2026-11-25"]
    ] as const
    assert.strictEqual(traceText("A-1", [place("staging", 5, ...releases)], []), "In staging since 2026-11-25.")
    assert.strictEqual(
      traceText("A-1", [place("staging", 1, ...releases)], []),
      "In no environment, no longer in staging."
    )
    assert.strictEqual(
      traceText("A-1", [place("staging", null, ...releases)], [run(3, "passed")]),
      "In no environment, tested by run 3, no longer in staging."
    )
  })

  it("has a part for each product, and says where no commit names the ticket", () => {
    const api = { ...place("staging", 1, [1, "2026-11-20"]), product: "api" }
    assert.strictEqual(
      traceText("A-1", [place("staging", 2, [2, "2026-11-24"]), api], [run(9, "passed", "api")]),
      "api: in staging since 2026-11-20, tested by run 9; shop: in staging since 2026-11-24."
    )
    assert.strictEqual(traceText("ENG-12", [], []), "No release contains a commit that names ENG-12.")
  })
})

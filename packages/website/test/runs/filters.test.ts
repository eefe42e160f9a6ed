import { describe, expect, it } from "vitest"
import { isFiltered, queryOf, readRunFilters } from "../../src/runs/filters.ts"
import { readTestSearch, readTestsSearch } from "../../src/runs/search.ts"

describe("What addresses say", () => {
  it("keeps the filters that there are, whatever stands beside them", () => {
    const search = { product: "shop", environment: "", result: "odd", q: 12, mine: "true", other: "x" }
    expect(readRunFilters(search)).toEqual({ product: "shop", q: "12", mine: true })
    expect(readRunFilters({ result: "flaky", mine: "yes" })).toEqual({ result: "flaky" })
    expect(readRunFilters({ commit: 123, latest: true, mine: false })).toEqual({ commit: "123", latest: true })
    expect(isFiltered(readRunFilters({}))).toBe(false)
    expect(queryOf({ latest: true, commit: "a" })).toEqual({ latest: "true", commit: "a" })
    expect(queryOf({ mine: true, q: "x" })).toEqual({ mine: "true", q: "x" })
  })

  it("reads views of runs and attempts of tests", () => {
    expect(readTestsSearch({ view: "tests", status: "failed", q: "pay" })).toEqual({
      view: "tests",
      status: "failed",
      q: "pay"
    })
    expect(readTestsSearch({ view: "x", status: 1, q: "" })).toEqual({})
    expect([readTestSearch({ attempt: "2" }), readTestSearch({ attempt: "-1" }), readTestSearch({})]).toEqual([
      { attempt: 2 },
      {},
      {}
    ])
  })
})

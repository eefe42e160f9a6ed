import { describe, expect, it } from "vitest"
import { fieldWords, valueWords } from "../../src/ui/changeWords.ts"
import { namedChanges } from "../../src/ui/namedChanges.ts"

/** What the API calls fields and their values, in the words of the screens. */

const told = (field: string, ...values: ReadonlyArray<string>) =>
  `${fieldWords(field)}: ${values.map((value) => valueWords(field, value)).join(" to ")}`

describe("What has changed", () => {
  it("is told in plain words", () => {
    expect(told("blocks", "false", "true")).toBe("blocks releases: no to yes")
    expect(told("completion", "free", "evidence")).toBe("completion: by anybody to only with evidence")
    expect(told("counts", "2 of 5 failed")).toBe("tests: 2 of 5 failed")
    expect(told("flakyCount", "0", "1")).toBe("flaky tests: 0 to 1")
    expect(told("gateResult", "failed", "passed")).toBe("result for the gate: failed to passed")
    expect(told("isDefault", "true")).toBe("default: yes")
    expect(told("from", "staging")).toBe("versions from: staging")
    expect(told("environments.staging.version", "1", "2")).toBe("staging version: 1 to 2")
    expect(told("attachment", "notes.txt")).toBe("file: notes.txt")
    expect(told("cases", "1 test of shop")).toBe("tests: 1 test of shop")
  })

  it("names environments as people do", () => {
    const nameOf = (slug: string) => (slug === "staging" ? "Staging" : slug)
    const changes = [
      { field: "from", from: null, to: "staging" },
      { field: "from", from: "staging", to: null },
      { field: "environment", from: null, to: "staging" }
    ]
    expect(namedChanges(changes, nameOf)).toEqual([
      { field: "from", from: null, to: "Staging" },
      { field: "from", from: "Staging", to: null },
      // What a CI calls its own.
      { field: "environment", from: null, to: "staging" }
    ])
  })

  it("is told as it is where there are no other words", () => {
    expect(told("repositoryId", "1")).toBe("repository id: 1")
    expect(told("name", "constructor", "evidence")).toBe("name: constructor to evidence")
    expect(told("toString", "__proto__")).toBe("to string: __proto__")
    expect(told("completion", "constructor", "toString")).toBe("completion: constructor to toString")
  })
})

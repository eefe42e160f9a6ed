import type { Release } from "@delivery/domain/releases/Release"
import { describe, expect, it } from "vitest"
import { slugOf } from "../../src/catalog/slug.ts"
import { since } from "../../src/catalog/versions.ts"

const release = (number: number, version: string | null, shas: ReadonlyArray<string> = []) =>
  ({ number, version, commits: shas.map((sha) => ({ sha, subject: sha, tickets: [] })) }) as unknown as Release

const history = [
  release(4, "d", ["d2", "d1"]),
  release(3, "b", []),
  release(2, "c", ["c1", "b1"]),
  release(1, "b", ["b1"])
]

describe("What came since a version", () => {
  it("are the releases after its newest one, with each commit once", () => {
    const lead = since(history, "b")
    expect(lead?.releases.map(({ number }) => number)).toEqual([4])
    expect(lead?.commits.map(({ sha }) => sha)).toEqual(["d2", "d1"])
    expect(since([...history, release(0, "a")], "a")?.commits.map(({ sha }) => sha)).toEqual(["d2", "d1", "c1", "b1"])
  })

  it("is nothing for the newest one, and unknown for one that was never here", () => {
    expect(since(history, "d")).toEqual({ releases: [], commits: [] })
    expect(since(history, "x")).toBeUndefined()
    expect(since([release(1, null)], null)).toBeUndefined()
  })
})

describe("The slug of a name", () => {
  it("has lower-case letters, digits and single hyphens", () => {
    expect(slugOf("Web shop (EU)")).toBe("web-shop-eu")
    expect(slugOf("Ärzte & Co.")).toBe("arzte-co")
    expect(slugOf("店")).toBe("")
    expect(slugOf(`${"a".repeat(59)} b`)).toBe("a".repeat(59))
  })
})

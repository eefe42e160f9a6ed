import { describe, expect, it } from "vitest"
import { isOfCode, isOfLibrary } from "../../src/ui/stackLines.ts"

describe("Lines of a stack", () => {
  it("are code where they have numbers, so that a mark below points at its place", () => {
    const code = ["  33 |     // whole", "> 34 |     expect(total)", "     |     ^", "  36 |", " 7 | }"]
    expect(code.filter((line) => !isOfCode(line))).toEqual([])
    const others = ["    at /shop/shop.spec.ts:34:59", "Expected: 1 | 2", "", "34", "a | b", "||"]
    expect(others.filter(isOfCode)).toEqual([])
  })

  it("are of libraries by where they come from", () => {
    expect(isOfLibrary("    at run (/app/node_modules/a/b.js:1:2)")).toBe(true)
    expect(isOfLibrary("    at /shop/shop.spec.ts:34:59")).toBe(false)
  })
})

import { describe, expect, it } from "vitest"
import { changeOf, refusalOf } from "../../src/vault/change.ts"

describe("A pasted .env file", () => {
  it("says what a value would do", () => {
    const present = { hasValue: true, value: "old", version: 1 }
    expect(changeOf("x", undefined)).toBe("added")
    expect(changeOf("x", { ...present, hasValue: false, value: null })).toBe("added")
    expect(changeOf("old", present)).toBe("same")
    expect(changeOf("new", present)).toBe("changed")
    expect(changeOf("new", { ...present, value: null })).toBe("unknown")
  })

  it("says which names no secret can have", () => {
    expect(refusalOf("NODE_OPTIONS")).toMatch(/changes which code/)
    expect(refusalOf("ld_preload")).toMatch(/changes which code/)
    expect(refusalOf("..")).toBe("no secret has this name")
    expect(refusalOf("A".repeat(256))).toMatch(/255/)
    expect(refusalOf("DATABASE_URL")).toBeUndefined()
  })
})

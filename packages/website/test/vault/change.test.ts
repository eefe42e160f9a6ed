import { describe, expect, it } from "vitest"
import { changeOf } from "../../src/vault/change.ts"

describe("A pasted .env file", () => {
  it("says what a value would do", () => {
    const present = { hasValue: true, value: "old", version: 1 }
    expect(changeOf("x", undefined)).toBe("added")
    expect(changeOf("x", { ...present, hasValue: false, value: null })).toBe("added")
    expect(changeOf("old", present)).toBe("same")
    expect(changeOf("new", present)).toBe("changed")
    expect(changeOf("new", { ...present, value: null })).toBe("unknown")
  })
})

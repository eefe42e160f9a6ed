import { describe, expect, it } from "vitest"
import { wholeOf } from "../../src/catalog/wholeVersion.ts"

describe("The whole version of a short id", () => {
  const one = "ee33ee3d0ae598e95dc970b74767f19372d61af8"

  it("is the commit that is known, where it is one alone", () => {
    expect(wholeOf([one, "v1.2"], "ee33ee3")).toBe(one)
    expect(wholeOf([one, "v1.2"], "EE33EE3D")).toBe(one)
    expect(wholeOf([one, `ee33ee3f${one.slice(8)}`], "ee33ee3")).toBe("ee33ee3")
    expect(wholeOf([one, "ee33ee3"], "ee33ee3")).toBe("ee33ee3")
  })

  it("is what was typed where that is no beginning of a commit", () => {
    expect(wholeOf([one], "ee33ee")).toBe("ee33ee")
    expect(wholeOf(["v1.12.30"], "v1.12.3")).toBe("v1.12.3")
    expect(wholeOf(["1234567-rc.1"], "1234567")).toBe("1234567")
    expect(wholeOf([one], one)).toBe(one)
  })
})

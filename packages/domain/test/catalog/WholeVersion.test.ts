import { begunBy, isShort, wholeOf } from "@delivery/domain/catalog/WholeVersion"
import { assert, describe, it } from "@effect/vitest"

describe("The whole version of a short id", () => {
  const one = "ee33ee3d0ae598e95dc970b74767f19372d61af8"

  it("is the commit that is known, where it is one alone", () => {
    assert.strictEqual(wholeOf([one, "v1.2"], "ee33ee3"), one)
    assert.strictEqual(wholeOf([one, "v1.2"], "EE33EE3D"), one)
    assert.strictEqual(wholeOf([one, `ee33ee3f${one.slice(8)}`], "ee33ee3"), "ee33ee3")
    assert.strictEqual(wholeOf([one, "ee33ee3"], "ee33ee3"), "ee33ee3")
  })

  it("is what was typed where that is no beginning of a commit", () => {
    assert.strictEqual(wholeOf([one], "ee33ee"), "ee33ee")
    assert.strictEqual(wholeOf(["v1.12.30"], "v1.12.3"), "v1.12.3")
    assert.strictEqual(wholeOf(["1234567-rc.1"], "1234567"), "1234567")
    assert.strictEqual(wholeOf([one], one), one)
  })

  it("is asked of ids alone, which tell all that begin so", () => {
    const other = `ee33ee3f${one.slice(8)}`
    assert.deepStrictEqual(["ee33ee3", "EE33EE3D", "ee33ee", "v1.12.30", one].map(isShort), [
      true,
      true,
      false,
      false,
      false
    ])
    assert.deepStrictEqual(begunBy([one, "ee33ee3-rc.1", other, one], "EE33EE3"), [one, other])
  })
})

import {
  begunBy,
  isSameCommit,
  isShort,
  spellingsAmong,
  spellingsOf,
  wholeOf
} from "@delivery/domain/catalog/WholeVersion"
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"

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

describe("Two versions", () => {
  const one = "ee33ee3d0ae598e95dc970b74767f19372d61af8"

  it("are one commit in whatever case, and where one begins with the other", () => {
    assert.isTrue(isSameCommit(one, one.toUpperCase()))
    assert.isTrue(isSameCommit("EE33EE3", one))
    assert.isTrue(isSameCommit(one, "ee33ee3d0ae5"))
    assert.isTrue(isSameCommit("ee33ee3d0ae5", "ee33ee3"))
    assert.isFalse(isSameCommit("ee33ee", one))
    assert.isFalse(isSameCommit("ee33ee4", one))
    assert.isFalse(isSameCommit("v1.2.3", "v1.2.3"))
    assert.isFalse(isSameCommit("ee33ee3", "ee33ee3-rc.1"))
  })

  it("are no commit as numbers of builds and days, but for the beginning of a whole one", () => {
    assert.isFalse(isSameCommit("20261130", "202611301"))
    assert.isFalse(isSameCommit("20261130", "20261130a"))
    assert.isTrue(isSameCommit("20261130", "20261130".padEnd(40, "a")))
  })

  it("are all that is known of a commit, but what begins others as well", () => {
    const other = `ee33ee3f${one.slice(8)}`
    const known = ["ee33ee3", "EE33EE3D", one.toUpperCase(), "v1", "ee33ee3d0ae5", other]
    assert.deepStrictEqual(spellingsOf(known, one), [one, "EE33EE3D", one.toUpperCase(), "ee33ee3d0ae5"])
    assert.deepStrictEqual(spellingsOf(known, "ee33ee3"), ["ee33ee3"])
    assert.deepStrictEqual(spellingsOf(known, "EE33EE3"), ["EE33EE3", "ee33ee3"])
    assert.deepStrictEqual(spellingsOf(known.slice(0, -1), "ee33ee3"), [
      "ee33ee3",
      ...known.slice(1, 3),
      "ee33ee3d0ae5"
    ])
    assert.deepStrictEqual(spellingsOf(known, "v1"), ["v1"])
  })

  it("are one commit in the way of a plain rule, whatever is known beside", () => {
    const whole = ["ee33ee3".padEnd(40, "a"), "ee33ee3".padEnd(64, "a"), "ee33ee3b".padEnd(40, "1")]
    const numbers = ["2026113", "20261130", "20261130".padEnd(40, "1"), "20261130".padEnd(64, "1")]
    const cut = fc.tuple(fc.constantFrom(...whole, ...numbers), fc.integer({ min: 6, max: 64 }))
    const version = fc.oneof(
      cut.map(([id, length]) => id.slice(0, length)),
      cut.map(([id, length]) => id.slice(0, length).toUpperCase()),
      fc.constantFrom("v1", ...whole, ...numbers)
    )
    fc.assert(
      fc.property(fc.uniqueArray(version, { minLength: 1, maxLength: 12 }), (all) => {
        const isOne = (id: string) => {
          const those = all.filter((one) => one.length >= id.length && isSameCommit(one, id))
          return those.every((one) => those.every((other) => isSameCommit(one, other)))
        }
        const isSame = (a: string, b: string) =>
          isSameCommit(a, b) && (a.length === b.length || isOne(a.length < b.length ? a : b))
        const spellings = spellingsAmong(all)
        for (const one of all) {
          assert.deepStrictEqual(
            spellings(one),
            all.filter((other) => other === one || isSame(other, one))
          )
        }
      })
    )
  })
})

import { byName, compare } from "@delivery/domain/Order"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"

interface Named {
  readonly name: string
  readonly id: string
}

/** Names that the collator holds for alike or nearly so are what an order must tell apart. */
const piece = Schema.Literals([
  "a",
  "A",
  "ä",
  "Ä",
  "a\u0308",
  "z",
  "Z",
  "ß",
  "ss",
  "é",
  "e\u0301",
  "e",
  "0",
  "1",
  "01",
  "10",
  "9",
  " ",
  "-",
  "_",
  "\u00ad",
  "🚀",
  "日",
  "\u0000"
])
const name = Arbitrary.map(Arbitrary.array(Arbitrary.schema(piece), { maxLength: 4 }), (pieces) => pieces.join(""))
const named: Arbitrary.Arbitrary<Named> = Arbitrary.all({
  name,
  id: Arbitrary.schema(Schema.Literals(["1", "2", "10"]))
})

describe("byName", () => {
  const sorted = (...names: ReadonlyArray<string>) => names.map((name) => ({ name, id: "1" })).toSorted(byName)

  it("orders like people: case and accents come second, numbers count", () => {
    const expected = ["", "Shop 2", "shop 9", "Shop 10", "zebra", "Zoo"]
    for (const names of [expected, expected.toReversed()]) {
      assert.deepStrictEqual(
        sorted(...names).map(({ name }) => name),
        expected
      )
    }
    const accents = ["Emil", "émile", "Emma"]
    for (const names of [accents, accents.toReversed()]) {
      assert.deepStrictEqual(
        sorted(...names).map(({ name }) => name),
        accents
      )
    }
  })

  it("orders names that read alike by code units, then by id", () => {
    const expected = [
      { name: "SHOP", id: "2" },
      { name: "Shop", id: "1" },
      { name: "Shop", id: "10" },
      { name: "Shop", id: "2" },
      { name: "shop", id: "1" },
      { name: "shöp", id: "0" }
    ]
    assert.deepStrictEqual(expected.toReversed().toSorted(byName), expected)
  })

  it("treats only the same name and id as equal", () => {
    assert.strictEqual(byName({ name: "Shop", id: "1" }, { name: "Shop", id: "1" }), 0)
    for (const other of [
      { name: "Shop", id: "2" },
      { name: "shop", id: "1" },
      { name: "Shöp", id: "1" }
    ]) {
      assert.notStrictEqual(byName({ name: "Shop", id: "1" }, other), 0)
    }
  })

  it.prop(
    "is one total order",
    [named, named, named],
    ([a, b, c]) => {
      assert.strictEqual(Math.sign(byName(a, b)) + Math.sign(byName(b, a)), 0)
      assert.strictEqual(byName(a, b) === 0, a.name === b.name && a.id === b.id)
      const [first, second, third] = [a, b, c].toSorted(byName)
      assert.isAtMost(byName(first!, second!), 0)
      assert.isAtMost(byName(second!, third!), 0)
      assert.isAtMost(byName(first!, third!), 0)
    },
    { arbitrary: { runs: 500 } }
  )

  it.prop(
    "gives the same list however it was shuffled",
    [Arbitrary.array(Arbitrary.all([named, Arbitrary.schema(Schema.Int)]), { maxLength: 12 })],
    ([pairs]) => {
      const shuffled = pairs.toSorted(([, a], [, b]) => a - b)
      const inOrder = (list: ReadonlyArray<readonly [Named, number]>) => list.map(([object]) => object).toSorted(byName)
      assert.deepStrictEqual(inOrder(shuffled), inOrder(pairs))
      assert.deepStrictEqual(inOrder(pairs.toReversed()), inOrder(pairs))
    },
    { arbitrary: { runs: 300 } }
  )
})

describe("compare", () => {
  it("orders by code units", () => {
    assert.deepStrictEqual(["b", "", "a", "B", "ä", "aa", "10", "2"].toSorted(compare), [
      "",
      "10",
      "2",
      "B",
      "a",
      "aa",
      "b",
      "ä"
    ])
    assert.strictEqual(compare("a", "a"), 0)
  })
})

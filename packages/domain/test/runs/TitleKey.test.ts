import { byName, compare } from "@delivery/domain/Order"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import { titleKey } from "../../src/runs/TitleKey.ts"

const ascii = Array.from({ length: 95 }, (_, index) => String.fromCharCode(0x20 + index))
const others = [..."–—¡¿·‚‹›„«»§¶†‡•°©®←→↑↓±÷×¬¦✓✗¤¢£¥€éÄñ‘’“”"]
const piece = Arbitrary.schema(Schema.Literals([...ascii, ...others, "10", "9", "007"]))
/** The collator takes the middle dot after an l for the letter of Catalan. */
const withoutCatalan = (text: string): string => text.replaceAll(/l·/gi, "l")
const title = Arbitrary.map(Arbitrary.array(piece, { maxLength: 8 }), (pieces) => withoutCatalan(pieces.join("")))

/** The collator of `byName`, which tells nothing apart but letters, marks and numbers. */
const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" })

describe("titleKey", () => {
  it.prop(
    "orders titles in English letters as the order by name does",
    [title, title],
    ([a, b]) => {
      assert.strictEqual(Math.sign(compare(titleKey(a), titleKey(b))), Math.sign(collator.compare(a, b)), `${a} ${b}`)
    },
    { arbitrary: { runs: 5_000 } }
  )

  it("does without the accents of a letter that has thousands, which would take a minute to sort", () => {
    const accents = "\u0315".repeat(50_000) + "\u0316".repeat(50_000)
    assert.strictEqual(titleKey(`a${accents}b`), titleKey("ab"))
  })

  it("orders what test runners print", () => {
    const titles = [
      "Basket › adds 2 items",
      "Basket › adds 10 items",
      "basket › shows the total",
      "Basket 2",
      "Checkout › émile pays",
      "checkout › pays by card",
      "Zoo",
      "Ж",
      "日本",
      "🚀"
    ]
    for (const some of [titles, titles.toReversed()]) {
      assert.deepStrictEqual(
        some.toSorted((a, b) => compare(titleKey(a), titleKey(b))),
        titles
      )
    }
    const inEnglish = titles.slice(0, 7).map((name) => ({ name, id: "1" }))
    assert.deepStrictEqual(inEnglish.toReversed().toSorted(byName), inEnglish)
  })

  it("has at most 200 characters, of which a database orders each as we do", () => {
    for (const long of ["a".repeat(4_000), "1".repeat(4_000), "🚀".repeat(4_000), "\uFFFF\uD83D", "日".repeat(300)]) {
      const key = titleKey(long)
      assert.isAtMost(key.length, 200)
      assert.notMatch(key, /[\uD800-\uDFFF\uE000-\uFFFF\0]/)
    }
    assert.strictEqual(titleKey(""), "")
    assert.isBelow(compare(titleKey("9".repeat(50)), titleKey("1".repeat(51))), 0)
  })
})

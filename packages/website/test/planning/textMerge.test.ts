import { describe, expect, it } from "vitest"
import { mergedText } from "../../src/planning/textMerge.ts"

/** All texts of one to four lines of these. */
const texts = [1, 2, 3, 4].flatMap((count) =>
  Array.from({ length: 2 ** count }, (_, number) =>
    Array.from({ length: count }, (_, line) => ((number >> line) % 2 === 0 ? "a" : "")).join("\n")
  )
)

describe("Two changes of one text", () => {
  const base = "# Steps\n- [ ] one\n- [ ] two\n\nThe end."

  it("are both there where they are of different lines, also side by side", () => {
    expect(mergedText(base, base.replace("[ ] one", "[x] one"), `${base}\nAnd more.`)).toBe(
      "# Steps\n- [x] one\n- [ ] two\n\nThe end.\nAnd more."
    )
    expect(mergedText(base, base.replace("[ ] one", "[x] one"), base.replace("[ ] two", "[x] two"))).toBe(
      "# Steps\n- [x] one\n- [x] two\n\nThe end."
    )
    expect(mergedText(base, base.replace("The end.", "The very end."), `${base}\nAnd more.`)).toBe(
      "# Steps\n- [ ] one\n- [ ] two\n\nThe very end.\nAnd more."
    )
    expect(mergedText(base, base.replace("- [ ] one\n", ""), base.replace("# Steps", "# All steps"))).toBe(
      "# All steps\n- [ ] two\n\nThe end."
    )
  })

  it("are no text where both changed a line, or wrote in the same place", () => {
    expect(mergedText(base, base.replace("one", "1"), base.replace("one", "first"))).toBeUndefined()
    expect(mergedText(base, `${base}\nMine.`, `${base}\nTheirs.`)).toBeUndefined()
    expect(mergedText(base, base.replace("one", "1"), "")).toBeUndefined()
    expect(mergedText("", "Mine.", "Theirs.")).toBeUndefined()
  })

  it("count once where they are the same", () => {
    const ticked = base.replace("[ ] one", "[x] one")
    expect(mergedText(base, ticked, `${ticked}\nAnd more.`)).toBe(`${ticked}\nAnd more.`)
  })

  it("do not differ by how lines end", () => {
    expect(mergedText("a\r\nb\r\nc", "A\nb\nc", "a\r\nb\r\nC")).toBe("A\nb\nC")
  })

  it("are the one where there is no other, and the same whoever was first", () => {
    for (const from of texts) {
      for (const mine of texts) {
        expect(mergedText(from, mine, from)).toBe(mine)
        expect(mergedText(from, from, mine)).toBe(mine)
        expect(mergedText(from, mine, mine)).toBe(mine)
        for (const theirs of texts) expect(mergedText(from, mine, theirs)).toBe(mergedText(from, theirs, mine))
      }
    }
  })

  it("are given up where they are too many to compare in time", () => {
    const many = (word: string) => Array.from({ length: 3_000 }, (_, index) => `${word} ${index}`).join("\n")
    expect(mergedText(many("a"), many("b"), `${many("a")}\nmore`)).toBeUndefined()
  })
})

import { describe, expect, it } from "vitest"
import { treeOf } from "../../src/ui/markdown.ts"

/** Markdown that would keep a parser busy is not parsed; what people write is. */

describe("Markdown", () => {
  it("is read where a person wrote it", () => {
    const text = "# Goal\n\n- [x] One\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted\n\n`code`"
    expect(treeOf(text)?.children.map(({ type }) => type)).toEqual([
      "heading",
      "list",
      "table",
      "blockquote",
      "paragraph"
    ])
    expect(treeOf(`\`\`\`json\n${"[".repeat(5_000)}\n\n${"[".repeat(5_000)}\n\`\`\``)?.children).toHaveLength(1)
    expect(treeOf("")?.children).toEqual([])
  })

  it("is not read where it would take the square of its length", () => {
    for (const text of [
      "*a_".repeat(1_000),
      "[".repeat(2_000),
      "a](".repeat(2_000),
      "> ".repeat(50),
      "- ".repeat(50) + "a"
    ]) {
      expect(treeOf(text)).toBeUndefined()
    }
  })
})

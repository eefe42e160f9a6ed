import type { ListItem, Nodes } from "mdast"
import { describe, expect, it } from "vitest"
import { lineOf } from "../../src/agents/inbox.ts"
import { changesBetween } from "../../src/planning/textDiff.ts"
import { partsOf } from "../../src/ui/identifierParts.ts"
import { ticked } from "../../src/ui/tasks.ts"
import { treeOf } from "../../src/ui/markdown.ts"
import { wordsBetween } from "../../src/planning/wordDiff.ts"

/** What is made of texts that people write on tickets. */

const itemsOf = (node: Nodes): ReadonlyArray<ListItem> =>
  node.type === "listItem"
    ? [node, ...node.children.flatMap(itemsOf)]
    : "children" in node
      ? node.children.flatMap(itemsOf)
      : []

describe("The box of a task", () => {
  const text = "Before [ ] it\n\n- [ ] One\n  1. [x] Two [ ]\n* [X] Three\n- no box\n"
  const items = itemsOf(treeOf(text)!)

  it("is ticked where it stands, and no other", () => {
    expect(items.map((item) => ticked(text, item))).toEqual([
      text.replace("- [ ] One", "- [x] One"),
      text.replace("1. [x] Two", "1. [ ] Two"),
      text.replace("* [X] Three", "* [ ] Three"),
      text
    ])
  })

  it("changes nothing of a text that has moved on", () => {
    expect(ticked("Another text without boxes", items[0]!)).toBe("Another text without boxes")
  })
})

describe("Identifiers in a text", () => {
  const keys = new Set(["ENG", "X1"])
  const found = (text: string) =>
    partsOf(text, keys)
      .filter(({ isTicket }) => isTicket)
      .map((part) => part.text)

  it("are those of teams, alone", () => {
    expect(found("See ENG-1, (X1-20) and ENG-3.")).toEqual(["ENG-1", "X1-20", "ENG-3"])
    expect(found("UTF-8 eng-1 ENG-0 XENG-1 ENG-1a ENG-1-2 /w/main/tickets/ENG-1 ENG-12345678901")).toEqual([])
  })

  it("leave the text as it is", () => {
    for (const text of ["", "ENG-1", "a ENG-1 b X1-2", "nothing"]) {
      expect(
        partsOf(text, keys)
          .map((part) => part.text)
          .join("")
      ).toBe(text)
    }
  })
})

describe("The lines of a change", () => {
  const shown = (before: string, after: string) =>
    changesBetween(before, after).map(({ kind, text }) => `${kind} ${text}`)

  it("are those that were added and removed, with one beside them", () => {
    const before = "1\n2\n3\n4\n5\n6\n7"
    expect(shown(before, before.replace("4", "four"))).toEqual([
      "same …",
      "same 3",
      "removed 4",
      "added four",
      "same 5",
      "same …"
    ])
    expect(shown("", "Theirs.")).toEqual(["added Theirs."])
    expect(shown("a", "a")).toEqual(["same a"])
  })

  it("are all of them where texts have nothing in common", () => {
    const lines = (word: string) => Array.from({ length: 3_000 }, (_, index) => `${word} ${index}`).join("\n")
    expect(shown(lines("a"), lines("b"))).toHaveLength(6_000)
  })
})

describe("The words of a change", () => {
  const shown = (before: string | null, after: string | null) =>
    wordsBetween(before, after).map(({ kind, text }) => [kind, text])
  const ana = "[@Ana](user:0197a1b2-0000-7000-8000-000000000001)"
  const other = ana.replace("0001)", "0002)")

  it("are those that were added and removed", () => {
    expect(shown("The shop takes Visa.", "The shop takes any card.")).toEqual([
      ["same", "The shop takes "],
      ["removed", "Visa"],
      ["added", "any card"],
      ["same", "."]
    ])
    expect(shown(null, "One\ntwo")).toEqual([["added", "One\ntwo"]])
    expect(shown("One", null)).toEqual([["removed", "One"]])
    expect(shown("a b", "a\nb")).toEqual([
      ["same", "a"],
      ["removed", " "],
      ["added", "\n"],
      ["same", "b"]
    ])
  })

  it("have those beside them that stay, and no more", () => {
    const long = "word ".repeat(200)
    const [before, removed, added, after] = wordsBetween(`${long}one ${long}`, `${long}two ${long}`)
    expect(before!.text).toMatch(/^…\u00a0(?:word ){20,40}$/u)
    expect([removed!.text, added!.text]).toEqual(["one", "two"])
    expect(after!.text).toMatch(/^(?: word){20,40}\u00a0…$/u)
    const middle = wordsBetween(`one ${long} one`, `two ${long} two`)[2]!
    expect(middle.text).toMatch(/^(?: word)+\n…\n(?:word )+ ?$/u)
  })

  it("name whom they mention, unless another is mentioned by the same name", () => {
    expect(shown(`Ask ${ana}`, `Ask ${ana} now`)).toEqual([
      ["same", "Ask @Ana"],
      ["added", " now"]
    ])
    expect(wordsBetween(ana, other).some(({ kind }) => kind === "added")).toBe(true)
  })

  it("are all of them where texts have nothing in common", () => {
    const words = (word: string) => Array.from({ length: 3_000 }, (_, index) => `${word}${index}`).join(" ")
    expect(wordsBetween(words("a"), words("b")).map(({ kind }) => kind)).toEqual(["removed", "added"])
  })
})

describe("A text in the inbox", () => {
  it("is one line without the marks of Markdown", () => {
    expect(lineOf("**PR #12** for [@Claude](agent:01) and `code`\n\n- [ ] one\n> two\n# three")).toBe(
      "PR #12 for @Claude and code one two three"
    )
    expect(lineOf("*First* of _all_:\n```ts\nconst a = 1\n```\n\n---\n| a | b |\n|---|:-:|\n| 1 | 2 |")).toBe(
      "First of all: const a = 1 a | b 1 | 2"
    )
    expect(lineOf(`${"x".repeat(280)} [@Ana Diaz](user:0197a1b2-0000-7000-8000-000000000001)`)).toMatch(/x @Ana Diaz$/)
    expect(lineOf("snake_case 2 * 3 a-b")).toBe("snake_case 2 * 3 a-b")
    expect(lineOf("x".repeat(10_000))).toHaveLength(300)
  })
})

import { describe, expect, it } from "vitest"
import { referenceTo, withReference } from "../../src/planning/attachments.ts"
import { treeOf } from "../../src/ui/markdown.ts"

/** How a text refers to a file of its ticket. */

const id = "0197a1b2-0000-7000-8000-000000000f01"
const picture = { id, name: "shot.png", contentType: "image/png" } as never
const log = { id, name: "build.log", contentType: "text/plain" } as never

const [shot, link] = [`![shot.png](attachment:${id})`, `[build.log](attachment:${id})`]

describe("A reference to a file", () => {
  it("is a picture where the service shows one, and a link else", () => {
    expect(referenceTo(picture)).toBe(shot)
    expect(referenceTo(log)).toBe(link)
    expect(referenceTo({ id, name: "x", contentType: "image/svg+xml" } as never)).toBe(`[x](attachment:${id})`)
  })

  it("shows every name as it is, whatever marks it has", () => {
    for (const name of [
      "a]b[c",
      "](https://evil.example)",
      "![x](y)",
      "`code`",
      "*a* _b_ ~c~",
      "<b>&amp;",
      "a\\",
      "|"
    ]) {
      const tree = treeOf(referenceTo({ id, name, contentType: "text/plain" } as never))
      expect(tree?.children).toMatchObject([
        { type: "paragraph", children: [{ type: "link", url: `attachment:${id}`, children: [{ value: name }] }] }
      ])
    }
  })

  it("stands where the caret is: a picture in a line of its own, a link apart from words", () => {
    expect(withReference("", 0, picture)).toEqual({ text: `${shot}\n`, caret: shot.length + 1 })
    expect(withReference("before after", 6, picture)).toEqual({
      text: `before\n${shot}\n after`,
      caret: 6 + 1 + shot.length + 1
    })
    expect(withReference("one\ntwo", 3, picture).text).toBe(`one\n${shot}\ntwo`)
    expect(withReference("", 0, log)).toEqual({ text: `${link} `, caret: link.length + 1 })
    expect(withReference("see now", 3, log)).toEqual({ text: `see ${link} now`, caret: 4 + link.length + 1 })
    expect(withReference("see", 3, log).text).toBe(`see ${link} `)
  })
})

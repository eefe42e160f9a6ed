import { describe, expect, it } from "vitest"
import { visibleProps } from "../../src/ui/visibleProps.ts"

const turning = "a\u202Eb"
const shown = "a\\u{202E}b"
const Field = () => null

describe("What an element shows", () => {
  it("shows marks that turn text, however deep in its children", () => {
    expect(visibleProps("p", { children: turning })).toEqual({ children: shown })
    expect(visibleProps("p", { children: ["of ", turning, [[turning], 1, null]] })).toEqual({
      children: ["of ", shown, [[shown], 1, null]]
    })
    expect(visibleProps(Field, { children: turning })).toEqual({ children: shown })
  })

  it("shows them where it is told in a tooltip, or to screen readers", () => {
    const told = { title: turning, alt: turning, placeholder: turning, "aria-label": turning }
    expect(visibleProps("img", { ...told })).toEqual({
      title: shown,
      alt: shown,
      placeholder: shown,
      "aria-label": shown
    })
  })

  it("leaves what is edited, opened and found as it is", () => {
    const kept = { value: turning, defaultValue: turning, href: turning, id: turning, "data-name": turning }
    expect(visibleProps("input", { ...kept })).toEqual(kept)
    expect(visibleProps(Field, { title: turning })).toEqual({ title: turning })
  })

  it("leaves children that are no text", () => {
    const render = () => turning
    const element = { type: "b", props: { children: turning } }
    expect(visibleProps("p", { children: render })).toEqual({ children: render })
    expect(visibleProps("p", { children: element })["children"]).toBe(element)
  })
})

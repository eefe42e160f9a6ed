import { describe, expect, it } from "vitest"
import { meant, ranked, runNumberOf } from "../../src/app/palette.ts"

/** In which order the palette shows what was found. */

const labels = (text: string, ...found: ReadonlyArray<{ readonly label: string; readonly isPart?: boolean }>) =>
  ranked(text, found).map(({ label }) => label)

describe("The palette", () => {
  it("shows what is called so before what only belongs to it", () => {
    const runs = Array.from({ length: 48 }, (_, index) => ({ label: `Run ${index}`, isPart: true }))
    const found = [...runs, { label: "Shop in Production" }, { label: "The shopping cart" }, { label: "Shop" }]
    expect(labels(" SHOP ", ...found).slice(0, 4)).toEqual(["Shop", "Shop in Production", "The shopping cart", "Run 0"])
    expect(labels("run 4", ...found).slice(0, 2)).toEqual(["Run 4", "Run 40"])
  })

  it("takes beginnings of words before what is within them", () => {
    expect(labels("cart", { label: "Descartes" }, { label: "adds to the cart" }, { label: "Cart" })).toEqual([
      "Cart",
      "adds to the cart",
      "Descartes"
    ])
    expect(labels("in shop", { label: "unshopped inside" }, { label: "Shop in Staging" })[0]).toBe("Shop in Staging")
  })

  it("leaves everything as it came where nothing is typed", () => {
    expect(labels("  ", { label: "b", isPart: true }, { label: "a" })).toEqual(["b", "a"])
  })

  it("knows the number of a run with its sign, and the identifier of a ticket without its line", () => {
    const typed = (text: string) => meant(text, ["SHOP", "S", "PRT"])
    expect(["#47", " #47 ", "shop1", "SHOP10", "s2"].map(typed)).toEqual([
      "run 47",
      "run 47",
      "SHOP-1",
      "SHOP-10",
      "S-2"
    ])
    for (const text of ["47", "# 47", "#", "shop", "shop0", "SHOP-1", "http2", "shop1 x", ""]) {
      expect(typed(text)).toBe(text)
    }
    const found = [{ label: "SHOP-9" }, { label: "Run 147", isPart: true }, { label: "Run 47", isPart: true }]
    expect(labels(typed("#47"), ...found)[0]).toBe("Run 47")
    expect(labels("47", { label: "47 things" }, ...found)[0]).toBe("Run 47")
    expect(["run 47", "47", "Run 8", "run 047", "0", "47 x", "run", ""].map(runNumberOf)).toEqual([
      47,
      47,
      8,
      ...Array.from({ length: 5 }, () => undefined)
    ])
  })
})

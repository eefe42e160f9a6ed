import { expect, it } from "vitest"
import { countAt, oneAt, parameter, withoutUndefined, textAt } from "../../src/ui/address.ts"

it("Addresses are read as what may stand there, and nothing else", () => {
  const address = { text: "pay", number: 12, blank: " ", list: ["a"], long: "x".repeat(501), many: "0", half: "1.5" }
  expect(["text", "number", "blank", "list", "none"].map((name) => textAt(address, name))).toEqual([
    "pay",
    "12",
    undefined,
    undefined,
    undefined
  ])
  expect(textAt(address, "long")).toBe("x".repeat(500))
  expect([oneAt(address, "text", ["pay"]), oneAt(address, "number", [12]), oneAt(address, "text", ["PAY"])]).toEqual([
    "pay",
    12,
    undefined
  ])
  expect(["number", "many", "half", "text", "none"].map((name) => countAt(address, name))).toEqual([
    12,
    undefined,
    undefined,
    undefined,
    undefined
  ])
  expect(Object.keys(withoutUndefined({ a: 1, b: undefined, c: "" }))).toEqual(["a", "c"])
})

it("Numbers of an address that would read differently are texts, as versions are", () => {
  const digits = "1".repeat(40)
  expect(["1.10", digits, "1e3", "-0", "1.5", "4711", '"1.10"', '["1.10"]', "true"].map(parameter)).toEqual([
    "1.10",
    digits,
    "1e3",
    "-0",
    1.5,
    4711,
    "1.10",
    ["1.10"],
    true
  ])
})

import { describe, expect, it } from "vitest"
import { fileOf, titleOf } from "../../src/flow/caseName.ts"

describe("The name of a test", () => {
  it("begins with its file, and its title follows", () => {
    const name = "tests/checkout/pay.spec.ts:Checkout › pays: by card"
    expect([fileOf(name), titleOf(name)]).toEqual(["tests/checkout/pay.spec.ts", "Checkout › pays: by card"])
  })

  it("is a title alone where no file can be told", () => {
    for (const name of ["pays by card", "Checkout: pays", "com.shop::pays"]) {
      expect([fileOf(name), titleOf(name)]).toEqual(["", name])
    }
  })
})

import { expect, test } from "@playwright/test"

test.describe.serial("one after the other", () => {
  test("passes before", () => {})
  test("fails in the middle", () => {
    expect("basket").toBe("order")
  })
  test("does not run after", () => {})
})

test.describe.serial("one after the other, then again", () => {
  test("passes both times", () => {})
  test("fails the first time", () => {
    expect(test.info().retry).toBe(1)
  })
  test("runs the second time only", () => {})
})

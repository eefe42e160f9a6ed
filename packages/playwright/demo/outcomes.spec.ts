import { expect, test } from "@playwright/test"
import { setTimeout } from "node:timers/promises"

/** Every way a test can end. */
test.describe("outcomes", () => {
  test("passes", () => {})

  test("fails with a difference", () => {
    expect({ name: "Ana", role: "viewer" }).toEqual({ name: "Ana", role: "owner" })
  })

  test("fails with something that is no error", () => {
    throw "just text"
  })

  test("fails with several soft assertions", () => {
    expect.soft(1).toBe(2)
    expect.soft("a").toBe("b")
  })

  test("fails first and passes on the second attempt", async () => {
    await test.info().attach("attempt", { body: `attempt ${test.info().retry}`, contentType: "text/plain" })
    expect(test.info().retry).toBe(1)
  })

  test("takes too long", async () => {
    test.setTimeout(300)
    await setTimeout(10_000)
  })

  test("is expected to fail and does", () => {
    test.fail()
    expect(1).toBe(2)
  })

  test("is expected to fail and passes", () => {
    test.fail()
  })

  test.skip("is skipped", () => {})

  test("is skipped while it runs", () => {
    test.skip(true, "not today")
  })

  test.fixme("is to be fixed", () => {})

  test(`has "quotes", 'apostrophes', sl/ash\\es, <html>, 🛒 and Größe 日本 › in its title`, async () => {
    await test.info().attach("übersicht/1 🛒.txt", { body: "Größe", contentType: "text/plain; charset=utf-8" })
  })
})

import type { Locator, Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { useScreens } from "../support/AuditScreens.ts"
import { settled } from "../support/Screens.ts"

/** What a phone shows, where a wide screen has columns: what matters is there, and not cut. */

const screens = useScreens()

const open = async (name: string): Promise<Page> => {
  const page = await screens().site.signIn({ width: 320, height: 720 })
  await page.goto(`${screens().site.origin}${screens().screens[name]}`)
  await settled(page)
  return page
}

const isWhole = (text: Locator) => text.evaluate(({ clientWidth, scrollWidth }) => scrollWidth <= clientWidth)

const boxOf = async (one: Locator) => (await one.boundingBox())!

/** That one stands in a line below the other. */
const isBelow = async (one: Locator, other: Locator) => {
  const [lower, upper] = [await boxOf(one), await boxOf(other)]
  return lower.y + lower.height / 2 > upper.y + upper.height
}

describe("On a phone", () => {
  it("the titles of tests have a line of their own, and what can be done stands below", async () => {
    const page = await open("Run")
    const failures = page.getByRole("list", { name: "Failures" })
    const title = failures.getByText("Checkout › pays by card", { exact: true })
    expect(await isWhole(title)).toBe(true)
    const mute = failures.getByRole("button", { name: "Mute Checkout › pays by card" })
    await mute.waitFor()
    expect(await isBelow(mute, title)).toBe(true)
    const all = failures.getByRole("button", { name: /^Mute (?:all|the rest)/ }).first()
    expect(await isBelow(all, failures.getByRole("heading", { level: 2 }).first())).toBe(true)
    await page.goto(`${screens().site.origin}${screens().screens["Tests"]}`)
    const listed = page
      .getByRole("list", { name: "Tests" })
      .getByText("Account › downloads an invoice", { exact: true })
    await listed.waitFor()
    expect(await isWhole(listed)).toBe(true)
  })

  it("the rows of thousands of tests do not cover each other", async () => {
    const page = await open("Run of 5,000 tests")
    await page.mouse.move(160, 600)
    await page.mouse.wheel(0, 3_000)
    const rows = page.getByRole("list", { name: "Failures" }).locator("[data-row]:not(:has(h2))")
    await rows.filter({ hasText: "product" }).nth(8).waitFor()
    const boxes = (await Promise.all((await rows.all()).map(boxOf))).toSorted((a, b) => a.y - b.y)
    for (const [index, box] of boxes.entries()) {
      if (index > 0) expect(box.y).toBeCloseTo(boxes[index - 1]!.y + boxes[index - 1]!.height, 0)
    }
  })

  it("lists say in a second line what their columns say", async () => {
    for (const [name, list, ...texts] of [
      ["Inbox", "Notifications", /mentioned you$/, /which cards/],
      ["Messages", "Messages", /asked Claude to/, "ENG-1", "Pay by card", /ago|now/],
      ["Projects", "Projects", "active", /^\d+ of \d+ tickets$/],
      ["Runs", "Runs", "#19", "Shop / Staging", /failed of/]
    ] as const) {
      const page = await open(name)
      for (const text of texts) {
        await page
          .getByRole("list", { name: list, exact: true })
          .getByText(text, { exact: true })
          .filter({ visible: true })
          .first()
          .waitFor()
      }
      await page.close()
    }
  })

  it("deployments are a list below their products, production first", async () => {
    const page = await open("Deployments")
    const region = page.getByRole("region", { name: "Deployments" })
    const shop = region.locator("tr", { has: page.getByText("Shop", { exact: true }) })
    expect(await isWhole(region)).toBe(true)
    const production = shop.getByText("Production", { exact: true })
    const staging = shop.getByText("Staging", { exact: true })
    expect(await isBelow(production, shop.getByText("Shop", { exact: true }))).toBe(true)
    expect(await isBelow(staging, production)).toBe(true)
    await shop
      .locator("td", { has: page.getByText("Production", { exact: true }) })
      .getByRole("link")
      .click()
    await page.waitForURL(/\/deployments\/shop\/production$/)
  })

  it("the vault shows names whole, and that there are more environments until one has come to the last", async () => {
    const page = await open("Vault")
    const grid = page.getByRole("grid", { name: "Secrets" })
    for (const name of await grid.getByRole("rowheader").all()) {
      expect(await name.evaluate(({ clientHeight, scrollHeight }) => scrollHeight <= clientHeight)).toBe(true)
    }
    const more = page.locator("[role=grid] + span")
    await more.waitFor()
    await grid.evaluate((element) => element.scrollTo({ left: element.scrollWidth }))
    await more.waitFor({ state: "detached" })
  })
})

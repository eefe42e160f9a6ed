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
      ["Projects", "Projects", "active", /^\d+ of \d+\stickets$/],
      ["Runs", "Runs", /^#\d+$/, "Shop / Staging", /failed\sof/]
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

  it("a ticket says its name once, in a header of one line, and its status and owner before its words", async () => {
    const page = await open("Ticket that asks for evidence")
    const title = page.getByText("Block double payments", { exact: true })
    await expect
      .poll(async () => (await Promise.all((await title.all()).map(boxOf))).filter(({ width }) => width > 1).length)
      .toBe(1)
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("ENG-10 Block double payments")
    expect((await boxOf(page.locator("#screen header"))).height).toBeLessThanOrEqual(45)
    const description = page.getByRole("heading", { name: "Description" })
    for (const name of [/^Status:/, /^Owner:/]) {
      expect(await isBelow(description, page.getByRole("button", { name }))).toBe(true)
    }
    expect(await isBelow(page.getByRole("button", { name: /^Project:/ }), description)).toBe(true)
    await page.getByRole("link", { name: "Engineering", exact: true }).click()
    await page.waitForURL(/\/tickets\?teams=/)
  })

  it("the filters of tickets are one button that counts them, and the first cards of a board are in view", async () => {
    const page = await open("Board")
    const filters = page.getByRole("search")
    await page.locator("[data-card]").first().waitFor()
    const { height, y } = await boxOf(page.locator("[data-card]").first())
    expect(y + height).toBeLessThan(360)
    expect((await boxOf(filters)).height).toBeLessThan(48)
    expect(await filters.getByRole("button", { name: "Team" }).isVisible()).toBe(false)
    const all = filters.getByRole("button", { name: "Filter 1" })
    await all.click()
    await filters.getByRole("button", { name: "Team is Engineering" }).waitFor()
    expect(await isWhole(filters)).toBe(true)
    await filters.getByRole("button", { name: "Group is status" }).waitFor()
    await all.click()
    await filters.getByRole("button", { name: "Team" }).waitFor({ state: "hidden" })
    await filters.getByRole("button", { name: "List" }).click()
    await page.getByRole("list", { name: "Tickets" }).waitFor()
  })

  it("the filters of runs, tests and trends are one button that counts them", async () => {
    for (const [name, filter, set] of [
      ["Runs", "Result", "&result=failed"],
      ["Tests", "Environment", "&state=failing"],
      ["Trends", "Environment", "&days=90"]
    ] as const) {
      const page = await open(name)
      const filters = page.getByRole("search", { name })
      expect((await boxOf(filters)).height).toBeLessThan(48)
      const one = filters.getByRole("button", { name: filter })
      expect(await one.isVisible()).toBe(false)
      await filters.getByRole("button", { name: "Filter", exact: true }).click()
      await one.waitFor()
      expect(await isWhole(filters)).toBe(true)
      const path = screens().screens[name]!
      await page.goto(`${screens().site.origin}${path}${path.includes("?") ? "" : "?"}${set}`)
      await filters.getByRole("button", { name: "Filter 1", exact: true }).waitFor()
      await page.close()
    }
  })

  it("headers with what can be done stand in one line, and their sign leads back", async () => {
    const page = await open("Home")
    for (const name of [
      "Deployments",
      "Deployment",
      "Environment",
      "Run, passed",
      "Board",
      "Project",
      "Team",
      "Webhook",
      "Vault",
      "View"
    ]) {
      await page.goto(`${screens().site.origin}${screens().screens[name]}`)
      await settled(page)
      const header = page.locator("#screen header")
      await header.getByRole("button").first().waitFor()
      expect([name, (await boxOf(header)).height <= 45]).toEqual([name, true])
    }
    await page.goto(`${screens().site.origin}${screens().screens["Deployment"]}`)
    await settled(page)
    const back = page.getByRole("link", { name: "Deployments", exact: true }).first()
    const { height, width, x } = await boxOf(back)
    expect(Math.min(height, width)).toBeGreaterThanOrEqual(24)
    expect(x + width).toBeLessThan((await boxOf(page.getByRole("heading", { level: 1 }))).x)
    await back.click()
    await page.waitForURL(/\/deployments$/)
  })

  it("runs of Home say in a second line how many failed, and are not cut before that", async () => {
    const page = await open("Home")
    const failing = page.getByRole("region", { name: "Failing now" }).getByRole("link").first()
    const name = failing.getByText("Shop / Staging", { exact: true })
    const failed = failing.getByText(/failed\sof/)
    expect(await isWhole(name)).toBe(true)
    expect(await isWhole(failed)).toBe(true)
    expect(await isBelow(failed, name)).toBe(true)
  })

  it("what waits for one says what was said, and tests say of which product they are", async () => {
    const page = await open("Home")
    const waiting = page.getByRole("region", { name: "Waiting for you" }).getByRole("link", { name: /mentioned you/ })
    expect(await isWhole(waiting.getByText("Claude of Owner mentioned you", { exact: true }))).toBe(true)
    await waiting.getByText(/which cards/).waitFor()
    await page.goto(`${screens().site.origin}${screens().screens["Tests"]}`)
    const product = page.getByRole("search", { name: "Tests" }).getByText("Shop", { exact: true })
    await product.filter({ visible: true }).waitFor()
  })

  it("a project says its status before its steps and its words", async () => {
    const page = await open("Project")
    const status = page.getByRole("button", { name: /^Status:/ })
    expect(await isBelow(page.getByRole("region", { name: "Milestones" }), status)).toBe(true)
    expect(await isBelow(page.getByText("Progress", { exact: true }), page.getByText("Goal", { exact: true }))).toBe(
      true
    )
  })

  it("the tab of what is shown is in view", async () => {
    const page = await open("View")
    const tab = page.getByRole("navigation", { name: "Views of tickets" }).getByRole("link", { name: "Bugs" })
    await expect.poll(async () => ((box) => box.x + box.width)(await boxOf(tab))).toBeLessThanOrEqual(320)
  })

  it("what stands beside a screen follows it", async () => {
    const page = await open("Deployment")
    const history = await boxOf(page.getByRole("region", { name: "History" }))
    const beside = await boxOf(page.getByRole("complementary", { name: "Beside it" }))
    const last = await boxOf(page.getByRole("region", { name: "History" }).getByRole("listitem").last())
    expect(beside.y).toBeCloseTo(history.y + history.height, 0)
    expect(beside.y - (last.y + last.height)).toBeLessThan(16)
  })

  it("keys are shown in the list of all keys alone", async () => {
    const page = await open("Ticket")
    await page.getByRole("button", { name: /^Status:/ }).waitFor()
    await page.locator("kbd").first().waitFor({ state: "attached" })
    expect(await page.locator("kbd").filter({ visible: true }).count()).toBe(0)
    await page.keyboard.press("?")
    await page.getByRole("dialog", { name: "Keys" }).locator("kbd").first().waitFor()
  })

  it("the tabs of a dialog stand in one line", async () => {
    const page = await open("Home")
    await screens().overlays["Lines of a token"]!(page)
    const tops = await Promise.all((await page.getByRole("tab").all()).map(async (tab) => (await boxOf(tab)).y))
    expect(new Set(tops).size).toBe(1)
  })

  it("the days of a table stay in view when it is scrolled", async () => {
    const page = await open("Trends, table")
    const table = page.getByRole("region", { name: "Days" })
    await table.evaluate((element) => element.scrollTo({ left: element.scrollWidth }))
    await expect.poll(() => table.evaluate(({ scrollLeft }) => scrollLeft)).toBeGreaterThan(50)
    expect((await boxOf(table.getByRole("rowheader").first())).x).toBeCloseTo((await boxOf(table)).x, 0)
  })

  it("what happened has its time at the end of its first line", async () => {
    const page = await open("Events")
    const events = await page.getByRole("list", { name: "Events" }).getByRole("listitem").all()
    for (const event of events.slice(0, 20)) {
      const [row, time] = [await boxOf(event), await boxOf(event.locator("time").last())]
      expect(time.y - row.y).toBeLessThan(16)
      expect(time.x + time.width).toBeCloseTo(304, 0)
    }
  })

  it("the titles of tests come before their files", async () => {
    const page = await open("Semaphores")
    const held = page.getByRole("link", { name: "Checkout › pays by card", exact: true }).first()
    expect(await isWhole(held)).toBe(true)
    await screens().overlays["Completion of a ticket"]!(page)
    const asked = page.getByRole("dialog").getByText("Checkout › pays by card", { exact: true })
    expect(await isWhole(asked)).toBe(true)
    expect(
      await isBelow(
        page
          .getByRole("dialog")
          .getByTitle(/pays-by-card/)
          .getByText(/^tests\//),
        asked
      )
    ).toBe(true)
  })
})

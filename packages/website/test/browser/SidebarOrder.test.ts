import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { axeFindings } from "../support/Axe.ts"
import { openScreen, pressEnter, type Site, startSite } from "../support/Site.ts"

/** The order of the sidebar, which a person makes for themselves, in a real browser. */

let site: Site

beforeAll(async () => {
  site = await startSite()
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

/** Behind the dialog it is hidden from screen readers, not from sight. */
const includeHidden = true
const sidebar = (page: Page) => page.getByRole("navigation", { name: "Workspace", includeHidden })
const places = (page: Page) => sidebar(page).getByRole("link", { includeHidden }).allInnerTexts()
const sections = (page: Page) => sidebar(page).getByRole("heading", { includeHidden }).allInnerTexts()
const dialogOf = (page: Page) => page.getByRole("dialog", { name: "Order of the sidebar" })
const mover = (page: Page, name: string) => dialogOf(page).getByRole("button", { name, exact: true })

const openOrder = async (page: Page) => {
  await pressEnter(sidebar(page).getByRole("button", { name: "Owner" }))
  await page.getByRole("menuitem", { name: "Order of the sidebar" }).press("Enter")
  await mover(page, "Move Runs down").waitFor()
}

describe("The order of the sidebar", () => {
  it("is changed by the keyboard alone, shows at once, and is remembered", async () => {
    const page = await openScreen(site, "test-runs")
    const usual = await places(page)
    expect(usual.slice(0, 8)).toEqual(["Home", "Inbox", "Tickets", "Projects", "Teams", "Runs", "Tests", "Trends"])
    await openOrder(page)
    // What was moved has the keyboard still, and is moved on by the same key.
    await mover(page, "Move Vault up").press("Enter")
    await dialogOf(page).getByRole("status").getByText("Vault moved up").waitFor()
    await page.keyboard.press("Enter")
    await page.keyboard.press("Enter")
    await page.keyboard.press("Enter")
    await expect.poll(() => mover(page, "Move Vault up").getAttribute("aria-disabled")).toBe("true")
    await page.keyboard.press("Enter")
    await mover(page, "Move Teams up").press("Enter")
    await mover(page, "Move the section Workspace up").press("Enter")
    const moved = ["Home", "Inbox", "Tickets", "Teams", "Projects", "Agents", "Events", "Audit", "Webhooks", "Vault"]
    const inPage = async () => (await places(page)).slice(0, 12)
    await expect.poll(inPage).toEqual([...moved, "Runs", "Tests"])
    expect(await sections(page)).toEqual(["Workspace", "Products", "Settings"])
    await pressEnter(dialogOf(page).getByRole("button", { name: "Done" }))
    await dialogOf(page).waitFor({ state: "detached" })
    await page.reload()
    await expect.poll(inPage).toEqual([...moved, "Runs", "Tests"])
    // Collapsed as well, where the places have their names alone.
    await page.keyboard.press("[")
    const names = () =>
      sidebar(page)
        .getByRole("link")
        .evaluateAll((links) => links.map((link) => link.getAttribute("aria-label")).slice(0, 10))
    await expect.poll(names).toEqual(moved)
    await page.keyboard.press("[")
    await page.keyboard.press("Control+k")
    await page.getByRole("combobox", { name: "Search and do" }).fill("order of the side")
    await page.getByRole("option", { name: "Order of the sidebar" }).waitFor()
    await page.keyboard.press("Enter")
    await pressEnter(dialogOf(page).getByRole("button", { name: "Usual order" }))
    await expect.poll(() => places(page)).toEqual(usual)
    await page.keyboard.press("Escape")
    await dialogOf(page).waitFor({ state: "detached" })
    await page.reload()
    await expect.poll(() => places(page)).toEqual(usual)
    await page.context().close()
  })

  it.each([
    { colorScheme: "light", width: 1440 },
    { colorScheme: "dark", width: 320 }
  ] as const)("is easy to make out, $colorScheme at $width px", async (looks) => {
    const page = await openScreen(site, "test-runs", await site.signIn(looks))
    if (looks.width === 320) await pressEnter(page.getByRole("button", { name: "Open the menu" }))
    await openOrder(page)
    expect(await axeFindings(page)).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
    await page.context().close()
  })
})

import type { SavedFilter } from "@delivery/domain/runs/SavedFilter"
import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { axeFindings } from "../support/Axe.ts"
import { seed } from "../support/Seed.ts"
import { atRest, isLive, joinAs, openScreen, pressEnter, type Site, startSite } from "../support/Site.ts"

/** Filters of the lists of runs and of tests that are kept under names, in a real browser. */

let site: Site

beforeAll(async () => {
  site = await startSite()
  await seed(site.call)
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

const save = (fields: object) => site.call<SavedFilter>("POST", "saved-filters", fields)
const savedFilters = async () =>
  (await site.call<{ savedFilters: ReadonlyArray<SavedFilter> }>("GET", "saved-filters")).savedFilters
const menuOf = (page: Page) => page.getByRole("menu", { name: "Saved filters" })
const buttonOf = (page: Page, name: string | RegExp) => page.getByRole("button", { name })

/** Opens the menu by the keyboard, and presses what is named. */
const choose = async (page: Page, button: string, item: RegExp) => {
  await buttonOf(page, button).press("Enter")
  const chosen = menuOf(page).locator("[role^=menuitem]")
  await chosen.filter({ hasText: item }).press("Enter")
}

describe("Saved filters", () => {
  it("of runs are saved with one key, found again, changed, and deleted, by the keyboard alone", async () => {
    const page = await openScreen(site, "test-runs")
    await page.getByRole("list", { name: "Runs" }).getByRole("link").first().waitFor()
    await atRest(page)
    // Nothing is filtered, and nothing was saved.
    expect(await buttonOf(page, "Save filter").count()).toBe(0)
    expect(await buttonOf(page, "Saved filters").count()).toBe(0)
    await page.keyboard.press("f")
    await buttonOf(page, "Save filter").waitFor()
    await page.keyboard.press("S")
    const dialog = page.getByRole("dialog", { name: "Save the filter" })
    await dialog.getByRole("textbox", { name: "Name" }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page.keyboard.type("All failures")
    await page.keyboard.press("Enter")
    await dialog.waitFor({ state: "detached" })
    await buttonOf(page, "Saved filter All failures").waitFor()
    expect(await buttonOf(page, "Save filter").count()).toBe(0)
    expect(await savedFilters()).toMatchObject([
      { screen: "runs", name: "All failures", visibility: "shared", product: null, query: { result: "failed" } }
    ])
    await page.keyboard.press("f")
    await page.waitForURL((url) => url.search === "")
    await choose(page, "Saved filters", /All failures/)
    await page.waitForURL(/\?result=failed$/)
    await menuOf(page).waitFor({ state: "detached" })
    await page.keyboard.press("f")
    await page.waitForURL((url) => url.search === "")
    await page.keyboard.press("Control+k")
    await page.getByRole("combobox", { name: "Search and do" }).fill("all fail")
    await page.getByRole("option", { name: /All failures.*filter of runs/ }).waitFor()
    await page.keyboard.press("Enter")
    await page.waitForURL(/\?result=failed$/)
    await page.getByRole("dialog").waitFor({ state: "detached" })
    // Back means back.
    await page.goBack()
    await page.waitForURL((url) => url.search === "")
    await page.goForward()
    await buttonOf(page, "Saved filter All failures").waitFor()
    // What is changed of it shows, and is kept when that is said.
    await buttonOf(page, "Product").press("Enter")
    await page.getByRole("menuitemradio", { name: "Shop" }).press("Enter")
    await page.waitForURL(/product=shop/)
    await buttonOf(page, "Save filter").waitFor()
    await choose(page, "Saved filters", /^Update All failures$/)
    await buttonOf(page, "Saved filter All failures").waitFor()
    expect((await savedFilters())[0]?.query).toEqual({ result: "failed", product: "shop" })
    await pressEnter(page.getByRole("button", { name: "Undo" }))
    await page.getByText("All failures is as it was").waitFor()
    expect((await savedFilters())[0]?.query).toEqual({ result: "failed" })
    // Two of one name could not be told apart.
    await buttonOf(page, "Save filter").press("Enter")
    await page.keyboard.type("All failures ")
    await dialog.getByText("Another filter of this list has this name.").waitFor()
    await page.keyboard.press("Escape")
    await pressEnter(page.getByRole("button", { name: "Discard" }))
    await dialog.waitFor({ state: "detached" })
    await choose(page, "Saved filters", /^Update All failures$/)
    await buttonOf(page, "Saved filter All failures").waitFor()
    await choose(page, "Saved filter All failures", /^Rename$/)
    const rename = page.getByRole("dialog", { name: "Rename the filter" })
    await rename.getByRole("textbox", { name: "Name" }).fill("Failures of the shop")
    await page.keyboard.press("Enter")
    await buttonOf(page, "Saved filter Failures of the shop").waitFor()
    await choose(page, "Saved filter Failures of the shop", /^Delete$/)
    const sure = page.getByRole("dialog", { name: "Delete Failures of the shop?" })
    await sure.getByText("Everybody loses the filter. The runs stay.").waitFor()
    await pressEnter(sure.getByRole("button", { name: "Delete" }))
    await sure.waitFor({ state: "detached" })
    await buttonOf(page, "Save filter").waitFor()
    expect(await savedFilters()).toEqual([])
    await pressEnter(page.getByRole("button", { name: "Undo" }).first())
    await buttonOf(page, "Saved filter Failures of the shop").waitFor()
    const [{ id, ...back }, ...others] = (await savedFilters()) as [SavedFilter, ...ReadonlyArray<SavedFilter>]
    expect(back).toMatchObject({ name: "Failures of the shop", query: { result: "failed", product: "shop" } })
    expect(others).toEqual([])
    await site.call("DELETE", `saved-filters/${id}`)
    await page.context().close()
  })

  it("are where what happened to them leads", async () => {
    const { id } = await save({ screen: "runs", name: "Flaky in staging", query: { result: "flaky" } })
    const page = await openScreen(site, "")
    await page.getByRole("region", { name: "What changed" }).getByRole("link", { name: "Flaky in staging" }).click()
    await page.waitForURL(/\/test-runs\?result=flaky$/)
    await buttonOf(page, "Saved filter Flaky in staging").waitFor()
    await site.call("DELETE", `saved-filters/${id}`)
    await page.context().close()
  })

  it("are brought back by who made them alone", async () => {
    await save({ screen: "runs", name: "Of the owner", query: { result: "flaky" } })
    const other = await joinAs(site, "una@example.com", "Una", "member")
    await openScreen(site, "test-runs?result=flaky", other)
    await choose(other, "Saved filter Of the owner", /^Delete$/)
    await other
      .getByRole("dialog", { name: "Delete Of the owner?" })
      .getByRole("button", { name: "Delete" })
      .press("Enter")
    await other.getByText("Of the owner was deleted").waitFor()
    expect(await other.getByRole("button", { name: "Undo" }).count()).toBe(0)
    expect(await savedFilters()).toEqual([])
    await other.context().close()
  })

  it("come to others when they are shared, and go when they are not", async () => {
    const page = await openScreen(site, "test-runs?result=flaky")
    const other = await joinAs(site, "mia@example.com", "Mia", "member")
    await openScreen(site, "test-runs", other)
    await isLive(other)
    const viewer = await joinAs(site, "vic@example.com", "Vic", "viewer")
    await openScreen(site, "test-runs?result=flaky", viewer)
    await isLive(viewer)
    await buttonOf(page, "Save filter").press("Enter")
    const dialog = page.getByRole("dialog", { name: "Save the filter" })
    await dialog.getByRole("textbox", { name: "Name" }).fill("Flaky")
    await dialog.getByRole("combobox", { name: "Seen by" }).press("Enter")
    await page.getByRole("option", { name: "Only you" }).press("Enter")
    await dialog.getByText("Nobody else sees it.").waitFor()
    await pressEnter(dialog.getByRole("button", { name: "Save filter" }))
    await dialog.waitFor({ state: "detached" })
    await choose(page, "Saved filter Flaky", /^Share with others$/)
    await page.getByText("Flaky is shared now").waitFor()
    await choose(other, "Saved filters", /Flaky/)
    await other.waitForURL(/result=flaky/)
    // Who did not make it cannot take it for themselves; a viewer changes nothing.
    await buttonOf(other, "Saved filter Flaky").press("Enter")
    await menuOf(other).getByRole("menuitem", { name: "Rename" }).waitFor()
    expect(await menuOf(other).getByRole("menuitem").allTextContents()).toEqual(["Rename", "Delete"])
    await other.keyboard.press("Escape")
    await buttonOf(viewer, "Saved filter Flaky").press("Enter")
    await menuOf(viewer).getByRole("menuitemradio", { name: "Flaky" }).waitFor()
    expect(await menuOf(viewer).getByRole("menuitem").count()).toBe(0)
    await choose(page, "Saved filter Flaky", /^Show only to you$/)
    await page.getByText("Only you see Flaky now").waitFor()
    await buttonOf(other, "Saved filter Flaky").waitFor({ state: "detached" })
    await buttonOf(other, "Save filter").waitFor()
    await buttonOf(viewer, "Saved filter Flaky").waitFor({ state: "detached" })
    expect(await buttonOf(viewer, "Save filter").count()).toBe(0)
    await buttonOf(page, "Saved filter Flaky").press("Enter")
    await menuOf(page).getByRole("menuitemradio", { name: "Flaky flaky, only you" }).waitFor()
    await site.closePages()
  })

  it("of tests are of a product, and the field for words follows them", async () => {
    const failing = { q: "invoice", state: "failing", environment: "staging" }
    await save({ screen: "tests", name: "Invoices", product: "shop", query: failing })
    await save({ screen: "tests", name: "Well", product: "shop", query: { state: "passing", environment: "staging" } })
    const page = await openScreen(site, "tests?product=search")
    await choose(page, "Saved filters", /^Invoices/)
    await page.waitForURL(/product=shop/)
    const words = page.getByRole("searchbox", { name: "Title or file" })
    await expect.poll(() => words.inputValue()).toBe("invoice")
    await page
      .getByRole("list", { name: "Tests" })
      .getByRole("link", { name: /downloads an invoice/ })
      .waitFor()
    await words.fill("card")
    await page.waitForURL(/q=card/)
    expect(await words.inputValue()).toBe("card")
    await page.keyboard.press("Escape")
    await choose(page, "Saved filters", /^Well/)
    await page.waitForURL(/state=passing/)
    await buttonOf(page, "Saved filter Well").waitFor()
    expect(await buttonOf(page, "passing").getAttribute("aria-pressed")).toBe("true")
    await expect.poll(() => words.inputValue()).toBe("")
    await buttonOf(page, "muted").press("Enter")
    await buttonOf(page, "Save filter").press("Enter")
    const dialog = page.getByRole("dialog", { name: "Save the filter" })
    await dialog.getByRole("textbox", { name: "Name" }).fill("Muted")
    await page.keyboard.press("Enter")
    await buttonOf(page, "Saved filter Muted").waitFor()
    expect((await savedFilters()).find(({ name }) => name === "Muted")).toMatchObject({
      screen: "tests",
      product: "shop",
      query: { state: "muted", environment: "staging" }
    })
    await page.context().close()
  })

  it("show all that they were saved with, also by others than the website", async () => {
    const commit = "9fceb02d0ae598e95dc970b74767f19372d61af8"
    await save({ screen: "runs", name: "Here", query: { commit, latest: "true", mine: "true", q: "1.10" } })
    const page = await openScreen(site, "test-runs")
    await choose(page, "Saved filters", /^Here/)
    await page.waitForURL(/latest=true/)
    await buttonOf(page, "Saved filter Here").waitFor()
    await buttonOf(page, "Commit is 9fceb02").waitFor()
    await buttonOf(page, /^run is the latest/).waitFor()
    const asked = page.waitForRequest(
      (request) => request.url().includes(`commit=${commit}`) && request.url().includes("latest=true")
    )
    await page.reload()
    await asked
    await buttonOf(page, "Saved filter Here").waitFor()
    await page.context().close()
  })

  it.each([
    { colorScheme: "light", width: 1440 },
    { colorScheme: "dark", width: 1440 },
    { colorScheme: "light", width: 320 },
    { colorScheme: "dark", width: 320 }
  ] as const)("stay readable with long names, $colorScheme at $width px", async (looks) => {
    const name = "Failures of the acceptance tests in staging, of everybody, since the new checkout went out ".repeat(2)
    const query = { result: "passed", environment: "staging" }
    const long = await save({ screen: "runs", name: name.slice(0, 100).trim(), query })
    const page = await site.signIn(looks)
    await openScreen(site, "test-runs?result=passed&environment=staging", page)
    const button = buttonOf(page, /^Saved filter Failures/)
    await button.waitFor()
    expect(await axeFindings(page)).toEqual([])
    await button.press("Enter")
    await menuOf(page).getByRole("menuitem", { name: "Delete" }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    const { width = 0, x = -1 } = (await menuOf(page).boundingBox()) ?? {}
    expect(x).toBeGreaterThanOrEqual(0)
    expect(x + width).toBeLessThanOrEqual(looks.width)
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
    await page.keyboard.press("Escape")
    await openScreen(site, "tests?product=shop&state=flaky", page)
    await buttonOf(page, "Save filter").press("Enter")
    await page.getByRole("dialog", { name: "Save the filter" }).getByRole("textbox", { name: "Name" }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await site.call("DELETE", `saved-filters/${long.id}`)
    await page.context().close()
  })
})

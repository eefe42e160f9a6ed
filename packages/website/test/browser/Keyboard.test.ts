import type { Locator, Page } from "playwright-core"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { atRest, isLive, openScreen, pressEnter, type Site, startSite } from "../support/Site.ts"

/** A day by keyboard: where the keyboard is after each key, and that nothing typed goes elsewhere. */

interface Ticket {
  readonly identifier: string
  readonly description: string | null
}

let site: Site

beforeAll(async () => {
  site = await startSite()
  await site.call("POST", "teams", { key: "ENG", name: "Engineering" })
  for (const slug of ["api", "shop"]) {
    await site.call("POST", "products", { slug, name: slug === "api" ? "API" : "Shop", type: "website" })
  }
  for (const slug of ["production", "staging"]) {
    await site.call("POST", "environments", { slug, name: slug, class: "non-production", emoji: null })
  }
  for (const environment of ["production", "staging"]) {
    await site.call("POST", "deployments", {
      product: "shop",
      environment,
      baseUrl: `https://${environment}.example.com`
    })
  }
  for (const name of ["KEY_A", "KEY_B"]) {
    await site.call("POST", "products/shop/secrets", { name, values: { staging: "1" } })
  }
})

afterEach(async () => {
  for (const context of site.browser.contexts()) await context.close()
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

describe("A description that is written", () => {
  it("is left with Escape and kept; shown again, it leaves the keyboard alone and goes on at its end", async () => {
    const { identifier } = await site.call<Ticket>("POST", "tickets", {
      team: "ENG",
      title: "Pay by card",
      description: "The shop takes Visa."
    })
    const page = await openScreen(site, `tickets/${identifier}`)
    await isLive(page)
    const text = page.getByRole("textbox", { name: "Description" })
    await page.keyboard.press("e")
    await text.waitFor()
    await page.keyboard.press("Control+End")
    await page.keyboard.type(" Draft")
    await page.keyboard.press("Escape")
    // The keys are those of the page again, and the one that edits it comes back to it.
    await page.keyboard.press("c")
    expect(await text.inputValue()).toBe("The shop takes Visa. Draft")
    const comment = page.getByRole("textbox", { name: "New comment" })
    expect(await comment.evaluate((field) => field === document.activeElement)).toBe(true)
    await page.keyboard.press("Escape")
    await page.keyboard.press("e")
    await page.keyboard.type("ed")
    await page.keyboard.press("Escape")
    await page.keyboard.press("g")
    await page.keyboard.press("r")
    await page.getByRole("heading", { level: 1, name: "Runs" }).waitFor()
    await page.goBack()
    await text.waitFor()
    expect(await text.inputValue()).toBe("The shop takes Visa. Drafted")
    await page.reload()
    await text.waitFor()
    await isLive(page)
    await page.keyboard.press("c")
    await page.keyboard.type("Seen")
    expect(await comment.inputValue()).toBe("Seen")
    await page.keyboard.press("Escape")
    await page.keyboard.press("e")
    await page.keyboard.type(" twice")
    expect(await text.inputValue()).toBe("The shop takes Visa. Drafted twice")
  })
})

describe("Tickets", () => {
  it("are shown as they were looked at last, on coming back; an address that says how is shown so", async () => {
    const page = await openScreen(site, "tickets")
    await isLive(page)
    const board = page.getByRole("button", { name: "Board", exact: true })
    await board.press("Enter")
    await page.getByRole("link", { name: "Mine", exact: true }).press("Enter")
    await page.waitForURL(/layout=board/)
    await page.waitForURL(/owners=/)
    await page.keyboard.press("g")
    await page.keyboard.press("r")
    await page.getByRole("heading", { level: 1, name: "Runs" }).waitFor()
    await page.keyboard.press("g")
    await page.keyboard.press("b")
    await page.waitForURL(/tickets\?.*owners=/)
    expect(await board.getAttribute("aria-pressed")).toBe("true")
    expect(new URL(page.url()).searchParams.get("owners")).toBe('["me"]')
    // What somebody else's link shows is not kept.
    await openScreen(site, "tickets?layout=list", page)
    expect(await board.getAttribute("aria-pressed")).toBe("false")
    expect(new URL(page.url()).search).toBe("?layout=list")
    await page.getByRole("link", { name: "Home", exact: true }).press("Enter")
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor()
    await page.getByRole("link", { name: "Tickets", exact: true }).press("Enter")
    await page.waitForURL(/tickets\?.*owners=/)
    // Cleared is kept, too.
    await page.getByRole("link", { name: "All", exact: true }).press("Enter")
    await page.waitForURL(({ search }) => search === "?layout=board")
    await page.reload()
    await openScreen(site, "tickets", page)
    await page.waitForURL(({ search }) => search === "?layout=board")
  })
})

describe("The palette", () => {
  it("goes to a ticket by its identifier without the line", async () => {
    const { identifier } = await site.call<Ticket>("POST", "tickets", { team: "ENG", title: "Send the parcel" })
    const page = await openScreen(site, "vault")
    await isLive(page)
    await page.keyboard.press("Control+k")
    await page.getByRole("combobox", { name: "Search and do" }).fill(identifier.toLowerCase().replace("-", ""))
    await page.getByRole("option", { name: `${identifier} Send the parcel`, selected: true }).waitFor()
    await page.keyboard.press("Enter")
    await page.waitForURL(new RegExp(`/tickets/${identifier}$`))
  })
})

const hasKeyboard = (page: Page, text: string | RegExp) => page.locator(":focus", { hasText: text }).waitFor()

describe("What is a table", () => {
  it("is walked through by keys in the vault, from the first one on; cells are edited where the keyboard is", async () => {
    const page = await openScreen(site, "vault")
    await isLive(page)
    await page.getByRole("gridcell").first().waitFor()
    await page.keyboard.press("j")
    await hasKeyboard(page, /^KEY_A in production/)
    await page.keyboard.press("j")
    await hasKeyboard(page, /^KEY_B in production/)
    await page.keyboard.press("k")
    await page.keyboard.press("ArrowRight")
    await hasKeyboard(page, /^KEY_A in staging/)
    await page.keyboard.press("?")
    await page.getByRole("dialog", { name: "Keys" }).getByText("Next secret").waitFor()
    await page.reload()
    await page.getByRole("gridcell").first().waitFor()
    await page.getByRole("button", { name: "Add secret" }).waitFor()
    await page.keyboard.press("b")
    await hasKeyboard(page, /^KEY_A in production/)
    await page.keyboard.type("x")
    await page.getByRole("textbox", { name: "New value of KEY_A in production" }).waitFor()
  })

  it("is walked through by keys in deployments", async () => {
    const page = await openScreen(site, "deployments")
    await isLive(page)
    await page.getByRole("region", { name: "Deployments" }).waitFor()
    const [api, shop] = ["API in production: not deployed, add it", /unknown version/]
    await page.keyboard.press("ArrowDown")
    await page.getByRole("button", { name: api }).and(page.locator(":focus")).waitFor()
    await page.keyboard.press("j")
    await hasKeyboard(page, shop)
    await page.keyboard.press("j")
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("Enter")
    await page.waitForURL(/\/deployments\/shop\/staging$/)
  })
})

describe("A .env file", () => {
  it("is pasted for what the keyboard was at, else for what somebody chooses, and sent by the key that sends", async () => {
    const page = await openScreen(site, "vault")
    await isLive(page)
    const dialog = page.getByRole("dialog", { name: "Paste a .env file" })
    const chosen = (name: string) => dialog.getByRole("combobox", { name })
    const send = "Control+Enter"
    await page.getByRole("gridcell").first().waitFor()
    await pressEnter(page.getByRole("button", { name: "Paste .env" }))
    await chosen("Product").press("Enter")
    await page.getByRole("option", { name: "Shop" }).click()
    await chosen("Environment").getByText("production", { exact: true }).waitFor()
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
    await page.getByRole("gridcell").first().focus()
    await page.keyboard.press("ArrowRight")
    await hasKeyboard(page, /^KEY_A in staging/)
    await page.keyboard.press("v")
    await chosen("Environment").getByText("staging", { exact: true }).waitFor()
    await dialog.getByLabel("Contents of the file").fill("PASTED=1")
    await page.keyboard.press(send)
    await dialog.getByText("Shop in staging: 1 added").waitFor()
    await dialog.getByRole("button", { name: "Write 1 secret" }).and(page.locator(":focus")).waitFor()
    await page.keyboard.press(send)
    await dialog.waitFor({ state: "detached" })
    await page.getByRole("gridcell", { name: /^PASTED in staging has a value/ }).waitFor()
  })

  it("is opened by Enter pressed once too often, which writes nothing into a value, and a value is sent by the key that sends", async () => {
    const page = await openScreen(site, "vault")
    await page.getByRole("gridcell", { name: /^KEY_A in production/ }).press("Enter")
    const field = page.getByRole("dialog", { name: "KEY_A" }).getByLabel("New value")
    await field.focus()
    await page.keyboard.press("Enter")
    expect(await field.inputValue()).toBe("")
    await page.keyboard.type("two")
    await page.keyboard.press("Enter")
    await page.keyboard.type("lines")
    expect(await field.inputValue()).toBe("two\nlines")
    await page.keyboard.press("Control+Enter")
    await page.getByText("KEY_A of Shop in production is written").first().waitFor()
    await field.waitFor({ state: "detached" })
  })
})

describe("A new API key", () => {
  it("reads and writes until more is asked for", async () => {
    const page = await openScreen(site, "settings/api-keys")
    await pressEnter(page.getByRole("button", { name: "New API key" }))
    await page.getByLabel("Name").fill("laptop")
    const scopes = page.getByRole("group", { name: "It may" }).getByRole("checkbox", { checked: true })
    expect(await scopes.evaluateAll((all) => all.map((one) => one.nextElementSibling!.textContent))).toEqual([
      "read",
      "write"
    ])
  })
})

describe("What has just happened", () => {
  const overlaps = async (one: Locator, other: Locator) => {
    const [a, b] = [(await one.boundingBox())!, (await other.boundingBox())!]
    return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
  }

  it("is said above what is worked with, and a comment is gone on with in view", async () => {
    const { identifier } = await site.call<Ticket>("POST", "tickets", { team: "ENG", title: "Ring the bell" })
    for (const body of Array.from({ length: 12 }, (_, index) => `Said ${index}`)) {
      await site.call("POST", `tickets/${identifier}/comments`, { body })
    }
    const page = await openScreen(site, `tickets/${identifier}`)
    await isLive(page)
    const comment = page.getByRole("textbox", { name: "New comment" })
    await comment.waitFor()
    await page.keyboard.press("c")
    await comment.and(page.locator(":focus")).waitFor()
    await page.keyboard.type("A line\n\nand another\n\nand a third")
    await page.keyboard.press("Control+Enter")
    await page.getByText("and a third").and(page.locator("p")).waitFor()
    await expect.poll(() => comment.inputValue()).toBe("")
    await expect
      .poll(async () => (await comment.boundingBox())!.y + (await comment.boundingBox())!.height)
      .toBeLessThan(900)
    for (const title of Array.from({ length: 12 }, (_, index) => `Ring bell ${index}`)) {
      await site.call("POST", "tickets", { team: "ENG", title })
    }
    await page.setViewportSize({ width: 1440, height: 400 })
    await openScreen(site, "tickets?q=Ring", page)
    await page
      .getByRole("link", { name: /Ring bell 1/ })
      .first()
      .waitFor()
    await isLive(page)
    await page.keyboard.press("j")
    await page.keyboard.press("x")
    await page.getByText("1 ticket selected").waitFor()
    await page.keyboard.press("s")
    await page.getByRole("textbox", { name: "Search: Status" }).and(page.locator(":focus")).waitFor()
    await page.keyboard.type("todo")
    await page.keyboard.press("Enter")
    const told = page.getByRole("region", { name: "Notifications" })
    await told.getByText("moved to Todo").first().waitFor()
    const bar = page.getByRole("toolbar", { name: "Selection" })
    // By the edge of the page, where what has just happened is said.
    expect((await bar.boundingBox())!.y).toBeGreaterThan(300)
    await expect.poll(() => overlaps(told, bar)).toBe(false)
    expect((await told.boundingBox())!.height).toBeGreaterThan(30)
  })
})

describe("What the keyboard is at", () => {
  it("is copied by its name, and by its link: a row, a cell, or else what the screen shows", async () => {
    const page = await openScreen(site, "deployments")
    const copied = async (key: string, title: string) => {
      await page.keyboard.press(key)
      await page.getByText(`${title} copied`).last().waitFor()
      return page.evaluate(() => navigator.clipboard.readText())
    }
    await atRest(page)
    await page.getByRole("region", { name: "Deployments" }).waitFor()
    await page.keyboard.press("ArrowDown")
    await page
      .getByRole("button", { name: "API in production: not deployed, add it" })
      .and(page.locator(":focus"))
      .waitFor()
    await page.keyboard.press("j")
    await hasKeyboard(page, /unknown version/)
    expect(await copied("y", "Name")).toBe("shop/production")
    await openScreen(site, "teams", page)
    await atRest(page)
    const team = page.locator("[data-row]", { hasText: "Engineering" })
    await team.waitFor()
    await page.keyboard.press("j")
    await team.locator(".bg-selected").waitFor()
    expect(await copied("y", "Name")).toBe("ENG")
    expect(await copied("Shift+Y", "Link")).toBe(`${site.origin}/w/main/teams/ENG`)
    await openScreen(site, "deployments/shop/staging", page)
    await atRest(page)
    expect(await copied("y", "Name")).toBe("shop/staging")
    expect(await copied("Shift+Y", "Link")).toBe(`${site.origin}/w/main/deployments/shop/staging`)
    await openScreen(site, "trends", page)
    await atRest(page)
    await page.keyboard.press("y")
    await page.getByText("Nothing here has a name to copy.").waitFor()
    await page.keyboard.press("?")
    await page.getByRole("dialog").getByText("Copy the name or number").waitFor()
  })
})

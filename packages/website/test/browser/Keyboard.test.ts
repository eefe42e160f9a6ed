import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { isLive, openScreen, type Site, startSite } from "../support/Site.ts"

/** A day by keyboard: where the keyboard is after each key, and that nothing typed goes elsewhere. */

interface Ticket {
  readonly identifier: string
  readonly description: string | null
}

let site: Site

beforeAll(async () => {
  site = await startSite()
  await site.call("POST", "teams", { key: "ENG", name: "Engineering" })
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

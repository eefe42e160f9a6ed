import type { Page } from "playwright-core"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { axeFindings } from "../support/Axe.ts"
import { isLive, joinAs, openScreen, pressEnter, type Site, startSite } from "../support/Site.ts"

/** The history of a ticket's description and plan: read by keyboard, brought back, and moving with what others write. */

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

const make = () =>
  site.call<Ticket>("POST", "tickets", { team: "ENG", title: "Pay by card", description: "The shop takes Visa." })
const write = ({ identifier }: Ticket, fields: object) => site.call("PATCH", `tickets/${identifier}`, fields)
const read = ({ identifier }: Ticket) => site.call<Ticket>("GET", `tickets/${identifier}`)

const openHistory = async (page: Page, { identifier }: Ticket) => {
  await pressEnter(page.getByRole("button", { name: "More" }))
  await page.getByRole("menuitem", { name: "History" }).press("Enter")
  const dialog = page.getByRole("dialog", { name: `History of ${identifier}` })
  await dialog.waitFor()
  return dialog
}

describe("The history of a ticket", () => {
  it("is found in the palette, and where the activity says that a text was changed", async () => {
    const ticket = await make()
    await write(ticket, { description: "The shop takes any card.", plan: "1. Ask", title: "Pay by any card" })
    const page = await openScreen(site, `tickets/${ticket.identifier}`)
    const activity = page.getByRole("region", { name: "Activity" }).getByRole("listitem")
    const words = await activity.filter({ hasText: "the description and the plan" }).innerText()
    expect(words.replaceAll(/\s+/g, " ")).toContain("changed the description and the plan, title: Pay by card")
    expect(words).not.toContain("changed: changed")
    await pressEnter(page.getByRole("button", { name: "the description and the plan" }))
    const dialog = page.getByRole("dialog", { name: `History of ${ticket.identifier}` })
    await dialog.waitFor()
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
    await page.keyboard.press("Control+k")
    await page.getByRole("combobox").waitFor()
    await page.keyboard.type("history of")
    await page.getByRole("option", { name: /^History of the texts/ }).waitFor()
    await page.keyboard.press("Enter")
    await dialog.waitFor()
    // The ring of a tab is within it: the dialog cuts what stands out.
    const tab = dialog.getByRole("tab", { name: "Description" })
    await tab.focus()
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("ArrowLeft")
    expect(await tab.evaluate((one) => parseFloat(getComputedStyle(one).outlineOffset))).toBeLessThan(0)
  })

  it("shows who changed which words, and brings a text back, by keyboard alone", async () => {
    const ticket = await make()
    await write(ticket, { description: "The shop takes any card." })
    await write(ticket, { description: "The shop takes any card and invoices." })
    const page = await openScreen(site, `tickets/${ticket.identifier}`)
    await isLive(page)
    const dialog = await openHistory(page, ticket)
    const changes = dialog.getByRole("list", { name: "Changes of the description" }).getByRole("listitem")
    await expect.poll(() => changes.count()).toBe(2)
    // The last change is open, the others open by key.
    expect(await changes.nth(0).getByRole("insertion").allInnerTexts()).toEqual([
      expect.stringContaining(" and invoices")
    ])
    expect(await changes.nth(1).getByRole("insertion").count()).toBe(0)
    await changes
      .nth(1)
      .getByRole("button", { name: /changed it/, expanded: false })
      .press("Enter")
    expect(await changes.nth(1).getByRole("deletion").innerText()).toContain("Visa")
    expect(await changes.nth(1).getByRole("insertion").innerText()).toContain("any card")
    expect(await axeFindings(page)).toEqual([])
    await changes
      .nth(1)
      .getByRole("button", { name: /^Restore what was before/ })
      .press("Enter")
    await expect.poll(async () => (await read(ticket)).description).toBe("The shop takes Visa.")
    // That is a change, too; and what stands there is not restored.
    await expect.poll(() => changes.count()).toBe(3)
    await expect.poll(() => dialog.getByRole("button", { name: /^Restore/ }).count()).toBe(2)
    // What somebody else writes meanwhile comes by itself.
    await write(ticket, { description: "No cards." })
    await expect.poll(() => changes.count()).toBe(4)
    await dialog.getByRole("tab", { name: "Plan" }).click()
    await dialog.getByText("No change of the plan is kept.").waitFor()
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
  })

  it("has as much room as a small screen", async () => {
    const ticket = await make()
    await write(ticket, { description: `One${"word".repeat(100)} ${"and another ".repeat(300)}`, plan: "First" })
    const page = await openScreen(site, `tickets/${ticket.identifier}`)
    await page.setViewportSize({ width: 320, height: 640 })
    const dialog = await openHistory(page, ticket)
    await dialog.getByRole("insertion").waitFor()
    const widths = await dialog.evaluate((element) =>
      [element, ...element.querySelectorAll("*")]
        .filter((one) => one.closest(".sr-only") === null)
        .map((one) => one.getBoundingClientRect().right)
    )
    expect(Math.max(...widths)).toBeLessThanOrEqual(320)
    await dialog.getByRole("tab", { name: "Plan" }).click()
    await dialog.getByText("wrote it").waitFor()
    // There was none before.
    expect(await dialog.getByRole("button", { name: /^Restore/ }).count()).toBe(0)
  })

  it("is read by viewers, who bring nothing back", async () => {
    const ticket = await make()
    await write(ticket, { description: "Other" })
    const viewer = await joinAs(site, "vera@example.com", "Vera", "viewer")
    const page = await openScreen(site, `tickets/${ticket.identifier}`, viewer)
    const dialog = await openHistory(page, ticket)
    await dialog.getByRole("deletion").waitFor()
    expect(await dialog.getByRole("button", { name: /^Restore/ }).count()).toBe(0)
  })
})

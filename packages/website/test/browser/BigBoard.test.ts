import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { axeFindings } from "../support/Axe.ts"
import { isLive, joinAs, openScreen, pressEnter, type Site, startSite } from "../support/Site.ts"

/** A board of 2,000 tickets: what is done on a small one is done on it, and one refusal puts one card back. */

interface Ticket {
  readonly id: string
  readonly identifier: string
  readonly status: { readonly name: string }
}

const count = 2_000
let site: Site

beforeAll(async () => {
  site = await startSite()
  await site.call("POST", "teams", { key: "ENG", name: "Engineering" })
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

const list = async () => (await site.call<{ tickets: ReadonlyArray<Ticket> }>("GET", "tickets?team=ENG")).tickets
const namesOf = (tickets: ReadonlyArray<Ticket>) => tickets.map(({ identifier }) => identifier)
const inStatus = async (name: string) => namesOf((await list()).filter(({ status }) => status.name === name))

const column = (page: Page, name: string) => page.getByRole("region", { name, exact: true })
const card = (page: Page, { id }: Ticket) => page.locator(`[data-card="${id}"]`)
/** The first of those that are drawn: of 2,000 cards only some are. */
const firstOf = async (page: Page, name: string, many: number) =>
  (await column(page, name).locator("[data-card] .tabular").allInnerTexts()).slice(0, many)

const fill = async () => {
  const makeSome = async () => {
    while (made < count) {
      const number = ++made
      await site.call("POST", "tickets", { team: "ENG", title: `${number % 200 === 100 ? "Rare" : "Usual"} ${number}` })
    }
  }
  let made = 0
  await Promise.all(Array.from({ length: 8 }, makeSome))
}

const board = `tickets?teams=${encodeURIComponent('["ENG"]')}&layout=board`

describe("A board of 2,000 tickets", () => {
  it("is moved on, selected, filtered and saved by one person, and seen by another", async () => {
    await fill()
    const all = await list()
    expect(all).toHaveLength(count)
    const [first, second, third, fourth, fifth] = all as [Ticket, Ticket, Ticket, Ticket, Ticket]
    const page = await openScreen(site, board)
    const other = await joinAs(site, "ben@example.com", "Ben", "member")
    await openScreen(site, board, other)
    await isLive(other)
    for (const one of [page, other]) {
      await expect.poll(() => firstOf(one, "Backlog", 3)).toEqual(namesOf([first, second, third]))
    }
    await page.getByRole("button", { name: "New ticket" }).waitFor()

    // By key, which the other sees.
    await page.keyboard.press("j")
    await page.keyboard.press(">")
    await expect.poll(() => firstOf(page, "Todo", 2)).toEqual(namesOf([first]))
    await expect.poll(() => firstOf(other, "Todo", 2)).toEqual(namesOf([first]))

    // By drag, refused: that card alone is put back.
    await page.route(/\/tickets\/batch$/, async (route) => {
      const { tickets } = route.request().postDataJSON() as { tickets: ReadonlyArray<string> }
      if (tickets[0] !== second.identifier) return route.fallback()
      const error = { _tag: "Conflict", message: "The team is archived.", reason: "archived" }
      return route.fulfill({ json: { results: [{ ticket: tickets[0], ok: false, error }] } })
    })
    await card(page, second).dragTo(column(page, "Done"))
    await page.getByText(`${second.identifier} stays where it was`).first().waitFor()
    await page.getByText("The team is archived.").first().waitFor()
    await expect.poll(() => firstOf(page, "Backlog", 3)).toEqual(namesOf([second, third, fourth]))
    expect(await firstOf(page, "Todo", 2)).toEqual(namesOf([first]))
    expect(await inStatus("Done")).toEqual([])
    // By drag, done.
    await card(page, third).dragTo(column(page, "Done"))
    await expect.poll(() => firstOf(other, "Done", 2)).toEqual(namesOf([third]))
    await expect.poll(() => firstOf(other, "Backlog", 3)).toEqual(namesOf([second, fourth, fifth]))
    expect(await axeFindings(page)).toEqual([])
    await page.unrouteAll()

    // All that a filter leaves are selected, and moved at once.
    await page.locator("#screen").focus()
    await page.keyboard.press("/")
    await page.keyboard.type("rare")
    await expect.poll(() => column(page, "Backlog").locator("[data-card]").count()).toBe(10)
    await page.keyboard.press("Escape")
    await page.locator("#screen").focus()
    await page.keyboard.press("X")
    await page.getByText("10 tickets selected").waitFor()
    await page.keyboard.press("s")
    await page.getByRole("menuitemradio", { name: "In progress" }).press("Enter")
    await page.getByText("10 tickets moved to In progress").first().waitFor()
    expect(await inStatus("In progress")).toHaveLength(10)
    await expect.poll(() => column(other, "In progress").locator("[data-card]").count()).toBe(10)

    // What a filter leaves is kept as a view.
    await openScreen(site, `${board}&categories=${encodeURIComponent('["started"]')}`, page)
    await expect.poll(() => column(page, "In progress").locator("[data-card]").count()).toBe(10)
    await page.getByRole("button", { name: "Save as view" }).click()
    const dialog = page.getByRole("dialog", { name: "Save as view" })
    await dialog.getByRole("textbox", { name: "Name" }).fill("Begun")
    await pressEnter(dialog.getByRole("button", { name: "Save view" }))
    await page.getByRole("heading", { level: 1, name: "Begun" }).waitFor()
    await expect.poll(() => column(page, "In progress").locator("[data-card]").count()).toBe(10)
    for (const one of [page, other]) await one.context().close()
  }, 600_000)
})

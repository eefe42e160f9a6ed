import type { Page } from "playwright-core"
import { openScreen, type Site } from "../packages/website/test/support/Site.ts"
import { settledVitals, timeUntil } from "./Vitals.ts"

/** A board of many tickets, and what people do there. */

export const tickets = 2_000

/** How many are made at once. */
const atOnce = 8

const filter = `teams=${encodeURIComponent('["BIG"]')}`

export const listPath = `tickets?${filter}`
export const boardPath = `tickets?layout=board&${filter}`

/** In five statuses, of two projects, with descriptions as people write them. */
export const plantTickets = async (site: Site): Promise<void> => {
  await site.call("POST", "teams", { key: "BIG", name: "A large team" })
  await site.call("POST", "projects", { slug: "one", name: "One project", teams: ["BIG"] })
  await site.call("POST", "projects", { slug: "two", name: "Another project", teams: ["BIG"] })
  const { statuses } = await site.call<{ statuses: ReadonlyArray<{ id: string }> }>("GET", "ticket-statuses?team=BIG")
  const numbers = Array.from({ length: tickets }, (_, index) => index).values()
  const worker = async () => {
    for (const number of numbers) {
      await site.call("POST", "tickets", {
        team: "BIG",
        title: `What is to be done as number ${number}`,
        description: "It takes some words to say what is meant. ".repeat(8),
        status: statuses[number % statuses.length]!.id,
        project: number % 2 === 0 ? "one" : "two"
      })
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

const firstOf = (column: string) => `section[aria-label="${column}"] [data-card]`

const cardAt = (page: Page, column: string) => page.locator(firstOf(column)).first().getAttribute("data-card")

/** From the key on, until the card stands in the next column. */
export const moveByKey = async (page: Page): Promise<number> => {
  const card = await cardAt(page, "Backlog")
  await page.keyboard.press("j")
  await settledVitals(page)
  return timeUntil(page, `section[aria-label="Todo"] [data-card="${card}"]`, () => page.keyboard.press(">"))
}

export const openBoard = async (site: Site, page: Page): Promise<void> => {
  await openScreen(site, boardPath, page)
  await page.locator(firstOf("Done")).first().waitFor()
  await page.getByRole("button", { name: "New ticket" }).waitFor()
  await settledVitals(page)
}

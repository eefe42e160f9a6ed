import type { Page } from "playwright-core"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { axeFindings } from "../support/Axe.ts"
import { atRest, openScreen, type Site, startSite } from "../support/Site.ts"

/** What stays at the top of a screen that is longer than it: its header, and the heading of the group that is looked at. */

let site: Site

/** As many as are drawn as they are, and as many of which those in view are. */
const lists = { few: 24, many: 50 }

const scene = async (project: string, count: number) => {
  await site.call("POST", "projects", { slug: project, name: `The ${project}`, teams: ["ENG"] })
  for (const category of ["backlog", "started"]) {
    for (let index = 0; index < count; index++) {
      const { identifier } = await site.call<{ identifier: string }>("POST", "tickets", {
        team: "ENG",
        title: `Step ${index + 1}`,
        project
      })
      if (category === "started") {
        await site.call("POST", "tickets/batch", { tickets: [identifier], changes: { category } })
      }
    }
  }
}

beforeAll(async () => {
  site = await startSite()
  await site.call("POST", "teams", { key: "ENG", name: "Engineering" })
  await site.call("POST", "tickets", {
    team: "ENG",
    title: "Pay by card, and by all that people have in their pockets",
    description: Array.from({ length: 80 }, (_, index) => `Paragraph ${index + 1}.`).join("\n\n")
  })
  for (const [project, count] of Object.entries(lists)) await scene(project, count)
})

afterEach(async () => {
  for (const context of site.browser.contexts()) await context.close()
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

const scrollTo = (page: Page, top: number) =>
  page.locator("#screen").evaluate((screen, to) => {
    screen.scrollTop = to
  }, top)

/** Where the header ends, in pixels below the top of the screen. */
const headerEnd = (page: Page) =>
  page.locator("#screen > header, #screen > div > header").evaluate((header) => {
    const screen = document.querySelector("#screen")!.getBoundingClientRect()
    return header.getBoundingClientRect().bottom - screen.top
  })

const headingTops = (page: Page) =>
  page.locator("#screen [data-row] h2").evaluateAll((headings) => {
    const screen = document.querySelector("#screen")!.getBoundingClientRect()
    return headings.map((heading) => ({
      name: heading.textContent?.replace(/\d+$/, ""),
      top: heading.getBoundingClientRect().top - screen.top
    }))
  })

/** Whether the row that the keyboard is at can be seen whole. */
const isUncovered = (page: Page) =>
  page.locator("[data-ticket][class*=inset_3px]").evaluate((row) => {
    const { bottom, left, top } = row.getBoundingClientRect()
    return [top + 2, bottom - 2].every((y) => row.contains(document.elementFromPoint(left + 40, y)))
  })

describe.each([320, 1440])("On a screen that is %i pixels wide", (width) => {
  it("the title and the actions of a long ticket stay", async () => {
    const page = await openScreen(site, "tickets/ENG-1", await site.signIn({ width, height: 720 }))
    await page.getByText("Paragraph 80.").waitFor()
    await atRest(page)
    await page.getByText("Paragraph 60.").scrollIntoViewIfNeeded()
    const heading = page.getByRole("heading", { level: 1 })
    expect(await heading.evaluate((title) => document.querySelector("#screen")!.scrollTop > title.clientHeight)).toBe(
      true
    )
    expect(await headerEnd(page)).toBeLessThanOrEqual(110)
    expect(await headerEnd(page)).toBeGreaterThanOrEqual(44)
    // Where the keyboard comes to is not below it.
    await page.getByRole("button", { name: "Edit the description" }).focus()
    expect(
      await page.getByRole("button", { name: "Edit the description" }).evaluate((button) => {
        const { left, top } = button.getBoundingClientRect()
        return button.contains(document.elementFromPoint(left + 4, top + 2))
      })
    ).toBe(true)
    await page.getByText("Paragraph 60.").scrollIntoViewIfNeeded()
    await page.getByRole("button", { name: "Ask an agent" }).click()
    await page.getByRole("dialog").waitFor()
    await page.keyboard.press("Escape")
    await page.getByRole("dialog").waitFor({ state: "detached" })
    expect(await axeFindings(page)).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
  })

  it.each(Object.entries(lists))(
    "the heading of a group of %s tickets stays while they pass",
    async (project, count) => {
      const path = `tickets?projects=${encodeURIComponent(`["${project}"]`)}`
      const page = await openScreen(site, path, await site.signIn({ width, height: 720 }))
      await page.getByRole("list", { name: "Tickets" }).getByRole("heading", { name: "Backlog" }).waitFor()
      await atRest(page)
      const list = page.getByRole("list", { name: "Tickets" })
      await scrollTo(page, count * 16)
      await expect.poll(() => headingTops(page)).toContainEqual({ name: "Backlog", top: await headerEnd(page) })
      // That of the next group takes its place.
      await list.focus()
      await page.keyboard.press("End")
      await list.getByText(`Step ${count}`, { exact: true }).last().waitFor()
      await expect.poll(() => headingTops(page)).toContainEqual({ name: "In progress", top: await headerEnd(page) })
      expect(await axeFindings(page)).toEqual([])
      for (let step = 1; step < count * 2; step++) {
        await page.keyboard.press("ArrowUp")
        await expect.poll(() => isUncovered(page)).toBe(true)
      }
      await page.keyboard.press("ArrowUp")
      expect(await list.getByRole("heading", { name: "Backlog" }).isVisible()).toBe(true)
    }
  )
})

describe("On a screen of little height", () => {
  it("nothing stays: there would be no room for the rest", async () => {
    const page = await openScreen(site, "tickets/ENG-1", await site.signIn({ width: 320, height: 300 }))
    await page.getByText("Paragraph 80.").waitFor()
    await page.getByText("Paragraph 60.").scrollIntoViewIfNeeded()
    expect(await headerEnd(page)).toBeLessThan(0)
  })
})

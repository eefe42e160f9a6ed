import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { axeFindings } from "../support/Axe.ts"
import { isLive, joinAs, openScreen, pressEnter, type Site, startSite } from "../support/Site.ts"

/** Projects: their order, what they are, their milestones, and the way back from the archive. */

let site: Site

beforeAll(async () => {
  site = await startSite()
  await site.call("POST", "teams", { key: "ENG", name: "Engineering" })
  for (const [slug, name] of [
    ["checkout", "New checkout"],
    ["search", "Faster search"],
    ["mail", "Better mail"]
  ]) {
    await site.call("POST", "projects", { slug, name, teams: ["ENG"] })
  }
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

const order = async () => {
  const { projects } = await site.call<{ projects: ReadonlyArray<{ slug: string }> }>("GET", "projects")
  return projects.map(({ slug }) => slug)
}

const shown = (page: Page) =>
  page.getByRole("list", { name: "Projects" }).getByRole("link").locator(".font-medium").allInnerTexts()

const dialogOf = (page: Page) => page.getByRole("dialog", { name: "History of Told twice" })

describe("Projects", () => {
  it("are ordered by keys and by drag, and others see it", async () => {
    const page = await openScreen(site, "projects")
    const other = await openScreen(site, "projects")
    await isLive(other)
    await expect.poll(() => shown(page)).toEqual(["New checkout", "Faster search", "Better mail"])
    await page.getByRole("button", { name: "Add project" }).waitFor()
    await page.keyboard.press("j")
    await page.keyboard.press("J")
    await expect.poll(() => shown(page)).toEqual(["Faster search", "New checkout", "Better mail"])
    await expect.poll(order).toEqual(["search", "checkout", "mail"])
    await page.keyboard.press("J")
    await expect.poll(order).toEqual(["search", "mail", "checkout"])
    await expect.poll(() => shown(other)).toEqual(["Faster search", "Better mail", "New checkout"])
    const undos = page.getByRole("button", { name: "Undo" })
    // Of the moves by key: what is taken back below is the one by drag.
    const dismiss = page.getByRole("button", { name: "Dismiss" }).first()
    // One may go by itself meanwhile.
    while ((await undos.count()) > 0) await dismiss.press("Enter", { timeout: 1_000 }).catch(() => undefined)
    await page.getByRole("link", { name: /New checkout/ }).dragTo(page.getByRole("link", { name: /Faster search/ }))
    await expect.poll(order).toEqual(["checkout", "search", "mail"])
    await undos.click()
    await expect.poll(order).toEqual(["search", "mail", "checkout"])
    expect(await axeFindings(page)).toEqual([])
  })

  it("are shown both sides where one is archived while another is put beside it", async () => {
    const page = await openScreen(site, "projects")
    const [first, second, third] = await order()
    await expect.poll(() => shown(page)).toHaveLength(3)
    const names = await shown(page)
    await page.getByRole("button", { name: "Add project" }).waitFor()
    await page.route(
      /\/reorder$/,
      async (route) => {
        await site.call("POST", `projects/${third}/archive`, {})
        await route.continue()
      },
      { times: 1 }
    )
    // Rows can be dragged a moment after they are shown.
    await page.locator("[draggable=true]").nth(2).waitFor()
    await page.getByRole("link", { name: names[0]! }).dragTo(page.getByRole("link", { name: names[2]! }))
    const dialog = page.getByRole("dialog", { name: `${names[0]} could not go below ${names[2]}` })
    await dialog.getByRole("region", { name: "Theirs" }).getByText(`${names[2]} was archived.`).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await pressEnter(dialog.getByRole("button", { name: `Put it below ${names[1]}` }))
    await expect.poll(order).toEqual([second, first])
    await site.call("POST", `projects/${third}/restore`, {})
    await expect.poll(order).toEqual([second, first, third])
    await page.context().close()
  })

  it("are looked at beside their list", async () => {
    await site.call("POST", "projects/search/milestones", { name: "Answers in 100 ms" })
    await site.call("PATCH", "projects/search", { document: "**Why** it is slow." })
    const page = await openScreen(site, "projects")
    const names = await order()
    await page.getByRole("link", { name: /Faster search/ }).waitFor()
    for (let at = 0; at <= names.indexOf("search"); at++) await page.keyboard.press("j")
    await page.keyboard.press(" ")
    const peek = page.getByRole("complementary", { name: "The current project" })
    await peek.getByRole("heading", { name: "Faster search" }).waitFor()
    await peek.getByRole("region", { name: "Milestones" }).getByText("Answers in 100 ms").waitFor()
    await peek.getByRole("region", { name: "Document" }).getByText("Why it is slow.").waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page.keyboard.press("Escape")
    await peek.waitFor({ state: "detached" })
    await page.context().close()
  })

  it("are added, described and divided into milestones by keyboard", async () => {
    const page = await openScreen(site, "projects")
    await page.getByRole("button", { name: "Add project" }).waitFor()
    await page.keyboard.press("n")
    const dialog = page.getByRole("dialog", { name: "Add a project" })
    await dialog.getByText("Still missing: a name.").waitFor()
    await dialog.getByRole("textbox", { name: "Name" }).fill("Refunds")
    await expect.poll(() => dialog.getByRole("checkbox", { name: "Engineering" }).isChecked()).toBe(true)
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { level: 1, name: "Refunds" }).waitFor()
    await page.getByRole("button", { name: "Milestone" }).waitFor()
    await page.keyboard.press("m")
    await page.getByRole("dialog", { name: "Add a milestone" }).getByRole("textbox", { name: "Name" }).fill("Beta")
    await page.keyboard.press("Enter")
    await page.getByRole("link", { name: "1. Beta" }).waitFor()
    // What stands beside its words is changed by a press on it.
    await page.getByRole("button", { name: "Change target: No date" }).click()
    await page.getByRole("dialog", { name: "Change the project" }).getByLabel("Target date").fill("2100-01-31")
    await page.keyboard.press("Enter")
    await page.getByRole("button", { name: "Change target: Jan 31, 2100" }).waitFor()
    await page.keyboard.press("e")
    await page.getByRole("textbox", { name: "Document" }).fill("# Goal\n\nMoney back in a day.")
    await page.keyboard.press("Control+Enter")
    await page.getByRole("heading", { name: "Goal" }).waitFor()
    await site.call("POST", "tickets", { team: "ENG", title: "Button", project: "refunds", milestone: 1 })
    await page.getByText("0 of 1 ticket").first().waitFor()
    expect(await axeFindings(page)).toEqual([])
  })

  it("keep the history of their document: read, brought back and taken back, by keyboard alone", async () => {
    await site.call("POST", "projects", { slug: "history", name: "Told twice", teams: ["ENG"] })
    const write = (document: string) => site.call("PATCH", "projects/history", { document })
    const read = async () => (await site.call<{ document: string | null }>("GET", "projects/history")).document
    await write("Results in a second.")
    await write("Results in a tenth of a second.")
    const page = await openScreen(site, "projects/history")
    await isLive(page)
    await page.getByRole("button", { name: "More" }).waitFor()
    await page.keyboard.press("h")
    const dialog = dialogOf(page)
    const changes = dialog.getByRole("list", { name: "Changes of the document" }).getByRole("listitem")
    await expect.poll(() => changes.count()).toBe(2)
    expect(await changes.nth(0).getByRole("insertion").innerText()).toContain("tenth of a")
    // There was none before the first.
    expect(await changes.nth(1).innerText()).toContain("wrote it")
    expect(await dialog.getByRole("button", { name: /^Restore/ }).count()).toBe(1)
    expect(await axeFindings(page)).toEqual([])
    await pressEnter(dialog.getByRole("button", { name: /^Restore what was before/ }))
    await expect.poll(read).toBe("Results in a second.")
    await expect.poll(() => changes.count()).toBe(3)
    // What somebody else writes meanwhile comes by itself.
    await write("Results at once.")
    await expect.poll(() => changes.count()).toBe(4)
    await write("Results in a second.")
    await expect.poll(() => changes.count()).toBe(5)
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
    await pressEnter(page.getByRole("button", { name: "Undo" }))
    await expect.poll(read).toBe("Results in a tenth of a second.")
    // From the palette, and by who changes nothing.
    const viewer = await joinAs(site, "vera@example.com", "Vera", "viewer")
    const theirs = await openScreen(site, "projects/history", viewer)
    await theirs.getByRole("button", { name: "More" }).waitFor()
    await theirs.keyboard.press("Control+k")
    await theirs.getByRole("combobox").fill("history of")
    await theirs.getByRole("option", { name: /^History of the document/ }).waitFor()
    await theirs.keyboard.press("Enter")
    await dialogOf(theirs).getByRole("insertion").first().waitFor()
    expect(
      await dialogOf(theirs)
        .getByRole("button", { name: /^Restore/ })
        .count()
    ).toBe(0)
  })

  it("are archived, and brought back", async () => {
    const page = await openScreen(site, "projects/mail")
    await page.getByRole("button", { name: "More" }).click()
    await page.getByRole("menuitem", { name: "Archive" }).click()
    await page.getByText("Better mail was archived").first().waitFor()
    await page.getByText("archived", { exact: true }).waitFor()
    expect(await page.getByRole("button", { name: "Milestone" }).count()).toBe(0)
    await page.getByRole("button", { name: "Undo" }).first().click()
    await page.getByText("Better mail is back").first().waitFor()
    await page.getByRole("button", { name: "Milestone" }).waitFor()
    expect(await order()).toContain("mail")
  })
})

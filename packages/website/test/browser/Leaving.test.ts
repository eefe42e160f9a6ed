import type { Locator, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { axeFindings } from "../support/Axe.ts"
import { seed } from "../support/Seed.ts"
import { openScreen, pressEnter, type Site, startSite } from "../support/Site.ts"

/** Forms whose text is kept nowhere ask before it is lost: by the browser's buttons, too, and by the links beside them. */

let site: Site

beforeAll(async () => {
  site = await startSite()
  await seed(site.call)
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

const pathOf = (page: Page) => new URL(page.url()).pathname

const links = (page: Page) => page.getByRole("navigation", { name: "Workspace" })

/** A dialog that was opened on a screen, to which a link of another one has led. */
const openDialog = async (path: string, link: string, button: string) => {
  const page = await openScreen(site, "inbox")
  await links(page).getByRole("link", { name: link, exact: true }).click()
  await page.waitForURL(`${site.origin}/w/main/${path}`)
  await page.getByRole("button", { name: button }).first().click()
  return { page, dialog: page.getByRole("dialog") }
}

const question = (where: Locator | Page) => where.getByText("Discard what you typed?")

/** Loads the page again, as far as the browser asks: the person stays. */
const reloadAndStay = async (page: Page) => {
  const asked = page.waitForEvent("dialog")
  await page.evaluate(() => setTimeout(() => location.reload()))
  const dialog = await asked
  expect(dialog.type()).toBe("beforeunload")
  await dialog.dismiss()
}

const forms = [
  { name: "a pasted .env file", at: ["vault", "Vault", "Paste .env"], field: "Contents of the file", text: "A=1" },
  { name: "a webhook", at: ["webhooks", "Webhooks", "New webhook"], field: "Address", text: "https://example.com" },
  { name: "a project", at: ["projects", "Projects", "Add project"], field: "Name", text: "Half a project" }
] as const

describe("What was typed into a dialog", () => {
  it.each(forms)("is not lost without a question: $name", async ({ at: [path, link, button], field, text }) => {
    const { dialog, page } = await openDialog(path, link, button)
    const typed = dialog.getByLabel(field, { exact: true })
    await typed.pressSequentially(text)
    const shown = await typed.inputValue()
    await page.goBack()
    await question(dialog).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await pressEnter(dialog.getByRole("button", { name: "Keep typing" }).and(page.locator(":focus")))
    await question(dialog).waitFor({ state: "detached" })
    await page.waitForURL(`${site.origin}/w/main/${path}`)
    await typed.and(page.locator(":focus")).waitFor()
    expect(await typed.inputValue()).toBe(shown)
    await reloadAndStay(page)
    expect(await typed.inputValue()).toBe(shown)
    // Who goes back twice is asked again, and gets there.
    await page.goBack()
    await question(dialog).waitFor()
    await pressEnter(dialog.getByRole("button", { name: "Discard", exact: true }))
    await page.waitForURL(`${site.origin}/w/main/inbox`)
    await dialog.waitFor({ state: "detached" })
  })

  it("is lost without one where nothing was typed, and is sent without one", async () => {
    const { dialog, page } = await openDialog("teams", "Teams", "Add team")
    await dialog.waitFor()
    await page.goBack()
    await page.waitForURL(`${site.origin}/w/main/inbox`)
    await page.goForward()
    await page.getByRole("button", { name: "Add team" }).first().click()
    await dialog.getByLabel("Name", { exact: true }).fill("Sent away")
    await dialog.getByLabel("Key").fill("SENT")
    // Its screen opens the team while what was typed is still in the dialog.
    await pressEnter(dialog.getByRole("button", { name: "Add team" }))
    await page.waitForURL(`${site.origin}/w/main/teams/SENT`)
    await dialog.waitFor({ state: "detached" })
  })
})

describe("What was typed into a form of a screen", () => {
  it("is not lost by a link or the browser's buttons", async () => {
    const page = await openScreen(site, "inbox")
    await links(page).getByRole("link", { name: "Workspace", exact: true }).click()
    const name = page.getByLabel("Name", { exact: true })
    await name.fill("Half a name")
    for (const leave of [
      () => links(page).getByRole("link", { name: "Runs", exact: true }).click(),
      () => page.goBack()
    ]) {
      await leave()
      await question(page).waitFor()
      await pressEnter(page.getByRole("button", { name: "Keep typing" }))
      await page.getByRole("button", { name: "Save" }).waitFor()
      expect([pathOf(page), await name.inputValue()]).toEqual(["/w/main/settings", "Half a name"])
    }
    await reloadAndStay(page)
    expect(await name.inputValue()).toBe("Half a name")
    await links(page).getByRole("link", { name: "Runs", exact: true }).click()
    await pressEnter(page.getByRole("button", { name: "Discard" }))
    await page.waitForURL(`${site.origin}/w/main/test-runs`)
  })
})

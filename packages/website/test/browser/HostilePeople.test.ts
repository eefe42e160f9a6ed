import { afterAll, beforeAll, expect, it } from "vitest"
import { texts } from "../support/HostileTexts.ts"
import { joinAs, type Site, startSite } from "../support/Site.ts"

/** People whose names are bad: in the dialogs about them, these stay text, and within the window. */

let site: Site

beforeAll(async () => {
  site = await startSite()
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

it("Hostile names of people stay text in the dialogs about them", async () => {
  for (const [index, name] of texts(100).entries()) {
    await joinAs(site, `a${index}${"x".repeat(50)}@${"y".repeat(60)}.example.com`, name, "member")
  }
  const page = await site.signIn({ width: 320 })
  await page.goto(`${site.origin}/w/main/settings/members`)
  const menus = page.getByRole("button", { name: /change the role of/ })
  await menus.first().waitFor()
  const state: Array<unknown> = []
  for (const menu of await menus.all()) {
    for (const item of [/^End access/, /^viewer/]) {
      await menu.click()
      await page.getByRole("menu").getByText(item).click()
      await page.getByRole("dialog").waitFor()
      state.push(await page.evaluate(() => ["hacked" in window, document.documentElement.scrollWidth - innerWidth]))
      await page.getByRole("button", { name: "Cancel" }).click()
      await page.getByRole("dialog").waitFor({ state: "detached" })
    }
  }
  expect(state).toHaveLength(8)
  expect(new Set(state.map(String))).toEqual(new Set(["false,0"]))
})

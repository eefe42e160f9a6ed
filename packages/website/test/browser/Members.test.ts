import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { joinAs, type Site, startSite } from "../support/Site.ts"

/** How people come in, lose access, and leave. */

let site: Site

beforeAll(async () => {
  site = await startSite()
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

describe("Members", () => {
  it("lose access when that is confirmed, and get it back", async () => {
    await joinAs(site, "vera@example.com", "Vera", "member")
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/settings/members`)
    const role = page.getByRole("button", { name: "member: change the role of Vera" })
    const end = async () => {
      await role.press("Enter")
      await page.getByRole("menuitem", { name: /End access/ }).click()
    }
    const dialog = page.getByRole("dialog", { name: "End the access of Vera?" })
    await end()
    await dialog.getByText(/what ended does not come back/).waitFor()
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
    await end()
    await dialog.getByRole("button", { name: "End access" }).press("Enter")
    await dialog.waitFor({ state: "detached" })
    await role.press("Enter")
    await page.getByRole("menuitem", { name: "Give access again" }).click()
    await page.getByText("Vera has access again").waitFor()
  })

  it("who have just joined open the workspace from their account", async () => {
    const page = await joinAs(site, "ines@example.com", "Ines", "viewer")
    await page.goto(`${site.origin}/sign-in`)
    await page.getByRole("link", { name: "Open main" }).click()
    await page.waitForURL(`${site.origin}/w/main`)
    await page.locator("#screen h1").waitFor()
  })

  it("who could not sign in again are asked before they sign out", async () => {
    const page = await joinAs(site, "noa@example.com", "Noa", "viewer")
    await page.goto(`${site.origin}/w/main`)
    await page.getByRole("button", { name: "Noa" }).click()
    await page.getByRole("menuitem", { name: "Sign out" }).click()
    await page.waitForURL(`${site.origin}/sign-in`)
    await page
      .getByText(/You have no way to sign in again/)
      .first()
      .waitFor()
    await page.goto(`${site.origin}/w/main`)
    await page.locator("#screen h1").waitFor()
  })

  it("get the keyboard back where a dialog was opened", async () => {
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/settings/members`)
    for (const name of ["Invite", "New API key"]) {
      if (name === "New API key") await page.goto(`${site.origin}/w/main/settings/api-keys`)
      const button = page.getByRole("button", { name, exact: true })
      await button.press("Enter")
      await page.getByRole("dialog").waitFor()
      await page.keyboard.press("Escape")
      await page.getByRole("dialog").waitFor({ state: "detached" })
      await page.waitForFunction((text) => document.activeElement?.textContent?.includes(text), name)
    }
  })

  it("revoke no key by one that is held down, nor by a double click", async () => {
    for (const name of ["laptop", "desktop"]) await site.call("POST", "/v1/api-keys", { name })
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/settings/api-keys`)
    await page.getByRole("button", { name: "Revoke laptop", exact: true }).focus()
    for (let press = 0; press < 10; press++) await page.keyboard.down("Enter")
    await page.keyboard.up("Enter")
    await page.getByRole("button", { name: "Really revoke laptop?" }).waitFor()
    await page.keyboard.press("Escape")
    await page.getByRole("button", { name: "Revoke laptop", exact: true }).dblclick()
    await page.getByRole("button", { name: "Really revoke laptop?" }).click()
    const keys = page.getByRole("list", { name: "API keys" })
    await keys.getByText("laptop", { exact: true }).waitFor({ state: "detached" })
    await keys.getByText("desktop", { exact: true }).waitFor()
  })
})

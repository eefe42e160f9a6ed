import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { joinAs, pressEnter, type Site, startSite } from "../support/Site.ts"

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
    await dialog.locator(":focus").waitFor()
    await pressEnter(dialog.getByRole("button", { name: "End access" }))
    await dialog.waitFor({ state: "detached" })
    await role.press("Enter")
    await page.getByRole("menuitem", { name: "Give access again" }).click()
    await page.getByText("Vera has access again").waitFor()
  })

  it("get a lower role when that is confirmed, with or without the keys that they made", async () => {
    const rhea = await joinAs(site, "rhea@example.com", "Rhea", "admin")
    await rhea.goto(`${site.origin}/w/main`)
    await rhea.evaluate(`Promise.all(["build", "nightly"].map((name) =>
      fetch("/v1/workspaces/main/account-api-keys", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ name, role: name === "build" ? "admin" : "member" })
      })))`)
    const names = async () => {
      const { accountApiKeys } = await site.call<{ accountApiKeys: ReadonlyArray<{ name: string }> }>(
        "GET",
        "account-api-keys"
      )
      return accountApiKeys.map(({ name }) => name).toSorted()
    }
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/settings/members`)
    const lower = async (from: string, to: string, keep: boolean) => {
      await pressEnter(page.getByRole("button", { name: `${from}: change the role of Rhea` }))
      await page.getByRole("menuitemradio", { name: to }).click()
      const dialog = page.getByRole("dialog", { name: `Make Rhea ${to}?` })
      await dialog.getByText("what ended does not come back").waitFor()
      if (keep) await dialog.getByRole("checkbox", { name: /^Keep the account API keys/ }).check()
      await pressEnter(dialog.getByRole("button", { name: `Make them ${to}` }))
      await page.getByRole("button", { name: `${to}: change the role of Rhea` }).waitFor()
      await page.getByText(`Rhea is ${to} now`).first().waitFor()
    }
    await lower("admin", "member", true)
    expect(await names()).toEqual(["build", "nightly"])
    await lower("member", "viewer", false)
    expect(await names()).toEqual([])
    // What ended does not come back: no way back is offered.
    expect(await page.getByRole("button", { name: "Undo" }).count()).toBe(0)
  })

  it("become owners when it is confirmed what an owner can do", async () => {
    await joinAs(site, "odo@example.com", "Odo", "viewer")
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/settings/members`)
    await pressEnter(page.getByRole("button", { name: "viewer: change the role of Odo" }))
    await page.getByRole("menuitemradio", { name: "owner" }).click()
    const dialog = page.getByRole("dialog", { name: "Make Odo owner?" })
    await dialog.getByText("An owner may do everything here").waitFor()
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
    await pressEnter(page.getByRole("button", { name: "viewer: change the role of Odo" }))
    await page.getByRole("menuitemradio", { name: "owner" }).click()
    await pressEnter(dialog.getByRole("button", { name: "Make them owner" }))
    await page.getByRole("button", { name: "owner: change the role of Odo" }).waitFor()
  })

  it("who join by a link open the workspace with Enter", async () => {
    const { token } = await site.call<{ token: string }>("POST", "invites", {
      email: "jo@example.com",
      role: "member",
      deliver: "link"
    })
    const page = await site.visit()
    await page.goto(`${site.origin}/invite#${token}`)
    await page.getByLabel("Your name").fill("Jo")
    await page.getByRole("button", { name: /^Join main/ }).click()
    const open = page.locator("a:focus", { hasText: "Open main" })
    await open.waitFor()
    await page.getByText(/Until then your sign-in is new enough for that\./).waitFor()
    await page.keyboard.press("Enter")
    await page.waitForURL(`${site.origin}/w/main`)
    await page.locator("#screen h1").waitFor()
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
    const dialog = page.getByRole("dialog", { name: "Revoke laptop?" })
    await dialog.waitFor()
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
    await page.getByRole("button", { name: "Revoke laptop", exact: true }).dblclick()
    await dialog.getByRole("button", { name: "Revoke key" }).click()
    const keys = page.getByRole("list", { name: "API keys" })
    await keys.getByText("laptop", { exact: true }).waitFor({ state: "detached" })
    await keys.getByText("desktop", { exact: true }).waitFor()
  })
})

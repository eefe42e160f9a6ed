import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { accept, type Site, startSite } from "../support/Site.ts"

/** What needs a proof of who one is that is newer than the session's. */

let site: Site

beforeAll(async () => {
  // Each proof is old by the time that a screen is there: what is refused until then is done, and done again.
  site = await startSite({ SUDO_MS: "100" })
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

describe("A session whose proof is old", () => {
  it("is led to where it confirms that it is still its person", async () => {
    const { token } = await site.call<{ token: string }>("POST", "invites", {
      email: "sam@example.com",
      role: "viewer",
      deliver: "link"
    })
    await accept(site.origin, token, "Sam")
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/settings/members`)
    await page.getByRole("button", { name: "viewer: change the role of Sam" }).click()
    await page.getByRole("menuitemradio", { name: "member" }).click()
    await page.getByText("Sam stays viewer").first().waitFor()
    await page.getByRole("link", { name: "Confirm that it is you" }).press("Enter")
    await page.getByRole("heading", { name: "Confirm that it is you" }).waitFor()
    expect(new URL(page.url()).pathname).toBe("/sign-in")
  })

  it("can confirm without leaving what is typed", async () => {
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/settings/api-keys`)
    await page.getByRole("button", { name: "New API key" }).click()
    const told = page.getByText("Your last sign-in is too long ago for this")
    await told.waitFor()
    await page.getByLabel("Name").fill("laptop")
    await page.getByRole("button", { name: "Create key" }).click()
    await page.getByText(/^Confirm first that it is you/).waitFor()
    expect(await told.count()).toBe(0)
    const opened = page.context().waitForEvent("page")
    // The last one, where the hand is.
    const confirm = page.getByRole("dialog").locator("a, button").filter({ hasText: /\S/, visible: true }).last()
    expect(await confirm.textContent()).toBe("Confirm that it is you")
    await confirm.click()
    const other = await opened
    await other.getByRole("heading", { name: "Confirm that it is you" }).waitFor()
    // Whoever has no passkey is told what makes a link.
    await other.getByText("pnpm delivery sign-in-link owner@example.com", { exact: true }).waitFor()
    expect(await page.getByLabel("Name").inputValue()).toBe("laptop")
  })

  it("is told before an invite is typed that it takes a proof, and on Home that a passkey does", async () => {
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/settings/members`)
    await page.getByRole("button", { name: "Invite", exact: true }).click()
    await page.getByRole("dialog").getByText("Your last sign-in is too long ago for this").waitFor()
    await page.goto(`${site.origin}/w/main`)
    const first = page.getByRole("region", { name: "The first minute" }).getByRole("listitem").first()
    await first.getByText("Your last sign-in is too long ago to add one.").waitFor()
    await first.getByText("pnpm delivery sign-in-link owner@example.com", { exact: true }).waitFor()
  })
})

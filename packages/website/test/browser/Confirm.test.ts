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
    await page.getByLabel("Name").fill("laptop")
    await page.getByRole("button", { name: "Make the key" }).click()
    const opened = page.context().waitForEvent("page")
    await page.getByRole("link", { name: "Confirm that it is you" }).click()
    await (await opened).getByRole("heading", { name: "Confirm that it is you" }).waitFor()
    expect(await page.getByLabel("Name").inputValue()).toBe("laptop")
  })
})

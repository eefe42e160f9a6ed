import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { axeFindings } from "../support/Axe.ts"
import { type Looks, type Site, startSite } from "../support/Site.ts"

/** The pages before a workspace, and those in place of one: nobody is kept out by how they are made. */

let site: Site

beforeAll(async () => {
  site = await startSite()
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

const looks: ReadonlyArray<Looks> = (["light", "dark"] as const).flatMap((colorScheme) =>
  [320, 1440].map((width) => ({ colorScheme, width }))
)

/** Opens a page in each look, and looks for findings, and for what stands beside the window. */
const audit = async (open: (looks: Looks) => Promise<Page>, path: string, text: string | RegExp) => {
  for (const look of looks) {
    const page = await open(look)
    await page.goto(`${site.origin}${path}`)
    await page.getByText(text).first().waitFor()
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
    expect([path, look, await axeFindings(page), wide]).toEqual([path, look, [], false])
    await page.context().close()
  }
}

describe("Without findings of axe, light and dark, at 320 and 1440 px, are", () => {
  it("the sign-in", () => audit(site.visit, "/sign-in", "Sign in"))

  it("an invite, and one that is over", async () => {
    const { token } = await site.call<{ token: string }>("POST", "invites", {
      email: "ada@example.com",
      role: "member",
      deliver: "link"
    })
    await audit(site.visit, `/invite#${token}`, "ada@example.com")
    await audit(site.visit, "/invite", "This page has no invite.")
  })

  it("the consent for agents and for the command line, of requests that are over", async () => {
    for (const path of ["/authorize", "/cli"]) {
      await audit(site.signIn, `${path}#00000000-0000-7000-8000-000000000000`, "This request was answered already")
    }
  })

  it("a workspace that there is not, and an address that leads nowhere", async () => {
    await audit(site.signIn, "/w/none/", "No access")
    await audit(site.signIn, "/w/main/none", "Page not found")
  })
})

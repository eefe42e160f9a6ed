import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { axeFindings } from "../support/Axe.ts"
import { callWith, isLive, joinAs, openScreen, type Site, startSite } from "../support/Site.ts"

/** Coding agents: whose they are, where they work, and how they are connected and revoked. */

let site: Site

beforeAll(async () => {
  site = await startSite()
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

interface SignIn {
  readonly agent: string
  readonly access_token: string
}

describe("Agents", () => {
  it("are connected with a line to paste, by client", async () => {
    const page = await openScreen(site, "agents")
    await page.getByText("Coding agents take tickets and answer messages").waitFor()
    await page.keyboard.press("c")
    const dialog = page.getByRole("dialog", { name: "Connect an agent" })
    await dialog.getByText(`claude mcp add --transport http delivery ${site.origin}/agent/mcp`).waitFor()
    await dialog.getByRole("tab", { name: "Codex" }).click()
    await dialog.getByText(`codex mcp add delivery --url ${site.origin}/agent/mcp`).waitFor()
    await dialog.getByRole("tab", { name: "Cursor" }).click()
    await dialog.getByText(`"url": "${site.origin}/agent/mcp"`).waitFor()
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
  })

  it("show what they work on, to everybody, and are revoked by their person alone", async () => {
    const page = await openScreen(site, "agents")
    await isLive(page)
    const { access_token } = await site.call<SignIn>("POST", "agents/register", {
      client: "claude",
      computer: "laptop"
    })
    await callWith(site.origin, access_token)("PUT", "/agent/v1/sessions/s-1", {
      repository: "acme/shop",
      branch: "pay-by-card"
    })
    const mine = page.getByRole("list", { name: "Yours", exact: true })
    const computers = mine.getByRole("list", { name: /^Computers of Claude/ })
    await computers.getByText("laptop").waitFor()
    await computers.getByText("live").waitFor()
    await page.reload()
    await computers.getByText("pay-by-card").waitFor()
    expect(await axeFindings(page)).toEqual([])
    const narrow = await openScreen(site, "agents", await site.signIn({ colorScheme: "dark", width: 320 }))
    await narrow.getByText("pay-by-card").waitFor()
    expect(await axeFindings(narrow)).toEqual([])
    expect(await narrow.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
    await narrow.context().close()

    const ben = await joinAs(site, "ben@example.com", "Ben", "member")
    await openScreen(site, "agents", ben)
    await ben.getByRole("list", { name: "Of others" }).getByText("of Owner").waitFor()
    expect(await ben.getByRole("button", { name: /^Revoke/ }).count()).toBe(0)

    await mine.getByRole("button", { name: "Revoke Claude" }).press("Enter")
    await page.getByRole("dialog").getByRole("button", { name: "Revoke", exact: true }).press("Enter")
    await page.getByText("Claude is revoked").first().waitFor()
    await page.getByText("Coding agents take tickets and answer messages").waitFor()
    await expect(site.call("GET", "agents")).resolves.toEqual({ agents: [] })
  })
})

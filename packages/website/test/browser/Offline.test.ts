import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { accept, atRest, openScreen, pressEnter, type Site, startSite } from "../support/Site.ts"

/** What a person gets whose network is gone: nothing is done later that they asked for in the meantime. */

let site: Site

beforeAll(async () => {
  site = await startSite()
  const { token } = await site.call<{ token: string }>("POST", "invites", {
    email: "olga@example.com",
    role: "viewer",
    deliver: "link"
  })
  await accept(site.origin, token, "Olga")
})

afterAll(async () => {
  await site.close()
  // What the page asks for without a network, the browser reports by itself.
  expect(site.problems.filter((problem) => !problem.includes("ERR_INTERNET_DISCONNECTED"))).toEqual([])
})

const roleOf = async (name: string) => {
  const { members } = await site.call<{ members: ReadonlyArray<{ name: string; role: string }> }>("GET", "members")
  return members.find((one) => one.name === name)?.role
}

describe("Without a network", () => {
  it("a change fails at once, is not made later, and can be tried again", async () => {
    const page = await openScreen(site, "settings/members")
    const network = page.context()
    const choose = async (role: string) => {
      await pressEnter(page.getByRole("button", { name: "viewer: change the role of Olga" }))
      await page.getByRole("menuitemradio", { name: role }).click()
    }
    await page.getByRole("button", { name: "viewer: change the role of Olga" }).waitFor()
    await atRest(page)

    await network.setOffline(true)
    await page.getByText("You are offline. Nothing can be changed").waitFor()
    await choose("member")
    const notice = page.getByText("You are offline. Nothing was changed.").first()
    await notice.waitFor()
    // It is soon gone from the next screen.
    const links = page.getByRole("navigation", { name: "Workspace" })
    await links.getByRole("link", { name: "Webhooks" }).click()
    await notice.waitFor({ state: "detached" })
    await links.getByRole("link", { name: "Members" }).click()
    await choose("member")
    await notice.waitFor()

    const asked: Array<string> = []
    page.on("request", (request) => request.method() === "PATCH" && asked.push(request.url()))
    await network.setOffline(false)
    await page.getByText("You are offline. Nothing can be changed").waitFor({ state: "detached" })
    // The next change is made; so whatever had waited would have been made before it.
    await choose("admin")
    await page.getByText("Olga is admin now").first().waitFor()
    // What was said of the first is no longer true.
    await notice.waitFor({ state: "detached" })
    expect(asked).toHaveLength(1)
    expect(await roleOf("Olga")).toBe("admin")
  })

  it("what a form was told stays in it", async () => {
    const page = await openScreen(site, "settings/api-keys")
    await atRest(page)
    await page.getByRole("button", { name: "New API key" }).click()
    await page.getByLabel("Name").fill("written offline")
    await page.context().setOffline(true)
    await page.getByRole("button", { name: "Create key" }).click()
    await page.getByRole("dialog").getByText("You are offline. Nothing was changed.").waitFor()
    await page.context().setOffline(false)
    await page.getByRole("button", { name: "Create key" }).click()
    await page.getByRole("dialog", { name: "Your new API key" }).waitFor()
    const keys = await site.call<ReadonlyArray<{ name: string }>>("GET", "/v1/api-keys")
    expect(keys.filter(({ name }) => name === "written offline")).toHaveLength(1)
  })

  it("every screen can be gone to, and says what it could not read", async () => {
    const page = await openScreen(site, "test-runs")
    await atRest(page)
    await page.context().setOffline(true)
    await page.getByText("You are offline. Nothing can be changed").waitFor()
    for (const name of ["Semaphores", "Trends", "Deployments", "Webhooks"]) {
      await page.getByRole("navigation", { name: "Workspace" }).getByRole("link", { name }).click()
      await page.getByRole("heading", { level: 1, name }).waitFor()
    }
    await page.context().setOffline(false)
    await page.getByRole("heading", { level: 2 }).first().waitFor()
  })

  it("a page that has just come stays, and gets what it lacks with the network", async () => {
    const page = await site.signIn()
    // Nothing is loaded but what shows the page.
    await page.clock.install({ time: 0 })
    await page.clock.pauseAt(1_000)
    await openScreen(site, "settings/members", page)
    await page.context().setOffline(true)
    await page.clock.runFor(5_000)
    await page.getByText("You are offline. Nothing can be changed").waitFor()
    expect(await page.locator("#screen h1").innerText()).toContain("Members")
    await page.context().setOffline(false)
    await page.clock.resume()
    await page.getByRole("button", { name: "Invite" }).click()
    await page.getByRole("dialog", { name: "Invite somebody" }).waitFor()
  })
})

import type { Locator, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { isLive, joinAs, openScreen, type Site, startSite } from "../support/Site.ts"

/** What a private team has is on no screen of those who do not see the team, and on all of those who do. */

let site: Site
let view: string
let message: string

beforeAll(async () => {
  site = await startSite()
  const { call } = site
  await call("POST", "teams", { key: "ENG", name: "Engineering" })
  await call("POST", "tickets", { team: "ENG", title: "Known to all" })
  await call("POST", "teams", { key: "SEC", name: "Hidden team", visibility: "private" })
  await call("POST", "projects", { slug: "hidden", name: "Hidden project", teams: ["SEC"] })
  await call("POST", "projects/hidden/milestones", { name: "Hidden milestone" })
  await call("POST", "tags", { name: "Hidden tag", color: "#d73a4a", team: "SEC" })
  await call("POST", "ticket-statuses", { name: "Hidden status", category: "started", team: "SEC" })
  await call("POST", "tickets", { team: "SEC", title: "Hidden ticket", project: "hidden", milestone: 1 })
  await call("POST", "tickets/SEC-1/comments", { body: "Hidden comment" })
  view = (await call<{ id: string }>("POST", "views", { name: "Hidden view", scope: { kind: "team", key: "SEC" } })).id
  const { agent } = await call<{ agent: string }>("POST", "agents/register", { client: "claude", computer: "laptop" })
  message = (await call<{ id: string }>("POST", "messages", { agent, ticket: "SEC-1", ask: "build", note: "Hidden" }))
    .id
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

const secret = /Hidden|SEC\b/

const textOf = async (page: Page, path: string): Promise<string> => {
  await openScreen(site, path, page)
  await page.waitForLoadState("networkidle")
  await page.waitForFunction(() => document.querySelector("[aria-busy=true]") === null)
  return page.locator("body").innerText()
}

/** Where it would stand, and whether whoever sees the team finds it there. */
const screens: Readonly<Record<string, boolean>> = {
  "": true,
  tickets: true,
  "tickets?layout=board": true,
  "tickets?group=project": true,
  "tickets?q=hidden": true,
  projects: true,
  teams: true,
  "teams?view=shared": false,
  inbox: false,
  "agents?view=messages": false,
  events: true
}

const addresses = () => ["tickets/SEC-1", "teams/SEC", "projects/hidden", `views/${view}`]

const paletteFinds = async (page: Page): Promise<number> => {
  await openScreen(site, "test-runs", page)
  await page.getByRole("button", { name: "Search" }).first().waitFor()
  await page.keyboard.press("Control+k")
  await page.getByRole("combobox", { name: "Search and do" }).fill("hidden")
  await page.waitForLoadState("networkidle")
  return page.getByRole("option", { name: secret }).count()
}

describe("A private team", () => {
  for (const role of ["viewer", "member"]) {
    it(`is nowhere for a ${role} who is not in it`, async () => {
      const page = await joinAs(site, `${role}@example.com`, `A ${role}`, role)
      const found: Record<string, string | undefined> = {}
      for (const path of Object.keys(screens)) found[path] = secret.exec(await textOf(page, path))?.[0]
      expect(found).toEqual(Object.fromEntries(Object.keys(screens).map((path) => [path, undefined])))
      for (const path of [...addresses(), `messages/${message}`]) {
        await openScreen(site, path, page)
        await page.getByText("you cannot see it").first().waitFor()
      }
      expect(await paletteFinds(page)).toBe(0)
      await page.context().close()
    })
  }

  for (const [who, role] of [
    ["an admin", "admin"],
    ["a member who is in it", "member"],
    ["a viewer who is in it", "viewer"]
  ] as const) {
    it(`is there for ${who}`, async () => {
      const page = await joinAs(site, `in-${role}@example.com`, `In ${role}`, role)
      if (role !== "admin") {
        const { members } = await site.call<{ members: ReadonlyArray<{ id: string; email: string }> }>("GET", "members")
        const { id } = members.find(({ email }) => email === `in-${role}@example.com`)!
        await site.call("POST", "teams/SEC/members", { member: id })
      }
      const found: Record<string, boolean> = {}
      for (const path of Object.keys(screens).filter((one) => screens[one] === true)) {
        found[path] = secret.test(await textOf(page, path))
      }
      expect(Object.values(found)).not.toContain(false)
      for (const path of addresses()) expect(await textOf(page, path)).toMatch(/Hidden/)
      expect(await paletteFinds(page)).toBeGreaterThan(0)
      await page.context().close()
    })
  }

  it("offers for mentions and as owners only those who see it", async () => {
    for (const name of ["Quinn Outside", "Quinn Inside"]) {
      const page = await joinAs(site, `${name.replace(" ", ".")}@example.com`, name, "member")
      await page.context().close()
    }
    const { members } = await site.call<{ members: ReadonlyArray<{ id: string; name: string }> }>("GET", "members")
    const { id } = members.find(({ name }) => name === "Quinn Inside")!
    await site.call("POST", "teams/SEC/members", { member: id })
    const page = await openScreen(site, "tickets/SEC-1")
    const offered = async (field: Locator) => {
      await field.click()
      await page.keyboard.type("Ask @Quinn")
      const list = page.getByRole("listbox", { name: "People and agents" })
      await list.getByText("Quinn Inside").waitFor()
      return list.getByRole("option").allInnerTexts()
    }
    expect(await offered(page.getByRole("textbox", { name: "New comment" }))).toEqual(["Quinn Inside"])
    await page.getByRole("textbox", { name: "New comment" }).fill("")
    await page.locator("h1").click()
    await page.keyboard.press("a")
    await page.getByRole("menu", { name: "Owner" }).getByText("Quinn Inside").waitFor()
    expect(await page.getByRole("menu", { name: "Owner" }).getByText("Quinn Outside").count()).toBe(0)
    await page.keyboard.press("Escape")
    // Until it has closed, it takes the keys.
    await page.getByRole("menu", { name: "Owner" }).waitFor({ state: "detached" })
    // Of a new ticket, as soon as its team is chosen.
    await page.keyboard.press("n")
    const dialog = page.getByRole("dialog", { name: "New ticket" })
    await dialog.getByRole("button", { name: /^Team/ }).click()
    await page.keyboard.type("Hidden")
    await page.keyboard.press("Enter")
    await dialog.getByRole("button", { name: "Team Hidden team" }).waitFor()
    await page.getByRole("menu").waitFor({ state: "detached" })
    expect(await offered(dialog.getByRole("textbox", { name: "Description" }))).toEqual(["Quinn Inside"])
    await page.context().close()
  })

  it("goes from the open screens of a member who is removed from it, and comes back with her", async () => {
    const page = await joinAs(site, "leaving@example.com", "Lea", "member")
    const { members } = await site.call<{ members: ReadonlyArray<{ id: string; email: string }> }>("GET", "members")
    const { id } = members.find(({ email }) => email === "leaving@example.com")!
    await site.call("POST", "teams/SEC/members", { member: id })
    await openScreen(site, "tickets", page)
    const others = ["tickets?layout=board", "tickets/SEC-1", "teams/SEC", "projects/hidden"]
    const [board, ticket, team, project] = await Promise.all(
      others.map(async (path) => openScreen(site, path, await page.context().newPage()))
    )
    const lists = [page, board!]
    const addressed = [ticket!, team!, project!]
    await Promise.all(lists.map((one) => one.getByText("Hidden ticket").first().waitFor()))
    await Promise.all([...lists, ...addressed].map(isLive))
    await site.call("DELETE", `teams/SEC/members/${id}`)
    // Screens are asked every 15 s only where no stream can be had.
    const soon = { timeout: 8_000 }
    await Promise.all(
      lists.map((one) =>
        one
          .getByText("Hidden ticket")
          .first()
          .waitFor({ state: "detached", ...soon })
      )
    )
    await Promise.all(addressed.map((one) => one.getByText("you cannot see it").first().waitFor(soon)))
    for (const one of [...lists, ...addressed]) expect(await one.locator("#screen").innerText()).not.toMatch(/Hidden/)
    expect(await ticket!.getByRole("button", { name: "Ask an agent" }).count()).toBe(0)
    await Promise.all([...lists, ...addressed].map(isLive))
    await site.call("POST", "teams/SEC/members", { member: id })
    await Promise.all(lists.map((one) => one.getByText("Hidden ticket").first().waitFor(soon)))
    await Promise.all(addressed.map((one) => one.getByText("Hidden").first().waitFor(soon)))
    await page.context().close()
  })

  it("still filters a view of all for a member who is not in it, who is told so", async () => {
    const filters = { teams: ["SEC"], owners: ["none"] }
    const shared = await site.call<{ id: string }>("POST", "views", {
      name: "Shared",
      scope: { kind: "workspace" },
      filters
    })
    const page = await joinAs(site, "outside@example.com", "Una", "member")
    await openScreen(site, `views/${shared.id}`, page)
    const told = page.getByText("This view also filters by teams that you cannot see.")
    const nothing = page.getByRole("heading", { name: "No ticket that you can see matches this view" })
    await Promise.all([told.waitFor(), nothing.waitFor()])
    await page.getByRole("button", { name: "Clear", exact: true }).click()
    await page.getByRole("button", { name: "Save view" }).waitFor()
    // Nothing of the search is left, but for what she cannot see.
    await page.getByRole("button", { name: "Clear the filters" }).waitFor({ state: "detached" })
    await Promise.all([told.waitFor(), nothing.waitFor()])
    expect(await page.locator("#screen").innerText()).not.toMatch(/Known to all|SEC/)
    await page.getByRole("button", { name: "Save view" }).click()
    await page.getByText("Shared was saved").first().waitFor()
    const saved = await site.call<{ filters: object }>("GET", `views/${shared.id}`)
    expect(saved.filters).toMatchObject({ teams: ["SEC"], owners: [] })
    await page.context().close()
  })
})

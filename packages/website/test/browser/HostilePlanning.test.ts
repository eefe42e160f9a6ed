import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { all, long, none, problemsOf, texts } from "../support/HostileTexts.ts"
import { callWith, type Site, startSite } from "../support/Site.ts"

/** Names and texts of planning and agents, each as bad as the API takes it: nothing of them runs, turns the page, or makes it wider. */

let site: Site

beforeAll(async () => {
  site = await startSite()
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

interface Made {
  readonly id: string
  readonly identifier: string
}

/** Answers the screens that show what was planted. */
const plant = async (): Promise<ReadonlyArray<string>> => {
  const { call, origin } = site
  const screens: Array<string> = []
  await all(100, (name, index) => call("POST", "teams", { key: `T${index}`, name }))
  const { teams } = await call<{ teams: ReadonlyArray<{ key: string }> }>("GET", "teams")
  const team = teams[0]!.key
  screens.push(...teams.map(({ key }) => `teams/${key}`))
  await all(40, (name) => call("POST", "tags", { name, color: "#d73a4a", team }))
  const { tags } = await call<{ tags: ReadonlyArray<Made> }>("GET", `tags?team=${team}`)
  await all(40, (name) => call("POST", "ticket-statuses", { name, category: "started", team }))
  await all(40, (name) => call("POST", "ticket-statuses", { name, category: "started" }))
  await all(100, async (name, index) => {
    const project = {
      slug: `p${index}`,
      name,
      summary: name.slice(0, 200),
      teams: [team],
      document: texts(100_000)[index]
    }
    await call("POST", "projects", project)
    await call("POST", `projects/p${index}/milestones`, { name, summary: name })
    screens.push(`projects/p${index}`)
  })
  const project = screens.at(-1)!.replace("projects/", "")
  const { agent, access_token } = await call<{ agent: string; access_token: string }>("POST", "agents/register", {
    client: "claude",
    computer: "laptop"
  })
  const ofAgent = callWith(origin, access_token)
  await all(200, async (title, index) => {
    const text = texts(100_000)[index]!
    const ticket = await call<Made>("POST", "tickets", {
      team,
      title,
      description: text,
      plan: text,
      project,
      milestone: 1,
      tags: tags.map(({ id }) => id),
      owner: agent
    })
    await call("POST", `tickets/${ticket.identifier}/comments`, { body: text })
    const note = texts(10_000)[index]!
    const { id } = await call<Made>("POST", "messages", { agent, ticket: ticket.identifier, ask: "build", note })
    await ofAgent("POST", "/agent/v1/inbox/take", {})
    await ofAgent("POST", `/agent/v1/messages/${id}/complete`, { reply: note })
    screens.push(`tickets/${ticket.identifier}`)
  })
  await all(100, async (name) => {
    const { id } = await call<Made>("POST", "views", { name, scope: { kind: "workspace" } })
    screens.push(`views/${id}`)
  })
  return [
    ...screens,
    "",
    "tickets",
    "tickets?layout=board",
    `tickets?layout=board&teams=${encodeURIComponent(`["${team}"]`)}`,
    "tickets?group=owner",
    "tickets?group=milestone",
    "projects",
    "teams",
    "teams?view=shared",
    "inbox",
    "agents",
    "agents?view=messages",
    "events"
  ]
}

describe("What others write of their plans", () => {
  it("stays text on every screen, narrow and wide", async () => {
    const screens = await plant()
    const found: Record<string, unknown> = {}
    const expected: Record<string, unknown> = {}
    for (const width of [1440, 320]) {
      const page = await site.signIn({ width })
      for (const path of screens) {
        found[`${path} at ${width}`] = await problemsOf(site, page, path)
        expected[`${path} at ${width}`] = none
      }
      await page.context().close()
    }
    expect(found).toEqual(expected)
  }, 300_000)

  it("stays text in the palette, in menus and dialogs", async () => {
    const page = await site.signIn({ width: 320 })
    await page.goto(`${site.origin}/w/main/tickets`)
    await page.locator("[data-row]").first().waitFor()
    await page.getByRole("checkbox").first().check()
    await page.getByRole("toolbar", { name: "Selection" }).getByRole("button", { name: "Project" }).click()
    await page.getByRole("menuitemradio").first().waitFor()
    await page.keyboard.press("Escape")
    await page.keyboard.press("Control+k")
    await page.getByRole("combobox", { name: "Search and do" }).fill(long(20))
    await page.getByRole("option").first().waitFor()
    const state = await page.evaluate(() => [
      "hacked" in window,
      document.documentElement.scrollWidth - innerWidth,
      document.querySelectorAll("img, a[href^='javascript']").length
    ])
    expect(state).toEqual([false, 0, 0])
  })
})

import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { openScreen, type Site, startSite } from "../support/Site.ts"

/** Every address that the API gives opens the thing that it names. */

let site: Site

beforeAll(async () => {
  site = await startSite()
  await site.call("POST", "products", { slug: "shop", name: "Shop", type: "website", repository: "acme/shop" })
  await site.call("POST", "environments", { slug: "staging", name: "Staging", class: "non-production" })
  await site.call("POST", "deployments", {
    product: "shop",
    environment: "staging",
    baseUrl: "https://shop.example.com"
  })
  await site.call("POST", "teams", { key: "ENG", name: "Engineering" })
  await site.call("POST", "tags", { name: "Bug", color: "#d73a4a" })
  await site.call("POST", "tags", { name: "Late", color: "#d73a4a", team: "ENG" })
  await site.call("POST", "ticket-statuses", { team: "ENG", name: "In review", category: "started" })
  await site.call("POST", "ticket-statuses", { name: "Waiting", category: "backlog" })
  await site.call("POST", "projects", { slug: "checkout", name: "New checkout", teams: ["ENG"] })
  await site.call("POST", "projects/checkout/milestones", { name: "Beta" })
  await site.call("POST", "tickets", { team: "ENG", title: "Pay by card" })
  const { id } = await site.call<{ id: string }>("POST", "tickets/ENG-1/comments", { body: "Which cards?" })
  await site.call("PATCH", `tickets/ENG-1/comments/${id}`, { body: "Which cards first?" })
  await site.call("POST", "views", { name: "Mine", scope: { kind: "workspace" }, filters: { owners: ["me"] } })
  const { agent } = await site.call<{ agent: string }>("POST", "agents/register", {
    client: "claude",
    computer: "laptop"
  })
  await site.call("POST", "messages", { agent, ticket: "ENG-1", ask: "build" })
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

const headings: Readonly<Record<string, string | RegExp>> = {
  product: "Shop",
  environment: "Staging",
  deployment: /Shop.*Staging/,
  team: "Engineering",
  tag: /^(?:Teams|Engineering)$/,
  status: /^(?:Teams|Engineering)$/,
  project: "New checkout",
  milestone: "New checkout",
  ticket: /ENG-1 Pay by card/,
  comment: /ENG-1 Pay by card/,
  view: "Mine",
  message: /ENG-1 Pay by card/,
  agent: "Agents",
  workspace: /^(?:Home|Workspace)$/
}

describe("The addresses of the API", () => {
  it("open what happened to things of each kind", async () => {
    const { events } = await site.call<{
      events: ReadonlyArray<{ kind: string; subject: { type: string; url: string } }>
    }>("GET", "events?limit=100")
    const page = await site.signIn()
    const seen = new Set<string>()
    for (const { kind, subject } of events) {
      seen.add(subject.type)
      const heading = headings[subject.type]
      expect([kind, heading]).not.toContain(undefined)
      await page.goto(subject.url)
      await page.getByRole("heading", { level: 1, name: heading! }).waitFor()
    }
    expect([...seen].toSorted()).toEqual(Object.keys(headings).toSorted())
  })

  it("say so where there is nothing", async () => {
    const page = await openScreen(site, "products/nothing")
    await page.getByText("It does not exist, was deleted, or you cannot see it.").first().waitFor()
    await openScreen(site, "nowhere/at/all", page)
    await page.getByText("There is no page at this address").waitFor()
  })
})

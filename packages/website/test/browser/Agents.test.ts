import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { axeFindings } from "../support/Axe.ts"
import { callWith, isLive, joinAs, openScreen, pressEnter, type Site, startSite } from "../support/Site.ts"

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

    await pressEnter(mine.getByRole("button", { name: "Revoke Claude" }))
    await pressEnter(page.getByRole("dialog").getByRole("button", { name: "Revoke", exact: true }))
    await page.getByText("Claude is revoked").first().waitFor()
    await page.getByText("Coding agents take tickets and answer messages").waitFor()
    await expect(site.call("GET", "agents")).resolves.toEqual({ agents: [] })
  })

  it("show the tickets that they work on, and what was asked of them last", async () => {
    await site.call("POST", "teams", { key: "ENG", name: "Engineering" })
    const { access_token, agent } = await site.call<SignIn>("POST", "agents/register", {
      client: "codex",
      computer: "tower"
    })
    const page = await openScreen(site, "agents")
    await isLive(page)
    const row = page.getByRole("list", { name: "Yours", exact: true })
    await row.getByText("tower").waitFor()
    const work = row.getByRole("list", { name: /^Work of Codex/ })
    expect(await work.count()).toBe(0)
    const make = (title: string, fields: object) =>
      site.call<{ identifier: string }>("POST", "tickets", { team: "ENG", title, ...fields })
    const statuses = await site.call<{ statuses: ReadonlyArray<{ id: string; category: string }> }>(
      "GET",
      "ticket-statuses?team=ENG"
    )
    const status = statuses.statuses.find(({ category }) => category === "started")!.id
    await make("Not begun", { owner: agent })
    await make("Of nobody", { status })
    const { identifier } = await make("Pay by card", { owner: agent, status })
    // What others do comes without loading the page again.
    await work.getByRole("link", { name: `${identifier} Pay by card` }).waitFor()
    const { id } = await site.call<{ id: string }>("POST", "messages", { agent, ticket: identifier, ask: "plan" })
    await work.getByText("queued").waitFor()
    const call = callWith(site.origin, access_token)
    await call("POST", "/agent/v1/inbox/take", {})
    await work.getByText("delivered").waitFor()
    await call("POST", `/agent/v1/messages/${id}/complete`, { reply: "Done." })
    await work.getByText("completed").waitFor()
    for (let index = 1; index < 4; index++) await make(`Step ${index}`, { owner: agent, status })
    await work.getByRole("link", { name: "All 4 tickets that it works on" }).waitFor()
    expect(await work.getByText("Works on", { exact: true }).count()).toBe(3)
    expect(await work.getByText(/Not begun|Of nobody/).count()).toBe(0)
    expect(await axeFindings(page)).toEqual([])
    const narrow = await openScreen(site, "agents", await site.signIn({ colorScheme: "dark", width: 320 }))
    await narrow.getByRole("link", { name: `asked to plan it ${identifier}` }).waitFor()
    expect(await axeFindings(narrow)).toEqual([])
    expect(await narrow.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
    await narrow.context().close()
    await page.getByRole("link", { name: "Messages" }).click()
    await page
      .getByRole("list", { name: "Messages" })
      .getByRole("link", { name: new RegExp(identifier) })
      .waitFor()
    await page.keyboard.press("j")
    await page.keyboard.press(" ")
    const peek = page.getByRole("complementary", { name: "The current message" })
    await peek.getByRole("link", { name: `${identifier} Pay by card` }).waitFor()
    await peek.getByRole("region", { name: "Reply" }).getByText("Done.").waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page.keyboard.press("Escape")
    await peek.waitFor({ state: "detached" })
    await page.goBack()
    await work.getByRole("link", { name: `asked to plan it ${identifier}` }).click()
    await page.getByRole("listitem", { name: "Message to Codex", exact: true }).waitFor()
    // Who sees none of its messages sees what it works on all the same.
    const eve = await joinAs(site, "eve@example.com", "Eve", "viewer")
    await openScreen(site, "agents", eve)
    await eve.getByText("Works on", { exact: true }).first().waitFor()
    expect(await eve.getByText("Last message").count()).toBe(0)
  })

  it("are asked a question, and lose their ticket to who takes it over", async () => {
    const { access_token, agent } = await site.call<SignIn>("POST", "agents/register", {
      client: "cursor",
      computer: "desk"
    })
    await site.call("POST", "teams", { key: "TKO", name: "Taken" })
    const { statuses } = await site.call<{ statuses: ReadonlyArray<{ id: string; category: string }> }>(
      "GET",
      "ticket-statuses?team=TKO"
    )
    const status = statuses.find(({ category }) => category === "started")!.id
    const make = (title: string) =>
      site.call<{ identifier: string }>("POST", "tickets", { team: "TKO", title, owner: agent, status })
    const [first, second] = [await make("Refund a part"), await make("Refund all")]
    const { id } = await site.call<{ id: string }>("POST", "messages", {
      agent,
      ticket: first.identifier,
      ask: "build"
    })
    const { id: owner } = await site.call<{ id: string }>("GET", "/v1/me")
    await callWith(site.origin, access_token)("POST", `/agent/v1/tickets/${second.identifier}/comments`, {
      body: `[@Owner](user:${owner}) the whole amount?`
    })
    const page = await openScreen(site, "agents")
    await isLive(page)
    // What waits for the person stands above what agents do.
    await page.getByRole("region", { name: "Waiting for you" }).getByText("the whole amount?").first().waitFor()
    expect(await axeFindings(page)).toEqual([])
    const ownerOf = async ({ identifier }: { identifier: string }) =>
      (await site.call<{ owner: { id: string } }>("GET", `tickets/${identifier}`)).owner.id
    // Another member takes one over; the message is not theirs to withdraw.
    const kim = await joinAs(site, "kim@example.com", "Kim", "member")
    await openScreen(site, "agents", kim)
    await pressEnter(kim.getByRole("button", { name: `Take over ${second.identifier}` }))
    await kim.getByText(`${second.identifier} is yours`).first().waitFor()
    expect(await ownerOf(second)).not.toBe(agent)
    await pressEnter(kim.getByRole("button", { name: "Undo" }).first())
    await expect.poll(() => ownerOf(second)).toBe(agent)
    await kim.context().close()
    // Its person does, and keeps the message from it.
    await pressEnter(page.getByRole("button", { name: `Take over ${first.identifier}` }))
    await page.getByText(`${first.identifier} is yours, and the message to Cursor is withdrawn`).first().waitFor()
    const statusOf = async () => (await site.call<{ status: string }>("GET", `messages/${id}`)).status
    await expect.poll(statusOf).toBe("declined")
    expect(await ownerOf(first)).toBe(owner)
    const viewer = await joinAs(site, "vic@example.com", "Vic", "viewer")
    await openScreen(site, "agents", viewer)
    await viewer.getByText("Works on", { exact: true }).first().waitFor()
    expect(await viewer.getByRole("button", { name: /^Take over/ }).count()).toBe(0)
  })

  it("leave what waits for their person once it is answered, and once its ticket is done", async () => {
    const { access_token, agent } = await site.call<SignIn>("POST", "agents/register", {
      client: "codex",
      computer: "shelf"
    })
    const byAgent = callWith(site.origin, access_token)
    await site.call("POST", "teams", { key: "WAI", name: "Waiting" })
    const { statuses } = await site.call<{ statuses: ReadonlyArray<{ id: string; category: string }> }>(
      "GET",
      "ticket-statuses?team=WAI"
    )
    const make = (title: string) => site.call<{ identifier: string }>("POST", "tickets", { team: "WAI", title })
    const [asked, answered, done] = [await make("Asked"), await make("Answered"), await make("Done")]
    const { id: owner } = await site.call<{ id: string }>("GET", "/v1/me")
    for (const { identifier } of [asked, done]) {
      await byAgent("POST", `/agent/v1/tickets/${identifier}/comments`, {
        body: `[@Owner](user:${owner}) ${identifier}?`
      })
    }
    const lou = await joinAs(site, "lou@example.com", "Lou", "member")
    const id = await lou.evaluate(
      async (body) => {
        const headers = { "content-type": "application/json" }
        const answer = await fetch("/v1/workspaces/main/messages", { method: "POST", headers, body })
        return ((await answer.json()) as { id: string }).id
      },
      JSON.stringify({ agent, ticket: answered.identifier, ask: "build" })
    )
    const page = await openScreen(site, "agents")
    await isLive(page)
    const waiting = page.getByRole("region", { name: "Waiting for you" })
    const of = ({ identifier }: { identifier: string }) => waiting.getByText(identifier, { exact: true })
    for (const one of [asked, answered, done]) {
      await of(one).waitFor()
    }
    await byAgent("POST", `/agent/v1/messages/${id}/decline`, { reason: "No." })
    await of(answered).waitFor({ state: "detached" })
    await site.call("PATCH", `tickets/${done.identifier}`, {
      status: statuses.find(({ category }) => category === "completed")!.id
    })
    await of(done).waitFor({ state: "detached" })
    await of(asked).waitFor()
    await lou.context().close()
  })

  it("name a run with their reply, and the ticket shows what that came to", async () => {
    await site.call("POST", "teams", { key: "RUN", name: "Runs" })
    await site.call("POST", "products", { slug: "kiosk", name: "Kiosk", type: "library" })
    await site.call("POST", "environments", { slug: "canary", name: "Canary", class: "non-production" })
    await site.call("POST", "deployments", { product: "kiosk", environment: "canary" })
    const { number } = await site.call<{ number: number }>("POST", "test-runs", {
      product: "kiosk",
      environment: "canary",
      baseUrl: "https://canary.example.com",
      git: { branch: "main", sha: "a".repeat(40), dirty: false, subject: "Mend it" },
      machine: { hostname: "ci-7", platform: "linux" },
      selection: { coverage: null, folders: [], caseIds: [] }
    })
    const failed = { interrupted: false, durationMs: 1, error: "No browser", cleanup: null, tests: [] }
    await site.call("POST", `test-runs/${number}/finish`, failed)
    const { access_token, agent } = await site.call<SignIn>("POST", "agents/register", {
      client: "claude",
      computer: "tower"
    })
    const { identifier } = await site.call<{ identifier: string }>("POST", "tickets", { team: "RUN", title: "Mend" })
    const { id } = await site.call<{ id: string }>("POST", "messages", { agent, ticket: identifier, ask: "build" })
    const call = callWith(site.origin, access_token)
    await call("POST", "/agent/v1/inbox/take", {})
    await call("POST", `/agent/v1/messages/${id}/complete`, { reply: "It passes.", evidence: { run: number } })
    const page = await openScreen(site, `tickets/${identifier}`)
    const reply = page.getByRole("listitem", { name: /^Reply of/ })
    await reply.getByText("Failed").waitFor()
    await reply.getByText("Kiosk in Canary").waitFor()
    expect(await axeFindings(page)).toEqual([])
    await reply.getByRole("link", { name: `Run ${number}` }).click()
    await page.waitForURL(new RegExp(`/test-runs/${number}$`))
  })
})

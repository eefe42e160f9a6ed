import type { View } from "@delivery/domain/planning/View"
import type { Page } from "playwright-core"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { axeFindings } from "../support/Axe.ts"
import {
  atRest,
  type Call,
  callWith,
  isLive,
  joinAs,
  openScreen,
  pressEnter,
  type Site,
  startSite
} from "../support/Site.ts"

/** Tickets: one, many in a list, and on a board; by keyboard, by mouse, with others at work, and refused. */

interface Ticket {
  readonly id: string
  readonly identifier: string
  readonly title: string
  readonly description: string | null
  readonly plan: string | null
  readonly status: { readonly name: string; readonly category: string }
  readonly owner: { readonly name: string } | null
  readonly project: { readonly slug: string } | null
  readonly tags: ReadonlyArray<{ readonly name: string }>
}

let site: Site
let me: { readonly id: string; readonly name: string }
let agent: { readonly id: string; readonly call: Call }

const make = (fields: object = {}) =>
  site.call<Ticket>("POST", "tickets", { team: "ENG", title: "Pay by card", ...fields })
const read = ({ identifier }: Ticket) => site.call<Ticket>("GET", `tickets/${identifier}`)
const closeAll = async () => {
  for (const context of site.browser.contexts()) await context.close()
}

beforeAll(async () => {
  site = await startSite()
  await site.call("POST", "teams", { key: "ENG", name: "Engineering" })
  await site.call("POST", "projects", { slug: "checkout", name: "New checkout", teams: ["ENG"] })
  await site.call("POST", "tags", { name: "Bug", color: "#d73a4a" })
  me = await site.call("GET", "/v1/me")
  const signIn = await site.call<{ agent: string; access_token: string }>("POST", "agents/register", {
    client: "claude",
    computer: "laptop"
  })
  agent = { id: signIn.agent, call: callWith(site.origin, signIn.access_token) }
})

afterEach(closeAll)

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

const openTicket = (ticket: Ticket, page?: Page) => openScreen(site, `tickets/${ticket.identifier}`, page)

describe("A ticket", () => {
  it("is changed in its place by keyboard alone, and each change is undone", async () => {
    const ticket = await make()
    const page = await openTicket(ticket)
    await page.getByRole("button", { name: "Status: Backlog" }).waitFor()
    await page.keyboard.press("s")
    await page.getByRole("menuitemradio", { name: "In progress started" }).waitFor()
    await page.keyboard.press("i")
    await page.keyboard.press("Enter")
    await page.getByRole("button", { name: "Status: In progress" }).waitFor()
    await expect.poll(async () => (await read(ticket)).status.name).toBe("In progress")
    await pressEnter(page.getByRole("button", { name: "Undo" }).first())
    await page.getByRole("button", { name: "Status: Backlog" }).waitFor()
    await expect.poll(async () => (await read(ticket)).status.name).toBe("Backlog")
    await page.locator("#screen").focus()
    await page.keyboard.press("i")
    await expect.poll(async () => (await read(ticket)).owner?.name).toBe(me.name)
    await page.keyboard.press("r")
    await page.getByRole("textbox", { name: "Title" }).fill("Pay with any card")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { level: 1, name: /Pay with any card/ }).waitFor()
    await expect.poll(async () => (await read(ticket)).title).toBe("Pay with any card")
    await page.keyboard.press("l")
    await page.getByRole("dialog", { name: "Tags" }).getByRole("checkbox", { name: "Bug" }).check()
    await page.keyboard.press("Enter")
    await expect.poll(async () => (await read(ticket)).tags.map(({ name }) => name)).toEqual(["Bug"])
  })

  it("moves to another team, and its old address leads to it", async () => {
    await site.call("POST", "teams", { key: "OPS", name: "Operations" })
    const ticket = await make({ title: "Move the backups" })
    const page = await openTicket(ticket)
    await page.getByRole("button", { name: /^Team: Engineering/ }).waitFor()
    await page.keyboard.press("t")
    await page.getByRole("menuitemradio", { name: "Operations OPS" }).press("Enter")
    await page.getByRole("heading", { level: 1, name: "OPS-1 Move the backups" }).waitFor()
    expect(page.url()).toMatch(/\/tickets\/OPS-1$/)
    await openTicket(ticket, page)
    await page.getByRole("heading", { level: 1, name: "OPS-1 Move the backups" }).waitFor()
  })

  it("whose owner has left, or was revoked, says so where it is shown, until somebody else has it", async () => {
    const leo = await joinAs(site, "leo@example.com", "Leo Leaver", "member")
    await leo.context().close()
    const { members } = await site.call<{ members: ReadonlyArray<{ id: string; name: string }> }>("GET", "members")
    const { id } = members.find(({ name }) => name === "Leo Leaver")!
    const { agent: ended } = await site.call<{ agent: string }>("POST", "agents/register", {
      client: "codex",
      computer: "gone"
    })
    const ticket = await make({ title: "Left behind", owner: id })
    const ofAgent = await make({ title: "Cut off", owner: ended })
    await site.call("POST", `members/${id}/deactivate`, {})
    await site.call("POST", `agents/${ended}/revoke`)
    const page = await openTicket(ticket)
    await page.getByText("Who has left works on nothing any more: choose another owner.").waitFor()
    await page.getByRole("button", { name: "Owner: Leo Leaver left" }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await openScreen(site, "tickets", page)
    await page.getByRole("button", { name: `Owner of ${ticket.identifier}: Leo Leaver (left)` }).waitFor()
    await page.getByRole("button", { name: new RegExp(`^Owner of ${ofAgent.identifier}: .*\\(revoked\\)$`) }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await openScreen(site, "tickets?layout=board", page)
    await page.getByRole("button", { name: `Owner of ${ticket.identifier}: Leo Leaver (left)` }).waitFor()
    await openTicket(ofAgent, page)
    await page.getByText("A revoked agent gets no messages any more: choose another owner.").waitFor()
    await page.keyboard.press("i")
    await page.getByText("A revoked agent").waitFor({ state: "detached" })
  })

  it("keeps what is typed when the page is loaded again, and shows what somebody else wrote meanwhile", async () => {
    const ticket = await make({ description: "Before." })
    const page = await openTicket(ticket)
    await page.getByText("Before.").waitFor()
    await page.getByRole("button", { name: "Edit the description" }).waitFor()
    await page.keyboard.press("e")
    await page.getByRole("textbox", { name: "Description" }).fill("Mine, **bold**.")
    // Also where it comes after the ticket who the person is.
    const told = Promise.withResolvers<void>()
    await page.route("**/v1/me", async (route) => {
      await told.promise
      await route.continue()
    })
    await page.reload()
    await page.getByText("Before.").waitFor()
    told.resolve()
    await page.getByRole("textbox", { name: "Description" }).waitFor()
    expect(await page.getByRole("textbox", { name: "Description" }).inputValue()).toBe("Mine, **bold**.")
    await isLive(page)
    await site.call("PATCH", `tickets/${ticket.identifier}`, { description: "Theirs." })
    const banner = page.getByRole("alert").filter({ hasText: "after you began" })
    await banner.getByText(me.name).waitFor()
    await banner.getByText("added: Theirs.").waitFor()
    await banner.getByText("removed: Before.").waitFor()
    await page.getByRole("textbox", { name: "Description" }).press("Control+Enter")
    await banner.and(page.locator(":focus")).waitFor()
    expect((await read(ticket)).description).toBe("Theirs.")
    await pressEnter(page.getByRole("button", { name: "Replace theirs with mine" }))
    await page.getByRole("button", { name: "Edit the description" }).waitFor()
    await page.locator("strong", { hasText: "bold" }).waitFor()
    expect((await read(ticket)).description).toBe("Mine, **bold**.")
  })

  it("says when work on it began first, once it is where it had not begun", async () => {
    const ticket = await make()
    const { statuses } = await site.call<{ statuses: ReadonlyArray<{ id: string; category: string }> }>(
      "GET",
      "ticket-statuses?team=ENG"
    )
    const to = (category: string) =>
      site.call("PATCH", `tickets/${ticket.identifier}`, {
        status: statuses.find((one) => one.category === category)!.id
      })
    await to("started")
    const page = await openTicket(ticket)
    await isLive(page)
    await page.getByText("Started", { exact: true }).waitFor()
    await to("backlog")
    await page.getByText("First started", { exact: true }).waitFor()
    expect(await page.getByText("Started", { exact: true }).count()).toBe(0)
  })

  it("keeps what two people wrote in different lines of it, and asks where they wrote in the same", async () => {
    const ticket = await make({ description: "# Steps\n\n- [ ] Visa\n- [ ] Invoice" })
    const page = await openTicket(ticket)
    const other = await openScreen(
      site,
      `tickets/${ticket.identifier}`,
      await joinAs(site, "two@example.com", "Tove", "member")
    )
    await Promise.all([isLive(page), isLive(other)])
    const write = async (one: Page, text: string) => {
      await one.getByRole("button", { name: "Edit the description" }).click()
      await one.getByRole("textbox", { name: "Description" }).fill(text)
    }
    await write(page, "# Steps\n\n- [ ] Visa\n- [ ] Invoice\n- [ ] Cash")
    await other.getByRole("checkbox").first().click()
    await expect.poll(async () => (await read(ticket)).description).toBe("# Steps\n\n- [x] Visa\n- [ ] Invoice")
    const note = page.getByRole("status").filter({ hasText: "after you began" })
    await note.getByText("Tove changed other lines").waitFor()
    await note.getByText("Saving keeps what both of you wrote:").waitFor()
    await note.getByText("added: - [x] Visa").waitFor()
    expect(await axeFindings(page)).toEqual([])
    expect(await page.getByRole("button", { name: "Replace theirs with mine" }).count()).toBe(0)
    await page.getByRole("textbox", { name: "Description" }).press("Control+Enter")
    await page.getByRole("button", { name: "Edit the description" }).waitFor()
    expect((await read(ticket)).description).toBe("# Steps\n\n- [x] Visa\n- [ ] Invoice\n- [ ] Cash")
    await other.getByText("Cash").waitFor()

    await write(other, "# All steps\n\n- [x] Visa\n- [ ] Invoice\n- [ ] Cash")
    await write(page, "# Our steps\n\n- [x] Visa\n- [ ] Invoice\n- [ ] Cash")
    await other.getByRole("textbox", { name: "Description" }).press("Control+Enter")
    const banner = page.getByRole("alert").filter({ hasText: "after you began" })
    await banner.getByText("added: # All steps").waitFor()
    await page.getByRole("button", { name: "Replace theirs with mine" }).waitFor()
    // Once both say the same of the line, there is nothing to decide.
    await page
      .getByRole("textbox", { name: "Description" })
      .fill("# All steps\n\n- [x] Visa\n- [ ] Invoice\n- [ ] Cash\n- [ ] Gold")
    await banner.waitFor({ state: "detached" })
    await page.getByRole("textbox", { name: "Description" }).press("Control+Enter")
    await page.getByRole("button", { name: "Edit the description" }).waitFor()
    expect((await read(ticket)).description).toBe("# All steps\n\n- [x] Visa\n- [ ] Invoice\n- [ ] Cash\n- [ ] Gold")
    await other.context().close()
  })

  it("does not write over what somebody else wrote while no events came", async () => {
    const ticket = await make({ description: "Before." })
    const page = await site.signIn()
    await page.route("**/events/stream*", (route) => route.abort())
    await openTicket(ticket, page)
    await page.getByText("Before.").waitFor()
    await page.keyboard.press("e")
    await page.getByRole("textbox", { name: "Description" }).fill("Mine.")
    await site.call("PATCH", `tickets/${ticket.identifier}`, { description: "Theirs." })
    await page.keyboard.press("Control+Enter")
    await page.getByText(`${ticket.identifier} could not be changed`).first().waitFor()
    const banner = page.getByRole("alert").filter({ hasText: "after you began" })
    await banner.getByText("added: Theirs.").waitFor()
    expect((await read(ticket)).description).toBe("Theirs.")
    expect(await page.getByRole("textbox", { name: "Description" }).inputValue()).toBe("Mine.")
    await page.getByRole("button", { name: "Replace theirs with mine" }).click()
    await page.getByRole("button", { name: "Edit the description" }).waitFor()
    expect((await read(ticket)).description).toBe("Mine.")
  })

  it("is not renamed over the name that somebody else gave it meanwhile, whether that was seen or not", async () => {
    const ticket = await make({ title: "Before" })
    const page = await site.signIn()
    await page.route("**/events/stream*", (route) => route.abort())
    await openTicket(ticket, page)
    await page.getByRole("button", { name: "Ask an agent" }).waitFor()
    await page.keyboard.press("r")
    const field = page.getByRole("textbox", { name: "Title" })
    await field.fill("Mine")
    await site.call("PATCH", `tickets/${ticket.identifier}`, { title: "Theirs" })
    await field.press("Enter")
    await page.getByText(`${ticket.identifier} could not be changed`).first().waitFor()
    const banner = page.getByRole("alert").filter({ hasText: "after you began" })
    await banner.getByText("It is now “Theirs”.").waitFor()
    expect(await field.inputValue()).toBe("Mine")
    // A press leads to what they wrote, and not to the button that replaces it.
    await field.press("Enter")
    await banner.and(page.locator(":focus")).waitFor()
    expect((await read(ticket)).title).toBe("Theirs")
    await page.keyboard.press("Tab")
    await pressEnter(page.getByRole("button", { name: "Replace theirs with mine" }).and(page.locator(":focus")))
    await page.getByRole("heading", { level: 1, name: /Mine/ }).waitFor()
    await expect.poll(async () => (await read(ticket)).title).toBe("Mine")

    await page.unroute("**/events/stream*")
    await page.reload()
    await page.getByRole("button", { name: "Ask an agent" }).waitFor()
    await isLive(page)
    await page.keyboard.press("r")
    await field.fill("Mine again")
    await site.call("PATCH", `tickets/${ticket.identifier}`, { title: "Theirs again" })
    await banner.getByText("It is now “Theirs again”.").waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page.getByRole("button", { name: "Discard" }).click()
    await page.getByRole("heading", { level: 1, name: /Theirs again/ }).waitFor()
    expect((await read(ticket)).title).toBe("Theirs again")
  })

  it("of an agent says that only comments that mention the agent reach it, and writes the mention", async () => {
    const inbox = () => agent.call<{ messages: ReadonlyArray<{ note: string }> }>("GET", "/agent/v1/inbox")
    const ticket = await make({ owner: agent.id })
    const page = await openTicket(ticket)
    const field = page.getByRole("textbox", { name: "New comment" })
    const hint = page.getByText("Claude owns this ticket, and is sent only the comments that mention it.")
    await hint.waitFor()
    expect(await axeFindings(page)).toEqual([])
    await field.fill("Plain")
    await page.getByRole("button", { name: "Comment", exact: true }).click()
    await page.getByRole("listitem").getByText("Plain").waitFor()
    expect((await inbox()).messages).toEqual([])
    await field.fill("yes, do it.")
    await page.getByRole("button", { name: "Mention @Claude" }).click()
    await hint.waitFor({ state: "detached" })
    expect(await field.and(page.locator(":focus")).inputValue()).toBe("@Claude yes, do it.")
    await field.press("Control+Enter")
    await expect
      .poll(async () => (await inbox()).messages.map(({ note }) => note))
      .toEqual([`[@Claude](agent:${agent.id}) yes, do it.`])
    await agent.call("POST", "/agent/v1/inbox/take", {})
    await site.call("PATCH", `tickets/${ticket.identifier}`, { owner: me.id })
    await openTicket(ticket, page)
    await page.getByRole("button", { name: `Owner: ${me.name}` }).waitFor()
    await field.waitFor()
    expect(await hint.count()).toBe(0)
  })

  it("does not take back what somebody else has changed since", async () => {
    const ticket = await make({ title: "First" })
    const page = await openTicket(ticket)
    await page.getByRole("button", { name: "Status: Backlog" }).click()
    await page.getByRole("menuitemradio", { name: "Done completed" }).click()
    await page.getByRole("button", { name: "Status: Done" }).waitFor()
    const undo = page.getByRole("button", { name: "Undo" })
    await undo.waitFor()
    const { statuses } = await site.call<{ statuses: ReadonlyArray<{ id: string; name: string }> }>(
      "GET",
      "ticket-statuses?team=ENG"
    )
    const other = statuses.find(({ name }) => name === "In progress")!
    await site.call("PATCH", `tickets/${ticket.identifier}`, { status: other.id })
    await undo.click()
    await page.getByText("The ticket was changed meanwhile: status.").first().waitFor()
    await page.getByRole("button", { name: "Status: In progress" }).waitFor()
    expect((await read(ticket)).status.name).toBe("In progress")
  })

  it("has boxes to tick, and leads to the tickets that its texts name", async () => {
    const other = await make({ title: "The other one" })
    const ticket = await make({
      description: `After ${other.identifier}, not UTF-8:\n\n- [ ] One\n- [ ] Two of ${other.identifier}`
    })
    const page = await openTicket(ticket)
    await page.getByRole("checkbox", { name: `Two of ${other.identifier}` }).check()
    await expect.poll(async () => (await read(ticket)).description).toContain("- [ ] One\n- [x] Two of ENG-")
    expect(await page.getByRole("link", { name: "UTF-8" }).count()).toBe(0)
    await page.getByRole("listitem").getByRole("link", { name: other.identifier, exact: true }).click()
    await page.getByRole("heading", { level: 1, name: `${other.identifier} The other one` }).waitFor()
  })

  it("gets a tag that there was not", async () => {
    const ticket = await make()
    const page = await openTicket(ticket)
    await page.getByRole("button", { name: /^Status:/ }).waitFor()
    await page.keyboard.press("l")
    const dialog = page.getByRole("dialog", { name: "Tags" })
    await dialog.getByRole("textbox", { name: "Find or add a tag" }).fill("Regression")
    await page.keyboard.press("Enter")
    await dialog.getByRole("checkbox", { name: "Regression" }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    // It is made with what the dialog is for.
    const { tags } = await site.call<{ tags: ReadonlyArray<{ name: string }> }>("GET", "tags?team=ENG")
    expect(tags.map(({ name }) => name)).not.toContain("Regression")
    await page.keyboard.press("Enter")
    await expect.poll(async () => (await read(ticket)).tags.map(({ name }) => name)).toEqual(["Regression"])
  })

  it("says that it is gone when somebody else deletes it", async () => {
    const ticket = await make({ title: "To be deleted" })
    const page = await openTicket(ticket)
    await page.getByRole("heading", { level: 1, name: `${ticket.identifier} To be deleted` }).waitFor()
    await isLive(page)
    await site.call("DELETE", `tickets/${ticket.identifier}`)
    await page.getByText("It does not exist, was deleted, or you cannot see it.", { exact: false }).waitFor()
  })

  it("shows a refused change as it was, with the server's words", async () => {
    const ticket = await make()
    const page = await openTicket(ticket)
    await page.route(/\/tickets\/ENG-\d+$/, (route) =>
      route.request().method() === "PATCH"
        ? route.fulfill({
            status: 409,
            contentType: "application/json",
            body: JSON.stringify({ _tag: "Conflict", reason: "archived", message: "The team is archived." })
          })
        : route.fallback()
    )
    await page.getByRole("button", { name: "Status: Backlog" }).click()
    await page.getByRole("menuitemradio", { name: "Done completed" }).click()
    await page.getByText(`${ticket.identifier} could not be changed`).first().waitFor()
    await page.getByText("The team is archived.").first().waitFor()
    await page.getByRole("button", { name: "Status: Backlog" }).waitFor()
  })

  it("has what people and agents said, with mentions, and an agent is answered in its place", async () => {
    const ticket = await make()
    const page = await openTicket(ticket)
    await page.getByRole("textbox", { name: "New comment" }).waitFor()
    await page.keyboard.press("c")
    await page.keyboard.type(`Look, @${me.name.slice(0, 3)}`)
    await page.getByRole("option", { name: `${me.name} you` }).waitFor()
    await page.keyboard.press("Enter")
    await page.keyboard.type("please")
    await page.keyboard.press("Control+Enter")
    const comment = page.getByRole("listitem", { name: `Comment of ${me.name}` })
    await comment.getByText(`@${me.name}`).waitFor()
    const { comments } = await site.call<{ comments: ReadonlyArray<{ body: string }> }>(
      "GET",
      `tickets/${ticket.identifier}/comments`
    )
    expect(comments[0]?.body).toBe(`Look, [@${me.name}](user:${me.id}) please`)
    await isLive(page)
    const { id } = await site.call<{ id: string }>("POST", "messages", {
      agent: agent.id,
      ticket: ticket.identifier,
      ask: "build",
      note: "Start with Visa."
    })
    const message = page.getByRole("listitem", { name: "Message to Claude" })
    await message.getByText("Start with Visa.").waitFor()
    await agent.call("POST", "/agent/v1/inbox/take", {})
    await agent.call("POST", `/agent/v1/messages/${id}/complete`, { reply: "Shall I go on?" })
    const answer = page.getByRole("listitem", { name: "Reply of Claude" })
    await answer.getByText("Shall I go on?").waitFor()
    await pressEnter(answer.getByRole("button", { name: "Answer Claude" }))
    const dialog = page.getByRole("dialog", { name: "Answer Claude" })
    await dialog.getByText("It gets the note and the ticket when it next takes its messages.").waitFor()
    await dialog.getByRole("textbox", { name: "Note" }).fill("Yes, please.")
    await pressEnter(dialog.getByRole("button", { name: "Send" }))
    await page.getByRole("listitem", { name: "Message to Claude" }).getByText("Yes, please.").waitFor()
    expect(await axeFindings(page)).toEqual([])
  })

  it("breaks no word of a table: what does not fit is scrolled to", async () => {
    const words = ["Switzerland", "Germany", "Responsibility", "Liechtenstein", "Documentation"]
    const line = `| ${words.join(" | ")} |`
    const ticket = await make({ description: `${line}\n${"|---".repeat(words.length)}|\n${line}` })
    const page = await openTicket(ticket, await site.signIn({ width: 320 }))
    const table = page.getByRole("region", { name: "Table" })
    await table.waitFor()
    const lines = await table.locator("td").evaluateAll((cells) =>
      cells.map((cell) => {
        const range = document.createRange()
        range.selectNodeContents(cell)
        return range.getClientRects().length
      })
    )
    expect(lines).toEqual(words.map(() => 1))
    expect(await table.evaluate(({ clientWidth, scrollWidth }) => scrollWidth > clientWidth)).toBe(true)
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
  })

  it("runs nothing of what others wrote, and loads nothing for it", async () => {
    const text = [
      "<img src=x onerror=\"document.title='hacked'\"><script>document.title='hacked'</script>",
      "[a](javascript:document.title='hacked') [b](data:text/html,x) ![c](https://elsewhere.example/pixel.png)",
      "\u202Eturned",
      ">".repeat(4_000),
      "*a_".repeat(20_000)
    ].join("\n\n")
    const ticket = await make({ description: text, title: "\u202E<b>bold</b>" })
    await site.call("POST", `tickets/${ticket.identifier}/comments`, { body: text })
    const page = await site.signIn({ width: 320 })
    const asked: Array<string> = []
    page.on("request", (request) => asked.push(request.url()))
    await openTicket(ticket, page)
    await page.getByText("\\u{202E}turned").first().waitFor()
    await page.getByText("<script>").first().waitFor()
    expect(await page.title()).not.toContain("hacked")
    expect(asked.filter((url) => !url.startsWith(site.origin))).toEqual([])
    expect(await page.locator("a[href^='javascript'], a[href^='data'], #screen script, #screen img").count()).toBe(0)
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
  })
})

const rows = (page: Page) => page.getByRole("list", { name: "Tickets" }).locator("[data-row]")
const column = (page: Page, name: string) => page.getByRole("region", { name, exact: true })
const cardsOf = (page: Page, name: string) => column(page, name).locator("[data-card] .tabular").allInnerTexts()

const statusIds = async () => {
  const { statuses } = await site.call<{ statuses: ReadonlyArray<{ id: string; name: string }> }>(
    "GET",
    "ticket-statuses?team=ENG"
  )
  return Object.fromEntries(statuses.map(({ id, name }) => [name, id]))
}

/** Tickets of a project of their own, so that nothing else is in their lists. */
const scene = async (project: string, count: number, fields: object = {}) => {
  await site.call("POST", "projects", { slug: project, name: `The ${project}`, teams: ["ENG"] })
  const made: Array<Ticket> = []
  for (let index = 0; index < count; index++) made.push(await make({ title: `Step ${index + 1}`, project, ...fields }))
  return made
}

/** A screen with all that comes after it: a key that is pressed before would be lost. */
const atRestOn = async (path: string, page?: Page): Promise<Page> => {
  const shown = await openScreen(site, path, page)
  await atRest(shown)
  return shown
}

const search = (project: string, more = "") =>
  `tickets?teams=${encodeURIComponent('["ENG"]')}&projects=${encodeURIComponent(`["${project}"]`)}${more}`

describe("What is typed about a ticket", () => {
  it("comes back when it was discarded, and when the tab was closed", async () => {
    const ticket = await make({ description: "Short." })
    const page = await openTicket(ticket)
    await page.getByRole("button", { name: "Edit the description" }).click()
    const field = page.getByRole("textbox", { name: "Description" })
    await field.fill("A whole page of thoughts")
    await page.getByRole("region", { name: "Description" }).getByRole("button", { name: "Discard" }).click()
    await field.waitFor({ state: "detached" })
    await page.getByRole("button", { name: "Undo" }).click()
    await expect.poll(() => field.inputValue()).toBe("A whole page of thoughts")
    await page.getByRole("textbox", { name: "New comment" }).fill("Not sent yet")
    const context = page.context()
    await page.close()
    const again = await openTicket(ticket, await context.newPage())
    await expect
      .poll(() => again.getByRole("textbox", { name: "Description" }).inputValue())
      .toBe("A whole page of thoughts")
    await expect.poll(() => again.getByRole("textbox", { name: "New comment" }).inputValue()).toBe("Not sent yet")
    const other = await joinAs(site, "dora@example.com", "Dora", "member")
    expect((await read(ticket)).description).toBe("Short.")
    await openTicket(ticket, other)
    await other.getByText("Short.").waitFor()
    expect(await other.getByRole("textbox", { name: "New comment" }).inputValue()).toBe("")
  })

  it("can be copied when somebody deletes the ticket meanwhile, and who did so is said", async () => {
    const ticket = await make()
    await fetch(`${site.origin}/v1/workspaces/main/tickets/${ticket.identifier}/attachments?name=notes.txt`, {
      method: "POST",
      headers: { authorization: `Bearer ${site.key}`, "content-type": "text/plain" },
      body: "Notes"
    })
    const page = await openTicket(ticket)
    await isLive(page)
    await page.getByRole("textbox", { name: "New comment" }).fill("A long answer")
    const other = await joinAs(site, "lena@example.com", "Lena", "admin")
    await openTicket(ticket, other)
    await other.getByRole("button", { name: "More" }).click()
    await other.getByRole("menuitem", { name: "Delete" }).click()
    const sure = other.getByRole("dialog", { name: `Delete ${ticket.identifier}?` })
    await sure.getByText(ticket.title).waitFor()
    await sure.getByText("Its comments and 1 file go with it").waitFor()
    await sure.getByRole("button", { name: "Delete" }).click()
    await page.getByText(`Lena deleted ${ticket.identifier}`).waitFor()
    const kept = page.getByRole("region", { name: "Your comment" })
    await kept.getByText("A long answer").waitFor()
    // Also where it comes after the page who the person is.
    const told = Promise.withResolvers<void>()
    await page.route("**/v1/me", async (route) => {
      await told.promise
      await route.continue()
    })
    await page.reload()
    await page.getByRole("heading", { level: 1 }).waitFor()
    told.resolve()
    await kept.getByText("A long answer").waitFor()
    await page.getByText(`Lena deleted ${ticket.identifier}`).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await kept.getByRole("button", { name: "Discard" }).click()
    await kept.waitFor({ state: "detached" })
  })
})

describe("A list of tickets", () => {
  it("is read a few times when many of its tickets are changed at once by somebody else", async () => {
    const made = await scene("flood", 40)
    const page = await atRestOn(search("flood"))
    await isLive(page)
    await rows(page).getByText("Step 40").waitFor()
    let readings = 0
    page.on("request", (request) => {
      if (request.method() === "GET" && new URL(request.url()).pathname.endsWith("/main/tickets")) readings++
    })
    const { "In progress": status } = await statusIds()
    const tickets = made.map(({ identifier }) => identifier)
    await site.call("POST", "tickets/batch", { tickets, changes: { status } })
    await expect
      .poll(() => page.getByRole("button", { name: /^Status of .*: In progress$/ }).count())
      .toBeGreaterThan(10)
    await page.waitForLoadState("networkidle")
    expect(readings).toBeGreaterThan(0)
    // How many depends on how long the server takes for all the changes: what comes together is read once.
    expect(readings).toBeLessThan(tickets.length / 2)
  })

  it("sets the milestone of what is selected, and shows milestones without tickets", async () => {
    const made = await scene("planned", 2)
    for (const name of ["Alpha", "Beta"]) await site.call("POST", "projects/planned/milestones", { name })
    const page = await atRestOn(search("planned", "&group=milestone"))
    const heading = (name: string) => page.getByRole("heading", { level: 2, name: `The planned · ${name}` })
    await heading("Alpha 0").waitFor()
    await heading("no milestone 2").waitFor()
    for (const key of ["j", "x", "j", "x"]) await page.keyboard.press(key)
    await page.getByRole("toolbar", { name: "Selection" }).getByRole("button", { name: "Milestone" }).waitFor()
    await page.keyboard.press("m")
    await page.getByRole("menuitemradio", { name: "2. Beta" }).click()
    await heading("Beta 2").waitFor()
    const milestones = () =>
      Promise.all(
        made.map(async ({ identifier }) => {
          const { milestone } = await site.call<{ milestone: { name: string } | null }>("GET", `tickets/${identifier}`)
          return milestone?.name
        })
      )
    await expect.poll(milestones).toEqual(["Beta", "Beta"])
    await page.getByRole("button", { name: "Board" }).click()
    await column(page, "The planned · Alpha").waitFor()
    await page.getByRole("group", { name: "Board" }).focus()
    await page.keyboard.press("Escape")
    await page.keyboard.press("k")
    await page.keyboard.press("<")
    await expect.poll(async () => (await milestones()).toSorted()).toEqual(["Alpha", "Beta"])
  })

  it("says why what is selected has no milestone to choose", async () => {
    await site.call("POST", "projects", { slug: "second", name: "Second", teams: ["ENG"] })
    for (const project of ["checkout", "second"]) await make({ title: "Unlike others", project })
    const page = await openScreen(site, "tickets?q=unlike")
    await page
      .getByRole("checkbox", { name: /^Select ENG-/ })
      .nth(1)
      .waitFor()
    for (const at of [0, 1])
      await page
        .getByRole("checkbox", { name: /^Select ENG-/ })
        .nth(at)
        .check()
    await page.getByText("2 tickets selected").waitFor()
    await page.keyboard.press("m")
    await page.getByText("these tickets are not all of the same one").first().waitFor()
  })

  it("asks an agent about the tickets that it is given, and about those that are selected", async () => {
    const made = await scene("given", 3)
    const messages = async () =>
      (
        await site.call<{
          messages: ReadonlyArray<{ ticket: { identifier: string } | null; ask: string; note: string }>
        }>("GET", "messages")
      ).messages
        .filter(({ ticket }) => made.some(({ identifier }) => identifier === ticket?.identifier))
        .map(({ ask, note, ticket }) => `${ticket?.identifier} ${ask} ${note}`)
        .toSorted()
    const page = await atRestOn(search("given"))
    await rows(page).getByText("Step 3").waitFor()
    await page.getByRole("button", { name: "New ticket" }).waitFor()
    for (const key of ["j", "x", "j", "x"]) await page.keyboard.press(key)
    await page.getByText("2 tickets selected").waitFor()
    const chosen = made.slice(0, 2).map(({ identifier }) => identifier)
    await page.keyboard.press("a")
    await page.getByRole("menuitemradio", { name: /agent$/ }).click()
    const dialog = page.getByRole("dialog", { name: "Ask an agent about 2 tickets" })
    await dialog.getByRole("textbox", { name: "Note" }).fill("Begin with **Visa**.")
    await dialog.getByRole("button", { name: "Send" }).click()
    await dialog.waitFor({ state: "detached" })
    expect(await messages()).toEqual(chosen.map((one) => `${one} build Begin with **Visa**.`))
    await page.getByRole("toolbar", { name: "Selection" }).getByRole("button", { name: "Ask an agent" }).click()
    await dialog.getByRole("button", { name: "Cancel" }).click()
    await dialog.waitFor({ state: "detached" })
    expect(await messages()).toHaveLength(2)
  })

  it("is filtered, selected and changed together, and that is undone", async () => {
    const made = await scene("bulk", 3)
    const page = await atRestOn(search("bulk"))
    await rows(page).getByText("Step 3").waitFor()
    await page.getByRole("button", { name: "New ticket" }).waitFor()
    await page.keyboard.press("j")
    await page.keyboard.press("x")
    await page.keyboard.press("j")
    await page.keyboard.press("x")
    await page.getByText("2 tickets selected").waitFor()
    await page.keyboard.press("s")
    await page.getByRole("menuitemradio", { name: "Done" }).press("Enter")
    await page.getByText("2 tickets moved to Done").first().waitFor()
    expect((await Promise.all(made.map(read))).map(({ status }) => status.name)).toEqual(["Done", "Done", "Backlog"])
    await pressEnter(page.getByRole("button", { name: "Undo" }).first())
    await expect
      .poll(async () => (await Promise.all(made.map(read))).map(({ status }) => status.name))
      .toEqual(["Backlog", "Backlog", "Backlog"])
    // When the work on them began is kept, so not all is as it was.
    await page
      .getByText(/^2.tickets have the status of before again$/)
      .first()
      .waitFor()
    await page.locator("#screen").focus()
    await page.keyboard.press("/")
    await page.keyboard.type("step 2")
    await rows(page).getByText("Step 1").waitFor({ state: "detached" })
    await rows(page).getByText("Step 2").waitFor()
    expect(new URL(page.url()).searchParams.get("q")).toBe("step 2")
    expect(await axeFindings(page)).toEqual([])
  })

  it("reverts each ticket that the server refuses to change, and no other", async () => {
    const made = await scene("refused", 2)
    const page = await atRestOn(search("refused"))
    await rows(page).getByText("Step 2").waitFor()
    await page.getByRole("button", { name: "New ticket" }).waitFor()
    await page.route(/\/tickets\/batch$/, async (route) => {
      const answer = await route.fetch()
      const { results } = (await answer.json()) as { results: ReadonlyArray<{ ticket: string }> }
      const error = { _tag: "Conflict", message: "The owner cannot see the team." }
      await route.fulfill({
        json: { results: results.map((one, at) => (at === 1 ? { ticket: one.ticket, ok: false, error } : one)) }
      })
    })
    await page.keyboard.press("X")
    await page.getByText("2 tickets selected").waitFor()
    await page.getByRole("toolbar", { name: "Selection" }).getByRole("button", { name: "Owner" }).click()
    await page.getByRole("menuitemradio", { name: new RegExp(`^${me.name}`) }).click()
    await page.getByText(`${made[1]!.identifier} could not be changed`).first().waitFor()
    await page.getByText("The owner cannot see the team.").first().waitFor()
    await page.getByText(`${made[0]!.identifier} given to ${me.name}`).first().waitFor()
  })

  it("makes a ticket of each line that is pasted", async () => {
    await scene("pasted", 0)
    const page = await atRestOn(search("pasted"))
    await page.getByRole("button", { name: "New ticket" }).waitFor()
    await page.keyboard.press("N")
    const dialog = page.getByRole("dialog", { name: "Tickets from a list" })
    await dialog
      .getByRole("textbox", { name: "Titles" })
      .fill(Array.from({ length: 20 }, (_, index) => `- [ ] Task ${index + 1}`).join("\n"))
    await pressEnter(dialog.getByRole("button", { name: "Create 20 tickets" }))
    await page.getByText("20 tickets created").first().waitFor()
    await rows(page).getByText("Task 20", { exact: true }).waitFor()
    const { tickets } = await site.call<{ tickets: ReadonlyArray<Ticket> }>("GET", "tickets?project=pasted")
    expect(tickets.map(({ title }) => title)).toEqual(Array.from({ length: 20 }, (_, index) => `Task ${index + 1}`))
  })
})

describe("The palette", () => {
  it("finds tickets by their words and identifiers, projects and views", async () => {
    const ticket = await make({ title: "Zebra crossings are counted twice" })
    const page = await openScreen(site, "test-runs")
    await page.getByRole("button", { name: "Search" }).first().waitFor()
    await page.keyboard.press("Control+k")
    const field = page.getByRole("combobox", { name: "Search and do" })
    await field.fill("crossings zeb")
    await page.getByRole("option", { name: `${ticket.identifier} Zebra crossings are counted twice` }).waitFor()
    await field.fill(ticket.identifier.toLowerCase())
    await page.getByRole("option", { name: new RegExp(`^${ticket.identifier} Zebra`) }).click()
    await page.getByRole("heading", { level: 1, name: /Zebra crossings/ }).waitFor()
    await page.keyboard.press("Control+k")
    await field.fill("new checkout")
    await page.getByRole("option", { name: "New checkout project" }).waitFor()
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { level: 1, name: "New checkout" }).waitFor()
  })
})

describe("A board", () => {
  it("shows two lines of a title, and whole tags", async () => {
    const { tags } = await site.call<{ tags: ReadonlyArray<{ id: string; name: string }> }>("GET", "tags")
    const bug = tags.filter(({ name }) => name === "Bug").map(({ id }) => id)
    await scene("cards", 1, { title: "Say in two lines why a card was refused by the bank", tags: bug })
    const page = await atRestOn(search("cards", "&layout=board"))
    const card = page.locator("[data-card]")
    const tag = card.getByText("Bug")
    await tag.waitFor()
    const [frame, title, pill] = await Promise.all([
      card.boundingBox(),
      card.getByRole("link").boundingBox(),
      tag.locator("..").boundingBox()
    ])
    expect(title!.height).toBeGreaterThan(35)
    expect(pill!.y + pill!.height).toBeLessThan(frame!.y + frame!.height)
    expect(await tag.locator("../..").evaluate((row) => row.scrollHeight - row.clientHeight)).toBe(0)
  })

  it("moves cards by keys, and another person sees it", async () => {
    const [first, second] = await scene("keys", 2)
    const page = await atRestOn(search("keys", "&layout=board"))
    const other = await joinAs(site, "ben@example.com", "Ben", "member")
    await atRestOn(search("keys", "&layout=board"), other)
    await isLive(other)
    await expect.poll(() => cardsOf(page, "Backlog")).toEqual([first!.identifier, second!.identifier])
    await page.getByRole("button", { name: "New ticket" }).waitFor()
    await page.keyboard.press("j")
    await page.keyboard.press(".")
    await expect.poll(() => cardsOf(page, "Backlog")).toEqual([second!.identifier, first!.identifier])
    await expect.poll(() => cardsOf(other, "Backlog")).toEqual([second!.identifier, first!.identifier])
    await page.keyboard.press(">")
    await expect.poll(() => cardsOf(page, "Todo")).toEqual([first!.identifier])
    await expect.poll(() => cardsOf(other, "Todo")).toEqual([first!.identifier])
    expect((await read(first!)).status.name).toBe("Todo")
    await page.getByRole("button", { name: "Undo" }).first().click()
    await expect.poll(() => cardsOf(other, "Todo")).toEqual([])
    expect(await axeFindings(page)).toEqual([])
  })

  it("moves cards by drag, to where they are dropped", async () => {
    const made = await scene("drag", 3)
    const ids = await statusIds()
    await site.call("PATCH", `tickets/${made[2]!.identifier}`, { status: ids["Todo"] })
    const page = await atRestOn(search("drag", "&layout=board"))
    await expect.poll(() => cardsOf(page, "Backlog")).toEqual([made[0]!.identifier, made[1]!.identifier])
    await page.getByRole("button", { name: "New ticket" }).waitFor()
    const card = (ticket: Ticket) => page.locator(`[data-card="${ticket.id}"]`)
    await card(made[0]!).dragTo(card(made[2]!), { targetPosition: { x: 40, y: 5 } })
    await expect.poll(() => cardsOf(page, "Todo")).toEqual([made[0]!.identifier, made[2]!.identifier])
    await expect.poll(async () => (await read(made[0]!)).status.name).toBe("Todo")
    await page.reload()
    await expect.poll(() => cardsOf(page, "Todo")).toEqual([made[0]!.identifier, made[2]!.identifier])
  })

  it("puts back the card that the server refuses to move, and no other", async () => {
    const made = await scene("stays", 3)
    const page = await atRestOn(search("stays", "&layout=board"))
    await expect.poll(() => cardsOf(page, "Backlog")).toEqual(made.map(({ identifier }) => identifier))
    await page.getByRole("button", { name: "New ticket" }).waitFor()
    await page.route(/\/tickets\/batch$/, async (route) => {
      const { tickets } = route.request().postDataJSON() as { tickets: ReadonlyArray<string> }
      if (tickets[0] !== made[1]!.identifier) return route.fallback()
      const error = { _tag: "Conflict", message: "The team is archived.", reason: "archived" }
      return route.fulfill({ json: { results: [{ ticket: tickets[0], ok: false, error }] } })
    })
    await page.keyboard.press("j")
    await page.keyboard.press(">")
    await expect.poll(() => cardsOf(page, "Todo")).toEqual([made[0]!.identifier])
    await column(page, "Backlog").locator(`[data-card="${made[1]!.id}"]`).hover()
    await page.locator(`[data-card="${made[1]!.id}"]`).dragTo(column(page, "Done"))
    await page.getByText(`${made[1]!.identifier} stays where it was`).first().waitFor()
    await page.getByText("The team is archived.").first().waitFor()
    await expect.poll(() => cardsOf(page, "Backlog")).toEqual([made[1]!.identifier, made[2]!.identifier])
    expect(await cardsOf(page, "Todo")).toEqual([made[0]!.identifier])
  })
})

describe("Two people on one board", () => {
  it("are shown both sides where one moves away what the other puts a card beside, and choose", async () => {
    const made = await scene("sides", 2)
    const [moved, other] = made as [Ticket, Ticket]
    const ids = await statusIds()
    const page = await atRestOn(search("sides", "&layout=board"))
    await expect.poll(() => cardsOf(page, "Backlog")).toEqual(made.map(({ identifier }) => identifier))
    await page.getByRole("button", { name: "New ticket" }).waitFor()
    // Somebody else is there in the moment before the move arrives.
    await page.route(
      /\/reorder$/,
      async (route) => {
        await site.call("PATCH", `tickets/${other.identifier}`, { status: ids["In progress"] })
        await route.continue()
      },
      { times: 1 }
    )
    await page.keyboard.press("j")
    await page.keyboard.press(".")
    const dialog = page.getByRole("dialog", { name: `${moved.identifier} could not go below ${other.identifier}` })
    await dialog
      .getByRole("region", { name: "Theirs" })
      .getByText(`${other.identifier} is in In progress now.`)
      .waitFor()
    await dialog
      .getByRole("region", { name: "Yours" })
      .getByText(`${moved.identifier} below ${other.identifier}.`)
      .waitFor()
    expect(await axeFindings(page)).toEqual([])
    await pressEnter(dialog.getByRole("button", { name: `Move it to In progress, below ${other.identifier}` }))
    await expect.poll(() => cardsOf(page, "In progress")).toEqual([other.identifier, moved.identifier])
    await expect.poll(async () => (await read(moved)).status.name).toBe("In progress")
  })

  it("who move cards at the same time see the same in the end, which is what the server has", async () => {
    const made = await scene("both", 4)
    const page = await atRestOn(search("both", "&layout=board"))
    const other = await joinAs(site, "cem@example.com", "Cem", "member")
    await atRestOn(search("both", "&layout=board"), other)
    for (const one of [page, other]) {
      await isLive(one)
      await expect.poll(() => cardsOf(one, "Backlog")).toEqual(made.map(({ identifier }) => identifier))
      await one.getByRole("button", { name: "New ticket" }).waitFor()
    }
    // The first card goes to different columns, and the others are moved below each other.
    const moves = async (one: Page, ...keys: ReadonlyArray<string>) => {
      for (const key of keys) await one.keyboard.press(key)
    }
    await Promise.all([moves(page, "j", ">", ">", "j"), moves(other, "j", ">", "j")])
    await Promise.all([moves(page, "ArrowLeft", "ArrowLeft", ".", "."), moves(other, "ArrowLeft", ".", ",", ">")])
    const names = ["Backlog", "Todo", "In progress", "Done", "Canceled"]
    const ofServer = async () => {
      const { tickets } = await site.call<{ tickets: ReadonlyArray<Ticket> }>("GET", "tickets?project=both")
      return names.map((name) =>
        tickets.filter(({ status }) => status.name === name).map(({ identifier }) => identifier)
      )
    }
    const seenBy = (one: Page) => Promise.all(names.map((name) => cardsOf(one, name)))
    await expect
      .poll(async () => {
        // Who is told that the order has changed meanwhile leaves it as it is.
        for (const one of [page, other]) {
          if (await one.getByRole("dialog").isVisible()) await one.keyboard.press("Escape")
        }
        const [server, first, second] = await Promise.all([ofServer(), seenBy(page), seenBy(other)])
        return JSON.stringify(first) === JSON.stringify(server) && JSON.stringify(second) === JSON.stringify(server)
      })
      .toBe(true)
    expect((await ofServer()).flat()).toHaveLength(4)
  })
})

describe("A view", () => {
  it("keeps the grouping, the order and the layout, and saves them when they are changed", async () => {
    await scene("looks", 2)
    const page = await atRestOn(search("looks", "&group=milestone&sort=updated"))
    await page.getByRole("button", { name: "Save as view" }).waitFor()
    await atRest(page)
    await page.keyboard.press("S")
    const dialog = page.getByRole("dialog", { name: "Save as view" })
    await dialog.getByRole("textbox", { name: "Name" }).fill("Planned")
    await pressEnter(dialog.getByRole("button", { name: "Save view" }))
    await page.getByRole("heading", { level: 1, name: "Planned" }).waitFor()
    const group = (name: string) => page.getByRole("search").getByRole("button", { name: `Group is ${name}` })
    await group("milestone").waitFor()
    const { views } = await site.call<{
      views: ReadonlyArray<{ id: string; layout: string; group: string; sort: string | null; filters: object }>
    }>("GET", "views")
    expect(views).toMatchObject([{ layout: "list", group: "milestone", sort: "updated" }])
    expect(await page.getByRole("button", { name: "Save view" }).count()).toBe(0)
    await group("milestone").click()
    await page.getByRole("menuitemradio", { name: "owner", exact: true }).click()
    await page.getByRole("button", { name: "Save view" }).click()
    const saved = { group: "owner", sort: "updated", filters: views[0]!.filters }
    await expect.poll(() => site.call<object>("GET", `views/${views[0]!.id}`)).toMatchObject(saved)
    await page.getByRole("button", { name: "Save view" }).waitFor({ state: "detached" })
    await page.reload()
    await group("owner").waitFor()
    await site.call("DELETE", `views/${views[0]!.id}`)
  })

  it("shows the tickets of a milestone of its project", async () => {
    const [planned, other] = await scene("steps", 2)
    const bare = await atRestOn(search("steps"))
    const milestone = bare.getByRole("search").getByRole("button", { name: "milestone", exact: true })
    await Promise.all([isLive(bare), rows(bare).getByText(other!.title).waitFor()])
    // None to choose from, not even "No milestone", until the project has some.
    expect(await milestone.count()).toBe(0)
    const { number } = await site.call<{ number: number }>("POST", "projects/steps/milestones", { name: "Beta" })
    await milestone.waitFor()
    await site.call("PATCH", `tickets/${planned!.identifier}`, { milestone: number })
    const page = await atRestOn(search("steps"))
    await rows(page).getByText(other!.title).waitFor()
    await page.getByRole("search").getByRole("button", { name: "milestone", exact: true }).click()
    await page.getByRole("menuitemcheckbox", { name: "Beta" }).click()
    await page.keyboard.press("Escape")
    await rows(page).getByText(other!.title).waitFor({ state: "detached" })
    await rows(page).getByText(planned!.title).waitFor()
    await page.getByRole("button", { name: "Save as view" }).click()
    const dialog = page.getByRole("dialog", { name: "Save as view" })
    await dialog.getByRole("textbox", { name: "Name" }).fill("Beta")
    await pressEnter(dialog.getByRole("button", { name: "Save view" }))
    await page.getByRole("heading", { level: 1, name: "Beta" }).waitFor()
    await rows(page).getByText(planned!.title).waitFor()
    expect(await rows(page).getByText(other!.title).count()).toBe(0)
    const { views } = await site.call<{ views: ReadonlyArray<{ id: string; filters: object }> }>("GET", "views")
    expect(views).toMatchObject([{ filters: { projects: ["steps"], milestones: [`steps/${number}`] } }])
    await site.call("DELETE", `views/${views[0]!.id}`)
  })

  it("is the person's alone where they say so, until they share it", async () => {
    await scene("personal", 1)
    const page = await atRestOn(search("personal"))
    await page.getByRole("button", { name: "Save as view" }).click()
    const dialog = page.getByRole("dialog", { name: "Save as view" })
    await dialog.getByRole("textbox", { name: "Name" }).fill("Just mine")
    await dialog.getByRole("combobox", { name: "Seen by" }).click()
    await expect
      .poll(() => page.getByRole("option").allInnerTexts())
      .toEqual(["Everybody in the workspace", "Only you", "Who sees the team ENG", "Who sees the project personal"])
    await page.getByRole("option", { name: "Only you" }).click()
    await dialog.getByText("Nobody else sees it.").waitFor()
    expect(await axeFindings(page)).toEqual([])
    await pressEnter(dialog.getByRole("button", { name: "Save view" }))
    await page.getByRole("heading", { level: 1, name: "Just mine" }).waitFor()
    const tab = (one: Page) =>
      one.getByRole("navigation", { name: "Views of tickets" }).getByRole("link", { name: /^Just mine/ })
    await tab(page).getByText("only for you").waitFor()
    expect(await axeFindings(page)).toEqual([])
    const other = await openScreen(site, "tickets", await joinAs(site, "view@example.com", "Vera", "admin"))
    await isLive(other)
    await other.getByRole("navigation", { name: "Views of tickets" }).getByRole("link", { name: "Mine" }).waitFor()
    expect(await tab(other).count()).toBe(0)
    await page.getByRole("button", { name: "More" }).click()
    await page.getByRole("menuitem", { name: "Share with others" }).click()
    await page.getByText("Just mine is shared now").first().waitFor()
    await tab(other).click()
    await other.getByRole("heading", { level: 1, name: "Just mine" }).waitFor()
    // What another has made is no view of one's own.
    await other.getByRole("button", { name: "More" }).click()
    await other.getByRole("menuitem", { name: "Rename" }).waitFor()
    expect(await other.getByRole("menuitem", { name: "Show only to you" }).count()).toBe(0)
    await other.keyboard.press("Escape")
    await page.getByRole("button", { name: "More" }).click()
    await page.getByRole("menuitem", { name: "Show only to you" }).click()
    await page.getByText("Only you see Just mine now").first().waitFor()
    await tab(other).waitFor({ state: "detached" })
    await other.getByRole("heading", { name: "This view was deleted, or you cannot see it" }).waitFor()
    expect(await other.getByRole("link", { name: "All tickets" }).getAttribute("href")).toBe("/w/main/tickets")
    await page.getByRole("button", { name: "More" }).click()
    await page.getByRole("menuitem", { name: "Delete" }).click()
    const sure = page.getByRole("dialog", { name: "Delete Just mine?" })
    await sure.getByText("Only you see the view.").waitFor()
    await sure.getByRole("button", { name: "Delete" }).click()
    await page.getByRole("heading", { level: 1, name: "Tickets" }).waitFor()
    await other.context().close()
  })

  it("is saved, changed, renamed and deleted", async () => {
    const made = await scene("views", 2)
    await site.call("PATCH", `tickets/${made[0]!.identifier}`, { owner: me.id })
    const page = await atRestOn(search("views"))
    await page.getByRole("button", { name: "Save as view" }).click()
    const dialog = page.getByRole("dialog", { name: "Save as view" })
    await dialog.getByRole("textbox", { name: "Name" }).fill("Steps")
    await pressEnter(dialog.getByRole("button", { name: "Save view" }))
    await page.getByRole("heading", { level: 1, name: "Steps" }).waitFor()
    await rows(page).getByText("Step 2").waitFor()
    await page.getByRole("search").getByRole("button", { name: "owner", exact: true }).click()
    await page.getByRole("menuitemcheckbox", { name: "me", exact: true }).click()
    await rows(page).getByText("Step 2").waitFor({ state: "detached" })
    await page.keyboard.press("Escape")
    await page.getByRole("button", { name: "Save view" }).click()
    await page.getByText("Steps was saved").first().waitFor()
    await page.reload()
    await rows(page).getByText("Step 1").waitFor()
    expect(await rows(page).getByText("Step 2").count()).toBe(0)
    const views = async () => (await site.call<{ views: ReadonlyArray<View> }>("GET", "views")).views
    const [{ filters, group, layout, scope, sort, visibility }] = (await views()) as [View]
    await page.getByRole("button", { name: "More" }).click()
    await page.getByRole("menuitem", { name: "Delete" }).click()
    await page.getByRole("dialog", { name: "Delete Steps?" }).getByRole("button", { name: "Delete" }).click()
    await page.getByRole("heading", { level: 1, name: "Tickets" }).waitFor()
    expect(await views()).toEqual([])
    await pressEnter(page.getByRole("button", { name: "Undo" }).first())
    await page.getByText("Steps is back, at a new address").waitFor()
    expect(await views()).toMatchObject([{ name: "Steps", filters, scope, layout, group, sort, visibility }])
  })
})

import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
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

/** The inbox: what agents said, and what others asked of them, read and undone by keyboard. */

let site: Site
/** The owner's agent, with its access token. */
let agent: { readonly id: string; readonly call: Call }

beforeAll(async () => {
  site = await startSite()
  await site.call("POST", "teams", { key: "ENG", name: "Engineering" })
  for (const title of ["Pay by card", "Show the basket"]) await site.call("POST", "tickets", { team: "ENG", title })
  const signIn = await site.call<{ agent: string; access_token: string }>("POST", "agents/register", {
    client: "claude",
    computer: "laptop"
  })
  agent = { id: signIn.agent, call: callWith(site.origin, signIn.access_token) }
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

const ask = (ticket: string, note: string) =>
  site.call<{ id: string }>("POST", "messages", { agent: agent.id, ticket, ask: "build", note })

const reply = async (ticket: string, note: string, text: string) => {
  const { id } = await ask(ticket, note)
  await agent.call("POST", "/agent/v1/inbox/take", {})
  await agent.call("POST", `/agent/v1/messages/${id}/complete`, { reply: text })
}

const list = (page: Page) => page.getByRole("list", { name: "Notifications" })

/** The notifications, with what stands before each of those that are unread. */
const shown = (page: Page) =>
  list(page)
    .locator("[data-row]")
    .filter({ has: page.locator("time") })
    .allInnerTexts()

/** What the person asked of their own agent is no news to them. */
const unreadOf = async () => {
  const { notifications } = await site.call<{
    notifications: ReadonlyArray<{ kind: string; readAt: string | null }>
  }>("GET", "notifications")
  return notifications.filter(({ kind, readAt }) => kind !== "message_received" && readAt === null).length
}

describe("The inbox", () => {
  it("says what it is for while it is empty, and shows a reply as soon as there is one", async () => {
    const page = await openScreen(site, "inbox")
    await page.getByText("What concerns you comes here").waitFor()
    await isLive(page)
    await reply("ENG-1", "Please start with Visa.", "Done in acme/shop#42.")
    await list(page).getByText("claude replied").waitFor()
    await list(page).getByRole("heading", { name: "ENG-1 Pay by card" }).waitFor()
    await list(page).getByText("Done in acme/shop#42.").waitFor()
  })

  it("leads to the comment that it is about, which stands out, however many there are", async () => {
    const ticket = await site.call<{ identifier: string; id: string }>("POST", "tickets", {
      team: "ENG",
      title: "Much to say",
      description: "A line.\n\n".repeat(60)
    })
    const me = await site.call<{ id: string }>("GET", "/v1/me")
    const other = await joinAs(site, "cora@example.com", "Cora", "member")
    const say = (body: string) =>
      other.evaluate(
        async ([path, text]) => {
          const answer = await fetch(path, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ body: text })
          })
          if (!answer.ok) throw new Error(await answer.text())
        },
        [`/v1/workspaces/main/tickets/${ticket.identifier}/comments`, body] as const
      )
    await openScreen(site, `tickets/${ticket.identifier}`, other)
    for (let index = 0; index < 20; index++) await say(`Before ${index}`)
    await say(`[@Owner](user:${me.id}) look here`)
    for (let index = 0; index < 20; index++) await say(`After ${index}`)
    const page = await openScreen(site, "inbox")
    await list(page)
      .getByRole("link", { name: /Cora mentioned you.*look here/ })
      .click()
    const meant = page.getByRole("listitem", { name: "Comment of Cora" }).filter({ hasText: "look here" })
    await page.waitForURL(/#said-/)
    const isSeen = () =>
      meant.evaluate((element) => {
        const { bottom, top } = element.getBoundingClientRect()
        return top >= 0 && bottom <= innerHeight && element.getAttribute("aria-current") === "true"
      })
    await expect.poll(isSeen).toBe(true)
    await page.reload()
    await expect.poll(isSeen).toBe(true)
    expect(await axeFindings(page)).toEqual([])
    await site.call("DELETE", `tickets/${ticket.identifier}`)
  })

  it("is emptied by keyboard alone, and each step is undone", async () => {
    await reply("ENG-2", "Beside the list.", "I need the colours first.")
    const page = await openScreen(site, "inbox")
    await list(page).getByText("I need the colours first.").waitFor()
    const before = await unreadOf()
    expect((await shown(page)).length).toBe(before)
    await page.keyboard.press("j")
    await page.keyboard.press(" ")
    const peek = page.getByRole("complementary", { name: "The current notification" })
    await peek.getByText("I need the colours first.").waitFor()
    await peek.getByText("Beside the list.").waitFor()
    expect(await axeFindings(page)).toEqual([])
    const narrow = await openScreen(site, "inbox", await site.signIn({ colorScheme: "dark", width: 320 }))
    await list(narrow).getByText("claude replied").first().waitFor()
    expect(await axeFindings(narrow)).toEqual([])
    expect(await narrow.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
    await narrow.context().close()
    await page.keyboard.press("Escape")
    await page.keyboard.press("e")
    await list(page).getByText("I need the colours first.").waitFor({ state: "detached" })
    await page.getByText("Marked read").first().waitFor()
    expect(await unreadOf()).toBe(before - 1)
    await pressEnter(page.getByRole("button", { name: "Undo" }).first())
    await list(page).getByText("I need the colours first.").waitFor()
    await expect.poll(unreadOf).toBe(before)
    await page.keyboard.press("E")
    await page.getByText("Nothing is unread").waitFor()
    await page
      .getByText(/notifications? marked read/)
      .first()
      .waitFor()
    expect(await unreadOf()).toBe(0)
    await page.getByRole("link", { name: "All", exact: true }).press("Enter")
    await list(page).getByText("I need the colours first.").waitFor()
    await page.keyboard.press("j")
    await page.keyboard.press("u")
    await list(page).getByText("unread").first().waitFor()
    await expect.poll(unreadOf).toBe(1)
  })

  it("is acted on in place, by keyboard alone: the agent is answered, the ticket commented on and moved", async () => {
    const { identifier } = await site.call<{ identifier: string }>("POST", "tickets", {
      team: "ENG",
      title: "Answered"
    })
    await reply(identifier, "Which colours?", "Blue or green?")
    const page = await openScreen(site, "inbox")
    const row = list(page).getByText("Blue or green?")
    await row.waitFor()
    await page.keyboard.press("j")
    await page.keyboard.press(" ")
    const peek = page.getByRole("complementary", { name: "The current notification" })
    await peek.getByRole("button", { name: "Answer claude" }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page.keyboard.press("s")
    await page.getByRole("menuitemradio", { name: "Done" }).waitFor()
    await page.keyboard.type("Done")
    await page.keyboard.press("Enter")
    await peek.getByRole("button", { name: /^Status: Done/ }).waitFor()
    // It is shown before the server has answered.
    const statusNow = async () =>
      (await site.call<{ status: { name: string } }>("GET", `tickets/${identifier}`)).status.name
    await expect.poll(statusNow).toBe("Done")
    await page.keyboard.press("r")
    const dialog = page.getByRole("dialog", { name: "Answer claude" })
    await dialog.waitFor()
    await page.keyboard.type("Green.")
    await page.keyboard.press("Control+Enter")
    await dialog.waitFor({ state: "detached" })
    // Whoever has answered has read it, and goes on with the next.
    await row.waitFor({ state: "detached" })
    const { messages } = await site.call<{ messages: ReadonlyArray<{ note: string | null }> }>("GET", "messages")
    expect(messages.map(({ note }) => note)).toContain("Green.")
    await page.getByRole("link", { name: "All", exact: true }).press("Enter")
    await row.waitFor()
    await page.keyboard.press("j")
    await page.keyboard.press(" ")
    await peek.getByText("Blue or green?").waitFor()
    await peek.getByRole("textbox", { name: "New comment" }).waitFor()
    await page.keyboard.press("c")
    await page.keyboard.type("We took green.")
    await page.keyboard.press("Control+Enter")
    const commented = async () => {
      const { comments } = await site.call<{ comments: ReadonlyArray<{ body: string }> }>(
        "GET",
        `tickets/${identifier}/comments`
      )
      return comments.map(({ body }) => body)
    }
    await expect.poll(commented).toEqual(["We took green."])
    // The list has the keyboard again.
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("screen")
    await page.context().close()
  })

  it("goes on at the row where it was once the keys or the palette are closed, and marks nothing read", async () => {
    for (const text of ["The first of two.", "The second of two."]) await reply("ENG-1", "Two of them.", text)
    const page = await openScreen(site, "inbox")
    await list(page).getByText("The second of two.").waitFor()
    await atRest(page)
    const before = await unreadOf()
    const peek = page.getByRole("complementary", { name: "The current notification" })
    const keys = () => page.keyboard.press("?")
    const palette = () => page.keyboard.press("Control+k")
    /** One dialog after the other: what had the keyboard before both of them gets it. */
    const both = async () => {
      await palette()
      await page.getByRole("combobox", { name: "Search and do" }).fill("Show the keys")
      await page.keyboard.press("Enter")
      await page.getByRole("dialog", { name: "Keys" }).waitFor()
    }
    const goesOn = async (open: () => Promise<void>) => {
      await page.keyboard.press("j")
      await open()
      await page.getByRole("dialog").waitFor()
      await page.keyboard.press("Escape")
      await page.getByRole("dialog").waitFor({ state: "detached" })
      await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("screen")
      await page.keyboard.press(" ")
      await peek.waitFor()
      await page.keyboard.press("Escape")
      await peek.waitFor({ state: "detached" })
    }
    // With the keyboard nowhere, then at the screen.
    await goesOn(keys)
    await goesOn(palette)
    await goesOn(both)
    await goesOn(keys)
    expect(await unreadOf()).toBe(before)
    await page.context().close()
  })

  it("is read in every tab of the browser once it is read in one", async () => {
    await reply("ENG-2", "In two tabs.", "Told in both of them.")
    const page = await openScreen(site, "inbox")
    const home = await openScreen(site, "", await page.context().newPage())
    await Promise.all([isLive(page), isLive(home)])
    const unread = home.getByRole("navigation", { name: "Workspace" }).getByText("unread")
    const told = home.locator("#screen").getByText("Told in both of them.")
    await Promise.all([list(page).getByText("Told in both of them.").waitFor(), unread.waitFor(), told.waitFor()])
    await page.bringToFront()
    await page.keyboard.press("E")
    await page.getByText("Nothing is unread").waitFor()
    await Promise.all([unread.waitFor({ state: "detached" }), told.waitFor({ state: "detached" })])
    await pressEnter(page.getByRole("button", { name: "Undo" }).first())
    await Promise.all([unread.waitFor(), told.waitFor()])
    await page.context().close()
  })

  it("says that something is unread where the sidebar is away or collapsed, too", async () => {
    await reply("ENG-2", "On the way.", "Told on a phone.")
    const page = await openScreen(site, "test-runs", await site.signIn({ width: 390 }))
    await page.getByRole("link", { name: /^Inbox \d+ unread$/ }).click()
    await list(page).getByText("Told on a phone.").waitFor()
    await page.setViewportSize({ width: 900, height: 800 })
    const place = page.getByRole("navigation", { name: "Workspace" }).getByRole("link", { name: "Inbox" })
    await place.locator("span").waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page.keyboard.press("E")
    await place.locator("span").waitFor({ state: "detached" })
    await page.context().close()
  })

  it("is read on every device of the person once it is read on one, and on nobody else's", async () => {
    const other = await joinAs(site, "dana@example.com", "Dana", "member")
    const { members } = await site.call<{ members: ReadonlyArray<{ id: string; email: string }> }>("GET", "members")
    const { id } = members.find(({ email }) => email === "dana@example.com")!
    await reply("ENG-2", "On two devices.", "Told on both of them.")
    await site.call("POST", "tickets/ENG-2/comments", { body: `[@Dana](user:${id}) for you.` })
    // The two have no browser in common.
    const [page, phone] = [await openScreen(site, "inbox"), await openScreen(site, "inbox")]
    await openScreen(site, "inbox", other)
    await Promise.all([isLive(page), isLive(phone), isLive(other)])
    const told = list(phone).getByText("Told on both of them.")
    await Promise.all([list(page).getByText("Told on both of them.").waitFor(), told.waitFor()])
    await list(other).getByText("mentioned you").waitFor()
    const asked: Array<string> = []
    other.on("request", (request) => {
      if (request.url().includes("notifications")) asked.push(request.url())
    })
    await page.keyboard.press("E")
    await told.waitFor({ state: "detached" })
    await phone.getByText("Nothing is unread").waitFor()
    await pressEnter(page.getByRole("button", { name: "Undo" }).first())
    await told.waitFor()
    expect(asked).toEqual([])
    await list(other).getByText("mentioned you").waitFor()
    for (const one of [page, phone, other]) await one.context().close()
  })

  it("puts back what the server refuses to mark, and says why", async () => {
    await reply("ENG-1", "Again.", "Refused at first.")
    const page = await openScreen(site, "inbox")
    await page.route(/\/notifications\/[^/]+\/read$/, (route) =>
      route.fulfill({
        status: 429,
        contentType: "application/json",
        body: JSON.stringify({ _tag: "TooManyRequests", message: "The server has too much to do." })
      })
    )
    const row = list(page).locator("[data-row]").filter({ hasText: "Refused at first." })
    await row.getByRole("button", { name: /^Mark read/ }).click()
    await page.getByText("1 notification could not be marked read").first().waitFor()
    await page.getByText("The server has too much to do.").first().waitFor()
    await row.waitFor()
  })

  it("tells a person within a moment what was assigned to them, who mentions them and who comments", async () => {
    const page = await joinAs(site, "eve@example.com", "Eve Lindt", "member")
    // Another ticket: what is told of the one that is open is read at once.
    await openScreen(site, "tickets/ENG-1", page)
    await isLive(page)
    const eve = await site.call<{ members: ReadonlyArray<{ id: string; email: string }> }>("GET", "members")
    const person = eve.members.find(({ email }) => email === "eve@example.com")!
    const place = page.getByRole("navigation", { name: "Workspace" }).getByRole("link", { name: /^Inbox/ })
    await site.call("PATCH", "tickets/ENG-2", { owner: person.id })
    await place.getByText("1 unread").waitFor()
    const body = `Hey [@Eve](user:${person.id}), **please** look at \`basket\`.`
    await site.call("POST", "tickets/ENG-2/comments", { body })
    await place.getByText("2 unread").waitFor()
    await site.call("POST", "tickets/ENG-2/comments", { body: "And the colours." })
    await place.getByText("3 unread").waitFor()
    await place.click()
    await list(page).getByText("assigned this to you").waitFor()
    await list(page).getByText("Hey @Eve, please look at basket.").waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page.keyboard.press("E")
    await page.getByText("Nothing is unread").waitFor()
    await pressEnter(page.getByRole("button", { name: "Undo" }).first())
    await place.getByText("3 unread").waitFor()
  })

  it("has read what it tells of a ticket once that is open and seen, also what comes meanwhile, on every device", async () => {
    const page = await joinAs(site, "fay@example.com", "Fay", "member")
    const { members } = await site.call<{ members: ReadonlyArray<{ id: string; email: string }> }>("GET", "members")
    const { id } = members.find(({ email }) => email === "fay@example.com")!
    const told = async (pattern: string) => {
      for (const ticket of ["ENG-1", "ENG-2"]) {
        await site.call("POST", `tickets/${ticket}/comments`, { body: `[@Fay](user:${id}) ${pattern} of ${ticket}.` })
      }
    }
    await told("first")
    await told("second")
    const phone = await site.visit({ width: 390 })
    await phone.context().addCookies(await page.context().cookies())
    await openScreen(site, "inbox", phone)
    await openScreen(site, "inbox", page)
    await Promise.all([isLive(page), list(phone).getByText("second of ENG-1.").waitFor()])
    const place = page.getByRole("navigation", { name: "Workspace" }).getByRole("link", { name: /^Inbox/ })
    await place.getByText("4 unread").waitFor()
    const sent: Array<string> = []
    page.on("request", (request) => {
      if (request.method() === "POST" && request.url().includes("notifications")) sent.push(request.url())
    })
    await list(page).getByRole("link", { name: "ENG-1 Pay by card" }).click()
    await page.getByRole("region", { name: "Activity" }).getByText("second of ENG-1.").waitFor()
    await place.getByText("2 unread").waitFor()
    // Those of the other ticket alone are left, on the phone, too.
    await list(phone).getByText("second of ENG-1.").waitFor({ state: "detached" })
    expect(
      await list(phone)
        .getByText(/of ENG-2\.$/)
        .count()
    ).toBe(2)
    // While nobody looks at the tab, what comes waits.
    const show = (state: string) =>
      page.evaluate((now) => {
        Object.defineProperty(document, "visibilityState", { configurable: true, value: now })
        document.dispatchEvent(new Event("visibilitychange"))
      }, state)
    await show("hidden")
    await told("third")
    await place.getByText("4 unread").waitFor()
    await list(phone).getByText("third of ENG-1.").waitFor()
    expect(sent).toHaveLength(2)
    await show("visible")
    await place.getByText("3 unread").waitFor()
    await list(phone).getByText("third of ENG-1.").waitFor({ state: "detached" })
    await told("fourth")
    await page.getByRole("region", { name: "Activity" }).getByText("fourth of ENG-1.").waitFor()
    await place.getByText("4 unread").waitFor()
    await list(phone).getByText("fourth of ENG-2.").waitFor()
    await list(phone).getByText("fourth of ENG-1.").waitFor({ state: "detached" })
    expect(sent).toHaveLength(4)
    // What stands below what is shown was seen by nobody yet.
    await page.setViewportSize({ width: 1_280, height: 360 })
    await page.locator("#screen").evaluate((screen) => screen.scrollTo(0, 0))
    await told("fifth")
    await place.getByText("6 unread").waitFor()
    const fifth = page.getByRole("region", { name: "Activity" }).getByText("fifth of ENG-1.")
    await fifth.waitFor()
    await atRest(page)
    expect(sent).toHaveLength(4)
    await fifth.scrollIntoViewIfNeeded()
    await page.locator("#screen").evaluate((screen) => screen.scrollTo(0, screen.scrollHeight))
    await place.getByText("5 unread").waitFor()
    expect(sent).toHaveLength(5)
    // Where nothing is unread, nothing is sent.
    await page.reload()
    await page.getByRole("region", { name: "Activity" }).getByText("fourth of ENG-1.").waitFor()
    await place.getByText("5 unread").waitFor()
    await atRest(page)
    expect(sent).toHaveLength(5)
    for (const one of [page, phone]) await one.context().close()
  })

  it("keeps a mention in sight behind more assignments than a page has", async () => {
    const page = await joinAs(site, "max@example.com", "Max", "member")
    const { members } = await site.call<{ members: ReadonlyArray<{ id: string; email: string }> }>("GET", "members")
    const { id } = members.find(({ email }) => email === "max@example.com")!
    await site.call("POST", "tickets/ENG-2/comments", { body: `[@Max](user:${id}) look first.` })
    await Promise.all(
      Array.from({ length: 160 }, (_, number) =>
        site.call("POST", "tickets", { team: "ENG", title: `Step ${number}`, owner: id })
      )
    )
    await openScreen(site, "inbox", page)
    const place = page.getByRole("navigation", { name: "Workspace" }).getByRole("link", { name: /^Inbox/ })
    await place.getByText("161 unread").waitFor()
    const mention = list(page).getByText("mentioned you")
    // The next page comes when the end of this one is near: there again is the end.
    const reachMention = () =>
      expect
        .poll(async () => {
          await page.locator("#screen").evaluate((screen) => screen.scrollTo(0, screen.scrollHeight))
          return mention.count()
        })
        .toBe(1)
    await reachMention()
    await page.getByRole("link", { name: "All", exact: true }).click()
    await reachMention()
    await page.keyboard.press("E")
    await page.getByText(/^161.notifications marked read$/).waitFor()
    await place.getByText("161 unread").waitFor({ state: "detached" })
    await page.getByRole("link", { name: /^Unread/ }).click()
    await page.getByText("Nothing is unread").waitFor()
    // Also those that no page has shown come back.
    await pressEnter(page.getByRole("button", { name: "Undo" }).first())
    await place.getByText("161 unread").waitFor()
    await page.getByText(/^161.notifications unread again$/).waitFor()
    const { unreadCount } = await page.evaluate(async () => {
      const answer = await fetch("/v1/workspaces/main/ticket-notifications")
      return (await answer.json()) as { unreadCount: number }
    })
    expect(unreadCount).toBe(161)
  })

  it("has nothing of others", async () => {
    const page = await joinAs(site, "ben@example.com", "Ben", "member")
    await openScreen(site, "inbox", page)
    await page.getByText("What concerns you comes here").waitFor()
  })
})

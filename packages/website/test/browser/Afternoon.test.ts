import type { Locator, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Call, callWith, isLive, openScreen, type Site, startSite } from "../support/Site.ts"

/**
 * An afternoon of a team: a project is planned, its tickets are made of a list, an agent is given one and answers, two views become
 * one, and the inbox is emptied. By mouse, and again by keyboard alone.
 */

let site: Site
let agent: { readonly id: string; readonly call: Call }

beforeAll(async () => {
  site = await startSite()
  await site.call("POST", "teams", { key: "ENG", name: "Engineering" })
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

/** How a person does things: with the mouse, or with keys alone. */
interface Hands {
  /** Presses what the shortcut does, too. */
  readonly press: (page: Page, shown: Locator, shortcut?: string) => Promise<void>
  /** Picks what stands in the menu of the screen. */
  readonly pick: (page: Page, item: string, shortcut: string) => Promise<void>
  readonly write: (page: Page, field: Locator, text: string) => Promise<void>
}

const mouse: Hands = {
  press: (_page, shown) => shown.click(),
  pick: async (page, item) => {
    await page.getByRole("button", { name: "More", exact: true }).click()
    await page.getByRole("menuitem", { name: item }).click()
  },
  write: async (page, field, text) => {
    await field.click()
    await page.keyboard.insertText(text)
  }
}

const keyboard: Hands = {
  press: async (page, shown, shortcut) => {
    await shown.waitFor()
    if (shortcut === undefined) await shown.press("Enter")
    else for (const key of shortcut.split(" ")) await page.keyboard.press(key)
  },
  pick: async (page, _item, shortcut) => {
    await page.getByRole("button", { name: "More", exact: true }).waitFor()
    await page.keyboard.press(shortcut)
  },
  write: async (page, field, text) => {
    await field.focus()
    await page.keyboard.insertText(text)
  }
}

const choose = async (page: Page, hands: Hands, menu: Locator, item: string, shortcut?: string) => {
  await hands.press(page, menu, shortcut)
  await hands.press(page, page.getByRole("option", { name: item }).or(page.getByRole("menuitemradio", { name: item })))
}

const plan = async (page: Page, hands: Hands, name: string) => {
  await openScreen(site, "projects", page)
  await hands.press(page, page.getByRole("button", { name: "Add project" }).first(), "n")
  const dialog = page.getByRole("dialog", { name: "Add a project" })
  await hands.write(page, dialog.getByRole("textbox", { name: "Name" }), name)
  await expect.poll(() => dialog.getByRole("checkbox", { name: "Engineering" }).isChecked()).toBe(true)
  await hands.press(page, dialog.getByRole("button", { name: "Add project" }))
  await page.getByRole("heading", { level: 1, name }).waitFor()
  for (const milestone of ["Beta", "Everybody"]) {
    await hands.press(page, page.getByRole("button", { name: "Milestone" }), "m")
    const adding = page.getByRole("dialog", { name: "Add a milestone" })
    await hands.write(page, adding.getByRole("textbox", { name: "Name" }), milestone)
    await hands.press(page, adding.getByRole("button", { name: "Add milestone" }))
    await page.getByRole("link", { name: new RegExp(milestone) }).waitFor()
  }
}

const paste = async (page: Page, hands: Hands, name: string) => {
  await hands.press(page, page.getByRole("link", { name: "Tickets", exact: true }), "g b")
  await page.getByRole("heading", { level: 1, name: "Tickets" }).waitFor()
  await hands.pick(page, "From a list", "N")
  const dialog = page.getByRole("dialog", { name: "Tickets from a list" })
  const titles = Array.from({ length: 20 }, (_, index) => `- ${name}, step ${index + 1}`)
  await hands.write(page, dialog.getByRole("textbox", { name: "Titles" }), titles.join("\n"))
  await choose(page, hands, dialog.getByRole("button", { name: /^Project/ }), name)
  await choose(page, hands, dialog.getByRole("button", { name: /^Milestone/ }), "Beta")
  await hands.press(page, dialog.getByRole("button", { name: "Create 20 tickets" }))
  await page.getByText("20 tickets created").first().waitFor()
}

/** Answers the identifier of the ticket. */
const assign = async (page: Page, hands: Hands, title: string): Promise<string> => {
  await hands.press(page, page.getByRole("list", { name: "Tickets" }).getByRole("link", { name: title, exact: false }))
  await page.getByRole("heading", { level: 1, name: new RegExp(title) }).waitFor()
  await choose(page, hands, page.getByRole("button", { name: /^Owner:/ }), "Claude", "a")
  // Whom a ticket is given to is asked at once, if it is an agent.
  const dialog = page.getByRole("dialog", { name: /^Ask an agent/ })
  await hands.write(page, dialog.getByRole("textbox", { name: "Note" }), "Please begin.")
  await hands.press(page, dialog.getByRole("button", { name: "Send" }))
  const message = page.getByRole("listitem", { name: "Message to Claude" })
  await message.getByText("Please begin.").waitFor()
  await isLive(page)
  const taken = await agent.call<{ messages: ReadonlyArray<{ id: string }> }>("POST", "/agent/v1/inbox/take", {})
  await agent.call("POST", `/agent/v1/messages/${taken.messages[0]!.id}/complete`, { reply: "Done in acme/shop#42." })
  await page.getByRole("listitem", { name: "Reply of Claude" }).getByText("Done in acme/shop#42.").waitFor()
  await page.getByRole("button", { name: /^Owner: Claude/ }).waitFor()
  return page.url().slice(page.url().lastIndexOf("/") + 1)
}

/** The tickets of the one view and those of the other are seen in one, and the other one goes. */
const merge = async (page: Page, hands: Hands, project: string) => {
  const view = (name: string, filters: object) =>
    site.call<{ id: string }>("POST", "views", { name, scope: { kind: "workspace" }, filters, layout: "list" })
  const begun = await view(`Begun of ${project}`, { categories: ["started"], projects: [project] })
  const waits = await view(`Waits of ${project}`, { categories: ["backlog"], projects: [project] })
  await openScreen(site, `views/${begun.id}`, page)
  await page.getByText("No ticket matches these filters").waitFor()
  await hands.press(page, page.getByRole("search").getByRole("button", { name: "category" }))
  await hands.press(page, page.getByRole("menuitemcheckbox", { name: "Backlog" }))
  await page.keyboard.press("Escape")
  await page.getByRole("list", { name: "Tickets" }).getByRole("link").first().waitFor()
  await hands.press(page, page.getByRole("button", { name: "Save view" }))
  await page.getByText(`Begun of ${project} was saved`).first().waitFor()
  await openScreen(site, `views/${waits.id}`, page)
  await hands.press(page, page.getByRole("button", { name: "More" }))
  await hands.press(page, page.getByRole("menuitem", { name: "Delete" }))
  await hands.press(page, page.getByRole("dialog").getByRole("button", { name: "Delete" }))
  await page.getByRole("heading", { level: 1, name: "Tickets" }).waitFor()
  const { tickets } = await site.call<{ tickets: ReadonlyArray<unknown> }>("GET", `views/${begun.id}/tickets`)
  expect(tickets).toHaveLength(20)
}

const empty = async (page: Page, hands: Hands, ticket: string) => {
  // What was said while the ticket was open is read. This comes later.
  const { id } = await site.call<{ id: string }>("POST", "messages", { agent: agent.id, ticket, ask: "plan" })
  await agent.call("POST", "/agent/v1/inbox/take", {})
  await agent.call("POST", `/agent/v1/messages/${id}/complete`, { reply: "And deployed." })
  await hands.press(page, page.getByRole("link", { name: /^Inbox/ }), "g i")
  await page.getByRole("heading", { name: new RegExp(ticket) }).waitFor()
  await hands.press(page, page.getByRole("button", { name: "Mark all read" }), "E")
  await page.getByText("Nothing is unread").waitFor()
}

describe("An afternoon of a team", () => {
  for (const [how, hands] of [
    ["by mouse", mouse],
    ["by keyboard alone", keyboard]
  ] as const) {
    it(how, async () => {
      const name = `Checkout ${how}`
      const page = await site.signIn()
      await plan(page, hands, name)
      await paste(page, hands, name)
      const ticket = await assign(page, hands, `${name}, step 20`)
      await merge(page, hands, name.toLowerCase().replaceAll(" ", "-"))
      await empty(page, hands, ticket)
      await page.context().close()
    })
  }
})

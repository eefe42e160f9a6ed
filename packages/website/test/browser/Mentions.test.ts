import { randomUUID } from "node:crypto"
import type { Locator, Page } from "playwright-core"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { axeFindings } from "../support/Axe.ts"
import { isLive, joinAs, openScreen, pressEnter, type Site, startSite } from "../support/Site.ts"

/** Mentions while they are typed: people see names, and what is sent says whom they mean. */

interface Ticket {
  readonly identifier: string
  readonly description: string | null
}

let site: Site
let me: { readonly id: string; readonly name: string }
let link: string

beforeAll(async () => {
  site = await startSite()
  await site.call("POST", "teams", { key: "ENG", name: "Engineering" })
  me = await site.call("GET", "/v1/me")
  link = `[@${me.name}](user:${me.id})`
})

afterEach(async () => {
  for (const context of site.browser.contexts()) await context.close()
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

const make = (description = "") =>
  site.call<Ticket>("POST", "tickets", { team: "ENG", title: "Pay by card", description })
const open = ({ identifier }: Ticket): Promise<Page> => openScreen(site, `tickets/${identifier}`)
const commentsOf = async ({ identifier }: Ticket) =>
  (await site.call<{ comments: ReadonlyArray<{ body: string }> }>("GET", `tickets/${identifier}/comments`)).comments

describe("Somebody who cannot see it", () => {
  it("is offered neither as the owner of private tickets in a list, nor in what is written of their project", async () => {
    await site.call("POST", "teams", { key: "SEC", name: "Security", visibility: "private" })
    await site.call("POST", "teams", { key: "LAW", name: "Law", visibility: "private" })
    for (const [email, name] of [
      ["sam@example.com", "Sam"],
      ["sue@example.com", "Sue"]
    ] as const) {
      await joinAs(site, email, name, "member")
    }
    const { members } = await site.call<{ members: ReadonlyArray<{ id: string; name: string }> }>("GET", "members")
    const { id } = members.find(({ name }) => name === "Sam")!
    await site.call("POST", "teams/SEC/members", { member: id })
    for (const [team, title] of [
      ["SEC", "Rotate keys"],
      ["LAW", "Read the terms"],
      ["ENG", "Open to all"]
    ] as const) {
      await site.call("POST", "tickets", { team, title })
    }
    const page = await openScreen(site, "tickets")
    await isLive(page)
    const rowOf = (title: string) =>
      page.getByRole("list", { name: "Tickets" }).locator("[data-row]").filter({ hasText: title })
    // Those of private teams say so.
    await rowOf("Rotate keys").getByText("private", { exact: true }).waitFor()
    expect(await rowOf("Open to all").getByText("private", { exact: true }).count()).toBe(0)
    const owners = async (...titles: ReadonlyArray<string>) => {
      for (const title of titles) {
        await page
          .getByRole("list", { name: "Tickets" })
          .locator("[data-row]")
          .filter({ hasText: title })
          .getByRole("checkbox")
          .check()
      }
      await page.getByRole("toolbar", { name: "Selection" }).getByRole("button", { name: "Owner" }).click()
      await page.getByRole("menuitemradio", { name: "Nobody" }).waitFor()
      const shown = () => page.getByRole("menuitemradio").allInnerTexts()
      const names = async () => (await shown()).map((text) => text.split("\n")[0]!)
      return {
        names,
        close: async () => {
          await page.keyboard.press("Escape")
          await page.keyboard.press("Escape")
        }
      }
    }
    const open = await owners("Open to all")
    await expect.poll(open.names).toEqual(["Nobody", me.name, "Sam", "Sue"])
    await open.close()
    const one = await owners("Rotate keys")
    await expect.poll(one.names).toEqual(["Nobody", me.name, "Sam"])
    await one.close()
    const both = await owners("Rotate keys", "Read the terms", "Open to all")
    await expect.poll(both.names).toEqual(["Nobody", me.name])
    await both.close()

    await openScreen(site, "tickets?layout=board", page)
    const cardOf = (title: string) => page.locator("[data-card]").filter({ hasText: title })
    await cardOf("Rotate keys").getByText("private", { exact: true }).waitFor()
    expect(await cardOf("Open to all").getByText("private", { exact: true }).count()).toBe(0)

    // Whoever sees one of its teams sees a project.
    await site.call("POST", "projects", { slug: "audit", name: "Audit", teams: ["SEC", "LAW"] })
    await openScreen(site, "projects/audit", page)
    await page.getByRole("button", { name: "Write what the project is for" }).click()
    const field = page.getByRole("textbox", { name: "Document" })
    await field.click()
    await page.keyboard.type("Ask @S")
    const choices = page.getByRole("listbox", { name: "People and agents" })
    await choices.getByText("Sam").waitFor()
    expect(await choices.getByText("Sue").count()).toBe(0)
  })
})

describe("A mention", () => {
  it("is offered in the description of a new ticket", async () => {
    const name = `Pay by invoice ${randomUUID()}`
    const page = await openScreen(site, "tickets")
    await page.getByRole("button", { name: "New ticket" }).click()
    const dialog = page.getByRole("dialog", { name: "New ticket" })
    await dialog.getByRole("textbox", { name: "Title" }).fill(name)
    await pressEnter(dialog.getByRole("button", { name: "Team" }))
    await page.getByRole("textbox", { name: "Search: Team" }).and(page.locator(":focus")).waitFor()
    await page.keyboard.type("Engineering")
    await page.keyboard.press("Enter")
    const field = dialog.getByRole("textbox", { name: "Description" })
    const choices = dialog.getByRole("listbox", { name: "People and agents" })
    await field.click()
    await page.keyboard.type(`Ask @${me.name.slice(0, 3)}`)
    await choices.waitFor()
    expect(await axeFindings(page)).toEqual([])
    // The choices are closed, and the dialog stays as it is.
    await page.keyboard.press("Escape")
    await choices.waitFor({ state: "detached" })
    expect(await dialog.getByText("Discard what you typed?").count()).toBe(0)
    await page.keyboard.type(me.name.slice(3, 4))
    await choices.waitFor()
    await page.keyboard.press("Enter")
    expect(await field.inputValue()).toBe(`Ask @${me.name} `)
    await page.keyboard.type("first.")
    await dialog.getByRole("button", { name: "Preview" }).click()
    await dialog.getByText("first.").waitFor()
    await dialog.getByRole("button", { name: "Write" }).click()
    await field.press("Control+Enter")
    await dialog.waitFor({ state: "detached" })
    const { tickets } = await site.call<{ tickets: ReadonlyArray<Ticket & { title: string }> }>("GET", "tickets")
    expect(tickets.filter(({ title }) => title === name).map(({ description }) => description)).toEqual([
      `Ask ${link} first.`
    ])
  })

  it("is a name while it is typed, and somebody when it is sent", async () => {
    const ticket = await make()
    const page = await open(ticket)
    const field = page.getByRole("textbox", { name: "New comment" })
    const choices = page.getByRole("listbox", { name: "People and agents" })
    await field.click()
    await page.keyboard.type(`Look, @${me.name.slice(0, 3)}`)
    await page.getByRole("option", { name: `${me.name} you` }).waitFor()
    await page.keyboard.press("Enter")
    await choices.waitFor({ state: "detached" })
    expect(await field.inputValue()).toBe(`Look, @${me.name} `)
    // The caret is behind it, and what follows it is no other mention.
    await page.keyboard.type("at this")
    expect(await field.inputValue()).toBe(`Look, @${me.name} at this`)
    expect(await choices.count()).toBe(0)
    await page.keyboard.press("Home")
    await page.keyboard.type("Please: ")
    expect(await axeFindings(page)).toEqual([])
    // A draft has it, too.
    await page.reload()
    await expect.poll(() => field.inputValue()).toBe(`Please: Look, @${me.name} at this`)
    await field.focus()
    await page.keyboard.press("Control+Enter")
    await page
      .getByRole("listitem", { name: `Comment of ${me.name}` })
      .getByText(`@${me.name}`)
      .waitFor()
    expect((await commentsOf(ticket)).map(({ body }) => body)).toEqual([`Please: Look, ${link} at this`])
  })

  it("is offered where it covers neither the line that is typed nor what can be done with it", async () => {
    const ticket = await make("First.")
    await site.call("POST", `tickets/${ticket.identifier}/comments`, { body: "A comment." })
    for (const width of [1440, 320]) {
      const page = await site.signIn({ width, height: 720 })
      await openScreen(site, `tickets/${ticket.identifier}`, page)
      const choices = page.getByRole("listbox", { name: "People and agents" })
      const isOver = async (other: Locator) => {
        const [one, two] = [(await choices.boundingBox())!, (await other.boundingBox())!]
        return (
          one.x < two.x + two.width &&
          two.x < one.x + one.width &&
          one.y < two.y + two.height &&
          two.y < one.y + one.height
        )
      }
      const ask = async (field: Locator, button: Locator) => {
        await field.fill("")
        await field.pressSequentially(`Look, @${me.name.slice(0, 3)}`)
        await choices.waitFor()
        expect(await isOver(button)).toBe(false)
        const { height, y } = (await field.boundingBox())!
        const list = (await choices.boundingBox())!
        // Its one line is at the top of the field, below the space around it.
        expect(list.y + list.height <= y + 12 || list.y >= y + 24).toBe(true)
        expect(list.y + list.height).toBeLessThanOrEqual(y + height)
        expect(list.x).toBeGreaterThanOrEqual(0)
        expect(list.x + list.width).toBeLessThanOrEqual(width)
        await page.keyboard.press("Escape")
        await choices.waitFor({ state: "detached" })
      }
      await page.getByRole("button", { name: "Edit the description" }).click()
      const editor = page.getByRole("region", { name: "Description" })
      await ask(
        editor.getByRole("textbox", { name: "Description" }),
        editor.getByRole("button", { name: "Save", exact: true })
      )
      const comment = page.getByRole("listitem", { name: `Comment of ${me.name}` })
      await comment.getByRole("button", { name: /^Edit/ }).click()
      await ask(
        comment.getByRole("textbox", { name: "Comment" }),
        comment.getByRole("button", { name: "Save", exact: true })
      )
      await ask(
        page.getByRole("textbox", { name: "New comment" }),
        page.getByRole("button", { name: "Comment", exact: true })
      )
      await page.context().close()
    }
  })

  it("stays somebody where the text around it is changed, and is text once its name is", async () => {
    const ticket = await make(`First ${link}, then ${link}.`)
    const page = await open(ticket)
    await page.getByRole("button", { name: "Edit the description" }).click()
    const field = page.getByRole("textbox", { name: "Description" })
    expect(await field.inputValue()).toBe(`First @${me.name}, then @${me.name}.`)
    await field.focus()
    await page.keyboard.press("Control+Home")
    await page.keyboard.type("At ")
    await page.keyboard.press("Control+End")
    await page.keyboard.press("ArrowLeft")
    await page.keyboard.press("Backspace")
    expect(await field.inputValue()).toBe(`At First @${me.name}, then @${me.name.slice(0, -1)}.`)
    await page.keyboard.press("Control+Enter")
    await field.waitFor({ state: "detached" })
    const read = () => site.call<Ticket>("GET", `tickets/${ticket.identifier}`)
    expect((await read()).description).toBe(`At First ${link}, then @${me.name.slice(0, -1)}.`)
  })

  it("is a name also in what somebody else has changed meanwhile", async () => {
    const ticket = await make("Before.")
    const page = await open(ticket)
    await page.getByRole("button", { name: "Edit the description" }).click()
    await page.getByRole("textbox", { name: "Description" }).fill("Mine.")
    await isLive(page)
    await site.call("PATCH", `tickets/${ticket.identifier}`, { description: `Theirs, ${link}.` })
    const banner = page.getByRole("alert").filter({ hasText: "after you began" })
    await banner.getByText(`added: Theirs, @${me.name}.`).waitFor()
  })

  it("means the same person where it is cut and pasted", async () => {
    const ticket = await make()
    const page = await open(ticket)
    const field = page.getByRole("textbox", { name: "New comment" })
    await field.click()
    await page.keyboard.type(`@${me.name.slice(0, 3)}`)
    await page.getByRole("option", { name: `${me.name} you` }).click()
    await page.keyboard.type("decides")
    await page.keyboard.press("Control+A")
    await page.keyboard.press("Control+X")
    expect(await field.inputValue()).toBe("")
    await page.keyboard.type("Today ")
    await page.keyboard.press("Control+V")
    await expect.poll(() => field.inputValue()).toBe(`Today @${me.name} decides`)
    await page.keyboard.press("Control+Enter")
    await page.getByRole("listitem", { name: `Comment of ${me.name}` }).waitFor()
    expect((await commentsOf(ticket)).map(({ body }) => body)).toEqual([`Today ${link} decides`])
  })
})

import type { Page } from "playwright-core"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { axeFindings } from "../support/Axe.ts"
import { atRest, joinAs, openScreen, pressEnter, type Site, startSite } from "../support/Site.ts"

/** New tickets: from everywhere, of what is looked at, and many from a list. */

interface Ticket {
  readonly identifier: string
  readonly title: string
  readonly description: string | null
  readonly team: { readonly key: string }
  readonly status: { readonly name: string }
  readonly owner: { readonly name: string } | null
  readonly project: { readonly slug: string } | null
  readonly milestone: { readonly name: string } | null
  readonly tags: ReadonlyArray<{ readonly name: string }>
}

let site: Site
let me: { readonly name: string }
let view: string

beforeAll(async () => {
  site = await startSite()
  await site.call("POST", "teams", { key: "ENG", name: "Engineering" })
  await site.call("POST", "teams", { key: "OPS", name: "Operations" })
  await site.call("POST", "projects", { slug: "checkout", name: "New checkout", teams: ["ENG"] })
  await site.call("POST", "projects/checkout/milestones", { name: "Private beta" })
  await site.call("POST", "tags", { name: "Bug", color: "#d73a4a" })
  await site.call("POST", "tickets", { team: "ENG", title: "Pay by card" })
  me = await site.call("GET", "/v1/me")
  const made = await site.call<{ id: string }>("POST", "views", {
    name: "Steps",
    scope: { kind: "project", key: "checkout" },
    filters: {},
    layout: "list"
  })
  view = made.id
})

afterEach(async () => {
  for (const context of site.browser.contexts()) await context.close()
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

const tickets = async () => (await site.call<{ tickets: ReadonlyArray<Ticket> }>("GET", "tickets")).tickets
const named = async (title: string) => (await tickets()).filter((one) => one.title === title)
const dialogOf = (page: Page) => page.getByRole("dialog", { name: "New ticket", exact: true })

const choose = async (page: Page, field: string, typed: string) => {
  await pressEnter(dialogOf(page).getByRole("button", { name: field }))
  await page
    .getByRole("textbox", { name: `Search: ${field}` })
    .and(page.locator(":focus"))
    .waitFor()
  await page.keyboard.type(typed)
  await page.keyboard.press("Enter")
}

describe("A new ticket", () => {
  it("is made by keys alone, with all that it can be, and its team is remembered", async () => {
    const page = await openScreen(site, "tickets")
    await page.getByRole("button", { name: "New ticket" }).waitFor()
    await page.keyboard.press("n")
    const dialog = dialogOf(page)
    await dialog.getByText("Still missing: a title and a team.").waitFor()
    await page.keyboard.type("Refunds")
    await dialog.getByText("Still missing: a team.").waitFor()
    // What is missing is said, and has the keyboard; what is typed there finds it.
    await page.keyboard.press("Control+Enter")
    await dialog.getByRole("alert").getByText("Still missing: a team.").waitFor()
    await dialog.getByRole("button", { name: "Team" }).and(page.locator(":focus")).waitFor()
    await page.keyboard.type("neer")
    await page.getByRole("menuitemradio", { name: "Operations" }).waitFor({ state: "detached" })
    await page.getByRole("menuitemradio", { name: "Engineering" }).waitFor()
    expect(await page.getByRole("textbox", { name: "Search: Team" }).inputValue()).toBe("neer")
    // In a list that is open, the key that sends neither chooses nor sends.
    await page.keyboard.press("Control+Enter")
    await page.getByRole("menuitemradio", { name: "Engineering" }).waitFor()
    await dialog.getByText("Still missing: a team.").waitFor()
    await page.keyboard.press("Enter")
    await dialog.getByText("Still missing").waitFor({ state: "detached" })
    await choose(page, "Status", "prog")
    await choose(page, "Owner", me.name.slice(1))
    await choose(page, "Project", "check")
    await choose(page, "Milestone", "beta")
    await choose(page, "Tags", "ug")
    await page.keyboard.press("Escape")
    await dialog.getByRole("button", { name: "Tags Bug" }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await dialog.getByRole("textbox", { name: "Description" }).fill("Of the whole order.")
    await page.keyboard.press("Control+Enter")
    await dialog.waitFor({ state: "detached" })
    const [made] = await named("Refunds")
    expect(made).toMatchObject({
      description: "Of the whole order.",
      team: { key: "ENG" },
      status: { name: "In progress" },
      owner: { name: me.name },
      project: { slug: "checkout" },
      milestone: { name: "Private beta" },
      tags: [{ name: "Bug" }]
    })
    await page.reload()
    await page.getByRole("button", { name: "New ticket" }).waitFor()
    await page.keyboard.press("n")
    await dialog.getByRole("button", { name: "Team Engineering" }).waitFor()
  })

  it("has what was typed before the tab was closed, until it is made, discarded or its person signs out", async () => {
    const page = await site.signIn()
    const open = async (at: Page) => {
      await openScreen(site, "tickets", at)
      await at.getByRole("button", { name: "New ticket" }).waitFor()
      await at.keyboard.press("n")
      await dialogOf(at).waitFor()
    }
    const title = (at: Page) => dialogOf(at).getByRole("textbox", { name: "Title" })
    const text = (at: Page) => dialogOf(at).getByRole("textbox", { name: "Description" })
    const drafts = (at: Page) =>
      at.evaluate(() => Object.keys(localStorage).filter((name) => name.startsWith("delivery-draft")))
    await open(page)
    await title(page).fill("A long thought")
    await text(page).fill("Over many lines.")
    const context = page.context()
    await page.close()
    const next = await context.newPage()
    await open(next)
    expect([await title(next).inputValue(), await text(next).inputValue()]).toEqual([
      "A long thought",
      "Over many lines."
    ])
    await dialogOf(next).getByText("What you typed before is here again.").waitFor()
    await text(next).press("End")
    await text(next).pressSequentially("!")
    await next.keyboard.press("Escape")
    await dialogOf(next).getByRole("button", { name: "Discard" }).click()
    await dialogOf(next).waitFor({ state: "detached" })
    expect(await drafts(next)).toEqual([])
    await next.keyboard.press("n")
    await expect.poll(() => title(next).inputValue()).toBe("")
    const other = await joinAs(site, "nora@example.com", "Nora", "member")
    await open(other)
    await title(other).fill("Of one person")
    expect(await drafts(other)).toHaveLength(1)
    await openScreen(site, "tickets", other)
    // Nobody of this site can sign in again, so the page would ask before it signs out.
    await other.route(
      "**/auth/v1/session",
      async (route) => {
        const response = await route.fetch()
        await route.fulfill({ response, json: { ...(await response.json()), waysIn: ["passkey"] } })
      },
      { times: 1 }
    )
    await other.getByRole("button", { name: "Nora", exact: true }).click()
    await other.getByRole("menuitem", { name: "Sign out" }).click()
    await other.waitForURL(`${site.origin}/sign-in`)
    expect(await drafts(other)).toEqual([])
  })

  it("says where its title takes no more letters, and so does the title of a ticket", async () => {
    const page = await openScreen(site, "tickets")
    await page.getByRole("button", { name: "New ticket" }).click()
    const title = dialogOf(page).getByRole("textbox", { name: "Title" })
    const full = /^A title has at most 200 letters/
    await title.fill("a".repeat(199))
    expect(await page.getByText(full).count()).toBe(0)
    await title.press("b")
    await page.getByText(full).waitFor()
    await title.fill("Short")
    await page.getByText(full).waitFor({ state: "detached" })
    const { teams } = await site.call<{ teams: ReadonlyArray<{ key: string }> }>("GET", "teams")
    const made = await site.call<{ identifier: string }>("POST", "tickets", { team: teams[0]!.key, title: "Short" })
    await openScreen(site, `tickets/${made.identifier}`, page)
    await page.getByRole("button", { name: /^Status: / }).waitFor()
    await page.keyboard.press("r")
    await page.getByRole("textbox", { name: "Title" }).fill("b".repeat(200))
    await page.getByText(full).waitFor()
  })

  it("is written by keyboard alone, from the title straight into the text", async () => {
    const page = await openScreen(site, "tickets", await site.signIn())
    await atRest(page)
    await page.keyboard.press("n")
    await dialogOf(page).waitFor()
    await page.keyboard.type("Typed on")
    await page.keyboard.press("Tab")
    await page.keyboard.type("Not a word is lost.")
    expect(await dialogOf(page).getByRole("textbox", { name: "Description" }).inputValue()).toBe("Not a word is lost.")
    // What comes next stands further down.
    const place = () => page.evaluate(() => document.activeElement!.getBoundingClientRect().bottom)
    const places = [await place()]
    for (const name of ["Write", "Preview"]) {
      await page.keyboard.press("Tab")
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(name)
      places.push(await place())
    }
    await page.keyboard.press("Tab")
    places.push(await place())
    expect(places).toEqual(places.toSorted((one, other) => one - other))
    expect(new Set(places).size).toBe(3)
    await page.context().close()
  })

  it("is asked for by the same key everywhere, and is of what is looked at", async () => {
    const page = await site.signIn()
    const places = {
      "": "No project",
      "tickets?projects=%5B%22checkout%22%5D": "New checkout",
      "projects/checkout": "New checkout",
      [`views/${view}`]: "New checkout",
      "tickets/ENG-1": "No project"
    }
    await page.addInitScript(() => localStorage.setItem("delivery-team-main", "ENG"))
    for (const [path, project] of Object.entries(places)) {
      await openScreen(site, path, page)
      await atRest(page)
      await page.keyboard.press("n")
      await dialogOf(page)
        .getByRole("button", { name: `Project ${project}` })
        .waitFor()
      await page.keyboard.press("Escape")
      await dialogOf(page).waitFor({ state: "detached" })
    }
    await openScreen(site, "projects/checkout", page)
    await page.getByRole("button", { name: "New ticket" }).click()
    await dialogOf(page).getByRole("textbox", { name: "Title" }).fill("Of the project")
    await dialogOf(page).getByRole("button", { name: "Team Engineering" }).waitFor()
    await page.keyboard.press("Enter")
    await page
      .getByText(/ENG-\d+ was created/)
      .first()
      .waitFor()
    expect((await named("Of the project"))[0]?.project?.slug).toBe("checkout")
    await page.locator("#screen").focus()
    await page.keyboard.press("Control+k")
    await page.keyboard.type("new tick")
    await page.getByRole("option", { name: /^New ticket/ }).waitFor()
    await page.keyboard.press("Enter")
    await dialogOf(page).getByRole("textbox", { name: "Title" }).waitFor()
  })

  it("is of the one milestone that is filtered by, which can be left", async () => {
    const page = await openScreen(site, "tickets?milestones=%5B%22checkout%2F1%22%5D")
    await atRest(page)
    await page.keyboard.press("n")
    await dialogOf(page).getByRole("button", { name: "Milestone Private beta" }).waitFor()
    await dialogOf(page).getByRole("textbox", { name: "Title" }).fill("Of the beta")
    await page.keyboard.press("Control+Enter")
    await dialogOf(page).waitFor({ state: "detached" })
    const [made] = await named("Of the beta")
    expect([made?.project?.slug, made?.milestone?.name]).toEqual(["checkout", "Private beta"])
    await page.keyboard.press("n")
    await choose(page, "Milestone", "no mile")
    await dialogOf(page).getByRole("button", { name: "Milestone No milestone" }).waitFor()
    await choose(page, "Project", "no proj")
    await dialogOf(page).getByRole("button", { name: "Project No project" }).waitFor()
    await dialogOf(page).getByRole("textbox", { name: "Title" }).fill("Of nothing")
    await page.keyboard.press("Control+Enter")
    await dialogOf(page).waitFor({ state: "detached" })
    const [other] = await named("Of nothing")
    expect([other?.project, other?.milestone]).toEqual([null, null])
  })

  it("waits for what it is likely to be in, also where that is read slowly", async () => {
    const page = await site.signIn()
    const held = Promise.withResolvers<void>()
    await page.route("**/v1/workspaces/main/projects*", async (route) => {
      await held.promise
      await route.continue()
    })
    await page.addInitScript(() => localStorage.setItem("delivery-team-main", "ENG"))
    await openScreen(site, "projects/checkout", page)
    await page.getByRole("button", { name: "New ticket" }).click()
    await dialogOf(page).getByRole("textbox", { name: "Title" }).fill("Of a slow project")
    await dialogOf(page).getByRole("button", { name: "Team Engineering" }).waitFor()
    await page.keyboard.press("Enter")
    await dialogOf(page).getByRole("button", { name: "Create ticket" }).and(page.locator("[aria-busy=true]")).waitFor()
    expect(await named("Of a slow project")).toEqual([])
    held.resolve()
    await dialogOf(page).waitFor({ state: "detached" })
    expect(await named("Of a slow project")).toMatchObject([{ project: { slug: "checkout" } }])
  })

  it("is made once, however fast its key is pressed again", async () => {
    const page = await openScreen(site, "tickets")
    await page.getByRole("button", { name: "New ticket" }).click()
    await dialogOf(page).getByRole("textbox", { name: "Title" }).fill("Refund once")
    await choose(page, "Team", "neer")
    await expect.poll(() => dialogOf(page).getByRole("button", { name: "Create ticket" }).isEnabled()).toBe(true)
    // Events of their own, with nothing between them but what each has set off at once.
    await dialogOf(page)
      .getByRole("textbox", { name: "Title" })
      .evaluate(async (field) => {
        for (let press = 0; press < 3; press++) {
          field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", ctrlKey: true, bubbles: true }))
          for (let turn = 0; turn < 20; turn++) await Promise.resolve()
        }
      })
    await dialogOf(page).waitFor({ state: "detached" })
    expect(await named("Refund once")).toHaveLength(1)
  })

  it("leaves its key to a screen that has another use for it", async () => {
    const page = await openScreen(site, "projects")
    await page.getByRole("button", { name: "Add project" }).waitFor()
    await page.keyboard.press("n")
    await page.getByRole("dialog", { name: "Add a project" }).waitFor()
    await page.keyboard.press("Escape")
    await page.keyboard.press("?")
    await page.getByRole("dialog", { name: "Keys" }).getByText("Add a project").waitFor()
    expect(await page.getByRole("dialog", { name: "Keys" }).getByText("New ticket").count()).toBe(0)
  })
})

describe("Tickets from a list", () => {
  it("keep what is indented and what is too long in their descriptions, and are taken back at once", async () => {
    const before = (await tickets()).length
    const page = await openScreen(site, "tickets?teams=%5B%22ENG%22%5D&projects=%5B%22checkout%22%5D")
    await page.getByRole("button", { name: "New ticket" }).waitFor()
    await page.keyboard.press("N")
    const dialog = page.getByRole("dialog", { name: "Tickets from a list" })
    const long = `Long ${"word ".repeat(60)}end`
    await dialog.getByRole("textbox", { name: "Titles" }).fill(`- [ ] First\n    - a detail\n- ${long}`)
    await dialog.getByText("2 tickets with a description.").waitFor()
    await dialog.getByText("1 title is longer than 200 characters: the rest goes into the description.").waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page.keyboard.press("Control+Enter")
    await page.getByText("2 tickets created").first().waitFor()
    const [first] = await named("First")
    expect(first).toMatchObject({ description: "- a detail", project: { slug: "checkout" }, team: { key: "ENG" } })
    const second = (await tickets()).find(({ title }) => title.startsWith("Long"))
    expect(second?.description).toMatch(/^….*end$/)
    await pressEnter(page.getByRole("button", { name: "Undo" }).first())
    await page.getByText("2 tickets deleted").first().waitFor()
    expect(await tickets()).toHaveLength(before)
    // They are made from any screen, of what it shows.
    await openScreen(site, "projects/checkout", page)
    await atRest(page)
    await page.keyboard.press("N")
    await dialog.getByRole("textbox", { name: "Titles" }).waitFor()
    await dialog.getByText("Checkout").first().waitFor()
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
    // So are the lines that somebody pastes as the title of one.
    await page.keyboard.press("n")
    const title = page.getByRole("dialog", { name: "New ticket" }).getByRole("textbox", { name: "Title" })
    await title.waitFor()
    await page.evaluate(() => navigator.clipboard.writeText("- One\n- Two\n"))
    await title.press("Control+v")
    await dialog.getByRole("button", { name: "Create 2 tickets" }).waitFor()
    expect(await dialog.getByRole("textbox", { name: "Titles" }).inputValue()).toBe("- One\n- Two\n")
  })
})

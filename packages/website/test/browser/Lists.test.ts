import type { Page } from "playwright-core"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { axeFindings } from "../support/Axe.ts"
import { atRest, openScreen, type Site, startSite } from "../support/Site.ts"

/** Lists and boards of tickets by keys and by mouse, as whoever plans with them all day uses them. */

interface Ticket {
  readonly id: string
  readonly identifier: string
  readonly title: string
  readonly status: { readonly name: string }
  readonly owner: { readonly name: string } | null
  readonly project: { readonly slug: string } | null
  readonly tags: ReadonlyArray<{ readonly name: string }>
}

let site: Site
let me: { readonly id: string; readonly name: string }

const make = (fields: object = {}) =>
  site.call<Ticket>("POST", "tickets", { team: "ENG", title: "Pay by card", ...fields })
const read = ({ identifier }: Ticket) => site.call<Ticket>("GET", `tickets/${identifier}`)

beforeAll(async () => {
  site = await startSite()
  await site.call("POST", "teams", { key: "ENG", name: "Engineering" })
  await site.call("POST", "projects", { slug: "checkout", name: "New checkout", teams: ["ENG"] })
  await site.call("POST", "tags", { name: "Bug", color: "#d73a4a" })
  me = await site.call("GET", "/v1/me")
})

afterEach(async () => {
  for (const context of site.browser.contexts()) await context.close()
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

/** Tickets of a project of their own, so that nothing else is in their lists. */
const scene = async (project: string, count: number, fields: object = {}) => {
  await site.call("POST", "projects", { slug: project, name: `The ${project}`, teams: ["ENG"] })
  const made: Array<Ticket> = []
  for (let index = 0; index < count; index++) made.push(await make({ title: `Step ${index + 1}`, project, ...fields }))
  return made
}

const search = (project: string, more = "") =>
  `tickets?teams=${encodeURIComponent('["ENG"]')}&projects=${encodeURIComponent(`["${project}"]`)}${more}`

const row = (page: Page, ticket: Ticket) => page.locator(`[data-ticket="${ticket.id}"]`)
const card = (page: Page, ticket: Ticket) => page.locator(`[data-card="${ticket.id}"]`)
const statuses = async (tickets: ReadonlyArray<Ticket>) =>
  (await Promise.all(tickets.map(read))).map(({ status }) => status.name)

/** The list or the board, with all that belongs to it: the buttons of its rows do something then. */
const opened = async (path: string, shown: (page: Page) => ReturnType<typeof row>) => {
  const page = await openScreen(site, path)
  await shown(page).waitFor()
  await atRest(page)
  await page.getByRole("button", { name: "New ticket" }).waitFor()
  return page
}

const pick = async (page: Page, field: string, typed: string) => {
  await page
    .getByRole("textbox", { name: `Search: ${field}` })
    .and(page.locator(":focus"))
    .waitFor()
  await page.keyboard.type(typed)
  await page.keyboard.press("Enter")
}

describe("A list", () => {
  it("is worked through by keys: on the row in focus where nothing is selected", async () => {
    const [first, second] = (await scene("focus", 3)) as [Ticket, Ticket, Ticket]
    const page = await opened(search("focus"), (one) => row(one, first))
    await page.keyboard.press("j")
    await page.keyboard.press("j")
    await page.keyboard.press("s")
    await pick(page, "Status", "rogr")
    await page.getByText(`${second.identifier} moved to In progress`).first().waitFor()
    expect((await read(second)).status.name).toBe("In progress")
    await page.keyboard.press("a")
    await pick(page, "Owner", me.name.slice(2))
    await expect.poll(async () => (await read(second)).owner?.name).toBe(me.name)
    await page.keyboard.press("l")
    await pick(page, "Tags", "ug")
    await expect.poll(async () => (await read(second)).tags.map(({ name }) => name)).toEqual(["Bug"])
    expect(await axeFindings(page)).toEqual([])
    // What is pressed next is the page's, also while the menu is still going.
    await page.keyboard.press("Escape")
    await page.keyboard.press("p")
    await pick(page, "Project", "no proj")
    await expect.poll(async () => (await read(second)).project).toBeNull()
    expect(await statuses([first])).toEqual(["Backlog"])
  })

  it("opens the row that was gone to, and not the filter that was used before it", async () => {
    const [first] = (await scene("filtered", 2)) as [Ticket, Ticket]
    const page = await opened(search("filtered"), (one) => row(one, first))
    const filter = page.getByRole("search", { name: "Tickets" }).getByRole("button", { name: "status", exact: true })
    await filter.click()
    await page.getByRole("menu").waitFor()
    await page.keyboard.press("Escape")
    await page.getByRole("menu").waitFor({ state: "detached" })
    await filter.and(page.locator(":focus")).waitFor()
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    await page.waitForURL(/\/tickets\/ENG-\d+/)
  })

  it("is selected from one row to another by keys and by clicks, which shows otherwise than the row in focus", async () => {
    const made = await scene("range", 5)
    const page = await opened(search("range"), (one) => row(one, made[4]!))
    const selected = () =>
      page
        .getByRole("checkbox", { checked: true })
        .evaluateAll((all) => all.map((one) => one.getAttribute("aria-label")?.replace("Select ", "")))
    const names = (...indexes: ReadonlyArray<number>) => indexes.map((index) => made[index]!.identifier)
    await page.keyboard.press("j")
    await page.keyboard.press("J")
    await page.keyboard.press("J")
    await expect.poll(selected).toEqual(names(0, 1, 2))
    await page.keyboard.press("K")
    await expect.poll(selected).toEqual(names(0, 1))
    const looks = (ticket: Ticket) =>
      row(page, ticket).evaluate((one) => {
        const { backgroundColor, boxShadow } = getComputedStyle(one)
        return { filled: backgroundColor !== "rgba(0, 0, 0, 0)", hasBar: boxShadow !== "none" }
      })
    expect(await looks(made[0]!)).toEqual({ filled: true, hasBar: false })
    expect(await looks(made[1]!)).toEqual({ filled: true, hasBar: true })
    await page.keyboard.press("Escape")
    await expect.poll(selected).toEqual([])
    expect(await looks(made[1]!)).toEqual({ filled: false, hasBar: true })
    await page.getByRole("checkbox", { name: `Select ${made[1]!.identifier}` }).check()
    await row(page, made[3]!)
      .getByText("Step 4")
      .click({ modifiers: ["Shift"] })
    await expect.poll(selected).toEqual(names(1, 2, 3))
    expect(page.context().pages()).toHaveLength(1)
    await page.keyboard.press("s")
    await pick(page, "Status", "done")
    await page.getByText("3 tickets moved to Done").first().waitFor()
    expect(await statuses(made)).toEqual(["Backlog", "Done", "Done", "Done", "Backlog"])
  })

  it("is where it was when one comes back to it", async () => {
    const made = await scene("back", 40)
    const page = await opened(search("back"), (one) => row(one, made[0]!))
    await row(page, made[30]!).getByText("Step 31").click()
    await page.getByRole("heading", { level: 1, name: /Step 31/ }).waitFor()
    await page.goBack()
    await row(page, made[30]!).waitFor()
    await expect.poll(() => row(page, made[30]!).evaluate((one) => getComputedStyle(one).boxShadow)).not.toBe("none")
    await expect
      .poll(() => row(page, made[30]!).evaluate((one) => one.getBoundingClientRect().bottom <= innerHeight))
      .toBe(true)
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { level: 1, name: /Step 32/ }).waitFor()
  })

  it("opens the choices of a status or an owner where they are clicked", async () => {
    const made = await scene("mouse", 2)
    const page = await opened(search("mouse"), (one) => row(one, made[1]!))
    await page.getByRole("button", { name: `Status of ${made[1]!.identifier}: Backlog` }).click()
    await page.getByRole("menuitemradio", { name: "Todo" }).click()
    await page.getByRole("button", { name: `Status of ${made[1]!.identifier}: Todo` }).waitFor()
    await page.getByRole("button", { name: `Owner of ${made[0]!.identifier}: Nobody` }).click()
    await page.getByRole("menuitemradio", { name: new RegExp(`^${me.name}`) }).click()
    await page.getByRole("button", { name: `Owner of ${made[0]!.identifier}: ${me.name}` }).waitFor()
    expect(await statuses(made)).toEqual(["Backlog", "Todo"])
    expect(new URL(page.url()).pathname).toBe("/w/main/tickets")
  })
})

describe("The palette", () => {
  it("offers what can be done with the row in focus, with what is selected, and with the ticket that is open", async () => {
    const made = await scene("palette", 2)
    const page = await opened(search("palette"), (one) => row(one, made[1]!))
    const command = async (typed: string, hint: string) => {
      await page.keyboard.press("Control+k")
      await page.getByRole("combobox", { name: "Search and do" }).fill(typed)
      await page.getByRole("option", { name: hint }).first().waitFor()
      await page.keyboard.press("Enter")
    }
    await page.keyboard.press("j")
    await command("set status", `Set the status ${made[0]!.identifier}`)
    await pick(page, "Status", "todo")
    await expect.poll(() => statuses(made)).toEqual(["Todo", "Backlog"])
    await page.keyboard.press("X")
    await page.getByText("2 tickets selected").waitFor()
    await command("assign me", "Assign to me 2 tickets")
    await expect.poll(async () => (await read(made[1]!)).owner?.name).toBe(me.name)
    await command("add to project", "Set the project 2 tickets")
    await pick(page, "Project", "new check")
    await expect.poll(async () => (await read(made[1]!)).project?.slug).toBe("checkout")
    await openScreen(site, `tickets/${made[0]!.identifier}`, page)
    await page.getByRole("button", { name: "Status: Todo" }).waitFor()
    await command("set status", "Set the status ticket")
    await pick(page, "Status", "done")
    await page.getByRole("button", { name: "Status: Done" }).waitFor()
    await command("tags", "Set the tags ticket")
    await page.getByRole("dialog", { name: "Tags" }).waitFor()
  })
})

describe("A board", () => {
  it("is worked through by keys, and its cards show their focus and their selection", async () => {
    const made = await scene("cards", 3)
    const page = await opened(search("cards", "&layout=board"), (one) => card(one, made[2]!))
    await page.keyboard.press("j")
    await page.keyboard.press(" ")
    await page.getByText("1 ticket selected").waitFor()
    await page.keyboard.press("J")
    await page.getByText("2 tickets selected").waitFor()
    const looks = (ticket: Ticket) =>
      card(page, ticket).evaluate((one) => {
        const { backgroundColor, outlineStyle } = getComputedStyle(one)
        return [backgroundColor, outlineStyle] as const
      })
    const [one, other, last] = [await looks(made[0]!), await looks(made[1]!), await looks(made[2]!)]
    expect([one[1], other[1], last[1]]).toEqual(["none", "solid", "none"])
    expect(one[0]).toBe(other[0])
    expect(one[0]).not.toBe(last[0])
    await page.keyboard.press("Escape")
    await page.keyboard.press("s")
    await pick(page, "Status", "prog")
    await expect.poll(() => statuses(made)).toEqual(["Backlog", "In progress", "Backlog"])
    expect(await axeFindings(page)).toEqual([])
  })

  it("moves all cards that are selected with the one that is dragged, to where it is dropped", async () => {
    const made = await scene("together", 4)
    const ids = await site.call<{ statuses: ReadonlyArray<{ id: string; name: string }> }>(
      "GET",
      "ticket-statuses?team=ENG"
    )
    const todo = ids.statuses.find(({ name }) => name === "Todo")!.id
    await site.call("PATCH", `tickets/${made[3]!.identifier}`, { status: todo })
    const page = await opened(search("together", "&layout=board"), (one) => card(one, made[2]!))
    await page.keyboard.press("j")
    await page.keyboard.press("x")
    await page.keyboard.press("J")
    await page.getByText("2 tickets selected").waitFor()
    await card(page, made[1]!).dragTo(card(page, made[3]!), { targetPosition: { x: 60, y: 5 } })
    const cards = (name: string) =>
      page.getByRole("region", { name, exact: true }).locator("[data-card] .tabular").allInnerTexts()
    await expect.poll(() => cards("Todo")).toEqual([made[0]!, made[1]!, made[3]!].map(({ identifier }) => identifier))
    await page.getByText("2 tickets moved to Todo").first().waitFor()
    const ofServer = async () => {
      const { tickets } = await site.call<{ tickets: ReadonlyArray<Ticket> }>("GET", "tickets?project=together")
      return tickets.filter(({ status }) => status.name === "Todo").map(({ identifier }) => identifier)
    }
    await expect.poll(ofServer).toEqual([made[0]!, made[1]!, made[3]!].map(({ identifier }) => identifier))
  })

  it("says that no card matches its filters, and has its columns where it has no others than a project", async () => {
    await site.call("POST", "projects", { slug: "unbegun", name: "Unbegun", teams: ["ENG"] })
    const page = await openScreen(site, search("unbegun", "&layout=board&q=nothing"))
    await page.getByRole("heading", { name: "No ticket matches these filters" }).waitFor()
    await page.goto(`${site.origin}/w/main/${search("unbegun", "&layout=board")}`)
    await page.getByRole("region", { name: "Backlog" }).waitFor()
    await page.context().close()
  })

  it("of all teams puts a card where it stays, and says why its place cannot be chosen", async () => {
    await site.call("POST", "teams", { key: "OPS", name: "Operations" })
    const made = await scene("everywhere", 3)
    const other = await make({ team: "OPS", title: "Of others" })
    await site.call("PATCH", "projects/everywhere", { teams: ["ENG", "OPS"] })
    await site.call("PATCH", `tickets/${other.identifier}`, { project: "everywhere" })
    const todo = async (team: string) =>
      (
        await site.call<{ statuses: ReadonlyArray<{ id: string; name: string }> }>(
          "GET",
          `ticket-statuses?team=${team}`
        )
      ).statuses.find(({ name }) => name === "Todo")!.id
    await site.call("PATCH", `tickets/${made[1]!.identifier}`, { status: await todo("ENG") })
    await site.call("PATCH", `tickets/${other.identifier}`, { status: await todo("OPS") })
    const path = `tickets?layout=board&projects=${encodeURIComponent('["everywhere"]')}`
    const page = await opened(path, (one) => card(one, other))
    await atRest(page)
    // At the first card, too.
    await page.keyboard.press("j")
    await page.keyboard.press(",")
    await page
      .getByText(/Tickets have an order of their own in each status of a team/)
      .first()
      .waitFor()
    const unstarted = page.getByRole("region", { name: "Unstarted" })
    const cards = () => unstarted.locator("[data-card] .tabular").allInnerTexts()
    // While it is dragged, no line stands where it would not land.
    await card(page, made[0]!).hover()
    await page.mouse.down()
    const { x, y } = (await unstarted.boundingBox())!
    await page.mouse.move(x + 60, y + 60, { steps: 8 })
    await unstarted.getByText("Moves to Unstarted.").waitFor()
    await page.mouse.move(x + 60, y + 90, { steps: 8 })
    expect(await page.locator("#board ol > li[aria-hidden]").count()).toBe(0)
    const home = (await card(page, made[0]!).boundingBox())!
    await page.mouse.move(home.x + 60, home.y + 60, { steps: 8 })
    await page.getByText("It is in Backlog already.").waitFor()
    expect(await page.locator("[data-no-place]").count()).toBe(1)
    await page.mouse.up()
    await page.locator("[data-no-place]").waitFor({ state: "detached" })
    const { promise, resolve } = Promise.withResolvers<void>()
    await page.route(/tickets\/batch|tickets\/update|tickets$/, async (route) => {
      if (route.request().method() !== "GET") await promise
      await route.continue()
    })
    await card(page, made[0]!).dragTo(unstarted, { targetPosition: { x: 60, y: 50 } })
    await expect.poll(async () => (await cards()).length).toBe(3)
    const shown = await cards()
    // It keeps its rank: above the one that was made after it.
    expect(shown.filter((one) => one !== other.identifier)).toEqual([made[0]!.identifier, made[1]!.identifier])
    const readAgain = page.waitForResponse(
      (answer) => /tickets\?/.test(answer.url()) && answer.request().method() === "GET"
    )
    resolve()
    await page.getByText(`${made[0]!.identifier} was moved to Unstarted`).first().waitFor()
    await (await readAgain).finished()
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestIdleCallback(drawn))))
    expect(await cards()).toEqual(shown)
  })

  it("marks the place where a card is dropped, at the top of a column, too", async () => {
    const made = await scene("marked", 3)
    const page = await opened(search("marked", "&layout=board"), (one) => card(one, made[2]!))
    const mark = page.locator("#board ol > li[aria-hidden]")
    /** Whether nothing is above it, or cuts it off. */
    const isSeen = () =>
      mark.evaluate((line) => {
        const { height, left, top, width } = line.getBoundingClientRect()
        const frame = line.closest("ol")!.parentElement!.getBoundingClientRect()
        return height >= 2 && top >= frame.top && left + width <= frame.right
      })
    await card(page, made[2]!).hover()
    await page.mouse.down()
    const drag = async (over: Ticket) => {
      const { x, y } = (await card(page, over).boundingBox())!
      await page.mouse.move(x + 60, y + 6, { steps: 8 })
      await expect.poll(isSeen).toBe(true)
    }
    await drag(made[1]!)
    // Where it is already, nothing would change.
    const { x, y } = (await card(page, made[2]!).boundingBox())!
    await page.mouse.move(x + 60, y + 60, { steps: 8 })
    await mark.waitFor({ state: "detached" })
    await drag(made[0]!)
    await page.mouse.up()
    await mark.waitFor({ state: "detached" })
  })

  it("says where its order cannot be changed, and that there is more beyond its edge", async () => {
    const made = await scene("fixed", 2)
    const page = await opened(search("fixed", "&layout=board&sort=created"), (one) => card(one, made[0]!))
    await page.keyboard.press("j")
    await page.keyboard.press(".")
    await page.getByText("The order cannot be changed here").first().waitFor()
    const board = page.getByRole("group", { name: "Board" })
    await page.setViewportSize({ width: 800, height: 700 })
    await expect.poll(() => board.evaluate((one) => one.scrollWidth > one.clientWidth)).toBe(true)
    await page.locator("#board + span").waitFor({ state: "attached" })
    await board.evaluate((one) => one.scrollTo({ left: one.scrollWidth }))
    await page.locator("#board + span.left-0").waitFor({ state: "attached" })
    await page.setViewportSize({ width: 1440, height: 700 })
    await page.locator("#board + span").waitFor({ state: "detached" })
  })
})

describe("A change", () => {
  it("is taken back by Ctrl+Z, the last one first, unless somebody has changed the same since", async () => {
    const made = await scene("undo", 2)
    const page = await opened(search("undo"), (one) => row(one, made[1]!))
    const button = (ticket: Ticket, status: string) =>
      page.getByRole("button", { name: `Status of ${ticket.identifier}: ${status}` })
    // The keyboard stays at the ticket, wherever it goes.
    for (const [key, ticket, status] of [
      ["j", made[0]!, "Todo"],
      ["k", made[1]!, "Done"]
    ] as const) {
      await page.keyboard.press(key)
      await page.keyboard.press("s")
      await pick(page, "Status", status)
      await page.getByText(`${ticket.identifier} moved to ${status}`).first().waitFor()
    }
    await page.keyboard.press("Control+z")
    await page
      .getByRole("dialog", { name: `${made[1]!.identifier} is Backlog again` })
      .getByText(`Taken back: ${made[1]!.identifier} moved to Done`)
      .waitFor()
    await button(made[1]!, "Backlog").waitFor()
    await expect.poll(() => statuses(made)).toEqual(["Todo", "Backlog"])
    const { statuses: all } = await site.call<{ statuses: ReadonlyArray<{ id: string; name: string }> }>(
      "GET",
      "ticket-statuses?team=ENG"
    )
    await site.call("PATCH", `tickets/${made[0]!.identifier}`, {
      status: all.find(({ name }) => name === "Canceled")!.id
    })
    await page.keyboard.press("Control+z")
    await page.getByText(`${made[0]!.identifier} stays as it is`).first().waitFor()
    expect(await statuses(made)).toEqual(["Canceled", "Backlog"])
    await page.keyboard.press("Control+z")
    await page.getByText("There is nothing to undo").first().waitFor()
    await openScreen(site, `tickets/${made[0]!.identifier}`, page)
    await page.getByRole("button", { name: "Status: Canceled" }).waitFor()
    await atRest(page)
    await page.keyboard.press("s")
    await pick(page, "Status", "done")
    await page.getByText(`${made[0]!.identifier} is Done`).first().waitFor()
    await site.call("PATCH", `tickets/${made[0]!.identifier}`, { status: all.find(({ name }) => name === "Todo")!.id })
    await page.keyboard.press("Control+z")
    await page.getByText("The ticket was changed meanwhile: status.").first().waitFor()
    expect(await statuses([made[0]!])).toEqual(["Todo"])
    // A field undoes what was typed into it, and nothing else.
    await page.getByRole("textbox", { name: "New comment" }).fill("Well")
    await page.keyboard.press("Control+z")
    expect(await statuses([made[0]!])).toEqual(["Todo"])
  })
})

describe("A view of a project", () => {
  it("stands in its project: with its tabs, its name and its place in the sidebar", async () => {
    await scene("viewed", 1)
    const view = await site.call<{ id: string }>("POST", "views", {
      name: "Begun",
      scope: { kind: "project", key: "viewed" },
      filters: {},
      layout: "list"
    })
    const page = await openScreen(site, `views/${view.id}`)
    const crumbs = page.getByRole("navigation", { name: "Breadcrumbs" })
    await crumbs.getByRole("link", { name: "The viewed" }).waitFor()
    const places = page.getByRole("navigation", { name: "Workspace" })
    const marked = () => places.locator("a[aria-current=page]").allInnerTexts()
    await expect.poll(marked).toEqual(["Projects"])
    const tabs = page.getByRole("navigation", { name: "Views of the project" })
    await expect.poll(() => tabs.locator("[aria-current=page]").allInnerTexts()).toEqual(["Begun"])
    await tabs.getByRole("link", { name: "Overview" }).click()
    await page.getByRole("heading", { level: 1, name: "The viewed" }).waitFor()
    await page.getByRole("link", { name: "Begun" }).click()
    await page.getByRole("heading", { level: 1, name: "Begun" }).waitFor()
    await places.getByRole("link", { name: "Tickets" }).click()
    await page.getByRole("heading", { level: 1, name: "Tickets" }).waitFor()
    await expect.poll(marked).toEqual(["Tickets"])
  })
})

describe("Filters", () => {
  it("that cannot be used are taken away, where trying again would not help", async () => {
    await scene("clear", 1)
    const page = await openScreen(site, "tickets?projects=%5B%22nothing%22%5D")
    await page.getByRole("heading", { name: "One of these filters cannot be used" }).waitFor()
    expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0)
    await page.getByRole("button", { name: "Clear the filters" }).click()
    await page.locator("[data-ticket]").first().waitFor()
  })

  it("leave the layout in its place, and sort what was changed last to the top", async () => {
    const made = await scene("sorted", 3)
    await site.call("PATCH", `tickets/${made[1]!.identifier}`, { title: "Step 2, again" })
    const page = await opened(search("sorted"), (one) => row(one, made[2]!))
    const tops = await page
      .getByRole("search")
      .getByRole("button")
      .evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().top)))
    const board = await page.getByRole("button", { name: "Board" }).evaluate((one) => one.getBoundingClientRect().top)
    expect(Math.round(board)).toBe(Math.min(...tops))
    const shown = () => page.locator("[data-ticket] a .tabular").allInnerTexts()
    const names = (...indexes: ReadonlyArray<number>) => indexes.map((index) => made[index]!.identifier)
    expect(await shown()).toEqual(names(0, 1, 2))
    await page
      .getByRole("search")
      .getByRole("button", { name: /^order/ })
      .click()
    await page.getByRole("menuitemradio", { name: "last changed" }).click()
    await expect.poll(shown).toEqual(names(1, 2, 0))
    expect(new URL(page.url()).searchParams.get("sort")).toBe("updated")
  })
})

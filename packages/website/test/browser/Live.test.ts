import type { Page, Route } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { assetOf, atRest, isLive, openScreen, type Site, startSite } from "../support/Site.ts"

/** What others change while a page has read, and is not told yet of what happens. */

let site: Site

beforeAll(async () => {
  site = await startSite()
  await site.call("POST", "teams", { name: "Live", key: "LIV" })
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

const make = (title: string) => site.call<{ identifier: string }>("POST", "tickets", { team: "LIV", title })

/** Holds back what the page asks for at an address: `asked` when it has, until `release`. */
const hold = async (page: Page, address: string) => {
  const asked = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  await page.route(address, async (route: Route) => {
    asked.resolve()
    await released.promise
    await route.continue()
  })
  return { asked: asked.promise, release: () => released.resolve() }
}

const stream = "**/events/stream?*"

/** A change by somebody else while `held`, and that the page shows it when it goes on. */
const sees = async (page: Page, ticket: { identifier: string }, held: Awaited<ReturnType<typeof hold>>) => {
  await held.asked
  const title = `${ticket.identifier} is another one`
  await site.call("PATCH", `tickets/${ticket.identifier}`, { title })
  held.release()
  await page.getByText(title).first().waitFor()
}

describe("A page sees what happens", () => {
  it("between its first answers and its stream", async () => {
    const ticket = await make("Before the stream")
    const page = await site.signIn()
    const held = await hold(page, stream)
    await openScreen(site, "tickets", page)
    await page.getByText("Before the stream").waitFor()
    await sees(page, ticket, held)
  })

  it("before it listens to the page of the browser that has the stream", async () => {
    const ticket = await make("Before it listens")
    const first = await openScreen(site, "tickets")
    await isLive(first)
    const page = await first.context().newPage()
    const held = await hold(page, `**${assetOf("src/api/live.ts")}`)
    await openScreen(site, "tickets", page)
    await page.getByText("Before it listens").waitFor()
    await held.asked
    const title = `${ticket.identifier} is another one`
    await site.call("PATCH", `tickets/${ticket.identifier}`, { title })
    // The other page has been told, and tells nobody again.
    await first.getByText(title).waitFor()
    held.release()
    await page.getByText(title).waitFor()
  })

  it("between the stream of a page that was closed and its own", async () => {
    const ticket = await make("Before the other was closed")
    const first = await openScreen(site, "tickets")
    await isLive(first)
    const page = await first.context().newPage()
    const held = await hold(page, stream)
    await openScreen(site, "tickets", page)
    await page.getByText("Before the other was closed").waitFor()
    await isLive(page)
    await atRest(page)
    await first.close()
    await sees(page, ticket, held)
  })

  it("once: what its first answers have already is not asked for again", async () => {
    const { identifier } = await make("There before")
    await site.call("PATCH", `tickets/${identifier}`, { title: "There before the page" })
    const page = await site.signIn()
    const asked: Array<string> = []
    page.on("request", (request) => {
      const { pathname } = new URL(request.url())
      if (pathname.endsWith("/tickets")) asked.push(request.url())
    })
    const caughtUp = page.waitForResponse(/\/events\?.*after=/)
    await openScreen(site, "tickets", page)
    await page.getByText("There before the page").waitFor()
    expect(((await (await caughtUp).json()) as { readonly events: ReadonlyArray<unknown> }).events).toEqual([])
    await isLive(page)
    await atRest(page)
    expect(asked).toEqual([...new Set(asked)])
  })
})

describe("A browser has one stream", () => {
  it("for all of its tabs: the next one opens its own when the tab that has it is closed", async () => {
    const ticket = await make("Told in every tab")
    const first = await site.signIn()
    const streams: Array<Page> = []
    first.context().on("request", (request) => {
      if (new URL(request.url()).pathname.endsWith("/events/stream")) streams.push(request.frame().page())
    })
    await openScreen(site, "tickets", first)
    await isLive(first)
    const second = await first.context().newPage()
    await openScreen(site, "tickets", second)
    await isLive(second)
    await atRest(second)
    expect(streams).toEqual([first])
    const seen = async (title: string, ...pages: ReadonlyArray<Page>) => {
      await site.call("PATCH", `tickets/${ticket.identifier}`, { title })
      for (const page of pages) await page.getByText(title).waitFor()
    }
    await seen("Told by the first", first, second)
    await first.close()
    await expect.poll(() => streams).toEqual([first, second])
    await isLive(second)
    await seen("Told by the second", second)
    expect(streams).toEqual([first, second])
  })

  it("and reads again every 15 seconds where that is refused", async () => {
    const ticket = await make("Without a stream")
    const page = await site.signIn()
    await page.clock.install()
    await page.route(stream, (route) => route.fulfill({ status: 502 }))
    await openScreen(site, "tickets", page)
    await page.getByText("Without a stream").waitFor()
    const state = page.getByRole("navigation", { name: "Workspace" }).getByRole("status")
    await state.getByText("Every 15 s", { exact: true }).waitFor()
    const title = "Read without a stream"
    await site.call("PATCH", `tickets/${ticket.identifier}`, { title })
    await page.clock.runFor(15_000)
    await page.getByText(title).waitFor()
  })
})

describe("A page", () => {
  it("reads what a link leads to as soon as the mouse is on it", async () => {
    const ticket = await make("Looked at by the mouse")
    const page = await openScreen(site, "tickets")
    await page.getByText("Looked at by the mouse").waitFor()
    const read = page.waitForResponse((answer) =>
      new URL(answer.url()).pathname.endsWith(`/tickets/${ticket.identifier}`)
    )
    await page.getByRole("link", { name: /Looked at by the mouse/ }).hover()
    expect((await read).status()).toBe(200)
    expect(new URL(page.url()).pathname).toBe("/w/main/tickets")
  })

  it("moves nothing for who wants no motion", async () => {
    const page = await site.signIn()
    await page.emulateMedia({ reducedMotion: "reduce" })
    await openScreen(site, "tickets", page)
    await page.getByRole("link", { name: /LIV-1/ }).waitFor()
    await page.keyboard.press("j")
    await page.keyboard.press(" ")
    const peek = page.getByRole("complementary", { name: "The current ticket" })
    await peek.waitFor()
    const duration = () => peek.evaluate((element) => Number.parseFloat(getComputedStyle(element).animationDuration))
    expect(await duration()).toBeLessThan(0.001)
    await page.emulateMedia({ reducedMotion: "no-preference" })
    expect(await duration()).toBeGreaterThan(0.01)
  })
})

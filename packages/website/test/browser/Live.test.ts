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

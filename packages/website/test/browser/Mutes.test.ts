import type { Page, Route } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { axeFindings } from "../support/Axe.ts"
import { seed, type Seeded } from "../support/Seed.ts"
import { isLive, joinAs, openScreen, pressEnter, type Site, startSite } from "../support/Site.ts"

/** Muting tests by tickets in a real browser: from a run and from a test, on the ticket, and all that are muted. */

let site: Site
let seeded: Seeded

const caseOf = (file: string, title: string) => `tests/${file}.spec.ts:${title}`
const paysByCard = caseOf("checkout/pays-by-card", "Checkout › pays by card")
const invoiceTitle = "Account › downloads an invoice"
const invoice = caseOf("account/downloads-an-invoice", invoiceTitle)

interface Muted {
  readonly mute: { readonly cases: ReadonlyArray<string>; readonly until: string } | null
  readonly owner: { readonly id: string } | null
  readonly title: string
}

const ticket = (identifier: string) => site.call<Muted>("GET", `tickets/${identifier}`)

const day = 24 * 60 * 60_000

/** In how many days a mute ends, counted from when the test began. */
const daysLeft = async (identifier: string) =>
  Math.round((Date.parse((await ticket(identifier)).mute!.until) - Date.now()) / day)

beforeAll(async () => {
  site = await startSite()
  seeded = await seed(site.call)
  await site.call("POST", "teams", { key: "MUT", name: "Mutes" })
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

const choose = async (page: Page, field: string, option: string | RegExp) => {
  await page.getByRole("dialog").getByRole("combobox", { name: field }).click()
  await page.getByRole("option", { name: option }).click()
}

/** What has the keyboard: its name, its text or its id. */
const focused = (page: Page) =>
  page.evaluate(() => {
    const { activeElement } = document
    return activeElement?.getAttribute("aria-label") ?? (activeElement?.id || activeElement?.textContent)
  })

describe("Muting", () => {
  it("makes a ticket for tests that fail alike, all at once, and each is shown as muted", async () => {
    const page = await openScreen(site, `test-runs/${seeded.failed}`)
    await page.getByRole("button", { name: "Mute all 3 tests that fail so" }).click()
    const dialog = page.getByRole("dialog", { name: "Mute tests" })
    await dialog.getByRole("button", { name: "Mute 3 tests" }).waitFor()
    await dialog.getByRole("checkbox", { name: /credit check/ }).uncheck()
    await dialog.getByRole("button", { name: "Mute 2 tests" }).waitFor()
    await choose(page, "Muted for", "30 days")
    await dialog.getByLabel("Title").fill("Payments wait for the bank")
    await page.keyboard.press("Control+Enter")
    await page.getByText("2 tests are muted by MUT-1").waitFor()
    const made = await ticket("MUT-1")
    expect(made.title).toBe("Payments wait for the bank")
    expect(made.owner).not.toBeNull()
    expect(made.mute!.cases).toHaveLength(2)
    expect(made.mute!.cases).toContain(paysByCard)
    expect(await daysLeft("MUT-1")).toBe(30)
    // The run was before: its failures count in it, and each row says that they would not in those since.
    const failures = page.getByRole("list", { name: "Failures" })
    const row = failures.getByRole("listitem").filter({ hasText: "Checkout › pays by card" })
    await row.getByText("muted since by MUT-1").waitFor()
    await row.getByRole("link", { name: "MUT-1" }).waitFor()
    await row.getByRole("button", { name: "Mute again Checkout › pays by card" }).waitFor()
    await failures.getByRole("button", { name: /^Mute the rest of those that fail so: 1\stest/ }).waitFor()
    const asked: Array<string> = []
    page.on("request", (request) => {
      if (new URL(request.url()).pathname.endsWith("/mutes")) asked.push(request.url())
    })
    await page.reload()
    await row.getByText("muted since by MUT-1").waitFor()
    await failures.getByText("muted since by MUT-1").nth(1).waitFor()
    expect(asked).toHaveLength(1)
    await page.goto(`${site.origin}/w/main/test-runs/${seeded.failed}/tests/${encodeURIComponent(paysByCard)}`)
    const summary = page.getByRole("region", { name: "Summary" })
    await summary.getByRole("link", { name: "MUT-1" }).waitFor()
    await summary.getByRole("button", { name: /Mute again/ }).waitFor()
  })

  it("adds a test by a key to what a ticket mutes already, and says whom else the time is for", async () => {
    const page = await openScreen(site, `products/shop/cases/${encodeURIComponent(invoice)}`)
    await page.getByRole("button", { name: "Mute…" }).waitFor()
    await page.keyboard.press("m")
    const dialog = page.getByRole("dialog", { name: /downloads an invoice/ })
    await choose(page, "By the ticket", /^MUT-1 /)
    await dialog.getByText("MUT-1 mutes 2 other tests").waitFor()
    await choose(page, "Muted for", "7 days")
    await dialog.getByRole("button", { name: "Mute the test" }).click()
    await page.getByText("The test is muted by MUT-1").waitFor()
    await expect.poll(() => focused(page)).toMatch(/^Mute again…/)
    expect((await ticket("MUT-1")).mute!.cases).toHaveLength(3)
    expect(await daysLeft("MUT-1")).toBe(7)
    const summary = page.getByRole("region", { name: "Summary" })
    await summary.getByRole("link", { name: "MUT-1", exact: true }).waitFor()
    await summary.getByText(/^ends in\s6\sd/).waitFor()
  })

  it("is said, extended and ended on its ticket, one test or all, and comes back by undo", async () => {
    const page = await openScreen(site, "tickets/MUT-1")
    const part = page.getByRole("region", { name: "Muted tests" })
    await part.getByText("3 tests muted until").waitFor()
    await part.getByRole("button", { name: "Extend…" }).click()
    const dialog = page.getByRole("dialog", { name: "Extend the mute" })
    const ends = async () => {
      const all = await dialog.locator("time").all()
      return Promise.all(all.map(async (one) => Date.parse((await one.getAttribute("datetime"))!)))
    }
    // Days are counted from the end that it has, which the dialog names beside the new one.
    await dialog.getByText(": 14 days longer.").waitFor()
    const [old, next] = await ends()
    expect(old).toBe(Date.parse((await ticket("MUT-1")).mute!.until))
    expect(next! - old!).toBe(14 * day)
    await choose(page, "Muted for", "7 days more")
    await dialog.getByText(": 7 days longer.").waitFor()
    await dialog.getByRole("button", { name: "Extend" }).click()
    await page.getByText("7 days longer than before.").waitFor()
    expect(Date.parse((await ticket("MUT-1")).mute!.until)).toBe(old! + 7 * day)
    await part.getByRole("button", { name: "Extend…" }).click()
    await choose(page, "Muted for", "As long as it may be")
    await dialog.getByText("90 days from now are the most").waitFor()
    await dialog.getByRole("button", { name: "Extend" }).click()
    await page.getByText("76 days longer than before.").waitFor()
    expect(await daysLeft("MUT-1")).toBe(90)
    await part.getByRole("button", { name: "Extend…" }).click()
    await choose(page, "Muted for", "Until a day")
    await dialog.getByText("Still missing: a day to come.").waitFor()
    const date = new Date(Date.now() + 60 * day)
    await dialog.getByLabel("Until").fill(date.toISOString().slice(0, 10))
    await dialog.getByText(/: \d+\sdays shorter\./).waitFor()
    await dialog.getByRole("button", { name: "Shorten" }).click()
    await page.getByText(/\d+\sdays shorter than before\./).waitFor()
    expect(Math.abs((await daysLeft("MUT-1")) - 60)).toBeLessThanOrEqual(1)
    await pressEnter(part.getByRole("button", { name: /^Unmute .*downloads an invoice/ }))
    await part.getByText("2 tests muted until").waitFor()
    expect(await focused(page)).toMatch(/^Unmute/)
    expect((await ticket("MUT-1")).mute!.cases).not.toContain(invoice)
    await pressEnter(part.getByRole("button", { name: "Unmute all" }))
    await part.waitFor({ state: "detached" })
    await expect.poll(() => focused(page)).toBe("screen")
    expect((await ticket("MUT-1")).mute).toBeNull()
    await page.getByText("2 tests count again").waitFor()
    await page.keyboard.press("Control+z")
    await part.getByText("2 tests muted until").waitFor()
    expect((await ticket("MUT-1")).mute!.cases).toHaveLength(2)
    await page.getByText("2 tests are muted again by MUT-1 until").first().waitFor()
    // What cannot be taken back says so, and nothing else.
    await part.getByRole("button", { name: "Unmute all" }).click()
    await part.waitFor({ state: "detached" })
    const until = new Date(Date.now() + 5 * day).toISOString()
    await site.call("PUT", "tickets/MUT-1/mute", { product: "shop", cases: [paysByCard], until })
    await part.getByText("1 test muted until").waitFor()
    // What was said of before goes by itself.
    await expect.poll(() => page.getByRole("button", { name: "Dismiss" }).count()).toBe(0)
    await page.keyboard.press("Control+z")
    await page.getByText("MUT-1 does not mute it again").first().waitFor()
    expect(await page.getByText(/muted again by MUT-1|2\stests count again/).count()).toBe(0)
  })

  it("comes back with a ticket whose change is taken back that had ended it", async () => {
    const until = (await ticket("MUT-1")).mute!.until
    const page = await openScreen(site, "tickets/MUT-1")
    const part = page.getByRole("region", { name: "Muted tests" })
    await part.getByText("1 test muted until").waitFor()
    await page.keyboard.press("s")
    await page.getByRole("menuitemradio", { name: /Canceled/ }).click()
    await page.getByText("MUT-1 is Canceled").first().waitFor()
    await part.waitFor({ state: "detached" })
    expect((await ticket("MUT-1")).mute).toBeNull()
    await page.keyboard.press("Control+z")
    await page
      .getByText(/MUT-1 is \w+ again\. MUT-1 mutes 1\stest again/)
      .first()
      .waitFor()
    await part.getByText("1 test muted until").waitFor()
    expect((await ticket("MUT-1")).mute!.until).toBe(until)
    const cases = [invoice, paysByCard]
    await site.call("PUT", "tickets/MUT-1/mute", { product: "shop", cases, until })
  })

  it("is listed, what is overdue first, and is muted again from there", async () => {
    const me = await site.call<{ id: string }>("GET", "/v1/me")
    await site.call("POST", "tickets", { team: "MUT", title: "Round per line", owner: me.id })
    const until = new Date(Date.now() + 1_500).toISOString()
    await site.call("PUT", "tickets/MUT-2/mute", { product: "shop", cases: [invoice], until })
    interface Listed {
      readonly mutes: ReadonlyArray<{ overdue: boolean; tests: ReadonlyArray<{ title: string | null }> }>
    }
    const listed = () => site.call<Listed>("GET", "mutes?product=shop")
    while ((await listed()).mutes[0]?.overdue !== true) continue
    // Its runs are counted a moment after they finished.
    while ((await listed()).mutes.some(({ tests }) => tests.some(({ title }) => title === null))) continue
    const page = await openScreen(site, "tests?product=shop")
    await page.getByRole("navigation", { name: "Tests over time" }).getByRole("link", { name: "Muted" }).press("Enter")
    await page.waitForURL(/\/products\/shop\/muted-tests$/)
    await page.getByText("1 test overdue, 2 tests muted").waitFor()
    const rows = page.getByRole("list", { name: "Muted tests" }).getByRole("listitem")
    expect(await rows.first().textContent()).toContain("overdue")
    expect(await rows.first().textContent()).toContain("MUT-2")
    await rows.first().getByRole("link", { name: invoiceTitle, exact: true }).waitFor()
    expect(await rows.first().textContent()).toContain("tests/account/downloads-an-invoice.spec.ts")
    await page.keyboard.press("j")
    await page.keyboard.press(" ")
    const peek = page.getByRole("complementary", { name: "The current test" })
    await peek.getByRole("heading", { name: invoiceTitle }).waitFor()
    await peek.getByRole("link", { name: "MUT-2 Round per line" }).waitFor()
    await peek.getByText("95th percentile", { exact: true }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page.keyboard.press("Escape")
    await peek.waitFor({ state: "detached" })
    await rows
      .first()
      .getByRole("button", { name: /Mute again/ })
      .click()
    await page.getByRole("dialog", { name: "Mute again" }).getByRole("button", { name: "Mute again" }).click()
    await page.getByText("3 tests muted").waitFor()
    expect(await daysLeft("MUT-2")).toBe(14)
    await page.getByRole("button", { name: "product" }).click()
    await page.getByRole("menuitemradio", { name: "Billing" }).click()
    await page.getByRole("heading", { name: "No test is muted" }).waitFor()
    await page.setViewportSize({ width: 320, height: 640 })
    await page.goto(`${site.origin}/w/main/muted-tests`)
    await rows.first().waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320)
    // On a phone, too, a row has the whole name of its test, the ticket, and what extends it.
    await rows.first().getByRole("link", { name: invoiceTitle, exact: true }).waitFor()
    await rows
      .first()
      .getByRole("link", { name: /^MUT-\d/ })
      .waitFor()
    await rows
      .first()
      .getByRole("button", { name: `Extend ${invoiceTitle}` })
      .click()
    await page.getByRole("dialog", { name: "Extend the mute" }).getByRole("button", { name: "Cancel" }).click()
  })

  it("shows to others at once, and lets viewers look only", async () => {
    const viewer = await joinAs(site, "vera@example.com", "Vera Lund", "viewer")
    await openScreen(site, "tickets/MUT-2", viewer)
    await isLive(viewer)
    const part = viewer.getByRole("region", { name: "Muted tests" })
    await part.getByText("1 test muted until").waitFor()
    expect(await part.getByRole("button").count()).toBe(0)
    await site.call("DELETE", "tickets/MUT-2/mute")
    await part.waitFor({ state: "detached" })
    await openScreen(site, `test-runs/${seeded.failed}`, viewer)
    await viewer.getByRole("list", { name: "Failures" }).getByRole("link").first().waitFor()
    expect(await viewer.getByRole("button", { name: /^Mute/ }).count()).toBe(0)
  })

  it("says who owns the ticket, and whose it will be where nobody does", async () => {
    const me = await site.call<{ id: string }>("GET", "/v1/me")
    const ends = caseOf("account/ends-other-sessions", "Account › ends other sessions")
    const cases = { product: "shop", caseIds: [ends] }
    const { identifier } = await site.call<{ identifier: string }>("POST", "tickets", {
      team: "MUT",
      title: "Sessions stay",
      owner: me.id,
      cases
    })
    const page = await openScreen(site, `products/shop/cases/${encodeURIComponent(ends)}`)
    await isLive(page)
    await page.getByRole("link", { name: `${identifier} Sessions stay` }).waitFor()
    await page.getByRole("button", { name: "Mute…" }).waitFor()
    await page.keyboard.press("m")
    const dialog = page.getByRole("dialog", { name: /ends other sessions/ })
    await dialog.getByText(`You own ${identifier}.`).waitFor()
    await site.call("PATCH", `tickets/${identifier}`, { owner: null })
    await dialog.getByText(`Nobody owns ${identifier}: you will.`).waitFor()
    expect((await ticket(identifier)).owner).toBeNull()
    await dialog.getByRole("button", { name: "Mute the test" }).click()
    await page.getByText(`You own ${identifier} now.`).waitFor()
    expect((await ticket(identifier)).owner!.id).toBe(me.id)
    expect((await ticket(identifier)).mute!.cases).toEqual([ends])
  })

  it("takes back nothing that somebody else changed while its dialog was open", async () => {
    const me = await site.call<{ id: string }>("GET", "/v1/me")
    const about = { team: "MUT", title: "Changed by two", owner: me.id }
    const { identifier } = await site.call<{ identifier: string }>("POST", "tickets", about)
    const path = `tickets/${identifier}/mute`
    const until = (days: number) => new Date(Date.now() + days * day).toISOString()
    await site.call("PUT", path, { product: "shop", cases: [invoice], until: until(5) })
    const page = await openScreen(site, `tickets/${identifier}`)
    await isLive(page)
    const part = page.getByRole("region", { name: "Muted tests" })
    await part.getByRole("button", { name: "Extend…" }).click()
    const dialog = page.getByRole("dialog", { name: "Extend the mute" })
    await dialog.getByText(": 14 days longer.").waitFor()
    // The dialog follows: it extends what is there now, with its tests.
    await site.call("PUT", path, { product: "shop", cases: [invoice, paysByCard], until: until(30) })
    await dialog.getByText("2 tests of shop").waitFor()
    // Somebody else is first: nothing is changed, and the dialog shows what it is now.
    await page.route(`**/${path}`, async (route) => {
      await site.call("PUT", path, { product: "shop", cases: [invoice, paysByCard], until: until(60) })
      await route.continue()
    })
    await dialog.getByRole("button", { name: "Extend" }).click()
    await dialog.getByText("Somebody has changed what the ticket mutes.").waitFor()
    const soFar = (await ticket(identifier)).mute!.until
    expect(await daysLeft(identifier)).toBe(60)
    await dialog.locator(`time[datetime="${soFar}"]`).waitFor()
    await page.unroute(`**/${path}`)
    await dialog.getByRole("button", { name: "Extend" }).click()
    await page.getByText("14 days longer than before.").waitFor()
    expect(await daysLeft(identifier)).toBe(74)
    expect((await ticket(identifier)).mute!.cases).toHaveLength(2)
    // What somebody unmuted is muted again only where that was said.
    await part.getByRole("button", { name: "Extend…" }).click()
    await dialog.waitFor()
    await site.call("DELETE", path)
    const again = page.getByRole("dialog", { name: "Mute again" })
    await again.getByText(`Somebody has unmuted them: ${identifier} mutes none of them any more`).waitFor()
    await again.getByRole("button", { name: "Mute again" }).waitFor()
    await again.getByRole("button", { name: "Cancel" }).click()
    expect((await ticket(identifier)).mute).toBeNull()
  })

  it("tells of another ticket that mutes the test: in an open dialog, and when it is unmuted", async () => {
    const me = await site.call<{ id: string }>("GET", "/v1/me")
    const test = caseOf(
      "language/keeps-prices-in-the-currency-of-the-country",
      "Language › keeps prices in the currency of the country"
    )
    const until = new Date(Date.now() + 5 * day).toISOString()
    const newTicket = async (title: string) => {
      const { identifier } = await site.call<{ identifier: string }>("POST", "tickets", {
        team: "MUT",
        title,
        owner: me.id
      })
      return identifier
    }
    const [theirs, mine] = [await newTicket("Theirs"), await newTicket("Mine")]
    await site.call("PATCH", `tickets/${mine}`, { cases: { product: "shop", caseIds: [test] } })
    const page = await openScreen(site, `products/shop/cases/${encodeURIComponent(test)}`)
    await isLive(page)
    await page.getByRole("link", { name: `${mine} Mine` }).waitFor()
    await page.keyboard.press("m")
    const dialog = page.getByRole("dialog", { name: /keeps prices/ })
    await dialog.getByText(`You own ${mine}.`).waitFor()
    // Somebody is first, and no event has come yet: it is told before a second mute is made.
    const first = async (route: Route) => {
      await site.call("PUT", `tickets/${theirs}/mute`, { product: "shop", cases: [test], until })
      await route.continue()
    }
    await page.route("**/mutes?*", first, { times: 1 })
    await dialog.getByRole("button", { name: "Mute the test" }).click()
    await dialog.getByText("Somebody has muted it meanwhile").waitFor()
    await dialog.getByRole("alert").getByText(`${theirs} mutes the test until`).waitFor()
    expect((await ticket(mine)).mute).toBeNull()
    await dialog.getByRole("button", { name: "Mute the test" }).click()
    await page.getByText(`The test is muted by ${mine}`).waitFor()
    // Of two, the page names the one that ends last.
    await pressEnter(page.getByRole("button", { name: "Unmute" }))
    await page.getByText(`${mine} no longer mutes the test`).waitFor()
    await page.getByText(new RegExp(`It does not count all the same: ${theirs} mutes the test until`)).waitFor()
    expect((await ticket(mine)).mute).toBeNull()
    await page.getByRole("region", { name: "Summary" }).getByText(theirs).first().waitFor()
    await page.goto(`${site.origin}/w/main/muted-tests`)
    await pressEnter(page.getByRole("button", { name: /^Unmute .*currency of the country/ }))
    await page.getByText("The test counts again").waitFor()
    await expect.poll(() => focused(page)).toBe("Muted tests")
    expect((await ticket(theirs)).mute).toBeNull()
  })

  it("is overdue on an open list as soon as its time is over", async () => {
    const { id, identifier } = await site.call<{ id: string; identifier: string }>("POST", "tickets", {
      team: "MUT",
      title: "Late"
    })
    const page = await openScreen(site, "muted-tests")
    let until: string | undefined
    await page.route(/\/mutes(\?|$)/, async (route) => {
      until ??= new Date(Date.now() + 1_500).toISOString()
      const overdue = Date.parse(until) <= Date.now()
      const ticket = { id, identifier, title: "Late", owner: null }
      await route.fulfill({
        json: { mutes: [{ ticket, product: "shop", cases: [invoice], tests: [], until, overdue }] }
      })
    })
    await page.reload()
    await page.getByRole("button", { name: /^Unmute / }).waitFor()
    await page.getByRole("status").getByText("1 test overdue", { exact: true }).waitFor()
    await page.getByRole("button", { name: /^Mute again / }).waitFor()
    await page.unrouteAll({ behavior: "wait" })
  })
})

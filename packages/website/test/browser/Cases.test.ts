import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { axeFindings } from "../support/Axe.ts"
import { seed, type Seeded } from "../support/Seed.ts"
import { atRest, pressEnter, type Site, startSite } from "../support/Site.ts"

/** Tests over many runs in a real browser: their list, their trends, and two runs beside each other. */

let site: Site
let seeded: Seeded

/** The days of the shop's trends, once all its finished runs are counted, which they are a moment after their end. */
const countedDays = async () => {
  for (;;) {
    const { runs } = await site.call<{ runs: ReadonlyArray<{ finishedAt: string | null }> }>(
      "GET",
      "test-runs?product=shop"
    )
    const { days } = await site.call<{ days: ReadonlyArray<{ runs: number; date: string }> }>(
      "GET",
      "products/shop/trends"
    )
    const finished = runs.filter(({ finishedAt }) => finishedAt !== null).length
    if (days.reduce((sum, { runs }) => sum + runs, 0) === finished) return days
  }
}

beforeAll(async () => {
  site = await startSite()
  seeded = await seed(site.call)
  await countedDays()
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

const tests = (page: Page) => page.getByRole("list", { name: "Tests" })

describe("Tests over time", () => {
  it("are filtered by keyboard, and say why they are called so", async () => {
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/tests?product=shop&environment=staging`)
    await tests(page)
      .getByRole("link", { name: /downloads an invoice failing since run \d+/ })
      .waitFor()
    await pressEnter(page.getByRole("button", { name: "failing" }))
    await page.waitForURL(/state=failing/)
    await tests(page).getByText("adds a product from the list").waitFor({ state: "detached" })
    expect(await tests(page).getByRole("link").count()).toBe(4)
    const heat = tests(page).getByRole("img", { name: /^Of \d+ results: \d+ failed/ })
    await heat.first().waitFor()
    await page.keyboard.press("/")
    await page.keyboard.type("invoice")
    await page.waitForURL(/q=invoice/)
    await page.keyboard.press("Escape")
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    await page.waitForURL(/\/products\/shop\/cases\//)
    await page
      .getByRole("list", { name: "Why" })
      .getByText(/since run \d+/)
      .waitFor()
    await page.getByRole("list", { name: "Newest results" }).getByRole("link").first().press("Enter")
    await page.waitForURL(/\/test-runs\/\d+\/tests\//)
  })

  it("are looked at beside the list, and become a ticket with one key, there and on their own page", async () => {
    await site.call("POST", "teams", { key: "CAS", name: "Cases" })
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/tests?product=shop&environment=staging&state=failing&q=downloads`)
    await tests(page)
      .getByRole("link", { name: /downloads an invoice/ })
      .waitFor()
    await page.keyboard.press("j")
    // What its keys do comes behind the list.
    await atRest(page)
    await page.keyboard.press("c")
    const dialog = page.getByRole("dialog", { name: "New ticket" })
    const title = dialog.getByRole("textbox", { name: "Title" })
    await expect.poll(() => title.inputValue()).toBe("Failing: Account › downloads an invoice")
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
    await page.keyboard.press(" ")
    const peek = page.getByRole("complementary", { name: "The current test" })
    await peek
      .getByRole("list", { name: "Why" })
      .getByText(/since run \d+/)
      .waitFor()
    await peek.getByText("95th percentile", { exact: true }).waitFor()
    await peek.getByRole("button", { name: "Mute…" }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await peek.getByRole("button", { name: "Create ticket" }).click()
    await dialog.getByRole("button", { name: "Create ticket" }).click()
    await dialog.waitFor({ state: "detached" })
    const { tickets } = await site.call<{
      tickets: ReadonlyArray<{ identifier: string; title: string; description: string }>
    }>("GET", "tickets?team=CAS")
    expect(tickets).toMatchObject([
      {
        title: "Failing: Account › downloads an invoice",
        description: expect.stringMatching(
          /^\[The results of the test\]\(http.*\) of `[^`]+`\.\n\nTest: `.*`\n\n- Failing since run \d+/
        )
      }
    ])
    // It is about the test: its page says so, and makes another one. The button has the keyboard: with `j` the list has it.
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    await page.waitForURL(/\/products\/shop\/cases\//)
    await page
      .locator("#screen")
      .getByRole("link", { name: new RegExp(tickets[0]!.identifier) })
      .waitFor()
    await page.getByRole("button", { name: "Create ticket" }).waitFor()
    await page.keyboard.press("c")
    await dialog.getByText("This test has a ticket that is open").waitFor()
    await page.context().close()
  })

  it("that failed so before are told from those that newly fail in the same way", async () => {
    const publish = async (...titles: ReadonlyArray<string>) => {
      const { number } = await site.call<{ number: number }>("POST", "test-runs", {
        product: "shop",
        environment: "review",
        baseUrl: "https://review.shop.example.com",
        git: { branch: "main", sha: "b".repeat(40), dirty: false, subject: "Same words" },
        machine: { hostname: "ci-7", platform: "linux" },
        selection: { coverage: "acceptance", folders: [], caseIds: [] }
      })
      await site.call("POST", `test-runs/${number}/finish`, {
        interrupted: false,
        durationMs: 1_000,
        error: null,
        cleanup: null,
        tests: titles.map((title) => ({
          caseId: `tests/same.spec.ts:${title}`,
          title,
          file: "same.spec.ts",
          coverage: "acceptance",
          testKind: "journey",
          priority: null,
          files: [],
          attempt: {
            status: "failed",
            durationMs: 900,
            startedAt: new Date().toISOString(),
            errorMessage: "Error: The mirror is gone",
            errorStack: null,
            files: []
          }
        }))
      })
      await countedDays()
      return number
    }
    await publish("knew it")
    const number = await publish("knew it", "is news")
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/test-runs/${number}`)
    const failures = page.getByRole("list", { name: "Failures" })
    await failures.getByText("new", { exact: true }).first().waitFor()
    await failures.getByRole("link", { name: /knew it known/ }).waitFor()
    expect(await failures.getByRole("link", { name: /is news (?:new|known)/ }).count()).toBe(0)
    await page.context().close()
  })

  it("that are muted are found, and a run says that the gate passes without them", async () => {
    await site.call("POST", "teams", { key: "MUT", name: "Mutes" })
    const me = await site.call<{ id: string }>("GET", "/v1/me")
    const { identifier } = await site.call<{ identifier: string }>("POST", "tickets", {
      team: "MUT",
      title: "Round taxes per line",
      owner: me.id
    })
    const caseId = "tests/account/downloads-an-invoice.spec.ts:Account › downloads an invoice"
    const until = new Date(Date.now() + 86_400_000).toISOString()
    await site.call("PUT", `tickets/${identifier}/mute`, { product: "shop", cases: [caseId], until })
    const git = { branch: "main", sha: "a".repeat(40), dirty: false, subject: "Round" }
    const { number } = await site.call<{ number: number }>("POST", "test-runs", {
      product: "shop",
      environment: "review",
      baseUrl: "https://review.shop.example.com",
      git,
      machine: { hostname: "ci-7", platform: "linux" },
      selection: { coverage: "acceptance", folders: [], caseIds: [] }
    })
    const attempt = {
      status: "failed",
      durationMs: 900,
      startedAt: new Date().toISOString(),
      errorMessage: "Error: 42,01",
      errorStack: null,
      files: []
    }
    const one = { caseId, title: "Account › downloads an invoice", file: "a.spec.ts", coverage: "acceptance" }
    await site.call("POST", `test-runs/${number}/finish`, {
      interrupted: false,
      durationMs: 1_000,
      error: null,
      cleanup: null,
      tests: [{ ...one, testKind: "journey", priority: null, files: [], attempt }]
    })
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/test-runs/${number}`)
    await page.getByText("failed, 1 muted: gate passes").waitFor()
    await page.getByRole("heading", { name: "Muted: their failures do not count" }).waitFor()
    await page
      .getByRole("list", { name: "Failures" })
      .getByRole("link", { name: /downloads an invoice muted/ })
      .waitFor()
    await page.setViewportSize({ width: 320, height: 640 })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320)
    await page.setViewportSize({ width: 1_440, height: 900 })
    await page.goto(`${site.origin}/w/main/test-runs`)
    await page
      .getByRole("link", { name: new RegExp(`#${number} .*gate passes`) })
      .first()
      .waitFor()
    await page.goto(`${site.origin}/w/main/tests?product=shop`)
    await pressEnter(page.getByRole("button", { name: "muted" }))
    await page.waitForURL(/state=muted/)
    await tests(page)
      .getByRole("link", { name: new RegExp(`downloads an invoice .*muted by ${identifier}`) })
      .waitFor()
  })

  it("are plotted by day, and the same numbers stand in a table one key away", async () => {
    const days = await countedDays()
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/trends?product=shop`)
    const plot = page.getByRole("figure", { name: "Passed over 30 days" })
    await plot.locator("canvas").waitFor()
    expect(await page.getByRole("figure").count()).toBe(4)
    const today = days.at(-1)!
    await page.keyboard.press("t")
    await page.waitForURL(/view=table/)
    const row = page.getByRole("row", { name: new RegExp(`^${today.date} ${today.runs} `) })
    await row.waitFor()
    expect(await page.getByRole("row").count()).toBe(31)
    await page.keyboard.press("t")
    await plot.waitFor()
  })

  it("of two runs are compared: what newly fails, was released and was written between", async () => {
    const { number: base } = (
      await site.call<{
        runs: ReadonlyArray<{ number: number; product: { slug: string }; environment: { slug: string } }>
      }>("GET", "test-runs?product=shop&environment=staging")
    ).runs.at(-1)!
    await site.call("PATCH", "products/shop/secrets/SESSION_SECRET", { values: { staging: "written between" } })
    await site.call("PATCH", "deployments/shop/staging", {
      version: "v9.9.9",
      commits: [{ sha: "abcdef0123", subject: "Pay twice <img src=x onerror=alert(1)>" }]
    })
    const { number: run } = await site.call<{ number: number }>("POST", "test-runs", {
      product: "shop",
      environment: "staging",
      baseUrl: "https://staging.shop.example.com",
      git: { branch: "main", sha: "a".repeat(40), dirty: false, subject: "Newly fails" },
      machine: { hostname: "ci-7", platform: "linux" },
      selection: { coverage: null, folders: [], caseIds: [] }
    })
    await site.call("POST", `test-runs/${run}/finish`, {
      interrupted: false,
      durationMs: 1_000,
      error: null,
      cleanup: null,
      tests: [
        {
          caseId: "tests/basket/adds-a-product-from-the-list.spec.ts:Basket › adds a product from the list",
          title: "Basket › adds a product from the list",
          file: "tests/basket.spec.ts",
          coverage: "critical",
          testKind: "journey",
          priority: null,
          files: [],
          attempt: {
            status: "failed",
            durationMs: 60_000,
            startedAt: new Date().toISOString(),
            errorMessage: "no",
            errorStack: null,
            files: []
          }
        }
      ]
    })
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/test-runs/${run}`)
    await page.getByRole("link", { name: "Compare" }).press("Enter")
    await page.waitForURL(new RegExp(`/compare\\?run=${run}$`))
    await page.getByRole("link", { name: `Run ${seeded.failed}` }).waitFor()
    await page.goto(`${site.origin}/w/main/compare?base=${base}&run=${run}`)
    const failing = page.getByRole("region", { name: "Newly failing" })
    await failing.getByRole("link", { name: /adds a product from the list/ }).waitFor()
    expect(await failing.getByRole("link").count()).toBe(1)
    await page.getByRole("region", { name: "Ran in the older run alone" }).waitFor()
    await page.getByRole("region", { name: "Releases between" }).getByText("v9.9.9").waitFor()
    await page.getByRole("region", { name: "Releases between" }).getByText("Pay twice <img").waitFor()
    await page
      .getByRole("region", { name: "Secrets between" })
      .getByRole("link", { name: /SESSION_SECRET/ })
      .waitFor()
    await page.keyboard.press("x")
    await page.waitForURL(new RegExp(`base=${run}&run=${base}`))
    await page.getByRole("region", { name: "Ran in the newer run alone" }).waitFor()
  })
})

describe("The palette", () => {
  it("finds products, tests and members, and what is called so before its runs", async () => {
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/tickets`)
    await page.getByRole("button", { name: "Search" }).first().waitFor()
    await page.keyboard.press("Control+k")
    const field = page.getByRole("combobox", { name: "Search and do" })
    await field.fill("shop")
    await page.getByRole("option", { name: /^Run / }).first().waitFor()
    await page.getByRole("option", { name: "Shop product" }).waitFor()
    expect((await page.getByRole("option").allInnerTexts())[0]).toMatch(/^Shop\s+product$/)
    await field.fill("owner")
    await page.getByRole("option", { name: "Owner member" }).waitFor()
    const asked: Array<string> = []
    page.on("request", (request) => {
      const { pathname, searchParams } = new URL(request.url())
      if (pathname.endsWith("/cases")) asked.push(`${searchParams.get("q")}`)
    })
    await field.fill("pa")
    await page.getByRole("option", { name: "Checkout › pays by card test of Shop" }).waitFor()
    const before = asked.length
    expect(new Set(asked)).toEqual(new Set(["pa"]))
    // All tests that begin so are known: none is asked for by more of their words.
    await field.fill("pays by card")
    await page.getByRole("option", { name: /^Run / }).first().waitFor({ state: "detached" })
    expect(asked).toHaveLength(before)
    await page.getByRole("option", { name: "Checkout › pays by card test of Shop" }).click()
    await page.waitForURL(/\/products\/shop\/cases\//)
  })

  it("offers a run by its number first, also one older than those that it knows", async () => {
    const page = await site.signIn()
    const { runs } = await site.call<{ runs: ReadonlyArray<{ number: number; git: { subject: string } }> }>(
      "GET",
      "test-runs"
    )
    const old = runs.at(-1)!
    await page.route(/\/test-runs$/, async (route) => {
      const answer = await route.fetch()
      const body = (await answer.json()) as { runs: ReadonlyArray<unknown> }
      const newer = {
        runs: [{ ...runs[0], number: Number(`9${old.number}`) }, ...body.runs.slice(1, 2)],
        nextCursor: 2
      }
      await route.fulfill({ response: answer, json: newer })
    })
    await page.goto(`${site.origin}/w/main/tickets`)
    await page.getByRole("button", { name: "Search" }).first().waitFor()
    await page.keyboard.press("Control+k")
    const field = page.getByRole("combobox", { name: "Search and do" })
    for (const typed of [`#${old.number}`, `${old.number}`, `run ${old.number}`]) {
      await field.fill(typed)
      await page.getByRole("option", { name: `Run 9${old.number}` }).waitFor()
      await page.getByRole("option", { name: new RegExp(`^Run ${old.number} .*${old.git.subject}`) }).waitFor()
      expect((await page.getByRole("option").allInnerTexts())[0]).toMatch(new RegExp(`^Run ${old.number}\\s`))
    }
    await field.press("Enter")
    await page.waitForURL(new RegExp(`/test-runs/${old.number}$`))
    await page.context().close()
  })
})

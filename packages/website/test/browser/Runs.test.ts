import type { Ticket } from "@delivery/domain/planning/Ticket"
import type { Locator, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { axeFindings } from "../support/Axe.ts"
import { seed, type Seeded, seedLargeRun } from "../support/Seed.ts"
import { isLive, pressEnter, type Site, startSite } from "../support/Site.ts"

/** Runs, a run and a test in a real browser, by keyboard, with changes of others. */

let site: Site
let seeded: Seeded

beforeAll(async () => {
  site = await startSite()
  seeded = await seed(site.call)
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

const row = (page: Page, run: number) => page.getByRole("list", { name: "Runs" }).getByRole("link", { name: `#${run}` })

const runOf = (subject: string) => ({
  product: "shop",
  environment: "staging",
  baseUrl: "https://staging.shop.example.com",
  git: { branch: "main", sha: "a".repeat(40), dirty: false, subject },
  machine: { hostname: "ci-7", platform: "linux" },
  selection: { coverage: null, folders: [], caseIds: [] }
})

const start = (subject: string) => site.call<{ number: number }>("POST", "test-runs", runOf(subject))

const finishOf = (tests: ReadonlyArray<object>) => ({
  interrupted: false,
  durationMs: 1_000,
  error: null,
  cleanup: null,
  tests
})

const passedTest = (title: string) => ({
  caseId: title,
  title,
  file: "tests/checkout.spec.ts",
  coverage: "critical",
  testKind: "journey",
  priority: null,
  files: [],
  attempt: {
    status: "passed",
    durationMs: 1_000,
    startedAt: new Date().toISOString(),
    errorMessage: null,
    errorStack: null,
    files: []
  }
})

const finish = (run: number, tests: ReadonlyArray<object>) =>
  site.call("POST", `test-runs/${run}/finish`, finishOf(tests))

describe("Runs", () => {
  it("are filtered by keyboard, and the address says how", async () => {
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/test-runs`)
    await row(page, seeded.failed).waitFor()
    await page.keyboard.press("/")
    await page.keyboard.type("taxes")
    await page.waitForURL(/q=taxes/)
    await row(page, seeded.passed).waitFor({ state: "detached" })
    expect(await page.getByRole("list", { name: "Runs" }).getByRole("link").count()).toBe(1)
    await page.keyboard.press("Escape")
    await page.keyboard.press("f")
    await page.waitForURL(/result=failed/)
    await page.reload()
    await row(page, seeded.failed).waitFor()
    expect(await page.getByRole("searchbox").inputValue()).toBe("taxes")
    await page.getByRole("button", { name: "Clear" }).click()
    await row(page, seeded.passed).waitFor()
    expect(new URL(page.url()).search).toBe("")
  })

  it("are chosen in a menu, walked with j and k, and opened", async () => {
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/test-runs`)
    await pressEnter(page.getByRole("button", { name: "result" }))
    await page.getByRole("menuitemradio", { name: "failed" }).press("Enter")
    await page.waitForURL(/result=failed/)
    await row(page, seeded.passed).waitFor({ state: "detached" })
    // The menu gives the keyboard back when it has gone.
    await page.getByRole("button", { name: "Result is failed" }).and(page.locator(":focus")).waitFor()
    await page.locator("#screen").focus()
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    await page.waitForURL(new RegExp(`/test-runs/${seeded.failed}$`))
    await page.goBack()
    await page.waitForURL(/result=failed/)
  })

  it("say that they tested another address than the deployment's", async () => {
    const baseUrl = "https://preview-7.shop.example.com"
    const run = { ...runOf("Try the preview"), baseUrl }
    const { number } = await site.call<{ number: number }>("POST", "test-runs", run)
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/test-runs`)
    await row(page, number).getByText(`Tested ${baseUrl}`).waitFor()
    expect(await row(page, seeded.failed).getByText("Tested ").count()).toBe(0)
    await row(page, number).click()
    const summary = page.getByRole("region", { name: "Summary" })
    await summary.getByText("another address").waitFor()
    await summary.getByTitle(baseUrl).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await finish(number, [passedTest("Preview")])
  })

  it("move by themselves, on the lists of others and on their own page", async () => {
    const [list, other] = [await site.signIn(), await site.signIn()]
    await list.goto(`${site.origin}/w/main/test-runs`)
    await isLive(list)
    const { number } = await start("Runs while others watch")
    await row(list, number).waitFor()
    await other.goto(`${site.origin}/w/main/test-runs/${number}`)
    await isLive(other)
    await other.getByText("This run is running").waitFor()
    await finish(number, [])
    await other.getByText("No tests ran.").first().waitFor()
    await row(list, number).getByText("Failed").waitFor()
  })

  it("tell while they run how long such runs take, and which semaphores they hold and wait for", async () => {
    const { number: before } = await start("Rounds once")
    await finish(before, [passedTest("rounds")])
    const { number, semaphores } = await site.call<{ number: number; semaphores: { token: string } }>(
      "POST",
      "test-runs",
      runOf("Rounds twice")
    )
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/test-runs/${number}`)
    await page.getByText("This run is running").waitFor()
    await page.getByText(/^usually /).waitFor()
    const last = page.getByRole("list", { name: "Last runs of this kind" })
    await last.getByRole("link", { name: `Run ${before}`, exact: true }).waitFor()
    expect(await last.getByRole("link", { name: `Run ${number}`, exact: true }).count()).toBe(0)
    const take = (requestId: string, test: string) =>
      fetch(`${site.origin}/v1/workspaces/main/semaphores/runs-sandbox/leases`, {
        method: "POST",
        headers: { authorization: `Bearer ${semaphores.token}`, "content-type": "application/json" },
        body: JSON.stringify({ capacity: 1, waitMs: 0, requestId, test })
      })
    expect((await take("first", "pays by card")).status).toBe(201)
    expect((await take("second", "pays by invoice")).status).toBe(202)
    const held = page.getByRole("list", { name: "Semaphores of the run" }).getByRole("listitem")
    await held.filter({ hasText: /runs-sandbox.*holds.*pays by card/ }).waitFor()
    await held.filter({ hasText: /waits, 1\. in the queue.*pays by invoice/ }).waitFor()
    await finish(number, [passedTest("rounds")])
    await held.first().waitFor({ state: "detached" })
    await page.getByText("No test failed").waitFor()
  })
})

describe("A run of shards", () => {
  it("shows what each shard has reported, as soon as it has", async () => {
    const startShard = (index: number) =>
      site.call<{ number: number }>("POST", "test-runs", {
        ...runOf("In two jobs"),
        build: "4711",
        shard: { index, total: 2 }
      })
    const finishShard = (run: number, index: number, tests: ReadonlyArray<object>) =>
      site.call("POST", `test-runs/${run}/finish`, { ...finishOf(tests), shard: { index, total: 2 } })
    const { number } = await startShard(1)
    await startShard(2)
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/test-runs/${number}?view=tests`)
    await isLive(page)
    await page.getByText("0 of 2 shards finished").waitFor()
    await finishShard(number, 1, [passedTest("pays by card")])
    await page.getByText("1 of 2 shards finished").waitFor()
    await page.getByRole("link", { name: /pays by card/ }).waitFor()
    await page.getByRole("link", { name: "Failures" }).click()
    await page.getByText("1 of 2 shards finished, 1 running").waitFor()
    await page.getByText("So far 1 test, and none has failed.").waitFor()
    await page.getByRole("link", { name: /^All tests/ }).click()
    await finishShard(number, 2, [passedTest("pays by invoice")])
    await page.getByText("2 of 2 shards finished").waitFor()
    await page.getByRole("link", { name: /pays by invoice/ }).waitFor()
  })
})

describe("A run and its tests", () => {
  it("shows failures by what they say, and leads through them", async () => {
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/test-runs/${seeded.failed}`)
    const failures = page.getByRole("list", { name: "Failures" })
    await failures.getByRole("heading", { name: /TimeoutError/ }).waitFor()
    expect(await failures.getByRole("heading").count()).toBe(2)
    expect(await failures.getByRole("link", { name: /^(?:Failed|Flaky)/ }).count()).toBe(4)
    await page.keyboard.press("n")
    await page.getByRole("region", { name: "the error" }).waitFor()
    const first = page.url()
    await page.keyboard.press("n")
    await page.waitForURL((url) => url.href !== first)
    await page.keyboard.press("p")
    await page.waitForURL(first)
    await page.keyboard.press("u")
    await failures.waitFor()
  })

  it("is peeked at beside its list, which keeps the keyboard", async () => {
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/test-runs/${seeded.failed}`)
    await page.getByRole("list", { name: "Failures" }).waitFor()
    // It passes over the heading of its error.
    await page.keyboard.press("j")
    await page.keyboard.press(" ")
    const peek = page.getByRole("complementary", { name: "The current test" })
    await peek.getByRole("region", { name: "the error" }).waitFor()
    const first = await peek.getByRole("heading").first().innerText()
    expect(await axeFindings(page)).toEqual([])
    await page.keyboard.press("j")
    await page.waitForFunction(
      (before) => document.querySelector("aside[aria-label='The current test'] h2")?.textContent !== before,
      first
    )
    await page.keyboard.press("Escape")
    await peek.waitFor({ state: "detached" })
    await page.goto(`${site.origin}/w/main/test-runs?result=failed`)
    await row(page, seeded.failed).waitFor()
    await page.keyboard.press("j")
    await page.keyboard.press(" ")
    const run = page.getByRole("complementary", { name: "The current run" })
    await run.getByRole("list", { name: "Failures of the run" }).waitFor()
    await page.keyboard.press(" ")
    await run.waitFor({ state: "detached" })
    expect(new URL(page.url()).search).toBe("?result=failed")
  })

  it("shows the attempts of a retried test one by one, and side by side", async () => {
    const { git, machine } = runOf("Ship at once")
    const { number } = await start("Ship at once")
    const failedTest = passedTest("ships at once")
    const failed = { ...failedTest.attempt, status: "failed", errorMessage: "No parcel\u202e was shipped" }
    await finish(number, [{ ...failedTest, attempt: failed }])
    await site.call("POST", `test-runs/${number}/retries`, { passes: 1, baseUrl: null, git, machine })
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/test-runs/${number}`)
    const isRetried = page.getByText("retry 1 is running")
    await isRetried.waitFor()
    await isLive(page)
    await site.call("POST", `test-runs/${number}/retries/1/finish`, {
      interrupted: false,
      tests: [{ caseId: failedTest.caseId, attempts: [failedTest.attempt] }]
    })
    await isRetried.waitFor({ state: "detached" })
    await page.goto(`${site.origin}/w/main/test-runs/${number}/tests/${encodeURIComponent(failedTest.caseId)}`)
    const tabs = page.getByRole("navigation", { name: "Attempts" })
    const error = page.getByRole("region", { name: "the error" })
    await error.waitFor()
    await tabs.getByRole("link", { name: "Attempt 2, retry 1" }).click()
    await page.getByText("This attempt passed and left no files.").waitFor()
    expect(await error.count()).toBe(0)
    await page.keyboard.press("b")
    const all = page.getByRole("region", { name: "Attempts side by side" })
    await all.getByRole("region", { name: "Attempt 1" }).getByRole("region", { name: "the error" }).waitFor()
    await all.getByRole("region", { name: "Attempt 2, retry 1" }).getByText("This attempt passed").waitFor()
    expect(new URL(page.url()).search).toBe("?attempt=all")
    expect(await axeFindings(page)).toEqual([])
    await page.setViewportSize({ width: 320, height: 720 })
    expect(await axeFindings(page)).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
    await page.keyboard.press("b")
    await all.waitFor({ state: "detached" })
    await error.waitFor()
  })

  it("ends a retry that nobody finishes, and says what each retry came to", async () => {
    const { git, machine } = runOf("Ship never")
    const { number } = await start("Ship never")
    const failedTest = passedTest("ships never")
    const failed = { ...failedTest.attempt, status: "failed" }
    await finish(number, [{ ...failedTest, attempt: failed }])
    const retries = `test-runs/${number}/retries`
    const body = { passes: 1, baseUrl: null, git, machine }
    await site.call("POST", retries, body)
    await site.call("POST", `${retries}/1/finish`, {
      interrupted: false,
      tests: [{ caseId: failedTest.caseId, attempts: [failed] }]
    })
    await site.call("POST", retries, body)
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/test-runs/${number}?view=retries`)
    const told = page.getByRole("list", { name: "Retries" }).getByRole("listitem")
    await told.filter({ hasText: "Retry 1" }).getByText("0 of 1 test passed").waitFor()
    expect(await told.filter({ hasText: "Retry 1" }).getByText("Failed").count()).toBe(1)
    await told.filter({ hasText: "Retry 2" }).getByRole("button", { name: "End the retry" }).click()
    await told.filter({ hasText: "Retry 2" }).getByText("Interrupted").waitFor()
    expect(await page.getByRole("button", { name: "End the retry" }).count()).toBe(0)
    expect(await axeFindings(page)).toEqual([])
  })

  it("says that it passed and failed for the gate, in the list of what passed, too", async () => {
    const { git, machine } = runOf("Ship elsewhere")
    const { number } = await start("Ship elsewhere")
    const test = passedTest("ships elsewhere")
    await finish(number, [{ ...test, attempt: { ...test.attempt, status: "failed" } }])
    const baseUrl = "https://pr-1.shop.example.com"
    await site.call("POST", `test-runs/${number}/retries`, { passes: 1, baseUrl, git, machine })
    await site.call("POST", `test-runs/${number}/retries/1/finish`, {
      interrupted: false,
      tests: [{ caseId: test.caseId, attempts: [test.attempt] }]
    })
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/test-runs?result=passed&q=elsewhere`)
    await page.getByRole("link", { name: /^Passed, failed for the gate .*1 flaky of 1 failed for the gate/ }).click()
    await page.getByText("failed for the gate: retried elsewhere").waitFor()
    await page.getByText("Passed, failed for the gate", { exact: true }).waitFor()
    expect(await axeFindings(page)).toEqual([])
  })

  it("becomes a ticket, by keyboard alone, with what failed and an owner", async () => {
    if ((await site.call<{ teams: ReadonlyArray<unknown> }>("GET", "teams")).teams.length === 0)
      await site.call("POST", "teams", { key: "ENG", name: "Engineering" })
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/test-runs/${seeded.failed}`)
    await page.getByRole("list", { name: "Failures" }).waitFor()
    await page.keyboard.press("n")
    await page.getByRole("region", { name: "the error" }).waitFor()
    const shown = page.url()
    await page.keyboard.press("c")
    const dialog = page.getByRole("dialog", { name: "New ticket" })
    await dialog.getByLabel("Title").waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page.keyboard.press("End")
    await page.keyboard.type(" again")
    await pressEnter(dialog.getByRole("button", { name: /^Owner/ }))
    // The keyboard is in the list once one of it is marked.
    const marked = (name: string | RegExp) =>
      page.getByRole("menuitemradio", { name }).and(page.locator("[data-highlighted]"))
    await page.getByRole("menuitemradio", { name: /you$/ }).waitFor()
    await marked("Nobody").waitFor()
    await page.keyboard.press("ArrowDown")
    await marked(/you$/).waitFor()
    await page.keyboard.press("Enter")
    await dialog.getByLabel("Title").press("Enter")
    await dialog.waitFor({ state: "detached" })
    await page.getByText("ENG-1 was created").first().waitFor()
    const ticket = await site.call<Ticket>("GET", "tickets/ENG-1")
    expect(ticket.cases).toMatchObject({ product: "shop", caseIds: [expect.any(String)] })
    expect(ticket.title).toMatch(/^Failing: .+ again$/)
    expect(ticket.description).toContain(`[Run ${seeded.failed}](${shown})`)
    const me = await site.call<{ email: string }>("GET", "/v1/me")
    expect(ticket.owner).toMatchObject({ email: me.email })
    await page.getByRole("link", { name: "Open ENG-1" }).press("Enter")
    await page.getByRole("heading", { name: "ENG-1" }).waitFor()
    // Whoever comes next sees that somebody is at work on it.
    await page.goto(shown)
    await page.getByRole("button", { name: "Create ticket" }).waitFor()
    await page.keyboard.press("c")
    await dialog.getByRole("status").getByRole("link", { name: "ENG-1" }).waitFor()
    expect(await axeFindings(page)).toEqual([])
  })

  it("shows what a test left: pictures, files, and what never came", async () => {
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/test-runs/${seeded.failed}`)
    await page.getByRole("link", { name: /^Failed.*pays by card/ }).click()
    const picture = page.getByRole("img", { name: "screenshot.png" })
    await picture.waitFor()
    await page.waitForFunction(() => (document.querySelector("main img") as HTMLImageElement).naturalWidth === 480)
    await page.getByText("Was never uploaded").waitFor()
    expect(await page.getByRole("link", { name: /trace\.zip/ }).count()).toBe(0)
    const text = await page.getByRole("link", { name: /stdout\.txt/ }).getAttribute("href")
    const answer = await page.request.get(`${site.origin}${text}`)
    expect([answer.status(), answer.headers()["content-security-policy"]]).toEqual([
      200,
      expect.stringContaining("sandbox")
    ])
    await page.getByRole("complementary", { name: "History" }).getByText("Failing since").waitFor()
    await page.getByRole("list", { name: "Newest results" }).getByRole("link").first().waitFor()
    // What it wrote is read in place.
    await page.getByRole("button", { name: "Show stdout.txt" }).waitFor()
    await page.keyboard.press("o")
    const output = page.getByRole("region", { name: "stdout.txt" })
    await output.getByText("Opens the basket Presses “Pay”").waitFor()
    // It is where one looks, and scrolls by keyboard.
    await output.and(page.locator(":focus")).waitFor()
    const { height, y } = (await output.boundingBox())!
    expect(y + height).toBeLessThan(900)
    expect(await axeFindings(page)).toEqual([])
    await page.keyboard.press("o")
    await output.waitFor({ state: "detached" })
  })

  it("shows what a test wrote as text, whatever it is, and of much of it the beginning", async () => {
    const page = await site.signIn()
    const hostile = "<img src=x onerror=alert(1)>\u001b[31mred\u001b[0m \u202eesrever"
    await page.route(/\/files\/.*stdout\.txt$/, (route) =>
      route.fulfill({ contentType: "text/plain", body: `${hostile}${"x".repeat(200_000)}` })
    )
    await page.goto(`${site.origin}/w/main/test-runs/${seeded.failed}`)
    await page.getByRole("link", { name: /^Failed.*pays by card/ }).click()
    await pressEnter(page.getByRole("button", { name: "Show stdout.txt" }))
    const output = page.getByRole("region", { name: "stdout.txt" })
    await output.getByText("<img src=x onerror=alert(1)>red").waitFor()
    expect(await output.innerText()).not.toMatch(/[\u001b\u202e]/)
    await page.getByText(/^This is how it begins: 64.KB of it\./).waitFor()
    await page.getByRole("button", { name: /^Show all 65.\d+.characters$/ }).waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
    await page.context().close()
  })

  it("shows how a picture differs, in five ways by keys, and keeps the zoom", async () => {
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/test-runs/${seeded.failed}`)
    await page.getByRole("link", { name: /^Failed.*pays by card/ }).click()
    const diff = page.getByRole("region", { name: "Difference of basket.png" })
    // What is different comes first, before what the test says about it.
    await diff.getByRole("img", { name: "Difference" }).waitFor()
    const top = async (one: Locator) => (await one.boundingBox())!.y
    expect(await top(diff)).toBeLessThan(await top(page.getByRole("region", { name: "Error", exact: true })))
    await page.keyboard.press("1")
    await diff.getByRole("slider", { name: /expected picture/ }).fill("20")
    expect(await diff.locator("[data-split]").evaluate((one) => one.style.left)).toBe("20%")
    for (const word of ["Expected", "Actual"]) await diff.getByText(word, { exact: true }).waitFor()
    const widthOf = () =>
      diff
        .getByRole("img")
        .first()
        .evaluate((one) => one.getBoundingClientRect().width)
    const clip = () => diff.getByRole("img", { name: "Actual" }).evaluate((one) => one.parentElement!.style.clipPath)
    expect(await clip()).toContain("20%")
    await page.keyboard.press("2")
    await diff.getByRole("region", { name: "Actual", exact: true }).waitFor()
    for (const word of ["Expected", "Actual"]) await diff.getByText(word, { exact: true }).waitFor()
    for (const key of ["+", "+", "+"]) await page.keyboard.press(key)
    await diff.getByText("200 %").waitFor()
    await expect.poll(widthOf).toBe(960)
    await page.keyboard.press("3")
    await diff.getByRole("slider", { name: /covers/ }).waitFor()
    await expect.poll(widthOf).toBe(960)
    await page.keyboard.press("4")
    await diff.getByRole("img", { name: "Difference" }).waitFor()
    await page.keyboard.press("5")
    await pressEnter(diff.getByRole("button", { name: "Show what was expected" }))
    await diff.getByRole("img", { name: "Expected" }).waitFor()
    await page.keyboard.press("n")
    await page.keyboard.press("p")
    await diff.getByText("200 %").waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
  })

  it("shows hostile text as text", async () => {
    const { number } = await start("<img src=x onerror=alert(1)>\u202eevil")
    const long = "x".repeat(100_000)
    await finish(number, [
      {
        caseId: "<b>/../%2f",
        title: `<script>alert(1)</script>\u202e${long.slice(0, 3_000)}`,
        file: long.slice(0, 4_000),
        coverage: "critical",
        testKind: "<i>kind</i>",
        priority: null,
        files: ["<svg onload=alert(1)>.png"],
        attempt: {
          status: "failed",
          durationMs: 1,
          startedAt: new Date().toISOString(),
          errorMessage: `<img src=x onerror=alert(2)>${long}`,
          errorStack: "\u001b[31mred\u001b[39m <style>*{display:none}</style>",
          files: ["a/<img>.svg", "javascript:alert(1).png"]
        }
      }
    ])
    for (const width of [1440, 320]) {
      const page = await site.signIn({ width })
      page.on("dialog", () => site.problems.push("a dialog"))
      for (const path of ["test-runs", `test-runs/${number}`, `test-runs/${number}?view=tests`, ""]) {
        await page.goto(`${site.origin}/w/main/${path}`)
        await page.getByText("<img src=x onerror=alert(1)>").first().waitFor()
        expect([path, await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)]).toEqual([
          path,
          true
        ])
      }
      await page.goto(`${site.origin}/w/main/test-runs/${number}`)
      await page.getByRole("link", { name: /^Failed.*script/ }).click()
      await page.getByRole("region", { name: "the error" }).waitFor()
      await page.getByRole("button", { name: /Show all/ }).click()
      expect(await page.locator("main").getByText("\\u{202E}").count()).toBeGreaterThan(0)
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
      expect(await page.locator("main script, main style, main i").count()).toBe(0)
    }
  })

  it("finds among 5,000 tests, and draws those in view", async () => {
    const number = await seedLargeRun(site.call)
    const page = await site.signIn()
    await page.goto(`${site.origin}/w/main/test-runs/${number}?view=tests`)
    const tests = page.getByRole("list", { name: "Tests" })
    await tests.getByRole("link").first().waitFor()
    expect(await tests.getByRole("link").count()).toBeLessThan(100)
    await page.getByRole("searchbox").fill("product 4987")
    await tests.getByText("Catalogue › shows product 4987 with its price").waitFor()
    expect(await tests.getByRole("link").count()).toBe(1)
    await page.getByRole("searchbox").fill("")
    await page.locator("#screen").evaluate((screen) => screen.scrollTo(0, screen.scrollHeight))
    await tests.getByText(/shows product 4999/).waitFor()
  })
})

describe("A list of many runs", () => {
  it("is read on when its end is near, and not before", async () => {
    await site.closePages()
    for (let one = 0; one < 60; one++) await finish((await start(`Run ${one} of many`)).number, [])
    const page = await site.signIn()
    const pages: Array<string> = []
    page.on("request", (request) => {
      if (/\/test-runs\?cursor=/.test(request.url())) pages.push(request.url())
    })
    await page.goto(`${site.origin}/w/main/test-runs`)
    const list = page.getByRole("list", { name: "Runs" })
    await list.getByText("Run 59 of many").waitFor()
    await isLive(page)
    // The second half of them is drawn in a later frame.
    await expect.poll(() => list.getByRole("link").count()).toBe(50)
    expect(pages).toEqual([])
    // Its rows may get their height a moment later.
    await expect
      .poll(async () => {
        await page.locator("#screen").evaluate((screen) => screen.scrollTo(0, screen.scrollHeight))
        return await list.getByText("Run 9 of many").count()
      })
      .toBe(1)
    expect(pages).toHaveLength(1)
    // By then the list has more rows than are drawn as they are. It stays where it was scrolled to.
    await page.locator("#screen [data-row='50'][style]").waitFor()
    expect(await page.locator("#screen").evaluate(({ scrollTop }) => scrollTop)).toBeGreaterThan(600)
    // A large screen is filled from the beginning.
    await page.setViewportSize({ width: 2560, height: 2160 })
    await page.reload()
    await list.getByText("Run 9 of many").waitFor()
  })
})

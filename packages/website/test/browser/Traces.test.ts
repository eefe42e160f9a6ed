import type { BrowserContext, Page } from "playwright-core"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { axeFindings } from "../support/Axe.ts"
import { type Call, isLive, openScreen, type Site, startSite } from "../support/Site.ts"

/** Traces that Playwright itself has made, opened in its viewer on an origin of its own. */

const directory = mkdtempSync(join(tmpdir(), "delivery-traces-"))
let site: Site
let trace: Buffer
let run: number

/** What a page of a shop, and one that means harm, leaves in a trace. */
const traceOf = async (context: BrowserContext): Promise<Buffer> => {
  await context.tracing.start({ screenshots: true, snapshots: true })
  const page = await context.newPage()
  await page.setContent(`<title>Shop</title><button>Pay</button>
    <script>top.document.title = "acted"</script>
    <img src="x" onerror="top.document.title = 'acted'">
    <iframe srcdoc="<script>top.document.title = 'acted'</script>"></iframe>
    <a href="javascript:top.document.title = 'acted'">link</a>`)
  await page.getByRole("button", { name: "Pay" }).click()
  const file = join(directory, "trace.zip")
  await context.tracing.stop({ path: file })
  return readFileSync(file)
}

const seedCatalog = async (call: Call): Promise<void> => {
  await call("POST", "products", { slug: "shop", name: "Shop", type: "website" })
  await call("POST", "environments", { slug: "staging", name: "Staging", class: "non-production", emoji: null })
  await call("POST", "deployments", { product: "shop", environment: "staging", baseUrl: "https://shop.example.com" })
}

/** A run of tests that failed: the first has a trace, and a picture if one is given; of the others it was never uploaded. */
const seedRun = async (call: Call, names = ["pays", "searches"], picture?: Buffer): Promise<number> => {
  const { number } = await call<{ number: number }>("POST", "test-runs", {
    product: "shop",
    environment: "staging",
    baseUrl: "https://shop.example.com",
    git: { branch: "main", sha: "a".repeat(40), dirty: false, subject: "Show the basket" },
    machine: { hostname: "ci-7", platform: "linux" },
    selection: { coverage: "critical", folders: [], caseIds: [] }
  })
  await call("PUT", `test-runs/${number}/files/${names[0]}/it's a trace.zip`, trace)
  if (picture !== undefined) await call("PUT", `test-runs/${number}/files/${names[0]}/screen.png`, picture)
  await call("POST", `test-runs/${number}/finish`, {
    interrupted: false,
    durationMs: 1_000,
    error: null,
    cleanup: null,
    tests: names.map((name) => ({
      caseId: name,
      title: `Shop › ${name}`,
      file: "shop.spec.ts",
      coverage: "critical",
      testKind: "journey",
      priority: null,
      files: [],
      attempt: {
        status: "failed",
        durationMs: 10,
        startedAt: new Date().toISOString(),
        errorMessage: "Error: expected 1",
        errorStack: null,
        files: [`${name}/it's a trace.zip`, ...(picture === undefined ? [] : [`${name}/screen.png`])]
      }
    }))
  })
  return number
}

const start = async (environment?: Record<string, string>): Promise<Site> => {
  site = await startSite(environment)
  const context = await site.browser.newContext()
  trace = await traceOf(context)
  await context.close()
  await seedCatalog(site.call)
  run = await seedRun(site.call)
  return site
}

const end = async () => {
  await site.close()
  expect(site.problems).toEqual([])
}

afterAll(() => rmSync(directory, { recursive: true }))

/** The tab that opens, once the viewer shows what was done. */
const openedTrace = async (page: Page, act: () => Promise<void>): Promise<Page> => {
  const tab = page.context().waitForEvent("page")
  await act()
  const viewer = await tab
  viewer.on("pageerror", (error) => site.problems.push(String(error)))
  viewer.on("console", (message) => {
    if (/Content.Security.Policy/i.test(message.text())) site.problems.push(message.text())
  })
  await viewer
    .getByText('getByRole("button", { name: "Pay" })')
    .or(viewer.getByText(/button.*Pay/))
    .first()
    .waitFor()
  return viewer
}

describe("A server with an origin for files", () => {
  beforeAll(() => start())
  afterAll(end)

  it("opens the trace of a failure by keyboard, on that origin, for a tab that knows nothing of this one", async () => {
    const page = await openScreen(site, `test-runs/${run}`)
    const failures = page.getByRole("list", { name: "Failures" })
    await failures.getByRole("link", { name: "Open the trace of Shop › pays" }).waitFor()
    await page.locator("#screen").focus()
    // It passes over the heading of its error.
    await page.keyboard.press("j")
    const viewer = await openedTrace(page, () => page.keyboard.press("t"))
    const { port } = new URL(site.origin)
    expect(new URL(viewer.url()).origin).toBe(`http://files.localhost:${port}`)
    expect(await viewer.evaluate(() => [document.cookie, opener])).toEqual(["", null])
    expect(page.url()).toBe(`${site.origin}/w/main/test-runs/${run}`)
  })

  it("leads from the list of runs over the error and its trace to a ticket, by keyboard alone", async () => {
    await site.call("POST", "teams", { key: "ENG", name: "Engineering" })
    const page = await openScreen(site, "")
    await isLive(page)
    await page.keyboard.press("g")
    await page.keyboard.press("r")
    await page.waitForURL(/\/test-runs$/)
    await page.getByRole("list", { name: "Runs" }).getByText("Show the basket").waitFor()
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    await page.waitForURL(new RegExp(`/test-runs/${run}$`))
    await page.getByRole("list", { name: "Failures" }).getByText("expected 1").first().waitFor()
    await page.keyboard.press("n")
    await page.getByRole("region", { name: "the error" }).getByText("expected 1").first().waitFor()
    await page.getByRole("link", { name: "Open trace" }).waitFor()
    await (await openedTrace(page, () => page.keyboard.press("t"))).close()
    await page.keyboard.press("c")
    const title = page.getByRole("dialog", { name: "New ticket" }).getByLabel("Title")
    await title.and(page.locator(":focus")).waitFor()
    await page.keyboard.press("End")
    await page.keyboard.type(" in the shop")
    await page.keyboard.press("Control+Enter")
    await page.getByText("ENG-1 was created").first().waitFor()
    const { title: made } = await site.call<{ title: string }>("GET", "tickets/ENG-1")
    expect(made).toMatch(/^Failing: .+ in the shop$/)
  })

  it("opens it from the test's page, by one key or one click, and shows what the page was like", async () => {
    const page = await openScreen(site, `test-runs/${run}/tests/pays`)
    const link = page.getByRole("link", { name: "Open trace" })
    await link.waitFor()
    expect(await axeFindings(page)).toEqual([])
    await (await openedTrace(page, () => page.keyboard.press("t"))).close()
    const viewer = await openedTrace(page, () => link.click())
    await viewer.getByText("Click", { exact: true }).first().click()
    const snapshot = viewer.frameLocator("iframe.snapshot-visible")
    await snapshot.getByRole("button", { name: "Pay" }).waitFor()
    await snapshot.getByText("link", { exact: true }).click()
    expect(await viewer.title()).not.toContain("acted")
    await page.keyboard.press("?")
    await page.getByRole("dialog", { name: "Keys" }).getByText("Open the trace").waitFor()
  })

  it("opens it from beside the list of failures", async () => {
    const page = await openScreen(site, `test-runs/${run}`)
    await page.getByRole("list", { name: "Failures" }).getByRole("link").first().waitFor()
    // It passes over the heading of its error.
    await page.keyboard.press("j")
    await page.keyboard.press(" ")
    const peek = page.getByRole("complementary", { name: "The current test" })
    await peek.getByRole("link", { name: "Open trace" }).waitFor()
    await (await openedTrace(page, () => peek.getByRole("link", { name: "Open trace" }).click())).close()
  })

  it("gives the viewer nothing of the service, and logs no signature", async () => {
    const page = await openScreen(site, `test-runs/${run}/tests/pays`)
    const viewer = await openedTrace(page, () => page.getByRole("link", { name: "Open trace" }).press("Enter"))
    const asked = (url: string) =>
      viewer.evaluate((url) => fetch(url, { credentials: "include" }).then(({ status }) => status, String), url)
    expect(await asked("/v1/me")).toBe(404)
    expect(await asked(`${site.origin}/v1/me`)).toContain("TypeError")
    expect(site.problems.splice(0).filter((one) => !one.includes("/v1/me"))).toEqual([])
    expect(site.output()).toContain('"path":"/trace-viewer/"')
    expect(site.output()).not.toContain("signature")
  })

  it("marks a trace that was never uploaded, also where the list leads to it", async () => {
    const page = await openScreen(site, `test-runs/${run}`)
    const tab = page.context().waitForEvent("page")
    await page.getByRole("link", { name: "Open the trace of Shop › searches" }).click()
    const opened = await tab
    await opened.getByText("Was never uploaded").waitFor()
    expect(await opened.getByRole("link", { name: /trace/ }).count()).toBe(0)
  })

  it("shows the picture of a failure, and opens its trace, from the ticket that a rule has made", async () => {
    await site.call("POST", "teams", { key: "OPS", name: "Operations" })
    await site.call("POST", "test-rules", { product: "shop", when: { failures: 1 }, team: "OPS" })
    const page = await openScreen(site, `test-runs/${run}`)
    const made = await seedRun(site.call, ["refunds"], await page.screenshot())
    await openScreen(site, "tickets/OPS-1", page)
    const picture = page.getByRole("img", { name: "refunds/screen.png" })
    await picture.scrollIntoViewIfNeeded()
    await expect
      .poll(() => picture.evaluate((one: HTMLImageElement) => one.complete && one.naturalWidth > 0))
      .toBe(true)
    const viewer = await openedTrace(page, () => page.getByRole("link", { name: "open trace" }).first().click())
    expect(new URL(viewer.url()).hostname).toBe("files.localhost")
    const link = await page.getByRole("link", { name: "open trace" }).first().getAttribute("href")
    expect(link).toBe(`${site.origin}/w/main/test-runs/${made}/tests/refunds?open=trace`)
    // What the run has not, or no longer, is said in words.
    const gone = `${site.origin}/v1/workspaces/main/test-runs/${made}/files/refunds/gone.png`
    await site.call("PATCH", "tickets/OPS-1", { description: `![gone.png](${gone})` })
    await page.getByText("gone.png: the picture is not there").waitFor()
    expect(site.problems.splice(0).filter((one) => !one.includes("404"))).toEqual([])
  })
})

describe("A server without one", () => {
  beforeAll(() => start({ FILES_ORIGIN: "false" }))
  afterAll(end)

  it("lets people download the trace, and says how to show it", async () => {
    const page = await openScreen(site, `test-runs/${run}/tests/pays?open=trace`)
    await page.getByText(`runs trace ${run} --workspace main --test 'pays/it'\\''s a trace.zip'`).waitFor()
    expect(await page.getByRole("link", { name: "Open trace" }).count()).toBe(0)
    const download = page.waitForEvent("download")
    await page.getByRole("link", { name: "Download trace" }).click()
    expect(readFileSync(await (await download).path())).toEqual(trace)
    expect(await axeFindings(page)).toEqual([])
  })
})

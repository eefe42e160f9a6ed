import type { Locator, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { addDevice } from "../../../server/test/support/Browsing.ts"
import { axeFindings } from "../support/Axe.ts"
import { atRest, callWith, joinAs, openScreen, pressEnter, type Site, startSite } from "../support/Site.ts"

/** Home: how a new workspace begins, to whom that is said, and where. */

let site: Site

beforeAll(async () => {
  site = await startSite()
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

const headings = (page: Page) => page.locator("#screen").getByRole("heading", { level: 2 }).allInnerTexts()

const firstMinute = (page: Page) => page.getByRole("region", { name: "The first minute" })

const isFocused = (element: Locator) =>
  expect.poll(() => element.evaluate((one) => one === document.activeElement)).toBe(true)

/** What stands at a step, such as "Add a product". */
const stepOf = (page: Page, title: string) => firstMinute(page).getByRole("listitem").filter({ hasText: title })

describe("An empty workspace", () => {
  it("leads to the website's own forms, where nothing is chosen from nothing", async () => {
    const page = await openScreen(site, "")
    await stepOf(page, "Add a product").getByRole("link", { name: "Add a product" }).click()
    await page.getByRole("dialog", { name: "Add a product" }).waitFor()
    await openScreen(site, "", page)
    expect(await stepOf(page, "Put a secret").getByRole("link").count()).toBe(0)
    await stepOf(page, "Say where it runs").getByRole("link", { name: "Add an environment" }).click()
    await page.getByRole("dialog", { name: "Add an environment" }).waitFor()
    await openScreen(site, "", page)
    await stepOf(page, "Invite somebody").getByRole("link", { name: "Invite somebody" }).click()
    await page.getByRole("dialog", { name: "Invite somebody" }).waitFor()
    for (const screen of ["tests", "trends"]) {
      await openScreen(site, screen, page)
      await page.getByRole("link", { name: "Add a product" }).click()
      await page.getByRole("dialog", { name: "Add a product" }).waitFor()
    }
    await openScreen(site, "vault", page)
    // Its key is there once the page knows who looks at it.
    await page.getByRole("button", { name: "Add secret" }).waitFor()
    await page.keyboard.press("n")
    await page.getByRole("dialog", { name: "New ticket" }).getByRole("link", { name: "Add a team" }).click()
    await page.getByRole("dialog", { name: "Add a team" }).waitFor()
    expect(new URL(page.url()).pathname).toBe("/w/main/teams")
  })

  it("leads from a ticket without a team to its form by keys alone, and the first letters go into its first field", async () => {
    const page = await openScreen(site, "")
    for (const screen of ["", "tickets"]) {
      await openScreen(site, screen, page)
      await page.getByRole("dialog").waitFor({ state: "detached" })
      await atRest(page)
      await page.keyboard.press("n")
      await isFocused(page.getByRole("dialog", { name: "New ticket" }).getByRole("link", { name: "Add a team" }))
      await page.keyboard.press("Enter")
      const dialog = page.getByRole("dialog", { name: "Add a team" })
      await dialog.waitFor()
      await atRest(page)
      await page.keyboard.type("Payments")
      expect(await dialog.getByLabel("Name").inputValue()).toBe("Payments")
      expect(await dialog.getByLabel("Key").inputValue()).toBe("PAY")
    }
  })

  it("tells a member without a team whom to ask", async () => {
    const member = await joinAs(site, "tom@example.com", "Tom", "member")
    await openScreen(site, "vault", member)
    await member.getByRole("button", { name: "Add secret" }).waitFor()
    await member.keyboard.press("n")
    const dialog = member.getByRole("dialog", { name: "New ticket" })
    await dialog.getByText(/^Ask an admin/).waitFor()
    expect(await dialog.getByRole("link").count()).toBe(0)
  })
})

describe("The key of the first minute", () => {
  it("may do what the commands of all steps ask", async () => {
    const page = await openScreen(site, "")
    await firstMinute(page).getByRole("link", { name: "create an API key" }).click()
    const dialog = page.getByRole("dialog", { name: "New API key" })
    await dialog.getByText("what the steps on Home need").waitFor()
    // The name that is proposed is selected: another is typed over it.
    expect(await dialog.getByLabel("Name").inputValue()).toBe("first steps")
    await page.keyboard.type("laptop")
    expect(await dialog.getByLabel("Name").inputValue()).toBe("laptop")
    const scopes = await dialog
      .getByRole("checkbox", { checked: true })
      .evaluateAll((boxes) => boxes.map((one) => one.nextElementSibling?.textContent))
    await dialog.getByRole("button", { name: "Create key" }).click()
    const line = await page.getByRole("dialog", { name: "Your new API key" }).locator("pre").nth(1).innerText()
    await page.getByRole("button", { name: "I have copied it" }).click()
    await page.getByRole("dialog").waitFor({ state: "detached" })
    // A page that is loaded again asks for no other key.
    expect(new URL(page.url()).search).toBe("")
    await openScreen(site, "", page)
    await firstMinute(page).getByText(scopes.join(" ")).waitFor()
    const [, key = ""] = /^export DELIVERY_API_KEY=(ctk_\w+)$/.exec(line) ?? []
    const call = callWith(site.origin, key)
    const commands = await firstMinute(page).locator("pre").allInnerTexts()
    /** The requests of a printed line, as they stand in it. */
    const lines = commands.flatMap((text) => [...text.matchAll(/(\/v1\/\S+) -d '([^']+)'/g)])
    expect(lines.map(([, path]) => path)).toEqual(
      ["products", "environments", "deployments", "teams"].map((path) => `/v1/workspaces/main/${path}`)
    )
    const beforeDeployed = lines.findIndex(([, path]) => path!.endsWith("/deployments"))
    for (const [, path, body] of lines.slice(0, beforeDeployed)) await call("POST", path!, JSON.parse(body!))
    // With a product and an environment, the website has the form for the rest of the step; the keyboard stays at its place.
    await stepOf(page, "Say where it runs").getByRole("link", { name: "Add a deployment" }).click()
    await page.getByRole("dialog", { name: "Shop in Staging" }).waitFor()
    await page.keyboard.press("Escape")
    await isFocused(page.getByRole("button", { name: "Shop in Staging: not deployed, add it" }))
    await openScreen(site, "", page)
    for (const [, path, body] of lines.slice(beforeDeployed)) await call("POST", path!, JSON.parse(body!))
    // What the command line does for the two other commands.
    const { number } = await call<{ number: number }>("POST", "test-runs", {
      product: "shop",
      environment: "staging",
      baseUrl: "https://staging.shop.example.com",
      git: { branch: "main", sha: "9fceb02d0ae598e95dc970b74767f19372d61af8", dirty: false, subject: "Add it" },
      machine: { hostname: "laptop", platform: "linux" },
      selection: { coverage: "acceptance", folders: [], caseIds: [] }
    })
    const startedAt = "2026-11-21T12:00:00.000Z"
    const attempt = { status: "passed", durationMs: 5, startedAt, errorMessage: null, errorStack: null, files: [] }
    const tests = [{ ...reported, attempt }]
    const finished = { interrupted: false, durationMs: 5, error: null, cleanup: null, tests }
    await call("POST", `test-runs/${number}/finish`, finished)
    await call("POST", "products/shop/secrets", { name: "API_TOKEN", values: { staging: "one" } })
    for (const title of ["Add a product", "Say where it runs", "Publish a run", "Put a secret", "Add a team"]) {
      await stepOf(page, title).getByText("Done:").waitFor()
    }
  })
})

describe("A passkey", () => {
  it("is the first step of whoever came by a link that works once, with the time that is left for it", async () => {
    const page = await joinAs(site, "una@example.com", "Una", "admin")
    await addDevice(page)
    await openScreen(site, "", page)
    // The workspace has had a run: what can wait stands below what happened.
    const signIn = page.getByRole("region", { name: "Sign in again" })
    const first = signIn.getByRole("listitem")
    await first.getByText(/^Until \d+:\d\d.* After that, adding one takes such a link, too\.$/).waitFor()
    await page.getByRole("region", { name: "What changed" }).waitFor()
    expect((await headings(page)).slice(0, 2)).toEqual(["Sign in again", "What changed"])
    await first.getByRole("button", { name: "Add a passkey" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Add passkey" }).click()
    await page.getByRole("dialog").waitFor({ state: "detached" })
    await signIn.waitFor({ state: "detached" })
    await openScreen(site, "settings/profile", page)
    await page.getByRole("list", { name: "Passkeys" }).getByRole("listitem").waitFor()
  })
})
describe("The first minute", () => {
  it("stands below what the person has to do, and stays put away in this browser", async () => {
    await site.call("POST", "teams", { key: "SHOP", name: "Shop" })
    const me = await site.call<{ id: string }>("GET", "/v1/me")
    await site.call("POST", "tickets", { team: "SHOP", title: "Pay by card", owner: me.id })
    const { statuses } = await site.call<{ statuses: ReadonlyArray<{ id: string; category: string }> }>(
      "GET",
      "ticket-statuses?team=SHOP"
    )
    const status = statuses.find(({ category }) => category === "started")!.id
    await site.call("PATCH", "tickets/SHOP-1", { status })
    const page = await openScreen(site, "")
    const first = firstMinute(page)
    await first.waitFor()
    await page.getByRole("region", { name: "My tickets" }).waitFor()
    const shown = await headings(page)
    expect(shown.indexOf("The first minute")).toBeGreaterThan(shown.indexOf("My tickets"))
    expect(await axeFindings(page)).toEqual([])
    const away = first.getByRole("button", { name: "Put away the first minute" })
    await away.click()
    await first.waitFor({ state: "detached" })
    await page.getByRole("button", { name: "Undo" }).click()
    await away.click()
    await first.waitFor({ state: "detached" })
    await page.reload()
    await page.getByRole("region", { name: "What changed" }).waitFor()
    await page.getByRole("region", { name: "My tickets" }).waitFor()
    await atRest(page)
    expect(await first.count()).toBe(0)
  })

  it("is for those who may do it", async () => {
    const admin = await joinAs(site, "ada@example.com", "Ada", "admin")
    await openScreen(site, "", admin)
    await admin.getByRole("region", { name: "The first minute" }).waitFor()
    const member = await joinAs(site, "ben@example.com", "Ben", "member")
    await openScreen(site, "", member)
    await member.getByRole("region", { name: "What changed" }).waitFor()
    await atRest(member)
    expect(await headings(member)).not.toContain("The first minute")
  })
})

const reported = {
  caseId: "pays",
  title: "Pays",
  file: "pays.spec.ts",
  coverage: "acceptance",
  testKind: "journey",
  priority: null,
  files: []
}

describe("What fails now", () => {
  it("is of every deployment, however many runs of others are newer", async () => {
    const at = { environment: "staging", baseUrl: "https://staging.example" }
    for (const slug of ["quiet", "busy"]) {
      await site.call("POST", "products", { slug, name: slug === "quiet" ? "Quiet" : "Busy", type: "website" })
      await site.call("POST", "deployments", { ...at, product: slug })
    }
    const git = { branch: "main", sha: "9fceb02d0ae598e95dc970b74767f19372d61af8", dirty: false, subject: "Add it" }
    const started = {
      ...at,
      git,
      machine: { hostname: "ci-7", platform: "linux" },
      selection: { coverage: "acceptance", folders: [], caseIds: [] }
    }
    const finish = async (product: string, status: "passed" | "failed") => {
      const { number } = await site.call<{ number: number }>("POST", "test-runs", { ...started, product })
      const errorMessage = status === "failed" ? "Expected 1 to be 2" : null
      const startedAt = "2026-11-21T12:00:00.000Z"
      const attempt = { status, durationMs: 5, startedAt, errorMessage, errorStack: null, files: [] }
      await site.call("POST", `test-runs/${number}/finish`, {
        interrupted: false,
        durationMs: 5,
        error: null,
        cleanup: null,
        tests: [{ ...reported, attempt }]
      })
      return number
    }
    await site.closePages()
    const failed = await finish("quiet", "failed")
    for (let run = 0; run < 51; run++) await finish("busy", "passed")
    const page = await openScreen(site, "")
    const failing = page.getByRole("region", { name: "Failing now" })
    await failing.getByText(`#${failed}`).waitFor()
    expect(await failing.getByRole("link").count()).toBe(1)
    await finish("quiet", "passed")
    await page.getByText("The newest run of every deployment passed.").waitFor()
    expect(await failing.count()).toBe(0)
    // A run is one line of what changed.
    const changed = await page.getByRole("region", { name: "What changed" }).getByRole("link").allInnerTexts()
    expect(changed).toHaveLength(15)
    expect(new Set(changed).size).toBe(15)
  })
})

describe("The first minute of a workspace that has had a run", () => {
  it("is one line below what changed, until somebody opens it", async () => {
    const page = await openScreen(site, "")
    const first = firstMinute(page)
    await first.getByText(/^\d of \d done$/).waitFor()
    expect((await headings(page)).at(-1)).toBe("The first minute")
    expect(await first.getByRole("listitem").count()).toBe(0)
    await pressEnter(first.getByRole("button", { name: "Show the first minute" }))
    await first.getByRole("heading", { name: "Invite somebody" }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await pressEnter(first.getByRole("button", { name: "Hide the first minute" }))
    await first.getByRole("listitem").first().waitFor({ state: "detached" })
    await first.getByRole("button", { name: "Show the first minute" }).and(page.locator(":focus")).waitFor()
    await page.setViewportSize({ width: 320, height: 640 })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320)
    expect(await axeFindings(page)).toEqual([])
  })
})

describe("A long screen", () => {
  it("is where it was left when somebody comes back, and the next one is at its top", async () => {
    const page = await openScreen(site, "test-runs")
    const screen = page.locator("#screen")
    const isAt = (top: number) => expect.poll(() => screen.evaluate(({ scrollTop }) => scrollTop)).toBe(top)
    const rows = page.getByRole("list", { name: "Runs" }).getByRole("link")
    await expect.poll(() => rows.count()).toBeGreaterThan(40)
    await isAt(0)
    await screen.evaluate((one) => one.scrollTo(0, 300))
    await rows.nth(15).click()
    await page.getByRole("heading", { level: 1, name: /^Run \d+/ }).waitFor()
    await isAt(0)
    await page.goBack()
    await isAt(300)
  })
})

import type { ReadinessPolicy } from "@delivery/domain/flow/ReadinessPolicy"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { axeFindings } from "../support/Axe.ts"
import { seed } from "../support/Seed.ts"
import { joinAs, openScreen, pressEnter, type Site, startSite } from "../support/Site.ts"

/** Whether a version may go out: at a glance, with its reasons, and by which policy. */

let site: Site

beforeAll(async () => {
  site = await startSite()
  await seed(site.call)
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

const place = "deployments/shop/production"

interface Readiness {
  readonly ready: boolean
  readonly version: string
  readonly reasons: ReadonlyArray<{ readonly kind: string; readonly severity: string; readonly message: string }>
}

const test = (caseId: string, status: "passed" | "failed" | null = "passed") => ({
  caseId,
  title: caseId,
  file: "kiosk.spec.ts",
  coverage: "critical",
  testKind: "behavior",
  attempt: status && { status, durationMs: 5, startedAt: new Date().toISOString() }
})

const criticalRun = (product: string) => ({
  product,
  environment: "staging",
  baseUrl: "https://kiosk.example.com",
  git: { branch: "main", sha: "a".repeat(40), dirty: false, subject: "Sell" },
  machine: { hostname: "ci", platform: "linux" },
  selection: { coverage: "critical", folders: [], caseIds: [] }
})

/** A product whose versions go from staging to production, by runs of its critical tests. */
const makeKiosk = async (call: Site["call"], product = "kiosk") => {
  await call("POST", "products", { slug: product, name: "Kiosk", type: "library" })
  for (const environment of ["staging", "production"]) {
    await call("POST", "deployments", { product, environment, version: environment === "staging" ? "v2" : "v1" })
  }
  const policy = { from: "staging", requires: [{ coverage: "critical" }] }
  await call("PUT", `deployments/${product}/production/readiness-policy`, policy)
  const run = async (tests: ReadonlyArray<ReturnType<typeof test>>) => {
    const { number } = await call<{ number: number }>("POST", "test-runs", criticalRun(product))
    const report = { interrupted: false, error: null, durationMs: 5, cleanup: null, tests }
    await call("POST", `test-runs/${number}/finish`, report)
    return number
  }
  return { product, run }
}

describe("Readiness", () => {
  it("is said on the deployment, with each reason and a way to what it is about", async () => {
    const answer = await site.call<Readiness>("GET", `${place}/readiness`)
    expect(answer.ready).toBe(false)
    const page = await openScreen(site, "deployments")
    await page
      .getByRole("link", { name: /not ready/ })
      .first()
      .click()
    await page.getByRole("status").getByText("Not ready").waitFor()
    await page.goto(`${site.origin}/w/main/${place}`)
    await page.getByRole("link", { name: /not ready: \d+ reason/ }).click()
    await page.getByRole("status").getByText("Not ready").waitFor()
    const reasons = page.getByRole("list", { name: "Reasons" }).getByRole("listitem")
    expect(await reasons.count()).toBe(answer.reasons.length)
    const short = answer.version.slice(0, 7)
    for (const { message } of answer.reasons) {
      await reasons
        .filter({ hasText: message.replaceAll(answer.version, short) })
        .first()
        .waitFor()
    }
    expect(await axeFindings(page)).toEqual([])
    const secret = reasons.filter({ hasText: "has a value in Staging, and none here" }).first()
    await secret.getByRole("link", { name: "Open secret" }).press("Enter")
    await page.waitForURL(/\/products\/shop\/secrets\//)
    await page.goBack()
    await reasons.first().waitFor()
  })

  it("says on its tab what the head of the page says, and that where versions come from there is none", async () => {
    await site.call("POST", "products", { slug: "ledger", name: "Ledger", type: "service" })
    for (const environment of ["staging", "production"]) {
      const body = { product: "ledger", environment, baseUrl: `https://ledger.${environment}.example.com` }
      await site.call("POST", "deployments", { ...body, ...(environment === "production" ? { version: "v7" } : {}) })
    }
    const ledger = "deployments/ledger/production"
    await site.call("PUT", `${ledger}/readiness-policy`, { from: "staging" })
    const page = await openScreen(site, `${ledger}?view=readiness`)
    await page.getByRole("status").getByText("No next version").waitFor()
    await page.getByRole("region", { name: "Summary" }).getByRole("link", { name: "No next version" }).waitFor()
    const reason = page.getByRole("list", { name: "Reasons" }).getByRole("listitem")
    await reason
      .getByText("No version is known to run in Staging, from which versions come, and none was named.")
      .waitFor()
    await reason.getByRole("link", { name: "Open deployment" }).press("Enter")
    await page.waitForURL(/\/deployments\/ledger\/staging$/)
    await openScreen(site, "deployments", page)
    await page.getByText("v7 no next version").waitFor()
    await site.call("POST", "teams", { key: "LED", name: "Ledger" })
    const project = { slug: "ledger", name: "Ledger", teams: ["LED"], products: ["ledger"] }
    await site.call("POST", "projects", project)
    await site.call("POST", "tickets", { team: "LED", title: "Sums are off", project: "ledger", blocks: true })
    // In its cell of the matrix, what warns and what blocks stand beside each other.
    const requires = [{ coverage: "critical", severity: "warn" }]
    await site.call("PUT", `${ledger}/readiness-policy`, { requires, tickets: "warn" })
    await openScreen(site, "deployments", page)
    await page.getByText("v7 2 warnings").waitFor()
    await site.call("PUT", `${ledger}/readiness-policy`, { requires })
    await openScreen(site, "deployments", page)
    await page.getByText("v7 1 ticket blocks, 1 warning").waitFor()
    await site.call("PUT", `${ledger}/readiness-policy`, {})
    await openScreen(site, `${ledger}?view=readiness`, page)
    await page.getByRole("status").getByText("1 ticket blocks").waitFor()
    await page.getByRole("region", { name: "Summary" }).getByRole("link", { name: "1 ticket blocks" }).waitFor()
  })

  it("says what it rests on: counts, muted failures by name, and the newer run that came to nothing", async () => {
    const { product, run } = await makeKiosk(site.call)
    const kiosk = `deployments/${product}/production`
    const thin = await run([test("opens"), test("prints", null), test("pays", null), test("rounds", null)])
    const page = await openScreen(site, `${kiosk}?view=readiness`)
    const verdict = page.getByRole("status").filter({ hasText: "Ready" })
    await verdict.getByText("Ready", { exact: true }).waitFor()
    const decided = page.getByRole("region", { name: "Runs that decided" }).getByRole("listitem").first()
    await decided.getByText("1 passed, 3 skipped").waitFor()
    // The commit of the tests is told from the version that they tested.
    await decided.getByText(/^tests of .* against v\d$/).waitFor()
    // The page follows what happens to a newer run.
    const newer = await site.call<{ number: number }>("POST", "test-runs", criticalRun(product))
    await verdict
      .getByText(`Run ${newer.number} is still running: until it ends, run ${thin} decides for the coverage`)
      .waitFor()
    const interrupted = { interrupted: true, error: null, durationMs: 5, cleanup: null, tests: [] }
    await site.call("POST", `test-runs/${newer.number}/finish`, interrupted)
    await verdict
      .getByText(`Run ${newer.number} is newer and was interrupted: run ${thin} decides for the coverage`)
      .waitFor()
    await page.getByRole("link", { name: `Ready, though run ${newer.number} was interrupted` }).waitFor()

    await site.call("POST", "teams", { key: "KIO", name: "Kiosk" })
    const { id } = await site.call<{ id: string }>("GET", "/v1/me")
    await site.call("POST", "tickets", { team: "KIO", title: "Sums are off", owner: id })
    const until = new Date(Date.now() + 24 * 60 * 60_000).toISOString()
    await site.call("PUT", "tickets/KIO-1/mute", { product, cases: ["tax"], until })
    const muted = await run([test("opens"), { ...test("tax", "failed"), title: "rounds the tax" }])
    await verdict.getByText("Ready, though 1 failed test is muted").waitFor()
    await decided.getByRole("link", { name: `Run ${muted}` }).waitFor()
    await decided.getByText("1 failed, 1 passed").waitFor()
    await decided.getByText("passes by its mutes").waitFor()
    const failures = page.getByRole("list", { name: "Muted failures" }).getByRole("listitem")
    await failures.getByText("rounds the tax").waitFor()
    await failures.getByRole("link", { name: "KIO-1" }).waitFor()
    await page.getByRole("link", { name: "Ready, though 1 failed test is muted" }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    // Nothing of it is cut on a phone.
    await page.setViewportSize({ width: 390, height: 844 })
    expect(
      await page
        .getByRole("region", { name: "Readiness" })
        .evaluate((region) =>
          [...region.querySelectorAll("[role=status] *, [aria-label='Runs that decided'] *")].some(
            (element) =>
              !element.classList.contains("sr-only") &&
              element.scrollWidth > element.clientWidth + 1 &&
              getComputedStyle(element).overflow === "hidden"
          )
        )
    ).toBe(false)
    await openScreen(site, "deployments", page)
    await page.getByText("1 muted failure").waitFor()
    // Unmuted, the run stays as it was judged, and the page says so.
    await site.call("DELETE", "tickets/KIO-1/mute")
    await openScreen(site, `${kiosk}?view=readiness`, page)
    await decided.getByText("muted when the run started").waitFor()
  })

  it("is not ready where no version is known, and calls no two unknown versions the same", async () => {
    const product = "vending"
    await site.call("POST", "products", { slug: product, name: "Vending", type: "library" })
    for (const environment of ["staging", "production"]) {
      await site.call("POST", "deployments", { product, environment })
    }
    const page = await openScreen(site, `deployments/${product}/production?view=readiness`)
    await page.getByRole("status").getByText("No next version", { exact: true }).waitFor()
    await page.getByText("No version is known to run here, and none was named.").waitFor()
    await openScreen(site, `deployments/${product}/production`, page)
    const elsewhere = page.getByRole("region", { name: "In other environments" })
    await elsewhere.getByText("unknown").waitFor()
    expect(await elsewhere.getByText("same").count()).toBe(0)
    await site.call("PATCH", `deployments/${product}/staging`, { version: "v1" })
    await elsewhere.getByText("v1").waitFor()
    await site.call("PATCH", `deployments/${product}/production`, { version: "v1" })
    await elsewhere.getByText("same").waitFor()
  })

  it("tells windows that are over, and of the chosen product what is missing and what to run", async () => {
    const product = "locker"
    await site.call("POST", "products", { slug: product, name: "Locker", type: "library" })
    for (const environment of ["staging", "production"]) {
      await site.call("POST", "deployments", { product, environment })
    }
    const window = (year: number, reason: string) => ({
      from: `${year}-01-01T00:00:00Z`,
      to: `${year}-01-02T00:00:00Z`,
      reason
    })
    const now = { ...window(2000, "Audit"), to: "2200-01-01T00:00:00Z" }
    const freezes = [window(2001, "Past"), now, window(2210, "Later")]
    await site.call("PUT", `deployments/${product}/production/readiness-policy`, { from: "staging", freezes })
    const page = await openScreen(site, `deployments/${product}/production?view=readiness`)
    const policy = page.getByRole("region", { name: "Policy" })
    await policy.getByText("Staging", { exact: true }).waitFor()
    await policy.getByText(/^Past: .*, over$/).waitFor()
    await policy.getByText(/^Audit: .* now$/).waitFor()
    await policy.getByText(/^Later: .*\d [AP]M$/).waitFor()
    await openScreen(site, `products/${product}/delivery`, page)
    await page.getByText(`--product ${product} --environment production`).waitFor()

    await site.call("POST", `products/${product}/secrets`, { name: "LOCK", values: { staging: "one" } })
    await openScreen(site, `vault?product=${product}`, page)
    const missing = page.getByRole("button", { name: /^Missing somewhere/ })
    await missing.getByText("1", { exact: true }).waitFor()
    await missing.click()
    await page.getByText("LOCK").first().waitFor()
  })

  it("is asked of another version, which stays in the address", async () => {
    const page = await openScreen(site, `${place}?view=readiness`)
    await page.getByLabel("Another version").fill("v-unknown")
    await page.keyboard.press("Enter")
    await page.waitForURL(/version=v-unknown/)
    await page.getByText(/No run of v-unknown with the whole coverage critical/).waitFor()
    await page.getByRole("status").getByText("Not ready, and nobody has released or tested it").waitFor()
    await page.getByText("Nobody has released or tested v-unknown: no deployment of the product ever had it.").waitFor()
    await page.getByRole("button", { name: "version is v-unknown" }).click()
    await page.getByRole("menuitemradio", { name: "Any version" }).click()
    await page.waitForURL((url) => !url.search.includes("version"))
    // As a version is shown everywhere.
    const { version } = await site.call<{ version: string }>("GET", "deployments/shop/staging")
    expect(version.length).toBeGreaterThan(7)
    await page.getByLabel("Another version").fill(version.slice(0, 7))
    await page.keyboard.press("Enter")
    await page.waitForURL((url) => url.searchParams.get("version") === version.slice(0, 7))
    await page.getByRole("status").getByText(version.slice(0, 7)).waitFor()
    expect(await page.getByText(/obody has released or tested/).count()).toBe(0)
  })

  it("follows the policy that an admin sets, by keyboard, and shows it to others", async () => {
    const page = await openScreen(site, `${place}?view=readiness`)
    await pressEnter(page.getByRole("button", { name: "Change policy" }))
    const dialog = page.getByRole("dialog")
    await dialog.getByRole("combobox", { name: "critical" }).press("Enter")
    await page.getByRole("option", { name: "Not required" }).click()
    await dialog.getByRole("combobox", { name: "Missing secrets" }).press("Enter")
    await page.getByRole("option", { name: "Do not look" }).click()
    await pressEnter(dialog.getByRole("button", { name: "Add window" }))
    const reasons = dialog.getByLabel("Reason")
    await reasons.last().fill("Black Friday")
    await dialog.getByLabel("From").last().fill("2026-01-01T00:00")
    await dialog.getByLabel("To").last().fill("2025-01-01T00:00")
    await dialog.getByText("Must be later than From").waitFor()
    await dialog.getByText("Still missing: an end after the beginning of the window Black Friday.").waitFor()
    expect(await dialog.getByRole("button", { name: "Save policy" }).isEnabled()).toBe(false)
    await dialog.getByLabel("To").last().fill("2100-01-01T00:00")
    expect(await axeFindings(page)).toEqual([])
    await pressEnter(dialog.getByRole("button", { name: "Save policy" }))
    await dialog.waitFor({ state: "detached" })
    expect(await site.call("GET", `${place}/readiness-policy`)).toMatchObject({
      from: "staging",
      requires: [{ coverage: "acceptance", severity: "warn" }],
      secrets: "off",
      freezes: [{ reason: "Black Friday" }, { reason: "Holidays" }]
    })
    // What it asks for now holds at once.
    // In the time of the reader, and with the way to the policy.
    const frozen = page.getByRole("list", { name: "Reasons" }).getByRole("listitem").filter({ hasText: "Black Friday" })
    const end = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" })
    await frozen
      .getByText(`Nothing goes out before ${end.format(new Date("2100-01-01T00:00"))}: Black Friday`)
      .waitFor()
    await frozen.getByRole("link", { name: "Open policy" }).press("Enter")
    await page.waitForURL(/view=readiness#policy$/)

    // What somebody else sets while the dialog is open stays.
    await pressEnter(page.getByRole("button", { name: "Change policy" }))
    await dialog.getByRole("combobox", { name: "Overdue mutes" }).press("Enter")
    await page.getByRole("option", { name: "Do not look" }).click()
    const { freezes, ...policy } = await site.call<ReadinessPolicy>("GET", `${place}/readiness-policy`)
    const week = { from: "2200-12-01T00:00:00.000Z", to: "2200-12-08T00:00:00.000Z", reason: "Cyber week" }
    await site.call("PUT", `${place}/readiness-policy`, { ...policy, drift: "block", freezes: [...freezes, week] })
    await pressEnter(dialog.getByRole("button", { name: "Save policy" }))
    await dialog.waitFor({ state: "detached" })
    expect(await site.call("GET", `${place}/readiness-policy`)).toEqual({
      ...policy,
      drift: "block",
      mutes: "off",
      freezes: [...freezes, week]
    })

    const viewer = await joinAs(site, "vera@example.com", "Vera", "viewer")
    await openScreen(site, `${place}?view=readiness`, viewer)
    await viewer.getByText("Admins change it.").waitFor()
    await viewer.getByText(/Black Friday: /).waitFor()
    expect(await viewer.getByRole("button", { name: "Change policy" }).count()).toBe(0)
  })

  it("tells who changes a policy of what somebody else has changed of the same, before it is in its place", async () => {
    const page = await openScreen(site, `${place}?view=readiness`)
    const before = await site.call<ReadinessPolicy>("GET", `${place}/readiness-policy`)
    const window = { from: "2300-12-01T00:00:00.000Z", to: "2300-12-08T00:00:00.000Z", reason: "Move" }
    const freezes = [...before.freezes, window]
    const set = (policy: ReadinessPolicy) => site.call<ReadinessPolicy>("PUT", `${place}/readiness-policy`, policy)
    await set({ ...before, drift: "off", freezes })
    await page.getByText(/Move: /).waitFor()
    await page.getByRole("button", { name: "Change policy" }).click()
    const dialog = page.getByRole("dialog")
    await pressEnter(dialog.getByRole("button", { name: "Remove the window Move" }))
    expect(
      await dialog.getByRole("button", { name: "Add window" }).evaluate((it) => it === document.activeElement)
    ).toBe(true)
    await dialog.getByRole("combobox", { name: "Drift of secrets" }).press("Enter")
    await page.getByRole("option", { name: "Warn" }).click()
    const renamed = [...before.freezes, { ...window, reason: "Move of the office" }]
    const theirs = await set({ ...before, drift: "block", freezes: renamed })
    await pressEnter(dialog.getByRole("button", { name: "Save policy" }))
    const told = dialog
      .getByRole("alert")
      .filter({ hasText: "Somebody else has changed meanwhile" })
      .filter({ has: page.getByRole("list") })
    await told.getByText("Drift of secrets is “Block”").waitFor()
    await dialog.getByText("To put yours in place of theirs, save again.").waitFor()
    await told.getByText(/^the window Move is now Move of the office, /).waitFor()
    expect(await site.call("GET", `${place}/readiness-policy`)).toEqual(theirs)
    expect(await axeFindings(page)).toEqual([])
    await pressEnter(dialog.getByRole("button", { name: "Save policy" }))
    await dialog.waitFor({ state: "detached" })
    expect(await site.call("GET", `${place}/readiness-policy`)).toEqual({ ...before, drift: "warn" })
    await set(before)
  })

  it("names what changed since the product loaded its secrets, and warns before a version is set", async () => {
    const { token } = await site.call<{ token: string }>("POST", `${place}/tokens`, { name: "kubernetes" })
    const loaded = await fetch(`${site.origin}/deploy/v1/secrets`, { headers: { authorization: `Bearer ${token}` } })
    expect(loaded.status).toBe(200)
    const page = await openScreen(site, `${place}?view=readiness`)
    await page.getByText("Nothing has changed since.").waitFor()
    await site.call("POST", "products/shop/secrets", {
      name: "NEW_ONE",
      values: { production: "not to be seen" }
    })
    // The event of the change has the page ask again.
    const drift = page.getByRole("list", { name: "Drift" }).getByRole("listitem").filter({ hasText: "NEW_ONE" })
    await drift.getByText("was set since: it lacks version 1").waitFor()
    expect(await page.content()).not.toContain("not to be seen")
    await page.getByRole("button", { name: "Set version" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("Version").fill("v-next")
    await dialog.getByText("By its policy this version is not ready:").waitFor()
    await dialog.getByText("Nobody has released or tested v-next. Look whether it is written right").waitFor()
    await dialog.getByText(/Black Friday/).waitFor()
  })

  it("records no version that the policy keeps back without a second step and a reason, however quickly", async () => {
    const { product, run } = await makeKiosk(site.call, "counter")
    const counter = `deployments/${product}/production`
    const page = await openScreen(site, counter)
    const versions = async () => {
      const { releases } = await site.call<{
        releases: ReadonlyArray<{ readonly version: string; readonly override: string | null }>
      }>("GET", `${counter}/history`)
      return releases.map(({ override, version }) => [version, override])
    }
    const dialog = page.getByRole("dialog")
    await page.getByRole("button", { name: "Set version" }).click()
    await dialog.getByLabel("Version").fill("v2")
    await dialog.getByLabel("Version").press("Enter")
    const why = dialog.getByLabel("Why it goes out all the same")
    await why.waitFor()
    await dialog.getByText("By its policy this version is not ready:").waitFor()
    await dialog.getByText("No run of v2 with the whole coverage critical has finished").waitFor()
    // Neither Enter in the field, which asked, nor an empty reason takes it.
    await dialog.getByLabel("Version").press("Enter")
    await why.press("Enter")
    expect(await dialog.getByRole("button", { name: "Record anyway" }).isEnabled()).toBe(false)
    expect(await versions()).toEqual([["v1", null]])
    expect(await axeFindings(page)).toEqual([])
    await why.fill("The payment is down")
    await why.press("Control+Enter")
    await dialog.waitFor({ state: "detached" })
    expect(await versions()).toEqual([
      ["v2", "The payment is down"],
      ["v1", null]
    ])
    const newest = page.getByRole("list", { name: "Releases" }).getByRole("listitem").first()
    await newest.getByText("Override: The payment is down").waitFor()
    await newest.getByText("not ready: run missing", { exact: true }).waitFor()

    // What nobody has released or tested asks for a second step, too; another version begins anew.
    await site.call("PUT", `${counter}/readiness-policy`, {})
    await page.getByRole("button", { name: "Set version" }).click()
    await dialog.getByLabel("Version").fill("v33")
    await dialog.getByLabel("Version").press("Enter")
    await dialog.getByRole("button", { name: "Record anyway" }).waitFor()
    await dialog.getByText("Nobody has released or tested v33").waitFor()
    await dialog.getByLabel("Version").press("Enter")
    expect(await why.count()).toBe(0)
    await dialog.getByLabel("Version").fill("v3")
    await dialog.getByRole("button", { name: "Set version" }).waitFor()
    await dialog.getByLabel("Version").press("Enter")
    await pressEnter(dialog.getByRole("button", { name: "Record anyway" }))
    await dialog.waitFor({ state: "detached" })
    expect((await versions())[0]).toEqual(["v3", null])

    // What is ready takes one Enter.
    await site.call("PUT", `${counter}/readiness-policy`, { from: "staging", requires: [{ coverage: "critical" }] })
    await run([test("opens")])
    await page.getByRole("button", { name: "Set version" }).click()
    await dialog.getByLabel("Version").fill("v2")
    await dialog.getByLabel("Version").press("Enter")
    await dialog.waitFor({ state: "detached" })
    expect((await versions())[0]).toEqual(["v2", null])

    // Whoever deletes the deployment deletes nothing that went out there.
    const before = await versions()
    await site.call("DELETE", counter)
    await site.call("POST", "deployments", { product, environment: "production", version: "v4" })
    expect(await versions()).toEqual([["v4", null], ...before])
    const anew = await openScreen(site, counter)
    const rows = anew.getByRole("list", { name: "Releases" }).getByRole("listitem")
    await rows.getByText("The releases below are of a deployment that was deleted").waitFor()
    const texts = await rows.allInnerTexts()
    expect(texts.map((text) => /^#\d+|^The releases below/.exec(text)?.[0])).toEqual([
      `#${before.length + 1}`,
      "The releases below",
      ...before.map((_, index) => `#${before.length - index}`)
    ])
    const words = texts.flatMap(
      (text) => /not ready|not judged|ready, but nothing is required|ready/.exec(text)?.[0] ?? []
    )
    expect(words).toEqual(["not ready", "ready", "ready, but nothing is required", "not ready", "not judged"])
    const ready = rows.getByText("ready", { exact: true })
    expect(await ready.getAttribute("title")).toBe("By the policy of then")
    // The run that decided is a step away.
    await rows
      .filter({ has: anew.getByText("ready", { exact: true }) })
      .getByRole("link", { name: /^run \d+$/ })
      .waitFor()
    expect(await rows.getByText("not judged").getAttribute("title")).toContain("no policy then")
    expect(await axeFindings(anew)).toEqual([])

    // Where nothing was judged there is nothing to tell apart.
    const plain = await openScreen(site, `deployments/${product}/staging`, anew)
    await plain.getByRole("list", { name: "Releases" }).getByText("#1").waitFor()
    expect(await plain.getByText("not judged").count()).toBe(0)
  })

  it("replaces the version that runs with what is typed, and doubts what is typed in full", async () => {
    const { product } = await makeKiosk(site.call, "window")
    const page = await openScreen(site, `deployments/${product}/production`)
    await page.getByRole("button", { name: "Set version" }).click()
    const field = page.getByRole("dialog").getByLabel("Version")
    await field.and(page.locator(":focus")).waitFor()
    expect(await field.inputValue()).toBe("v1")
    // Longer than the id of a commit: whatever is wrong with it may be at its end.
    const long = "0c3d6e9f2a5b81470c3d6e9f2a5b81470c3d6e9f1d4e7f0"
    await page.keyboard.type(long)
    expect(await field.inputValue()).toBe(long)
    await page.getByRole("dialog").getByText(`Nobody has released or tested ${long}.`).waitFor()
  })

  it("says that another version was recorded while the dialog was open, and asks again", async () => {
    const { product } = await makeKiosk(site.call, "desk")
    const desk = `deployments/${product}/production`
    const page = await openScreen(site, desk)
    const dialog = page.getByRole("dialog")
    const runs = async () => (await site.call<{ version: string }>("GET", desk)).version
    await site.call("PUT", `${desk}/readiness-policy`, {})
    await page.getByRole("button", { name: "Set version" }).click()
    await dialog.getByLabel("Version").fill("v1-hotfix")
    await site.call("PATCH", desk, { version: "v9" })
    await dialog.getByLabel("Version").press("Enter")
    await dialog.getByRole("alert").getByText("Meanwhile v9 was recorded here.").waitFor()
    expect(await runs()).toBe("v9")
    // Enter, which asked, does not take the second step.
    await dialog.getByLabel("Version").press("Enter")
    expect(await axeFindings(page)).toEqual([])
    expect(await runs()).toBe("v9")
    await dialog.getByText("Nobody has released or tested v1-hotfix").waitFor()
    await pressEnter(dialog.getByRole("button", { name: "Record anyway" }))
    await dialog.waitFor({ state: "detached" })
    expect(await runs()).toBe("v1-hotfix")
  })

  it("takes the short id of a version that is known for the whole one", async () => {
    const staging = await site.call<{ version: string }>("GET", "deployments/shop/staging")
    const before = await site.call<{ version: string }>("GET", place)
    const page = await openScreen(site, place)
    const open = async (text: string) => {
      await page.getByRole("button", { name: "Set version" }).click()
      await page.getByRole("dialog").getByLabel("Version").fill(text)
    }
    const dialog = page.getByRole("dialog")
    const short = staging.version.slice(0, 7)
    await open(short)
    await dialog.getByText(`${short} is short for ${staging.version}, which will be set.`).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await dialog.getByLabel("Version").press("Enter")
    await dialog.getByLabel("Why it goes out all the same").fill("Looked at by hand")
    await page.keyboard.press("Enter")
    await dialog.waitFor({ state: "detached" })
    expect(await site.call("GET", place)).toMatchObject({ version: staging.version })
    await open(before.version.slice(0, 7))
    await dialog.getByRole("button", { name: "Set it as typed" }).click()
    await dialog.getByText(/^Nobody has released or tested/).waitFor()
    await dialog.getByRole("button", { name: "Cancel" }).click()
    await site.call("PATCH", place, { version: before.version })
  })

  it("marks a version in the table by the runs that tested it alone", async () => {
    const page = await openScreen(site, "deployments")
    const cell = page.locator("a[href$='/deployments/shop/staging']")
    await cell.locator("svg").first().waitFor()
    const { version } = await site.call<{ version: string }>("GET", "deployments/shop/staging")
    await site.call("PATCH", "deployments/shop/staging", { version: "never-tested-1" })
    await cell.getByText("never-tested-1").waitFor()
    expect(await cell.getByText("never-tested-1").locator("..").locator("svg").count()).toBe(0)
    await site.call("PATCH", "deployments/shop/staging", { version })
  })

  it("is asked again when a window begins, without an event", async () => {
    const page = await openScreen(site, "deployments")
    await page.clock.install({ time: Date.now() })
    const product = { slug: "csv", name: "Csv", type: "library" }
    await site.call("POST", "products", product)
    await site.call("POST", "deployments", {
      product: "csv",
      environment: "production",
      baseUrl: "https://csv.example.com",
      version: "v1"
    })
    const begin = Date.now() + 30 * 60_000
    const freeze = { from: new Date(begin).toISOString(), to: new Date(begin + 60_000).toISOString(), reason: "Soon" }
    await site.call("PUT", "deployments/csv/production/readiness-policy", { freezes: [freeze] })
    await page.goto(`${site.origin}/w/main/deployments/csv/production?view=readiness`)
    const verdict = page.getByRole("status").filter({ hasText: "Ready: no run is required" })
    await verdict.waitFor()
    await page.getByRole("link", { name: "Ready: no run is required" }).waitFor()
    const asked = page.waitForRequest((request) =>
      new URL(request.url()).pathname.endsWith("/csv/production/readiness")
    )
    await page.clock.fastForward("30:01")
    await asked
  })

  it("is kept back by a ticket that blocks releases, which is set by mouse and by keyboard", async () => {
    await site.call("POST", "teams", { key: "OPS", name: "Operations" })
    await site.call("POST", "projects", { slug: "launch", name: "Launch", teams: ["OPS"], products: ["shop"] })
    await site.call("POST", "tickets", { team: "OPS", title: "Sign the contract", project: "launch" })
    const page = await openScreen(site, "tickets/OPS-1")
    await page.getByRole("button", { name: /^Blocks:/ }).click()
    await page.getByRole("menuitemradio", { name: /^Releases/ }).click()
    await page.getByText("OPS-1 blocks releases").waitFor()
    const blocking = async () => {
      const { reasons } = await site.call<Readiness>("GET", `${place}/readiness`)
      return reasons.filter(({ kind }) => kind === "ticket_blocks").map(({ message }) => message)
    }
    expect(await blocking()).toEqual(["OPS-1 is open and blocks: Sign the contract"])
    await page.locator("#screen").focus()
    await page.keyboard.press("d")
    await page.getByRole("menuitemradio", { name: /^No release/ }).press("Enter")
    await page.getByText("OPS-1 blocks no release").waitFor()
    expect(await blocking()).toEqual([])
  })

  it("is drawn in a browser whose language nobody knows", async () => {
    const page = await site.signIn()
    await page.addInitScript(() => {
      Object.defineProperty(Navigator.prototype, "language", { configurable: true, get: () => "en-US@posix" })
    })
    await openScreen(site, "products/shop/delivery", page)
    await page.getByRole("figure").first().waitFor()
    expect(await page.evaluate(() => navigator.language)).toBe("en")
    expect(await page.getByText("could not be loaded").count()).toBe(0)
  })

  it("is measured: releases, lead time, failures and restoration, each with what it is made of", async () => {
    const metrics = await site.call<{ deploymentFrequency: { count: number } }>("GET", "metrics/delivery?product=shop")
    await site.call("PATCH", place, {
      version: "v-bad",
      commits: [{ sha: "abcdef1", subject: "Break it", at: "2026-01-01T00:00:00Z" }]
    })
    const { version } = await site.call<{ version: string }>("GET", "deployments/shop/staging")
    await site.call("PATCH", place, { version })
    await site.call("PATCH", place, { version: "v-worse" })
    await site.call("PATCH", place, { version })
    const page = await openScreen(site, "products/shop/delivery")
    await page
      .getByRole("link", { name: /Change failure rate/ })
      .getByText("rolled back")
      .waitFor()
    await page
      .getByRole("link", { name: /Deployment frequency/ })
      .getByText(`${metrics.deploymentFrequency.count + 4} releases`)
      .waitFor()
    await page
      .getByRole("list", { name: "Failed releases" })
      .getByText(/v-worse/)
      .waitFor()
    await page.getByRole("list", { name: "Commits" }).getByText("abcdef1").waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page.keyboard.press("t")
    const table = page.getByRole("region", { name: "Days" })
    await table.getByRole("columnheader", { name: "Lead time of the commits released on a day" }).waitFor()
    await table.getByRole("row", { name: new RegExp(`^${new Date().toISOString().slice(0, 10)} `) }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page.waitForURL(/view=table/)
    await pressEnter(page.getByRole("button", { name: "As plots" }))
    await page.getByRole("figure").first().waitFor()
    await page.getByRole("button", { name: /time is 30 days/i }).click()
    await page.getByRole("menuitemradio", { name: "365 days" }).click()
    await page.getByRole("list", { name: "Releases" }).getByText("rolled back").first().waitFor()
    await page.reload()
    await page.getByRole("button", { name: /time is 365 days/i }).waitFor()
    const commit = page.getByRole("list", { name: "Commits" }).getByRole("listitem").filter({ hasText: "abcdef1" })
    await commit.getByRole("link", { name: /v-bad/ }).waitFor()
    const releases = page.getByRole("list", { name: "Releases", exact: true }).getByRole("listitem")
    for (let number = 0; number < 21; number++) await site.call("PATCH", place, { version: `v${number}` })
    await expect.poll(() => releases.count()).toBe(20)
    await page.getByRole("button", { name: /^Show all \d+ releases$/ }).click()
    await expect.poll(() => releases.count()).toBeGreaterThan(21)
    await page
      .getByRole("navigation", { name: "Workspace" })
      .locator("[aria-current=page]", { hasText: "Trends" })
      .waitFor()
  })

  it("measures no release of a deployment that was made anew by one of the deployment before", async () => {
    await site.call("POST", "products", { slug: "anew", name: "Anew", type: "library" })
    const anew = "deployments/anew/production"
    const create = () => site.call("POST", "deployments", { product: "anew", environment: "production" })
    await create()
    for (const version of ["v1", "v2", "v1"]) await site.call("PATCH", anew, { version })
    await site.call("DELETE", anew)
    await create()
    for (const version of ["v3", "v4"]) await site.call("PATCH", anew, { version })
    const page = await openScreen(site, "products/anew/delivery")
    await page
      .getByRole("link", { name: /Change failure rate/ })
      .getByText("1 of 5 releases rolled back")
      .waitFor()
    const releases = page.getByRole("list", { name: "Releases", exact: true }).getByRole("listitem")
    expect(await releases.count()).toBe(5)
    const back = releases.filter({ hasText: "rolled back" })
    expect(await back.count()).toBe(1)
    await back.getByText("v2", { exact: true }).waitFor()
  })
})

import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { seed } from "../support/Seed.ts"
import { isLive, joinAs, openScreen, type Site, startSite } from "../support/Site.ts"

/** Rules that make tickets of failing tests, in a real browser. */

let site: Site

beforeAll(async () => {
  site = await startSite()
  await seed(site.call)
  await site.call("POST", "teams", { key: "WEB", name: "Web" })
  await site.call("POST", "teams", { key: "OPS", name: "Operations" })
  await site.call("POST", "projects", { slug: "checkout", name: "Checkout", teams: ["OPS"] })
  await site.call("POST", "agents/register", { client: "claude", computer: "laptop" })
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

const choose = async (page: Page, field: string, option: string | RegExp) => {
  await page.getByRole("dialog").getByRole("combobox", { name: field }).click()
  await page.getByRole("option", { name: option }).click()
}

const failAgain = async (sha: string) => {
  const { number } = await site.call<{ number: number }>("POST", "test-runs", {
    product: "shop",
    environment: "staging",
    baseUrl: "https://staging.shop.example.com",
    git: { branch: "main", sha: sha.repeat(40), dirty: false, subject: "Round" },
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
  const one = { caseId: "a", title: "Pays twice", file: "a.spec.ts", coverage: "acceptance", testKind: "journey" }
  await site.call("POST", `test-runs/${number}/finish`, {
    interrupted: false,
    durationMs: 1_000,
    error: null,
    cleanup: null,
    tests: [{ ...one, priority: null, files: [], attempt }]
  })
  return number
}

const rules = (page: Page) => page.getByRole("list", { name: "Test rules" }).locator(":scope > li")

describe("Test rules", () => {
  it("are made by keyboard, read as a sentence, and show the tickets that they made", async () => {
    const page = await openScreen(site, "test-rules")
    await page.getByRole("heading", { name: "A rule makes tickets of tests that fail" }).waitFor()
    await page.keyboard.press("c")
    const dialog = page.getByRole("dialog", { name: "New test rule" })
    await dialog.getByText("When a test on main fails in 2 of the last 3 runs of ").waitFor()
    await choose(page, "Product", "Shop")
    await choose(page, "Team", "Web")
    await choose(page, "Environment", "Staging")
    await choose(page, "Owner", /Claude/)
    await choose(page, "Ask it to", "Plan it")
    await dialog.getByLabel("A test fails in").fill("4")
    await dialog.getByText("Not fewer than the runs that it fails in").waitFor()
    await dialog.getByText("Still missing: numbers that fit.").waitFor()
    await dialog.getByLabel("A test fails in").fill("1")
    await dialog.getByLabel("Of the last").fill("1")
    await dialog.getByRole("button", { name: "Create rule" }).click()
    await rules(page)
      .getByText(
        /When a test on main fails in a run of Shop in Staging, make a ticket in team Web, and ask Claude.* to plan it\./
      )
      .waitFor()
    const failed = await failAgain("a")
    await rules(page).getByRole("button", { name: "Show its tickets" }).click()
    await rules(page)
      .getByRole("link", { name: /WEB-1 Failing: Pays twice/ })
      .press("Enter")
    await page.waitForURL(/\/tickets\/WEB-1$/)
    await page
      .getByRole("region", { name: "Tests" })
      .getByText(/Failed last in run \d+ in Staging \(main /)
      .waitFor()
    // The failed run leads to it, and says whose it is, though it may not be counted yet.
    await page.route("**/products/shop/cases?*", (route) => route.fulfill({ json: { cases: [], nextCursor: null } }))
    await page.goto(`${site.origin}/w/main/test-runs/${failed}`)
    const row = page.getByRole("list", { name: "Failures" }).getByRole("listitem").filter({ hasText: "Pays twice" })
    await row.getByText(/^Claude/).waitFor()
    await row.getByRole("link", { name: "WEB-1" }).press("Enter")
    await page.waitForURL(/\/tickets\/WEB-1$/)
  })

  it("say of nobody that they have left before it is known who is there", async () => {
    const page = await openScreen(site, "test-rules")
    await rules(page)
      .getByText(/ask Claude.* to plan it/)
      .waitFor()
    const held: Array<() => void> = []
    await page.route(/\/main\/agents(\?|$)/, (route) => void held.push(() => void route.continue()))
    await page.reload()
    await rules(page).getByText("make a ticket in team Web, and give it to its owner.").waitFor()
    for (const release of held) release()
    await rules(page)
      .getByText(/ask Claude.* to plan it/)
      .waitFor()
    await page.unrouteAll({ behavior: "wait" })
  })

  it("are changed in all their fields, stopped, begun again and deleted", async () => {
    const page = await openScreen(site, "test-rules")
    await rules(page).getByRole("button", { name: "Change" }).click()
    const dialog = page.getByRole("dialog", { name: "Change the test rule" })
    await choose(page, "Team", "Operations")
    await choose(page, "Project", "Checkout")
    await choose(page, "Runs of", "critical tests")
    await choose(page, "Owner", "Nobody")
    await dialog.getByLabel("Branch").fill("")
    await dialog.getByLabel("One ticket from").fill("1")
    await dialog.getByLabel("Completed after").fill("5")
    await dialog.getByRole("button", { name: "Save" }).click()
    await dialog.waitFor({ state: "detached" })
    await rules(page)
      .getByText(
        "When a test of a critical run fails in a run of Shop in Staging, make a ticket in team Operations, in the project Checkout."
      )
      .waitFor()
    const { testRules } = await site.call<{ testRules: ReadonlyArray<object> }>("GET", "test-rules")
    expect(testRules).toHaveLength(1)
    expect(testRules[0]).toMatchObject({
      branch: null,
      coverage: "critical",
      environment: "staging",
      team: "OPS",
      project: "checkout",
      owner: null,
      ask: null,
      above: 1,
      closeAfter: 5
    })
    await rules(page).getByRole("button", { name: "Stop" }).click()
    await rules(page).getByText("stopped").waitFor()
    await rules(page).getByRole("button", { name: "Begin again" }).click()
    await rules(page).getByText("stopped").waitFor({ state: "detached" })
    await page.setViewportSize({ width: 320, height: 640 })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320)
    await rules(page).getByRole("button", { name: "Delete" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Delete the rule" }).click()
    await page.getByRole("heading", { name: "A rule makes tickets of tests that fail" }).waitFor()
  })

  it("are changed by two at once in what each changes, and say what both change, and that no run is one for them", async () => {
    const rule = await site.call<{ id: string }>("POST", "test-rules", {
      product: "shop",
      branch: "mian",
      when: { failures: 1 },
      team: "WEB"
    })
    const path = `test-rules/${rule.id}`
    const page = await openScreen(site, "test-rules")
    await isLive(page)
    await rules(page).getByText("No run so far is one that it is for.").waitFor()
    await rules(page).getByRole("button", { name: "Change" }).click()
    const dialog = page.getByRole("dialog", { name: "Change the test rule" })
    await dialog.getByLabel("Completed after").fill("9")
    await site.call("PATCH", path, { branch: "release" })
    await dialog.getByText("When a test on release").waitFor()
    await dialog.getByRole("button", { name: "Save" }).click()
    await dialog.waitFor({ state: "detached" })
    expect(await site.call("GET", "test-rules")).toMatchObject({ testRules: [{ branch: "release", closeAfter: 9 }] })
    await rules(page).getByRole("button", { name: "Change" }).click()
    await dialog.getByLabel("Branch").fill("next")
    // Somebody else is first: they save after the button was pressed, and before what it reads first is answered.
    const save = dialog.getByRole("button", { name: "Save" })
    let isFirst = true
    await page.route("**/test-rules", async (route) => {
      if (isFirst && (await save.getAttribute("aria-busy")) === "true") {
        isFirst = false
        await site.call("PATCH", path, { branch: "stable", above: 4 })
      }
      await route.continue()
    })
    await save.click()
    await dialog.getByText("To put yours in place of theirs, save again.").waitFor()
    await page.unroute("**/test-rules")
    await dialog.getByText("If you save, yours is in place of theirs.").waitFor()
    expect(await site.call("GET", "test-rules")).toMatchObject({ testRules: [{ branch: "stable" }] })
    await dialog.getByLabel("Branch").fill("main")
    await dialog.getByText("No run so far").waitFor({ state: "detached" })
    await dialog.getByRole("button", { name: "Save" }).click()
    await dialog.waitFor({ state: "detached" })
    expect(await site.call("GET", "test-rules")).toMatchObject({
      testRules: [{ branch: "main", above: 4, closeAfter: 9 }]
    })
    await rules(page).getByText("No run so far").waitFor({ state: "detached" })
    await site.call("DELETE", path)
  })

  it("whose author has left say so, and are taken over; viewers only read them", async () => {
    const mo = await joinAs(site, "max@example.com", "Max Lund", "member")
    await openScreen(site, "test-rules", mo)
    await mo.getByRole("button", { name: "New rule" }).waitFor()
    await mo.keyboard.press("c")
    await mo.getByRole("dialog").getByRole("button", { name: "Create rule" }).click()
    await rules(mo).getByText("Acts as Max Lund").waitFor()
    const { members } = await site.call<{ members: ReadonlyArray<{ id: string; name: string }> }>("GET", "members")
    const max = members.find(({ name }) => name === "Max Lund")!
    const owned = { product: "shop", team: "OPS", owner: max.id, branch: "owned", when: { failures: 1, ofLast: 1 } }
    await site.call("POST", "test-rules", owned)
    await site.call("POST", `members/${max.id}/deactivate`, {})
    const page = await openScreen(site, "test-rules")
    await rules(page).getByText("author has left").waitFor()
    await rules(page)
      .getByText(/on owned fails .* and give it to Max Lund, who has left/)
      .waitFor()
    await rules(page).getByText("owner has left").waitFor()
    await rules(page).getByRole("button", { name: "Take over" }).click()
    await rules(page).getByText("author has left").waitFor({ state: "detached" })
    const viewer = await joinAs(site, "vera@example.com", "Vera Lund", "viewer")
    await openScreen(site, "test-rules", viewer)
    await rules(viewer).getByRole("button", { name: "Show its tickets" }).nth(1).waitFor()
    expect(await rules(viewer).getByRole("button").count()).toBe(2)
    expect(await viewer.getByRole("button", { name: "New rule" }).count()).toBe(0)
    // The owner of a rule who only reads is called so, and not somebody who has left.
    const { id } = await viewer.evaluate(async () => (await fetch("/v1/me")).json() as Promise<{ id: string }>)
    const rule = { product: "shop", team: "OPS", owner: id, branch: "old", when: { failures: 1, ofLast: 1 } }
    await site.call("POST", "test-rules", rule)
    await rules(page)
      .getByText(/on old fails in a run of Shop, .* and give it to Vera Lund, who only reads/)
      .waitFor()
  })
})

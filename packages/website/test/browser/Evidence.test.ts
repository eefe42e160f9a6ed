import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { axeFindings } from "../support/Axe.ts"
import { seed } from "../support/Seed.ts"
import { atRest, type Call, callWith, isLive, openScreen, pressEnter, type Site, startSite } from "../support/Site.ts"

/** Tickets that are completed only with evidence, in a real browser: what is missing, and completing them all the same. */

let site: Site

const caseOf = (file: string, title: string) => `tests/${file}.spec.ts:${title}`
const paysByCard = caseOf("checkout/pays-by-card", "Checkout › pays by card")

interface Status {
  readonly id: string
  readonly name: string
  readonly category: string
}

let statuses: ReadonlyArray<Status>
let publish: Call

const statusOf = async (identifier: string) =>
  (await site.call<{ status: Status }>("GET", `tickets/${identifier}`)).status.category

/** A new ticket in the first column that has begun, which asks for evidence that the shop's test passes again. */
const ask = async (title: string) => {
  const status = statuses.find(({ category }) => category === "started")!.id
  const cases = { product: "shop", caseIds: [paysByCard] }
  const made = await site.call<{ identifier: string }>("POST", "tickets", {
    team: "EVI",
    title,
    status,
    cases,
    completion: "evidence"
  })
  return made.identifier
}

/** A run of a commit by the CI in which the test failed or passed: one's own proves nothing. */
const run = async (status: "failed" | "passed", commit: string): Promise<number> => {
  const { number } = await publish<{ number: number }>("POST", "test-runs", {
    product: "shop",
    environment: "staging",
    baseUrl: "https://staging.shop.example.com",
    git: { branch: "main", sha: commit.repeat(40), dirty: false, subject: "Pay" },
    machine: { hostname: "ci-7", platform: "linux" },
    selection: { coverage: "acceptance", folders: [], caseIds: [] }
  })
  const attempt = {
    status,
    durationMs: 900,
    startedAt: new Date().toISOString(),
    errorMessage: status === "failed" ? "Error: 42,01" : null,
    errorStack: null,
    files: []
  }
  const one = { caseId: paysByCard, title: "Checkout › pays by card", file: "a.spec.ts", coverage: "critical" }
  await publish("POST", `test-runs/${number}/finish`, {
    interrupted: false,
    durationMs: 1_000,
    error: null,
    cleanup: null,
    tests: [{ ...one, testKind: "journey", priority: null, files: [], attempt }]
  })
  return number
}

beforeAll(async () => {
  site = await startSite()
  await seed(site.call)
  const { secret } = await site.call<{ secret: string }>("POST", "account-api-keys", { name: "ci", role: "member" })
  publish = callWith(site.origin, secret)
  await run("failed", "e")
  await site.call("POST", "teams", { key: "EVI", name: "Evidence" })
  statuses = (await site.call<{ statuses: ReadonlyArray<Status> }>("GET", "ticket-statuses?team=EVI")).statuses
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

const needs = (page: Page, what: string) => page.getByRole("dialog", { name: `${what} to be completed` })

describe("Evidence", () => {
  it("is asked for on the ticket, of tests that are found by their words", async () => {
    const { identifier } = await site.call<{ identifier: string }>("POST", "tickets", {
      team: "EVI",
      title: "Pay once"
    })
    const page = await openScreen(site, `tickets/${identifier}`)
    await page.getByRole("button", { name: "Completion: Needs no evidence" }).waitFor()
    await page.keyboard.press("v")
    await page.getByRole("menuitemradio", { name: /^Needs evidence/ }).click()
    const dialog = page.getByRole("dialog", { name: `How ${identifier} is completed` })
    await dialog.getByText("Still missing: a test.").waitFor()
    await dialog.getByRole("combobox", { name: "Product" }).click()
    await page.getByRole("option", { name: "Shop" }).click()
    await dialog.getByLabel("Add a test").fill("pays by card")
    // Enter adds what is found, and saves nothing.
    await dialog.getByRole("button", { name: "Add Checkout › pays by card" }).waitFor()
    await page.keyboard.press("Enter")
    await dialog.getByRole("region", { name: "Tests" }).getByText("pays by card").waitFor()
    await dialog.getByLabel("Add a test").and(page.locator(":focus")).waitFor()
    expect(await dialog.getByLabel("Add a test").inputValue()).toBe("")
    await dialog.getByLabel("Runs that each must pass").fill("2")
    await dialog.getByRole("button", { name: "Save" }).click()
    await page.getByRole("button", { name: /Completion: Needs evidence.*1 test.*2 runs/ }).waitFor()
    const part = page.getByRole("region", { name: "Evidence" })
    await part.getByText(/0 of 1\stest passed again\. Each needs 2 runs/).waitFor()
    await page.getByRole("link", { name: /^0 of 1\stest passed again$/ }).press("Enter")
    await part.getByText("Each needs 2 runs").and(page.locator(":focus, :focus *")).waitFor()
    await part.getByRole("link", { name: /^run \d+/ }).waitFor()
    await part.getByText("0 of 2").waitFor()
    await part.getByText("Must pass 2 times in Staging, on another commit.", { exact: true }).waitFor()
    const rule = part.getByText("ran at the address of the deployment, while that did not change")
    expect(await rule.isVisible()).toBe(false)
    await part.getByText("Which runs count?").press("Enter")
    await rule.waitFor()
    await page.keyboard.press("v")
    await page.getByRole("menuitemradio", { name: /^Needs no evidence/ }).click()
    await page.getByText(`${identifier} needs no evidence`).waitFor()
    const { entries } = await site.call<{ entries: ReadonlyArray<{ action: string }> }>(
      "GET",
      "audit?action=evidence_waived"
    )
    expect(entries).toHaveLength(1)
  })

  it("is asked for of more runs where a ticket is completed; a reason does, too", async () => {
    const identifier = await ask("Pay again")
    const done = statuses.find(({ category }) => category === "completed")!.id
    await site.call("PATCH", `tickets/${identifier}`, { status: done, override: "Tried by hand" })
    const page = await openScreen(site, `tickets/${identifier}`)
    await page.getByRole("button", { name: /^Completion: Needs evidence/ }).waitFor()
    await page.keyboard.press("v")
    await page.getByRole("menuitem", { name: /^Tests and runs that are asked/ }).click()
    const dialog = page.getByRole("dialog", { name: `How ${identifier} is completed` })
    await dialog.getByLabel("Runs that each must pass").fill("2")
    expect(await dialog.getByLabel("Why without evidence").count()).toBe(0)
    await dialog.getByRole("button", { name: "Save" }).click()
    await dialog.getByText("not all tests that it would ask for have passed again often enough").waitFor()
    await dialog.getByLabel("Why without evidence").and(page.locator(":focus")).waitFor()
    await dialog.getByText("Still missing: a reason.").waitFor()
    expect(await axeFindings(page)).toEqual([])
    // What it asks for already needs no reason.
    await dialog.getByLabel("Runs that each must pass").fill("1")
    await dialog.getByLabel("Why without evidence").waitFor({ state: "detached" })
    await dialog.getByText("Still missing: a reason.").waitFor({ state: "detached" })
    await dialog.getByLabel("Runs that each must pass").fill("2")
    await dialog.getByRole("button", { name: "Save" }).click()
    await dialog.getByLabel("Why without evidence").and(page.locator(":focus")).waitFor()
    await page.keyboard.type("Tried by hand, twice")
    await page.keyboard.press("Control+Enter")
    await page.getByRole("button", { name: /Completion: Needs evidence.*2 runs/ }).waitFor()
    const { entries } = await site.call<{ entries: ReadonlyArray<{ changes: ReadonlyArray<{ to: string }> }> }>(
      "GET",
      "audit?action=evidence_overridden"
    )
    expect(entries[0]!.changes[0]!.to).toBe("Tried by hand, twice")
    // The newest change is what is taken back, and not the completion.
    await page.keyboard.press("Control+z")
    await page.getByText(`${identifier} asks for what it asked for before`).waitFor()
    await page.getByRole("button", { name: /Completion: Needs evidence.*2 runs/ }).waitFor({ state: "detached" })
    expect(await statusOf(identifier)).toBe("completed")
    // What is asked for again needs its evidence again: that is said where it is refused.
    await page.keyboard.press("v")
    await page.getByRole("menuitem", { name: /^Tests and runs that are asked/ }).click()
    await dialog.getByRole("button", { name: /^Remove / }).click()
    await dialog.getByRole("combobox", { name: "It is completed" }).click()
    await page.getByRole("option", { name: "By whoever moves it" }).click()
    await pressEnter(dialog.getByRole("button", { name: "Save" }))
    await dialog.waitFor({ state: "detached" })
    await page.keyboard.press("Control+z")
    await page.getByText(`${identifier} does not ask for what it asked for before`).first().waitFor()
    expect(await site.call("GET", `tickets/${identifier}`)).toMatchObject({ cases: null, completion: "free" })
  })

  it("that is missing is told where a ticket is completed by its key, with links; a reason completes it", async () => {
    const identifier = await ask("Pay by card")
    const page = await openScreen(site, `tickets/${identifier}`)
    await page.getByRole("region", { name: "Evidence" }).getByText("0 of 1", { exact: true }).waitFor()
    await page.getByRole("button", { name: /^Status: / }).waitFor()
    await page.keyboard.press("s")
    await page.getByRole("menuitemradio", { name: /Done/ }).click()
    const dialog = needs(page, `${identifier} needs evidence`)
    await dialog.getByText(/1 of 1\stest has not passed/).waitFor()
    await dialog.getByText("Must pass once in Staging, on another commit.", { exact: true }).waitFor()
    await dialog.getByText("Which runs count?").press("Enter")
    await dialog.getByText("ended after the test failed last, in each environment where it did").waitFor()
    await dialog.getByRole("link", { name: "Checkout › pays by card" }).waitFor()
    await dialog.getByRole("link", { name: /^run \d+/ }).waitFor()
    await page.locator("button", { hasText: /^Status: In progress/ }).waitFor()
    expect(await statusOf(identifier)).toBe("started")
    await dialog.getByRole("button", { name: "Complete anyway…" }).click()
    const why = page.getByRole("dialog", { name: `Complete ${identifier} without evidence` })
    await why.getByText("Still missing: a reason.").waitFor()
    await why.getByLabel("Why").fill("The test was wrong")
    await page.keyboard.press("Control+Enter")
    await page.getByText(`${identifier} completed without evidence`).waitFor()
    await page.getByRole("button", { name: /^Status: Done/ }).waitFor()
    const { entries } = await site.call<{ entries: ReadonlyArray<{ changes: ReadonlyArray<{ to: string }> }> }>(
      "GET",
      "audit?action=evidence_overridden"
    )
    expect(entries[0]!.changes[0]!.to).toBe("The test was wrong")
    await page.keyboard.press("Control+z")
    await page.getByText(`${identifier} is In progress again`).waitFor()
    await page.getByRole("button", { name: /^Status: In progress/ }).waitFor()
    expect(await statusOf(identifier)).toBe("started")
  })

  it("keeps a card where it was on the board, and several in the list", async () => {
    const [first, second] = [await ask("Pay by invoice"), await ask("Pay later")]
    const { identifier: free } = await site.call<{ identifier: string }>("POST", "tickets", {
      team: "EVI",
      title: "Free as a bird"
    })
    const page = await openScreen(site, `tickets?layout=board&teams=${encodeURIComponent('["EVI"]')}`)
    const column = (name: string) => page.getByRole("region", { name: new RegExp(`^${name}`) })
    const card = page.getByRole("listitem").filter({ hasText: first })
    // Cards can be dragged once the page knows who looks at it.
    await page.getByRole("button", { name: "New ticket" }).waitFor()
    await card.waitFor()
    await atRest(page)
    await card.dragTo(column("Done"))
    const dialog = needs(page, `${first} needs evidence`)
    await dialog.getByRole("link", { name: "Checkout › pays by card" }).waitFor()
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
    await column("In progress").getByText(first).waitFor()
    expect(await statusOf(first)).toBe("started")
    await page.goto(`${site.origin}/w/main/tickets?teams=${encodeURIComponent('["EVI"]')}`)
    for (const name of [first, second, free]) {
      await page.getByRole("checkbox", { name: `Select ${name}`, exact: true }).check()
    }
    await page.getByRole("toolbar", { name: "Selection" }).getByRole("button", { name: "Status" }).click()
    await page.getByRole("menuitemradio", { name: /Done/ }).click()
    await needs(page, "2 tickets need evidence").getByText("Pay later").waitFor()
    expect([await statusOf(first), await statusOf(second), await statusOf(free)]).toEqual([
      "started",
      "started",
      "completed"
    ])
    await page.getByRole("button", { name: "Complete anyway…" }).click()
    await page.getByRole("dialog").getByLabel("Why").fill("Both were wrong")
    await page.getByRole("dialog").getByRole("button", { name: "Complete anyway" }).click()
    await page.getByText("2 tickets completed without evidence").waitFor()
    expect([await statusOf(first), await statusOf(second)]).toEqual(["completed", "completed"])
  })

  it("is asked for by undo, too, and lets a ticket go once somebody else's run passed", async () => {
    const identifier = await ask("Pay in parts")
    const done = statuses.find(({ category }) => category === "completed")!.id
    await site.call("PATCH", `tickets/${identifier}`, { status: done, override: "By hand" })
    const page = await openScreen(site, `tickets/${identifier}`)
    await isLive(page)
    await page.getByRole("button", { name: /^Status: Done/ }).waitFor()
    await page.keyboard.press("s")
    await page.getByRole("menuitemradio", { name: /In progress/ }).click()
    await page.getByText(`${identifier} is In progress`).waitFor()
    await page.keyboard.press("Control+z")
    await needs(page, `${identifier} needs evidence`).getByRole("button", { name: "Leave it open" }).click()
    await page.getByRole("button", { name: /^Status: In progress/ }).waitFor()
    const number = await run("passed", "f")
    const part = page.getByRole("region", { name: "Evidence" })
    await part.getByText(/The ticket may be completed\.$/).waitFor()
    await part.getByRole("link", { name: `run ${number}`, exact: true }).waitFor()
    await page.keyboard.press("s")
    await page.getByRole("menuitemradio", { name: /Done/ }).click()
    await page.getByText(`${identifier} is Done`).waitFor()
    expect(await statusOf(identifier)).toBe("completed")
  })

  it("is waived by the keyboard alone: it is in the reason, and comes back to what had it", async () => {
    await run("failed", "d")
    const identifier = await ask("Pay with points")
    const page = await openScreen(site, `tickets/${identifier}`)
    const status = page.getByRole("button", { name: /^Status: In progress/ })
    await status.waitFor()
    const why = page.getByRole("dialog", { name: `Complete ${identifier} without evidence` })
    const openWhy = async () => {
      await page.keyboard.press("s")
      await page.getByRole("menuitemradio", { name: /Done/ }).waitFor()
      await page.keyboard.type("Done")
      await page.keyboard.press("Enter")
      await needs(page, `${identifier} needs evidence`)
        .getByRole("link", { name: /^run \d+/ })
        .waitFor()
      await pressEnter(page.getByRole("button", { name: "Complete anyway…" }))
      await why.waitFor()
    }
    await openWhy()
    // What gives the keyboard back has had its turn after some tasks.
    const focused = () =>
      page.evaluate(async () => {
        for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setTimeout(resolve))
        const one = document.activeElement
        return one instanceof HTMLTextAreaElement ? one.labels[0]?.textContent : one?.textContent
      })
    expect(await focused()).toContain("Why")
    await page.keyboard.press("Escape")
    await why.waitFor({ state: "detached" })
    expect(await focused()).toContain("In progress")
    await openWhy()
    // Each is a key of the page behind.
    await page.keyboard.type("so do p")
    await page.keyboard.press("Control+Enter")
    await page.getByText(`${identifier} completed without evidence`).waitFor()
    const { entries } = await site.call<{ entries: ReadonlyArray<{ changes: ReadonlyArray<{ to: string }> }> }>(
      "GET",
      "audit?action=evidence_overridden"
    )
    expect(entries[0]!.changes[0]!.to).toBe("so do p")
  })

  it("that a run gives while its lack is told completes the ticket without a reason", async () => {
    await run("failed", "a")
    const identifier = await ask("Pay twice")
    const page = await openScreen(site, `tickets/${identifier}`)
    await isLive(page)
    await page.getByRole("button", { name: /^Status: / }).waitFor()
    const refuse = async () => {
      await page.keyboard.press("s")
      await page.getByRole("menuitemradio", { name: /Done/ }).click()
      await needs(page, `${identifier} needs evidence`)
        .getByText(/1 of 1\stest has not passed/)
        .waitFor()
    }
    const given = page.getByRole("dialog", { name: `${identifier} may be completed now` })
    await refuse()
    await run("passed", "b")
    await given.getByRole("button", { name: "Cancel" }).click()
    expect(await statusOf(identifier)).toBe("started")
    await run("failed", "a")
    await page.getByRole("region", { name: "Evidence" }).getByText("0 of 1", { exact: true }).waitFor()
    await refuse()
    // Also where the reason is being typed.
    await page.getByRole("button", { name: "Complete anyway…" }).click()
    await page.getByLabel("Why").fill("It is late")
    await run("passed", "b")
    await given.getByRole("button", { name: "Complete" }).click()
    await page.getByText(`${identifier} completed`, { exact: true }).waitFor()
    expect(await statusOf(identifier)).toBe("completed")
  })
})

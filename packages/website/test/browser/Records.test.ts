import { once } from "node:events"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import type { Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, expect, it } from "vitest"
import { axeFindings } from "../support/Axe.ts"
import { seed } from "../support/Seed.ts"
import { startRun } from "../support/SeedSettings.ts"
import { callWith, joinAs, openScreen, pressEnter, type Site, startSite } from "../support/Site.ts"

/** What is kept of what happens, and told to others: the audit, webhooks, semaphores. */

let site: Site
let receiver: Server
/** What the receiver answers, and what it was sent. */
let status = 204
const received: Array<{ readonly signature: string; readonly body: string }> = []

beforeAll(async () => {
  receiver = createServer((request, response) => {
    let body = ""
    request.on("data", (part: Buffer) => {
      body += part.toString("utf8")
    })
    request.on("end", () => {
      received.push({ signature: String(request.headers["webhook-signature"]), body })
      response.statusCode = status
      response.end()
    })
  })
  receiver.listen(0, "127.0.0.1")
  await once(receiver, "listening")
  site = await startSite({ WEBHOOK_PRIVATE: "true", WEBHOOK_RETRY_MS: "20" })
  await seed(site.call)
})

afterAll(async () => {
  receiver.close()
  await site.close()
  expect(site.problems).toEqual([])
})

const open = (path: string, page?: Page) => openScreen(site, path, page)

/** Reads values of a secret, which is an entry of the audit and no event. */
const read = (product: string, name: string) => site.call("GET", `products/${product}/secrets/${name}`)

describe("Events", () => {
  it("say of what, are walked by keyboard, and narrowed by type in the address", async () => {
    await site.call("POST", "teams", { key: "OPS", name: "Operations" })
    const page = await open("events")
    const rows = page.getByRole("list", { name: "Events" }).getByRole("listitem")
    await rows.first().getByText("created team").waitFor()
    const at = () => rows.evaluateAll((all) => all.findIndex((row) => row === document.activeElement))
    await page.keyboard.press("j")
    expect(await at()).toBe(0)
    await page.keyboard.press("j")
    await page.keyboard.press("j")
    await page.keyboard.press("k")
    expect(await at()).toBe(1)
    await page.getByRole("button", { name: "Type" }).click()
    await page.getByRole("menuitemcheckbox", { name: "team" }).click()
    await page.keyboard.press("Escape")
    await expect.poll(() => page.url()).toContain("types=")
    await expect.poll(() => rows.count()).toBe(1)
    await page.locator("#screen").focus()
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { level: 1, name: "Operations" }).waitFor()
    await page.goBack()
    await expect.poll(() => rows.count()).toBe(1)
    await page.getByRole("button", { name: "Clear", exact: true }).click()
    await expect.poll(() => rows.count()).toBeGreaterThan(5)
  })
})

describe("The audit", () => {
  it("shows what others do at once, and who, with what and from where", async () => {
    const page = await open("audit?action=secret_read")
    const newest = page.getByRole("list", { name: "Audit" }).getByRole("listitem").first()
    await newest.getByText("DATABASE_URL of Shop").waitFor()
    await read("search", "DATABASE_URL")
    await newest.getByText("DATABASE_URL of Search API").waitFor()
    const details = newest.getByRole("button", { name: "Details of secret read DATABASE_URL of Search API" })
    await details.press("Enter")
    await newest.getByText("Network address").waitFor()
    expect(await details.getAttribute("aria-expanded")).toBe("true")
    await newest.getByText(/^API key …/).waitFor()
    await page.locator("#screen").focus()
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    await expect.poll(() => details.getAttribute("aria-expanded")).toBe("false")
  })

  it("is narrowed by action, actor, outcome and subject, which stand in the address", async () => {
    const page = await joinAs(site, "ada@example.com", "Ada", "admin")
    // Refused: an admin gives nobody the role of an owner.
    const { members } = await site.call<{ members: ReadonlyArray<{ id: string; name: string }> }>("GET", "members")
    const ada = members.find(({ name }) => name === "Ada")!
    await open("audit", page)
    const refused = await page.evaluate(
      async (member) =>
        (
          await fetch(`/v1/workspaces/main/members/${member}`, {
            method: "PATCH",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ role: "owner" })
          })
        ).status,
      ada.id
    )
    expect(refused).toBe(403)
    await page.keyboard.press("f")
    await page.waitForURL(/outcome=refused/)
    const list = page.getByRole("list", { name: "Audit" })
    await list.getByText("members: update").waitFor()
    expect(await list.getByRole("listitem").count()).toBe(await list.getByText("refused", { exact: true }).count())
    await page.getByRole("button", { name: "Clear", exact: true }).click()
    await page.getByRole("button", { name: "actor" }).click()
    await page.getByRole("menuitemradio", { name: "Ada" }).click()
    await page.waitForURL(new RegExp(`actor=${ada.id}`))
    await list.getByText("member joined").waitFor()
    expect(await list.getByText("Owner", { exact: true }).count()).toBe(0)
    await page.goBack()
    await open(`audit?action=agent_denied`, page)
    await page.getByRole("heading", { name: "No entry matches" }).waitFor()
    await page.getByRole("button", { name: "Clear", exact: true }).click()
    await list.getByRole("link", { name: "SENTRY_DSN of Shop" }).first().click()
    await page.waitForURL(/subject=/)
    await page.getByRole("button", { name: /subject is SENTRY_DSN of Shop/i }).waitFor()
    const labels = await list.getByRole("listitem").allInnerTexts()
    expect(labels.every((label) => label.includes("SENTRY_DSN"))).toBe(true)
  })

  it("goes on to older entries", async () => {
    for (let time = 0; time < 110; time++) {
      await read("shop", "SENTRY_DSN")
    }
    const page = await open("audit")
    const entries = page.getByRole("list", { name: "Audit" }).getByRole("listitem")
    await page.getByRole("button", { name: "Show older entries" }).click()
    await entries.nth(100).waitFor()
    await page.getByText("BANK_CERTIFICATE of Billing").first().waitFor()
  })
})

describe("A webhook", () => {
  it("is made with its secret, tried, parked, and goes on", async () => {
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
    const page = await open("webhooks")
    await page.getByText("A webhook tells another program what happens here").waitFor()
    await page.keyboard.press("c")
    await page.getByLabel("Address").fill("ftp://example.com")
    await page.getByRole("button", { name: "Create webhook" }).click()
    await page.getByText("Expected an absolute http(s) URL").waitFor()
    await page.getByLabel("Address").fill(url)
    await page.getByText("All are sent, unless you choose some.").waitFor()
    await pressEnter(page.getByRole("button", { name: "Choose kinds" }))
    const chosen = page.getByRole("list", { name: "Chosen kinds" }).getByRole("listitem")
    // All kinds of a subject at once, and none of them again.
    await page.keyboard.type("milestone: all")
    await page.keyboard.press("Enter")
    await page.keyboard.press("Escape")
    await expect
      .poll(() => chosen.allInnerTexts())
      .toEqual(["Milestone created", "Milestone deleted", "Milestone updated"])
    await pressEnter(page.getByRole("button", { name: "Choose kinds" }))
    await page.keyboard.type("milestone: all")
    await page.keyboard.press("Enter")
    await page.getByRole("textbox", { name: "Search: Kinds of events" }).fill("milestone del")
    await page.keyboard.press("Enter")
    await page.keyboard.press("Escape")
    await page.getByRole("button", { name: "Deployment updated", exact: true }).click()
    expect(await chosen.allInnerTexts()).toEqual(["Milestone deleted", "Deployment updated"])
    await page.getByRole("button", { name: "Leave out Milestone deleted" }).click()
    expect(await chosen.allInnerTexts()).toEqual(["Deployment updated"])
    await page.getByRole("button", { name: "Create webhook" }).click()
    const secret = await page.getByRole("dialog", { name: "The secret of your webhook" }).locator("pre").innerText()
    expect(secret).toMatch(/^whsec_/)
    await page.getByRole("button", { name: "I have copied it" }).click()
    await page.getByRole("dialog").waitFor({ state: "detached" })
    expect(await page.content()).not.toContain(secret)

    await page.getByRole("link", { name: new URL(url).host }).click()
    await page.getByText("Nothing was sent yet").waitFor()
    await page.getByRole("button", { name: "Send a test" }).click()
    const deliveries = page.getByRole("list", { name: "Deliveries" })
    await deliveries.getByRole("listitem").filter({ hasText: "test" }).getByText("delivered").waitFor()

    // What happens elsewhere comes by itself; what is refused parks it.
    status = 503
    await site.call("PATCH", "deployments/shop/staging", { version: "v9" })
    await page.getByText("It gave up on a delivery").waitFor()
    const delivery = deliveries.getByRole("listitem").filter({ hasText: "Deployment updated" })
    await delivery.getByText(/^503 in .*, after 2.tries$/).waitFor()
    await pressEnter(delivery.getByRole("button", { name: "Tries of Deployment updated" }))
    expect(await delivery.getByRole("list", { name: "Tries" }).getByRole("listitem").count()).toBe(2)
    await delivery.getByRole("button", { name: "Send again: Deployment updated" }).click()
    await page.getByText("Deployment updated is not delivered").first().waitFor()
    status = 204
    await page.getByRole("button", { name: "Go on" }).click()
    await delivery.getByText("delivered", { exact: true }).waitFor()
    await page.getByText("It gave up on a delivery").waitFor({ state: "detached" })
    expect(received.at(-1)!.body).toContain("deployment_updated")

    // Both secrets sign for a day.
    await page.getByRole("button", { name: "More", exact: true }).click()
    await page.getByRole("menuitem", { name: "Rotate secret" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Rotate secret" }).click()
    await page.getByRole("dialog", { name: "The new secret of your webhook" }).waitFor()
    await page.getByRole("button", { name: "I have copied it" }).click()
    await delivery.getByRole("button", { name: "Send again: Deployment updated" }).click()
    await page.getByText("Deployment updated is delivered").first().waitFor()
    expect(received.at(-1)!.signature.split(" ")).toHaveLength(2)

    await page.getByRole("button", { name: "More", exact: true }).click()
    await page.getByRole("menuitem", { name: "Change" }).click()
    await page.getByRole("combobox", { name: "Format" }).click()
    await page.getByRole("option", { name: "Slack" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click()
    await page.getByRole("definition").filter({ hasText: "Slack" }).waitFor()

    await page.getByRole("button", { name: "More", exact: true }).click()
    await page.getByRole("menuitem", { name: "Delete" }).click()
    await page.getByRole("button", { name: "Delete webhook", exact: true }).click()
    await page.waitForURL(/\/webhooks$/)
    await page.getByText("A webhook tells another program what happens here").waitFor()
  })
})

describe("Semaphores", () => {
  it("show who holds and who waits as that changes, and lead to the run", async () => {
    const page = await open("semaphores")
    await page.getByText("A semaphore limits how many tests use something at once").waitFor()
    const [first, second] = [await startRun(site), await startRun(site)]
    const [one, other] = [first, second].map(({ semaphores }) => callWith(site.origin, semaphores.token))
    const request = (test: string) => ({ capacity: 1, test, requestId: test, ttlMs: 300_000 })
    const path = "semaphores/payment-sandbox/leases"
    const held = await one!<{ lease: string }>("POST", path, request("cart.spec.ts › Cart › pays"))
    const holders = page.getByRole("list", { name: "Holders of payment-sandbox" })
    await holders.getByRole("link", { name: `Run ${first.number}` }).waitFor()
    await page.getByText("1 of 1 held").waitFor()
    await other!("POST", path, request("cart.spec.ts › Cart › waits"))
    const queue = page.getByRole("list", { name: "Queue of payment-sandbox" })
    await queue.getByRole("link", { name: `Run ${second.number}` }).waitFor()
    await page.getByText("1 waiting").waitFor()
    const ofRun = await open(`test-runs/${second.number}?view=details`)
    const waits = ofRun.getByRole("list", { name: "What this run has of payment-sandbox" })
    await waits.getByText("waits", { exact: true }).waitFor()
    await waits.getByRole("link", { name: /Cart › waits/ }).waitFor()
    expect(await waits.getByRole("listitem").count()).toBe(1)
    expect(await axeFindings(ofRun)).toEqual([])
    await one!("DELETE", `${path}/${held.lease}`)
    await holders.getByRole("link", { name: `Run ${second.number}` }).waitFor()
    await queue.waitFor({ state: "detached" })
    await waits.getByText("holds", { exact: true }).waitFor()
    // The day is told anew each minute, and when the screen is opened.
    await page.reload()
    await page.getByText("2 leases in 24 hours").waitFor()
    await page.keyboard.press("t")
    const table = page.getByRole("table", { name: "Use of payment-sandbox over the day" })
    const leases = await table.locator("tbody tr td:nth-child(3)").allInnerTexts()
    assert.strictEqual(
      leases.reduce((sum, count) => sum + Number(count), 0),
      2
    )
    await holders.getByRole("link", { name: "cart.spec.ts › Cart › waits" }).click()
    await page.waitForURL(new RegExp(`/test-runs/${second.number}\\?`))
    await page.getByRole("heading", { name: `Run ${second.number}` }).waitFor()
  })
})

import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { axeFindings } from "../support/Axe.ts"
import { atRest, joinAs, openScreen, type Site, startSite } from "../support/Site.ts"

/** Home: how a new workspace begins, to whom that is said, and where. */

let site: Site

beforeAll(async () => {
  site = await startSite()
  await site.call("POST", "teams", { key: "ENG", name: "Engineering" })
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

const headings = (page: Page) => page.locator("#screen").getByRole("heading", { level: 2 }).allInnerTexts()

describe("The first minute", () => {
  it("stands below what the person has to do, and stays put away in this browser", async () => {
    const me = await site.call<{ id: string }>("GET", "/v1/me")
    await site.call("POST", "tickets", { team: "ENG", title: "Pay by card", owner: me.id })
    const { statuses } = await site.call<{ statuses: ReadonlyArray<{ id: string; category: string }> }>(
      "GET",
      "ticket-statuses?team=ENG"
    )
    const status = statuses.find(({ category }) => category === "started")!.id
    await site.call("PATCH", "tickets/ENG-1", { status })
    const page = await openScreen(site, "")
    const first = page.getByRole("region", { name: "The first minute" })
    await first.getByText("Add a product").waitFor()
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
    await site.call("POST", "environments", { slug: "staging", name: "Staging", class: "non-production" })
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

import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { seed } from "../support/Seed.ts"
import { startRun } from "../support/SeedSettings.ts"
import { all, long, none, problemsOf, texts } from "../support/HostileTexts.ts"
import { callWith, joinAs, type Site, startSite } from "../support/Site.ts"

/** Names and texts that others write, each as bad as the API takes it: nothing of them runs, turns the page, or makes it wider. */

let site: Site

beforeAll(async () => {
  site = await startSite({ WEBHOOK_PRIVATE: "true" })
  await seed(site.call)
})

afterAll(async () => {
  await site.close()
  // Also what the policy of the pages has refused.
  expect(site.problems).toEqual([])
})

const plant = async () => {
  const { call, origin } = site
  await all(80, (name) => call("POST", "deployments/shop/production/tokens", { name }))
  await all(80, (name) => call("POST", "account-api-keys", { name, role: "member" }))
  await all(80, (name) => call("POST", "/v1/api-keys", { name }))
  await all(2_000, (text, index) =>
    call("POST", "webhooks", { url: `http://127.0.0.1:9/${index}${text.replaceAll(" ", "")}`.slice(0, 2_000) })
  )
  const publisher = { issuer: "https://gitlab.com", ownerId: "1", role: "viewer", scopes: null }
  await all(196, (workflow, index) =>
    call("POST", "trusted-publishers", {
      ...publisher,
      repositoryId: `1${index}`,
      workflow: `${workflow.replaceAll(/[@\\/]/g, "")}.yml`
    })
  )
  await all(255, (environment, index) =>
    call("POST", "trusted-publishers", { ...publisher, repositoryId: `2${index}`, workflow: "a.yml", environment })
  )
  await call("POST", "trusted-publishers", {
    ...publisher,
    repositoryId: "9".repeat(20),
    ownerId: "9".repeat(20),
    workflow: "b.yml",
    ref: `refs/heads/${long(289)}`
  })
  await all(255, (text) =>
    call("POST", "products/shop/secrets", { name: `SECRET_${text}`.slice(0, 255), values: { staging: "x" } })
  )
  await all(100, (name, index) => call("POST", "products", { slug: `p${index}`, name, type: "api" }))
  await all(100, (name) => call("PATCH", "/v1/workspaces/main", { name }))
  const run = await startRun(site)
  const holder = callWith(origin, run.semaphores.token)
  await all(100, (name, index) =>
    holder("POST", `semaphores/${encodeURIComponent(name.replaceAll("/", ""))}/leases`, {
      capacity: 2,
      ttlMs: 300_000,
      test: texts(1_000)[index]
    })
  )
  const waiting = { capacity: 1, ttlMs: 300_000, waitMs: 0 }
  for (const [index, test] of texts(1_000).entries()) {
    await holder("POST", "semaphores/queue/leases", { ...waiting, test, requestId: String(index) })
  }
}

/** People, each with a name that is bad; one of them has made what an admin sees. */
const joinAll = async () => {
  const pages: Array<Page> = []
  for (const [index, name] of texts(100).entries()) {
    pages.push(await joinAs(site, `a${index}${"x".repeat(50)}@${"y".repeat(60)}.example.com`, name, "viewer"))
  }
  return pages
}

const screens = [
  "audit",
  "webhooks",
  "semaphores",
  "events",
  "deployments/shop/production?view=tokens",
  "settings",
  "settings/profile",
  "settings/members",
  "settings/api-keys",
  "settings/api-keys?of=workspace",
  "settings/credentials",
  "settings/trusted-publishers"
]

describe("What others write", () => {
  it("stays text on every screen of settings and records, narrow and wide", async () => {
    await plant()
    const [theirs] = await joinAll()
    const found: Record<string, unknown> = {}
    const expected: Record<string, unknown> = {}
    for (const width of [1440, 320]) {
      const page = await site.signIn({ width })
      for (const path of screens) {
        found[`${path} at ${width}`] = await problemsOf(site, page, path)
        expected[`${path} at ${width}`] = none
      }
      await page.goto(`${site.origin}/w/main/webhooks`)
      for (const link of await page.getByRole("list", { name: "Webhooks" }).getByRole("link").all()) {
        const path = (await link.getAttribute("href"))!.replace("/w/main/", "")
        const other = await site.signIn({ width })
        found[`${path} at ${width}`] = await problemsOf(site, other, path)
        expected[`${path} at ${width}`] = none
        await other.context().close()
      }
    }
    found["their profile"] = await problemsOf(site, theirs!, "settings/profile")
    expected["their profile"] = none
    expect(found).toEqual(expected)
  })

  it("stays text in dialogs, details and what is said of it", async () => {
    const page = await site.signIn({ width: 320 })
    await page.goto(`${site.origin}/w/main/deployments/shop/production?view=tokens`)
    const list = page.getByRole("list", { name: "Deployment tokens" })
    const count = await list.getByRole("listitem").count()
    for (let row = 0; row < count; row++) {
      await list
        .getByRole("button", { name: /^Revoke/ })
        .nth(row)
        .click()
      await page.getByRole("dialog").waitFor()
      const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      expect(wider).toBe(0)
      await page.getByRole("button", { name: "Cancel" }).click()
      await page.getByRole("dialog").waitFor({ state: "detached" })
    }
    await page.goto(`${site.origin}/w/main/audit`)
    const details = page.getByRole("button", { name: /^Details of/ })
    await details.first().waitFor()
    for (const each of (await details.all()).slice(0, 40)) await each.click()
    const state = await page.evaluate(() => [
      "hacked" in window,
      document.documentElement.scrollWidth - innerWidth,
      document.querySelector("#screen")!.scrollWidth - document.querySelector("#screen")!.clientWidth
    ])
    expect(state).toEqual([false, 0, 0])
  })
})

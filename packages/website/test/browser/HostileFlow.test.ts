import { isDeepStrictEqual } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { all, long, none, problemsOf, texts } from "../support/HostileTexts.ts"
import { type Site, startSite } from "../support/Site.ts"

/** Products, environments, releases, rules, mutes and retries whose every text is bad: it stays text, and within the window. */

let site: Site

beforeAll(async () => {
  site = await startSite()
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

const git = (text: string) => ({
  branch: text.slice(0, 255),
  sha: "a".repeat(40),
  dirty: true,
  subject: text.slice(0, 500)
})
const machine = { hostname: long(200), platform: "linux" }

const attempt = (status: string, text: string) => ({
  status,
  durationMs: 20,
  startedAt: "2026-01-01T00:00:00.000Z",
  errorMessage: status === "failed" ? text : null,
  errorStack: status === "failed" ? text : null,
  files: []
})

/** A run of one test that fails, and a retry in which it passes, each text of which is the same. */
const failedRun = async (product: string, text: string) => {
  const { call } = site
  const { number } = await call<{ number: number }>("POST", "test-runs", {
    product,
    environment: "e0",
    baseUrl: "https://preview.example.com",
    git: git(text),
    machine,
    selection: { coverage: "critical", folders: [], caseIds: [] }
  })
  await call("POST", `test-runs/${number}/finish`, {
    interrupted: false,
    durationMs: 1_000,
    error: null,
    cleanup: null,
    tests: [
      {
        caseId: text.slice(0, 500),
        title: text.slice(0, 4_000),
        file: text.slice(0, 4_000),
        coverage: "critical",
        testKind: text.slice(0, 40),
        priority: null,
        files: [],
        attempt: attempt("failed", text.slice(0, 20_000))
      }
    ]
  })
  await call("POST", `test-runs/${number}/retries`, { passes: 1, baseUrl: null, git: git(text), machine })
  await call("POST", `test-runs/${number}/retries/1/finish`, {
    interrupted: false,
    cleanup: null,
    tests: [{ caseId: text.slice(0, 500), attempts: [attempt("failed", text.slice(0, 20_000))] }]
  })
  return number
}

/** Answers the screens that show what was planted. */
const plant = async (): Promise<ReadonlyArray<string>> => {
  const { call } = site
  const screens: Array<string> = []
  await call("POST", "teams", { key: "ENG", name: "Engineering" })
  const { id: owner } = await call<{ id: string }>("GET", "/v1/me")
  await all(100, (name, index) =>
    call("POST", "environments", {
      slug: `e${index}`,
      name,
      class: index === 0 ? "non-production" : "production"
    })
  )
  const { environments } = await call<{ environments: ReadonlyArray<{ slug: string }> }>("GET", "environments")
  screens.push(...environments.map(({ slug }) => `environments/${slug}`))
  await all(100, (name, index) => call("POST", "products", { slug: `p${index}`, name, type: "library" }))
  const { products } = await call<{ products: ReadonlyArray<{ slug: string }> }>("GET", "products")
  for (const [index, { slug: product }] of products.entries()) {
    const text = texts(100_000)[index]!
    screens.push(`products/${product}`, `products/${product}/delivery`, `products/${product}/muted-tests`)
    for (const { slug: environment } of environments) {
      await call("POST", "deployments", { product, environment, baseUrl: "https://shop.example.com" })
      for (const version of ["v1", text.slice(0, 255)]) {
        const commits = [{ sha: "abcdef0123", subject: text.slice(0, 2_000), author: text.slice(0, 255) }]
        await call("PATCH", `deployments/${product}/${environment}`, { version, commits }).catch(() => undefined)
      }
      await call("PUT", `deployments/${product}/${environment}/readiness-policy`, {
        from: environment === "e0" ? null : "e0",
        requires: [{ coverage: "critical" }],
        mutes: "block",
        freezes: [{ from: "2026-01-01T00:00:00.000Z", to: "2100-01-01T00:00:00.000Z", reason: text.slice(0, 200) }]
      })
      const page = `deployments/${product}/${environment}`
      screens.push(page, `${page}?view=readiness`, `${page}?view=compare`)
    }
    const number = await failedRun(product, text)
    screens.push(...["", "?view=tests", "?view=retries", "?view=details"].map((view) => `test-runs/${number}${view}`))
    const { identifier } = await call<{ identifier: string }>("POST", "tickets", {
      team: "ENG",
      title: text.slice(0, 200),
      owner
    })
    const until = new Date(Date.now() + 86_400_000).toISOString()
    await call("PUT", `tickets/${identifier}/mute`, { product, cases: [text.slice(0, 500)], until })
    screens.push(`tickets/${identifier}`)
    await call("POST", "test-rules", { product, team: "ENG", branch: text.slice(0, 200), when: { failures: 1 } })
  }
  await call("POST", "projects", { slug: "old", name: long(100), summary: long(200), teams: ["ENG"] })
  await call("PATCH", "projects/old", { archived: true })
  return [
    ...screens,
    "",
    "test-runs",
    "deployments",
    "muted-tests",
    "test-rules",
    "delivery",
    "projects?view=archived",
    "settings/members"
  ]
}

describe("What others write of releases and tests", () => {
  it("stays text on every screen, narrow and wide", async () => {
    const screens = await plant()
    const found: Record<string, unknown> = {}
    for (const width of [1440, 320]) {
      const page = await site.signIn({ width })
      for (const path of screens) {
        const problems = await problemsOf(site, page, path)
        if (!isDeepStrictEqual(problems, none)) found[`${path} at ${width}`] = problems
      }
      await page.context().close()
    }
    expect(found).toEqual({})
  }, 600_000)
})

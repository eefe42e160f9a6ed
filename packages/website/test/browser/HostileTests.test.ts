import { afterAll, beforeAll, expect, it } from "vitest"
import { pressEnter, type Site, startSite } from "../support/Site.ts"

/** Text of strangers on the screens of tests over time and of the vault: nothing of it runs, and nothing breaks the layout. */

let site: Site

beforeAll(async () => {
  site = await startSite()
})

afterAll(async () => {
  await site.close()
  expect(site.problems).toEqual([])
})

const long = "x".repeat(100_000)
const markup = "<img src=x onerror=alert(1)><svg onload=alert(2)>"

const finish = async (status: "passed" | "failed") => {
  const { number } = await site.call<{ number: number }>("POST", "test-runs", {
    product: "shop",
    environment: "staging",
    baseUrl: "https://staging.shop.example.com",
    git: {
      branch: `\u202e${"b".repeat(200)}`,
      sha: "a".repeat(40),
      dirty: false,
      subject: `${markup}${long.slice(0, 400)}`
    },
    machine: { hostname: "ci", platform: "linux" },
    selection: { coverage: null, folders: [], caseIds: [] }
  })
  const attempt = { status, durationMs: 20_000, startedAt: new Date().toISOString(), files: [] }
  await site.call("POST", `test-runs/${number}/finish`, {
    interrupted: false,
    durationMs: 1_000,
    error: null,
    cleanup: null,
    tests: [
      {
        caseId: `<b>/../%2f?#${"c".repeat(400)}`,
        title: `${markup}\u202e${long.slice(0, 3_000)}`,
        file: long.slice(0, 4_000),
        coverage: "critical",
        testKind: "<i>kind</i>",
        priority: null,
        files: [],
        attempt: {
          ...attempt,
          errorMessage: status === "failed" ? `${markup}${long}` : null,
          errorStack: null,
          files: status === "failed" ? [`${"<b>".repeat(20)}-expected.png`, `${"<b>".repeat(20)}-actual.png`] : []
        }
      }
    ]
  })
  return number
}

it("Hostile text stays text, within the window", async () => {
  await site.call("POST", "products", {
    slug: "shop",
    name: `${markup}${"n".repeat(40)}`.slice(0, 100),
    type: "website"
  })
  for (const slug of ["staging", "production"]) {
    const name = `<script>${slug}</script>${"e".repeat(60)}`
    await site.call("POST", "environments", {
      slug,
      name,
      class: slug === "production" ? "production" : "non-production"
    })
    await site.call("POST", "deployments", { product: "shop", environment: slug, baseUrl: "https://shop.example.com" })
  }
  await site.call("PATCH", "deployments/shop/staging", { version: "v1" })
  const base = await finish("passed")
  await site.call("PATCH", "deployments/shop/staging", {
    version: `<b>${"v".repeat(80)}`,
    commits: [{ sha: "abcdef0123", subject: `${markup}\u202e${long.slice(0, 1_500)}` }]
  })
  const name = `<b>${"N".repeat(250)}`
  await site.call("POST", "products/shop/secrets", { name, values: { staging: `${markup}${long.slice(0, 60_000)}` } })
  const run = await finish("failed")
  const counted = async () =>
    (await site.call<{ cases: ReadonlyArray<{ states: ReadonlyArray<string> }> }>("GET", "products/shop/cases"))
      .cases[0]
  while (!(await counted())?.states.includes("failing")) continue
  // Days are counted after the cases.
  const runsOfDays = async () =>
    (await site.call<{ days: ReadonlyArray<{ runs: number }> }>("GET", "products/shop/trends")).days.reduce(
      (sum, { runs }) => sum + runs,
      0
    )
  while ((await runsOfDays()) < 2) continue
  const screens = {
    "tests?product=shop": /<img src=x/,
    "trends?product=shop": /Finished runs/,
    [`compare?base=${base}&run=${run}`]: /<svg onload/,
    "vault?product=shop": /N{20}/,
    "vault/compare?product=shop": /N{20}/,
    [`products/shop/secrets/${encodeURIComponent(name)}`]: /has a value/
  }
  for (const width of [1440, 320]) {
    const page = await site.signIn({ width })
    page.on("dialog", () => site.problems.push("a dialog"))
    const isSound = async (what: string) => {
      const isWithin = await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)
      const elements = await page.locator("main script, main style, main i, main b, main svg[onload]").count()
      expect([what, isWithin, elements]).toEqual([what, true, 0])
    }
    for (const [path, text] of Object.entries(screens)) {
      await page.goto(`${site.origin}/w/main/${path}`)
      await page.locator("#screen").getByText(text).first().waitFor()
      await isSound(path)
    }
    await page.goto(`${site.origin}/w/main/tests?product=shop`)
    await page.getByRole("list", { name: "Tests" }).getByRole("link").first().press("Enter")
    await page.getByRole("list", { name: "Why" }).waitFor()
    await isSound("case")
    await page.getByRole("list", { name: "Newest results" }).getByRole("link").last().press("Enter")
    await pressEnter(page.getByRole("button", { name: "Side by side" }))
    await page.getByText("was never uploaded").first().waitFor()
    await isSound("pictures")
  }
})

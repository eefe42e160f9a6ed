import { crc32, deflateSync } from "node:zlib"
import type { Call } from "./Site.ts"

/** What a team of three products has after some weeks. The same each time but for ids and the clock. */

const chunk = (type: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}

/** A page of a shop in grey, as a PNG of 480 x 270 pixels, with its basket in this grey. */
const pictureOf = (basket: number) => {
  const [width, height] = [480, 270]
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 0, 0, 0, 0], 8)
  const lines = Array.from({ length: height }, (_, y) =>
    Buffer.from([
      0,
      ...Array.from({ length: width }, (_, x) => (y < 32 ? 60 : x > 320 && y > 60 && y < 200 ? basket : 240))
    ])
  )
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(Buffer.concat(lines))),
    chunk("IEND", Buffer.alloc(0))
  ])
}

const pictures = [
  ["-expected.png", pictureOf(160)],
  ["-diff.png", pictureOf(20)],
  [".png", pictureOf(205)]
] as const
const products = [
  { slug: "shop", name: "Shop", type: "website" },
  { slug: "search", name: "Search API", type: "api" },
  { slug: "billing", name: "Billing", type: "service" }
]

const environments = [
  { slug: "production", name: "Production", class: "production", emoji: "🌍" },
  { slug: "staging", name: "Staging", class: "non-production", emoji: "🧪" },
  { slug: "review", name: "Review apps", class: "non-production", emoji: null }
]

const commits = [
  ["a3f9c1d5e7b20486", "Show the basket beside the list of results"],
  ["b7e2d4f6a8c01357", "Retry payments that the bank has not answered"],
  ["c5d8e1f3a6b92740", "Keep the language of a guest who signs in"],
  ["d1f4a7b0c3e68592", "Cache the prices of a category for a minute"],
  ["e9a2b5c8d1f47036", "Ask for the postal code before the street"],
  ["f6b9c2d5e8a13470", "Index names of suppliers, too"],
  ["0c3d6e9f2a5b8147", "Remove the old checkout"],
  ["1d4e7f0a3b6c9258", "Round taxes per line, as invoices do"]
].map(([sha, subject]) => ({ sha: `${sha}${sha}${sha!.slice(0, 8)}`, subject: subject! }))

const titles = [
  "Checkout › pays by card",
  "Checkout › pays by invoice after a credit check",
  "Checkout › keeps the basket when the session ends",
  "Basket › adds a product from the list",
  "Basket › changes the quantity",
  "Basket › removes the last product",
  "Search › finds a product by its number",
  "Search › suggests while one types",
  "Search › filters by price and supplier",
  "Account › changes the address",
  "Account › downloads an invoice",
  "Account › ends other sessions",
  "Home › shows what was looked at last",
  "Home › shows the offers of the day",
  "Language › switches to German and back",
  "Language › keeps prices in the currency of the country"
]

const timeout = `TimeoutError: locator.click: Timeout 30000ms exceeded.
Call log:
  - waiting for getByRole('button', { name: 'Pay 42,00 €' })
  -   locator resolved to <button disabled class="pay">Pay 42,00 €</button>
  -   element is not enabled`

const mismatch = `Error: expect(received).toBe(expected) // Object.is equality

Expected: "42,00 €"
Received: "42,01 €"`

const stackOf = (message: string, file: string) => `${message}
    at ${file}:48:24
    at pay (/srv/shop/tests/support/pay.ts:17:11)
    at WorkerMain._runTest (/srv/shop/node_modules/playwright/lib/worker/workerMain.js:322:9)
    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)`

const fileOf = (title: string) =>
  `tests/${title.split(" ")[0]!.toLowerCase()}/${title.split("› ")[1]!.replaceAll(" ", "-")}.spec.ts`

interface Failing {
  readonly titles: ReadonlyArray<string>
  readonly message: string
}

const reportOf = (title: string, index: number, failing: ReadonlyArray<Failing>, startedAt: string) => {
  const failure = failing.find((one) => one.titles.includes(title))
  const file = fileOf(title)
  const folder = `${file.slice(6, -8)}`
  return {
    caseId: `${file}:${title}`,
    title,
    file,
    coverage: index < 6 ? "critical" : "acceptance",
    testKind: index % 3 === 0 ? "journey" : "behavior",
    priority: index < 3 ? "high" : null,
    files: [],
    attempt:
      index === 13
        ? { status: "skipped" }
        : {
            status: failure === undefined ? "passed" : "failed",
            durationMs: 900 + ((index * 733) % 4_000) + (failure === undefined ? 0 : 26_000),
            startedAt,
            errorMessage: failure?.message ?? null,
            errorStack: failure === undefined ? null : stackOf(failure.message, file),
            files:
              failure === undefined
                ? []
                : [
                    `${folder}/screenshot.png`,
                    ...(index === 0
                      ? ["expected", "actual", "diff"].map((name) => `${folder}/basket-${name}.png`)
                      : []),
                    `${folder}/stdout.txt`,
                    `${folder}/trace.zip`
                  ]
          }
  }
}

interface RunSpec {
  readonly product: string
  readonly environment: string
  readonly commit: number
  readonly branch?: string
  readonly failing?: ReadonlyArray<Failing>
}

const pays: Failing = { titles: titles.slice(0, 3), message: timeout }
const rounds: Failing = { titles: ["Account › downloads an invoice"], message: mismatch }

const finishRun = async (call: Call, { branch = "main", commit, environment, failing = [], product }: RunSpec) => {
  const { sha, subject } = commits[commit]!
  const startedAt = new Date().toISOString()
  const { number } = await call<{ number: number }>("POST", "test-runs", {
    product,
    environment,
    baseUrl: `https://${environment}.${product}.example.com`,
    git: { branch, sha, dirty: false, subject },
    machine: { hostname: "ci-7", platform: "linux" },
    selection: { coverage: "acceptance", folders: [], caseIds: [] }
  })
  const tests = titles.map((title, index) => reportOf(title, index, failing, startedAt))
  for (const { attempt } of tests) {
    for (const path of "files" in attempt ? (attempt.files ?? []) : []) {
      const picture = pictures.find(([end]) => path.endsWith(end))?.[1]
      if (picture !== undefined) await call("PUT", `test-runs/${number}/files/${path}`, picture)
      if (path.endsWith(".txt"))
        await call("PUT", `test-runs/${number}/files/${path}`, Buffer.from("Opens the basket\nPresses “Pay”\n"))
    }
  }
  await call("POST", `test-runs/${number}/finish`, {
    interrupted: false,
    durationMs: 61_000 + ((number * 7_919) % 120_000),
    error: null,
    cleanup: null,
    tests
  })
  return number
}

const names = [
  "DATABASE_URL",
  "SESSION_SECRET",
  "STRIPE_API_KEY",
  "STRIPE_WEBHOOK_SECRET",
  "SMTP_PASSWORD",
  "SENTRY_DSN",
  "SEARCH_TOKEN",
  "CDN_PURGE_KEY"
]

const seedVault = async (call: Call) => {
  for (const [index, name] of names.entries()) {
    await call("POST", "products/shop/secrets", {
      name,
      values: {
        staging: `staging value of ${name}`,
        ...(index % 3 === 1 ? {} : { production: `production value of ${name}` }),
        ...(index % 2 === 0 ? { review: `review value of ${name}` } : {})
      }
    })
  }
  await call("POST", "products/search/secrets", { name: "DATABASE_URL", values: { staging: "a", production: "b" } })
  await call("POST", "products/billing/secrets", { name: "BANK_CERTIFICATE", values: { production: "c" } })
  await call("PATCH", "products/shop/secrets/DATABASE_URL", {
    values: { staging: "postgres://shop:hunter2@db.staging/shop" }
  })
}

const seedDeployments = async (call: Call) => {
  for (const product of products) {
    for (const { slug } of environments) {
      if (product.slug !== "shop" && slug === "review") continue
      await call("POST", "deployments", {
        product: product.slug,
        environment: slug,
        baseUrl: `https://${slug}.${product.slug}.example.com`
      })
    }
  }
  for (const [index, { sha, subject }] of commits.entries()) {
    const release = { version: sha, commits: [{ sha, subject, author: "Ana Diaz" }] }
    await call("PATCH", "deployments/shop/staging", release)
    if (index < 5) await call("PATCH", "deployments/shop/production", release)
  }
  await call("PATCH", "deployments/shop/production", { version: commits[3]!.sha })
  await call("PATCH", "deployments/search/staging", { version: "v2.14.0" })
  await call("PATCH", "deployments/search/production", { version: "v2.13.2" })
  await call("PATCH", "deployments/billing/production", { version: "v1.8.0" })
}

const seedCatalog = async (call: Call) => {
  for (const product of products) await call("POST", "products", product)
  for (const environment of environments) await call("POST", "environments", environment)
}

export interface Seeded {
  /** Has new and known failures, and a flaky test. */
  readonly failed: number
  readonly passed: number
  readonly running: number
}

export const seed = async (call: Call): Promise<Seeded> => {
  await seedCatalog(call)
  await seedDeployments(call)
  await seedVault(call)
  for (let commit = 0; commit < 6; commit++) {
    await finishRun(call, {
      product: "shop",
      environment: "staging",
      commit,
      failing: commit === 3 ? [pays] : commit > 3 ? [rounds] : []
    })
    await finishRun(call, {
      product: "search",
      environment: "staging",
      commit,
      branch: "feature/index-names-of-suppliers-and-their-brands"
    })
  }
  await call("PUT", "deployments/shop/production/readiness-policy", {
    from: "staging",
    requires: [{ coverage: "critical" }, { coverage: "acceptance", severity: "warn" }],
    secrets: "block",
    freezes: [{ from: "2100-12-23T00:00:00.000Z", to: "2101-01-02T00:00:00.000Z", reason: "Holidays" }]
  })
  const failed = await finishRun(call, { product: "shop", environment: "staging", commit: 7, failing: [pays, rounds] })
  await finishRun(call, { product: "billing", environment: "staging", commit: 6 })
  const passed = await finishRun(call, { product: "shop", environment: "production", commit: 3 })
  const { number: running } = await call<{ number: number }>("POST", "test-runs", {
    product: "search",
    environment: "production",
    baseUrl: "https://search.example.com",
    git: { branch: "main", sha: commits[5]!.sha, dirty: false, subject: commits[5]!.subject },
    machine: { hostname: "ci-3", platform: "linux" },
    selection: { coverage: "critical", folders: [], caseIds: [] }
  })
  return { failed, passed, running }
}

/** A run of so many tests, of which some fail in two ways. */
export const seedLargeRun = async (call: Call, count = 5_000): Promise<number> => {
  const startedAt = new Date().toISOString()
  const { number } = await call<{ number: number }>("POST", "test-runs", {
    product: "shop",
    environment: "staging",
    baseUrl: "https://staging.shop.example.com",
    git: { branch: "main", sha: commits[7]!.sha, dirty: false, subject: commits[7]!.subject },
    machine: { hostname: "ci-7", platform: "linux" },
    selection: { coverage: "exhaustive", folders: [], caseIds: [] }
  })
  await call("POST", `test-runs/${number}/finish`, {
    interrupted: false,
    durationMs: 1_800_000,
    error: null,
    cleanup: null,
    tests: Array.from({ length: count }, (_, index) => ({
      caseId: `large/${index}`,
      title: `Catalogue › shows product ${index} with its price`,
      file: `tests/catalogue/part-${index % 50}.spec.ts`,
      coverage: "exhaustive",
      testKind: "behavior",
      priority: null,
      files: [],
      attempt: {
        status: index % 25 === 0 ? "failed" : "passed",
        durationMs: 100 + (index % 900),
        startedAt,
        errorMessage: index % 25 !== 0 ? null : index % 50 === 0 ? timeout : mismatch,
        errorStack: null,
        files: []
      }
    }))
  })
  return number
}

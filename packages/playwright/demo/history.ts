import type { AcceptedInvite, FinishTestRun, PromiseClient, TestRun } from "@delivery/client"
import { readFileSync } from "node:fs"
import { join } from "node:path"

/** What the team of the demo did before today. Everything goes through the API, as a team would have done it. */

export const slug = "main"
const params = { slug }

export const day = 24 * 60 * 60_000

const environments = [
  { slug: "staging", name: "Staging", class: "non-production", emoji: "🧪" },
  { slug: "production", name: "Production", class: "production", emoji: "🌍" },
  { slug: "review", name: "Review apps", class: "non-production" }
] as const

const products = [
  { slug: "shop", name: "Shop", type: "website" },
  { slug: "commons-csv", name: "Commons CSV", type: "library" },
  { slug: "billing", name: "Billing", type: "service" }
] as const

/** Products, where they are deployed, and their secrets. */
export const addCatalog = async (client: PromiseClient): Promise<void> => {
  for (const payload of products) await client.products.create({ params, payload })
  for (const payload of environments) await client.environments.create({ params, payload })
  for (const product of products) {
    for (const environment of environments) {
      if (environment.slug === "review" && product.slug !== "shop") continue
      await client.deployments.create({
        params,
        payload: {
          product: product.slug,
          environment: environment.slug,
          baseUrl: `https://${environment.slug}.${product.slug}.example.com`
        }
      })
    }
  }
  await client.deployments.update({
    params: { slug, product: "billing", environment: "staging" },
    payload: { version: "v1.9.0" }
  })
  await client.deployments.update({
    params: { slug, product: "billing", environment: "production" },
    payload: { version: "v1.8.2" }
  })
}

const secrets = [
  "DATABASE_URL",
  "SESSION_SECRET",
  "STRIPE_API_KEY",
  "STRIPE_WEBHOOK_SECRET",
  "SMTP_PASSWORD",
  "CDN_PURGE_KEY"
]

export const addSecrets = async (client: PromiseClient): Promise<void> => {
  const generator = { type: "token", bytes: 24, encoding: "base64url" } as const
  for (const [index, name] of secrets.entries()) {
    await client.vault.generate({
      params,
      payload: {
        products: index < 2 ? ["shop", "billing"] : ["shop"],
        // One is missing where it is needed, as it happens.
        environments: name === "STRIPE_WEBHOOK_SECRET" ? ["staging", "review"] : ["staging", "production", "review"],
        name,
        generator
      }
    })
  }
}

const people = [
  ["Ana Diaz", "ana@example.com", "admin"],
  ["Ben Okafor", "ben@example.com", "member"],
  ["Chloe Martin", "chloe@example.com", "member"],
  ["Dmitri Sokolov", "dmitri@example.com", "viewer"]
] as const

/** Invites the team, and answers the API keys of those who joined. */
export const addPeople = async (client: PromiseClient, url: string): Promise<ReadonlyArray<string>> => {
  const keys: Array<string> = []
  for (const [name, email, role] of people) {
    const { token } = await client.invites.create({ params, payload: { email, role, deliver: "link" } })
    // Whoever accepts has no key yet.
    const answer = await fetch(`${url}/v1/invites/accept`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token, name })
    })
    const { apiKey } = (await answer.json()) as AcceptedInvite
    if (apiKey !== null) keys.push(apiKey.secret)
  }
  return keys
}

const open: ReadonlyArray<readonly [title: string, status: string, person: number]> = [
  ["Round the total per line, as invoices do", "started", 1],
  ["Suggest what goes with a desk lamp", "unstarted", 2],
  ["Tell when the bank answers late", "started", 0],
  ["Show the delivery date in the basket", "unstarted", 1],
  ["Remember the basket for a week", "backlog", 2],
  ["Pay by invoice", "backlog", 0],
  ["Drop the old checkout", "completed", 1]
]

export const addTickets = async (client: PromiseClient): Promise<void> => {
  await client.teams.create({ params, payload: { key: "SHOP", name: "Shop" } })
  const { statuses } = await client.ticketStatuses.list({ params: { slug }, query: { team: "SHOP" } })
  await client.projects.create({
    params,
    payload: {
      slug: "checkout",
      name: "A checkout without surprises",
      teams: ["SHOP"],
      products: ["shop"],
      status: "active"
    }
  })
  for (const [title, category, person] of open) {
    const status = statuses.find((one) => one.category === category)?.id
    await client.tickets.create({
      params,
      payload: {
        team: "SHOP",
        title,
        owner: people[person]![1],
        project: "checkout",
        ...(status === undefined ? {} : { status })
      }
    })
  }
}

interface Version {
  readonly tag: string
  readonly commits: ReadonlyArray<{ readonly sha: string; readonly at: string; readonly subject: string }>
}

/** Tags of a public repository; the file says whose they are. */
const { versions } = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../server/test/releases/commons-csv.json"), "utf8")
) as { readonly versions: ReadonlyArray<Version> }

/** The tickets that the commits name, by their number. */
const namedTickets = (): ReadonlyMap<number, string> => {
  const named = new Map<number, string>()
  for (const { commits } of versions) {
    for (const { subject } of commits) {
      for (const [text, number] of subject.matchAll(/CSV-(\d+)/gi)) {
        const title = subject
          .replaceAll(/[[\](){}<>]/g, "")
          .replace(text, "")
          .replace(/^[\s:.,-]+/, "")
          .slice(0, 120)
        if (!named.has(Number(number)) && Number(number) < 300) named.set(Number(number), title || `Ticket ${number}`)
      }
    }
  }
  return named
}

const hour = 60 * 60_000

/** The releases of a public repository with their commits and tickets, one after the other, over weeks. */
export const addReleases = async (client: PromiseClient, setBehind: (millis: number) => void): Promise<void> => {
  await client.teams.create({ params, payload: { key: "CSV", name: "Commons CSV" } })
  const named = namedTickets()
  const { statuses } = await client.ticketStatuses.list({ params: { slug }, query: { team: "CSV" } })
  const done = statuses.find((one) => one.category === "completed")?.id
  for (let number = 1; number <= Math.max(...named.keys()); number++) {
    const title = named.get(number) ?? "Not named by a commit"
    const { identifier } = await client.tickets.create({
      params,
      payload: { team: "CSV", title, ...(done === undefined ? {} : { status: done }) }
    })
    if (!named.has(number)) await client.tickets.delete({ params: { slug, ticket: identifier } })
  }
  const set = (environment: string, version: string, commits?: Version["commits"]) =>
    client.deployments.update({
      params: { slug, product: "commons-csv", environment },
      payload: { version, ...(commits === undefined ? {} : { commits }) }
    })
  let before: string | undefined
  for (const [index, { commits, tag }] of versions.entries()) {
    const behind = (versions.length - index) * 1.5 * day
    setBehind(behind)
    await set("staging", tag, broughtNear(commits, behind))
    if (/RC/.test(tag)) continue
    await set("production", tag)
    if (tag === badRelease && before !== undefined) {
      setBehind(behind - 2 * hour)
      await set("production", before)
      continue
    }
    before = tag
  }
}

/** A release that is rolled back, so that there is a failure to measure. */
const badRelease = "rel/commons-csv-1.6"

/** The commits, which are years old, as if they had been made in the days before they are released. */
const broughtNear = (commits: Version["commits"], behind: number): Version["commits"] =>
  commits.map((commit, index) => ({
    ...commit,
    at: new Date(Date.now() - behind - (3 + ((index * 7) % 60)) * hour).toISOString()
  }))

/** What must hold before the shop goes to production, and a ticket that keeps it back. */
export const addPolicy = async (client: PromiseClient): Promise<void> => {
  const year = new Date().getUTCFullYear()
  await client.readiness.setPolicy({
    params: { slug, product: "shop", environment: "production" },
    payload: {
      from: "staging",
      requires: [{ coverage: "acceptance" }, { coverage: "critical", severity: "warn" }],
      secrets: "block",
      freezes: [{ from: `${year}-12-23T00:00:00Z`, to: `${year + 1}-01-02T00:00:00Z`, reason: "Holidays" }]
    }
  })
  await client.tickets.update({ params: { slug, ticket: "SHOP-3" }, payload: { blocks: true } })
}

export const commits = [
  ["a3f9c1d5e7b20486", "Show the basket beside the list of goods"],
  ["b7e2d4f6a8c01357", "Retry payments that the bank has not answered"],
  ["c5d8e1f3a6b92740", "Keep the language of a guest who signs in"],
  ["d1f4a7b0c3e68592", "Cache the prices of a category for a minute"],
  ["e9a2b5c8d1f47036", "Ask for the postal code before the street"],
  ["f6b9c2d5e8a13470", "Search while one types"],
  ["0c3d6e9f2a5b8147", "SHOP-7: drop the old checkout"],
  ["1d4e7f0a3b6c9258", "SHOP-1: round the total per line"]
].map(([sha, subject]) => ({ sha: `${sha}${sha}${sha!.slice(0, 8)}`, subject: subject! }))

export type Commit = (typeof commits)[number]

export const gitOf = ({ sha, subject }: Commit, branch = "main") => ({ branch, sha, subject, dirty: false })

const machine = { hostname: "ci-7", platform: "linux" } as const

const timeout = `TimeoutError: locator.click: Timeout 20000ms exceeded.
Call log:
  - waiting for getByRole('link', { name: 'Pay' })`

/** Which test failed in the so-manieth run of the past, and which was flaky: enough for labels to have something to show. */
const outcomeOf = (title: string, run: number): "passed" | "failed" | "flaky" => {
  if (title.endsWith("pays by card") && run % 11 > 8) return "failed"
  if (title.endsWith("finds a product while one types") && run % 6 === 2) return "flaky"
  return "passed"
}

/** The tests of a real run once more, as they came out in an earlier one. */
const testsOf = (real: TestRun, run: number, startedAt: string): FinishTestRun["tests"] =>
  real.tests.map(({ attempts, caseId, coverage, file, priority, testKind, title }) => {
    const report = { caseId, title, file, coverage, testKind, priority, files: [] }
    const durationMs = Math.round((attempts[0]?.durationMs ?? 0) * (0.8 + ((run * 37 + title.length * 13) % 50) / 100))
    const isFailed = outcomeOf(title, run) !== "passed"
    const attempt = isFailed
      ? { status: "failed" as const, errorMessage: timeout }
      : { status: "passed" as const, errorMessage: null }
    return {
      ...report,
      attempt:
        attempts.length === 0
          ? { status: "skipped" }
          : { ...attempt, durationMs, startedAt, errorStack: null, files: [] }
    }
  })

/** Runs the tests again that were flaky. */
const addRetry = async (client: PromiseClient, number: number, real: TestRun, run: number, startedAt: string) => {
  const flaky = real.tests.filter(({ title }) => outcomeOf(title, run) === "flaky")
  if (flaky.length === 0) return
  const path = { slug, run: number }
  const { git } = await client.testRuns.get({ params: path })
  const { retry } = await client.retries.start({
    params: path,
    payload: { passes: 1, git, machine, baseUrl: null }
  })
  const attempt = {
    status: "passed",
    durationMs: 900,
    startedAt,
    errorMessage: null,
    errorStack: null,
    files: []
  } as const
  await client.retries.finish({
    params: { ...path, retry },
    payload: { interrupted: false, tests: flaky.map(({ caseId }) => ({ caseId, attempts: [attempt] })) }
  })
}

/** Publishes runs of the past, of the tests of a real one, two a day. */
export const addRuns = async (
  keys: ReadonlyArray<PromiseClient>,
  real: TestRun,
  setBehind: (millis: number) => void
): Promise<void> => {
  const count = 44
  for (let run = 0; run < count; run++) {
    const behind = ((count - run) * day) / 2
    setBehind(behind)
    const client = keys[run % keys.length]!
    const commit = commits[Math.floor((run / count) * (commits.length - 1))]!
    const environment = run % 5 === 4 ? "production" : "staging"
    const target = { slug, product: "shop", environment }
    if (run % 5 === 4 || run % 6 === 0) {
      await client.deployments.update({
        params: target,
        payload: { version: commit.sha, commits: [{ ...commit, author: "Ana Diaz" }] }
      })
    }
    const startedAt = new Date(Date.now() - behind).toISOString()
    const { number } = await client.testRuns.start({
      params,
      payload: {
        product: "shop",
        environment,
        baseUrl: `https://${environment}.shop.example.com`,
        git: gitOf(commit, run % 7 === 3 ? "feature/suggest-what-goes-with-it" : "main"),
        machine,
        selection: { coverage: "acceptance", folders: [], caseIds: [] }
      }
    })
    await client.testRuns.finish({
      params: { slug, run: number },
      payload: {
        interrupted: false,
        durationMs: Math.round(real.durationMs * (0.9 + (run % 9) / 30)),
        tests: testsOf(real, run, startedAt)
      }
    })
    await addRetry(client, number, real, run, startedAt)
  }
}

/** The test that is flaky in the past: a ticket of the team mutes it. */
const flakyTitle = "finds a product while one types"

/** Has tickets made of what fails in the newest runs, and mutes what is known to fail. Answers the rule. */
export const addRule = async (client: PromiseClient, real: TestRun): Promise<string> => {
  const flaky = real.tests.filter(({ title }) => title.endsWith(flakyTitle)).map(({ caseId }) => caseId)
  await client.mutes.set({
    params: { slug, ticket: "SHOP-2" },
    payload: { product: "shop", cases: flaky, until: new Date(Date.now() + 20 * day).toISOString() }
  })
  const { id } = await client.testRules.create({
    params,
    payload: {
      product: "shop",
      environment: "staging",
      branch: "main",
      when: { failures: 1, ofLast: 3 },
      team: "SHOP",
      project: "checkout",
      owner: people[1][1],
      closeAfter: 2
    }
  })
  return id
}

/** Whoever mends what the rule has found completes its ticket with evidence only. */
export const askForEvidence = async (client: PromiseClient, rule: string): Promise<void> => {
  const { tickets } = await client.testRules.tickets({ params: { slug, testRule: rule } })
  for (const { identifier } of tickets.slice(0, 1)) {
    await client.tickets.update({
      params: { slug, ticket: identifier },
      payload: { completion: "evidence", passes: 2 }
    })
  }
}

import { spawn } from "node:child_process"
import assert from "node:assert/strict"
import { once } from "node:events"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { startPostgres } from "../support/PostgresServer.ts"
import { freePort } from "../../src/cli/FreePort.ts"

/**
 * Fills a server of an earlier version, opens its data with this one, and compares every answer. An answer
 * may have new fields; what it had must be there.
 *
 *     git worktree add ../before VERSION && (cd ../before && pnpm install)
 *     node packages/server/test/upgrade/upgrade.ts ../before
 *
 * Not a test of the suite, since it needs the checkout of another version. CONTRIBUTING.md says when to run it.
 */

const before = process.argv[2]
if (before === undefined) throw new Error("Name the checkout of the earlier version.")

type Json = Readonly<Record<string, never>>
type Settings = Readonly<Record<string, string>>

const mainOf = (checkout: string): string => {
  const found = ["packages/server/src/cli/main.ts", "packages/server/src/main.ts"].map((path) =>
    resolve(checkout, path)
  )
  return found.find((path) => existsSync(path))!
}

/** Runs a server while `use` does. */
const withServer = async <A>(checkout: string, settings: Settings, use: () => Promise<A>): Promise<A> => {
  const environment = { PATH: process.env["PATH"], LOG_LEVEL: "warn", ...settings }
  const child = spawn(process.execPath, [mainOf(checkout), "serve"], { cwd: checkout, env: environment })
  const ended = once(child, "exit")
  let output = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()))
  try {
    for (;;) {
      const isReady = await fetch(`http://127.0.0.1:${settings["PORT"]}/ready`).then(
        ({ ok }) => ok,
        () => false
      )
      if (isReady) break
      if (child.exitCode !== null) throw new Error(output)
      await new Promise((resume) => setTimeout(resume, 50))
    }
    return await use()
  } finally {
    child.kill("SIGTERM")
    await ended
  }
}

const key = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"

class Client {
  readonly #baseUrl: string
  readonly #token: string | undefined
  constructor(port: string, token: string | undefined) {
    this.#baseUrl = `http://127.0.0.1:${port}`
    this.#token = token
  }
  async #send(method: string, path: string, body?: unknown, type = "application/json") {
    const url = this.#baseUrl + (path.startsWith("/") ? path : `/v1/workspaces/main/${path}`)
    const headers = {
      ...(this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }),
      ...(body === undefined ? {} : { "content-type": type })
    }
    const content = body === undefined ? null : type === "application/json" ? JSON.stringify(body) : String(body)
    const answer = await fetch(url, { method, headers, body: content })
    const text = await answer.text()
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return { status: answer.status, text, type: answer.headers.get("content-type") ?? "" }
  }
  async get(path: string): Promise<unknown> {
    const { text, type } = await this.#send("GET", path)
    return type.startsWith("application/json") ? JSON.parse(text) : text
  }
  async post<A = Json>(path: string, body?: unknown): Promise<A> {
    const { text } = await this.#send("POST", path, body)
    return (text === "" ? undefined : JSON.parse(text)) as A
  }
  patch = (path: string, body: unknown) => this.#send("PATCH", path, body)
  put = (path: string, body: unknown, type?: string) => this.#send("PUT", path, body, type)
  delete = (path: string) => this.#send("DELETE", path)
}

const attempt = (status: "passed" | "failed") => ({
  status,
  durationMs: 12.5,
  startedAt: "2026-11-21T09:30:10.000Z",
  ...(status === "failed" ? { errorMessage: "Expected 200" } : {})
})
const test = (caseId: string, status: "passed" | "failed") => ({
  caseId,
  title: `Case ${caseId}`,
  file: `${caseId}.spec.ts`,
  coverage: "acceptance",
  testKind: "behavior",
  attempt: attempt(status),
  files: status === "failed" ? ["trace/a b.zip"] : []
})
const origin = {
  git: { branch: "main", sha: "9fceb02d0ae598e95dc970b74767f19372d61af8", dirty: false, subject: "Add the basket" },
  machine: { hostname: "ci-7", platform: "linux" }
}

const fillIdentity = async (owner: Client, port: string) => {
  // Accepting with somebody's key would join that person.
  const nobody = new Client(port, undefined)
  const invite = await owner.post<{ token: string }>("invites", { email: "sam@example.com", role: "member" })
  const sam = await nobody.post<{ apiKey: { secret: string }; person: { id: string } }>("/v1/invites/accept", {
    token: invite.token,
    name: "Sam"
  })
  await owner.post("invites", { email: "later@example.com", role: "viewer" })
  const left = await owner.post<{ token: string }>("invites", { email: "left@example.com", role: "viewer" })
  const gone = await nobody.post<{ person: { id: string } }>("/v1/invites/accept", { token: left.token, name: "Lee" })
  await owner.post(`members/${gone.person.id}/deactivate`)
  const account = await owner.post<{ secret: string }>("account-api-keys", { name: "ci", role: "member" })
  await owner.post("/v1/workspaces", { slug: "second", name: "Second" })
  return {
    samId: sam.person.id,
    samKey: sam.apiKey.secret,
    sam: new Client(port, sam.apiKey.secret),
    accountKey: account.secret,
    ci: new Client(port, account.secret)
  }
}

const fillCatalog = async (owner: Client) => {
  for (const slug of ["shop", "docs", "old"]) {
    await owner.post("products", { slug, name: `The ${slug}`, type: "website", repository: `acme/${slug}` })
  }
  for (const [slug, environmentClass] of [
    ["staging", "non-production"],
    ["production", "production"]
  ]) {
    await owner.post("environments", { slug, name: slug, class: environmentClass, emoji: "🚀" })
    for (const product of ["shop", "docs", "old"]) {
      await owner.post("deployments", {
        product,
        environment: slug,
        baseUrl: `https://${slug}.${product}.example`,
        fixtureUrl: "https://fixtures.example",
        version: "1.0.0"
      })
    }
  }
  await owner.patch("deployments/shop/staging", { version: "1.1.0" })
  await owner.delete("deployments/docs/production")
  await owner.post("products/old/archive")
}

const fillVault = async (owner: Client) => {
  await owner.post("products/shop/secrets", {
    name: "DATABASE_URL",
    values: { staging: "postgres://a", production: "b" }
  })
  await owner.patch("products/shop/secrets/DATABASE_URL", { values: { staging: "postgres://c" } })
  await owner.post("products/docs/secrets", { name: "TOKEN", values: { staging: "ünï\n😀" } })
  await owner.patch("products/docs/secrets/TOKEN", { values: { staging: null } })
  await owner.post("vault/assignments", {
    name: "SHARED",
    products: ["shop", "docs"],
    environments: ["staging"],
    value: "same",
    requestId: "upgrade-check"
  })
}

const fillRuns = async (ci: Client) => {
  const start = { product: "shop", environment: "staging", baseUrl: "https://preview.example", ...origin }
  const selection = { coverage: "acceptance", folders: ["checkout"], caseIds: [] }
  for (const tests of [[test("a", "passed")], [test("a", "failed"), test("b", "passed")]]) {
    const { number } = await ci.post<{ number: number }>("test-runs", { ...start, selection })
    await ci.put(`test-runs/${number}/files/trace/a b.zip`, "bytes of a trace", "application/zip")
    await ci.post(`test-runs/${number}/finish`, { interrupted: false, durationMs: 1000, tests, cleanup: undefined })
  }
  const { retry } = await ci.post<{ retry: number }>("test-runs/2/retries", { passes: 2, baseUrl: null, ...origin })
  const attempts = [attempt("failed"), attempt("passed")]
  await ci.post(`test-runs/2/retries/${retry}/finish`, { interrupted: false, tests: [{ caseId: "a", attempts }] })
  // One that still runs when the server stops.
  await ci.post("test-runs", { ...start, selection })
}

const fillPlanning = async (owner: Client, samId: string) => {
  await owner.post("teams", { key: "ENG", name: "Engineering" })
  await owner.post("teams", { key: "SEC", name: "Security", visibility: "private" })
  await owner.post("teams/ENG/members", { member: samId })
  await owner.post("projects", {
    slug: "site",
    name: "Site",
    teams: ["ENG"],
    products: ["shop"],
    targetDate: "2027-02-03"
  })
  await owner.post("projects/site/milestones", { name: "Beta" })
  const tag = await owner.post<{ id: string }>("tags", { name: "bug", color: "#ff0000", team: null })
  await owner.post("tickets", {
    team: "ENG",
    title: "First",
    project: "site",
    milestone: 1,
    tags: [tag.id],
    owner: samId
  })
  await owner.post("tickets", { team: "ENG", title: "Second", description: "A *list*" })
  await owner.post("tickets", { team: "SEC", title: "Hidden" })
  await owner.post("tickets/ENG-2/reorder", { before: "ENG-1" })
  await owner.patch("tickets/ENG-2", { team: "SEC" })
  await owner.post("tickets/ENG-1/comments", { body: `Hello [@Sam](user:${samId})` })
  await owner.post("views", {
    name: "Bugs",
    scope: { kind: "team", key: "ENG" },
    filters: { tags: [tag.id], statuses: ["Todo"] },
    layout: "board"
  })
}

const fillAgents = async (sam: Client, owner: Client, port: string) => {
  const agent = await sam.post<{ agent: string; access_token: string }>("agents/register", {
    client: "claude",
    computer: "laptop"
  })
  await owner.post("messages", { agent: agent.agent, ticket: "ENG-1", ask: "build", note: "Soon" })
  const taken = new Client(port, agent.access_token)
  const { messages } = await taken.post<{ messages: ReadonlyArray<{ id: string }> }>("/agent/v1/inbox/take", {})
  await taken.post(`/agent/v1/messages/${messages[0]!.id}/complete`, { reply: "Done" })
  await owner.post("messages", { agent: agent.agent, ticket: "ENG-1", ask: "plan" })
  return { agentKey: agent.access_token, message: messages[0]!.id }
}

interface Filled {
  readonly keys: ReadonlyArray<string>
  readonly agentKey: string
  readonly message: string
}

const fill = async (port: string): Promise<Filled> => {
  const owner = new Client(port, key)
  const { accountKey, ci, sam, samId, samKey } = await fillIdentity(owner, port)
  await fillCatalog(owner)
  await fillVault(owner)
  await fillRuns(ci)
  await fillPlanning(owner, samId)
  const { agentKey, message } = await fillAgents(sam, owner, port)
  return { keys: [key, samKey, accountKey], agentKey, message }
}

const paths = [
  "/v1/me",
  "/v1/workspaces",
  "",
  "members",
  "products?archived=include",
  "products/shop",
  "environments?archived=include",
  "environments/production",
  "deployments?archived=include",
  "deployments/shop/staging",
  "products/shop/secrets",
  "products/shop/secrets/DATABASE_URL",
  "products/docs/secrets/TOKEN",
  "products/shop/secrets/DATABASE_URL/environments/staging/versions",
  "vault",
  "test-runs",
  "test-runs?q=basket",
  "test-runs?result=passed",
  "test-runs/1",
  "test-runs/2",
  "test-runs/3",
  "test-runs/2/files/trace%2Fa%20b.zip",
  "semaphores",
  "teams?archived=include",
  "teams/ENG/members",
  "tickets",
  "tickets/ENG-1",
  "tickets/ENG-1/comments",
  "ticket-statuses",
  "ticket-statuses?team=ENG",
  "projects?archived=include",
  "projects/site",
  "views?team=ENG",
  "views?project=site",
  "tags",
  "agents",
  "messages",
  "notifications",
  "events"
]
const ownerPaths = ["invites", "account-api-keys", "/v1/api-keys", "tickets/ENG-2", "tickets/SEC-1", "teams/SEC"]

/**
 * What changes by being read or by time: when a credential was last used, and what counts down; and cursors of events, which a
 * version may write otherwise.
 */
const volatile = new Set(["lastUsedAt", "lastSeenAt", "live", "retryAfterMs", "before", "after"])
const stable = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (name, inner) => (volatile.has(name) ? undefined : inner)))

const read = async (port: string, { agentKey, keys, message }: Filled): Promise<ReadonlyMap<string, unknown>> => {
  const answers = new Map<string, unknown>()
  for (const [index, token] of keys.entries()) {
    const client = new Client(port, token)
    for (const path of index === 0 ? [...paths, ...ownerPaths] : paths) {
      const answer = await client.get(path).catch((error: Error) => error.message)
      answers.set(`${index} ${path}`, stable(answer))
    }
  }
  const agent = new Client(port, agentKey)
  for (const path of [
    "me",
    "inbox",
    `messages/${message}`,
    "tickets",
    "tickets/ENG-1",
    "ticket-statuses",
    "projects"
  ]) {
    answers.set(`agent ${path}`, stable(await agent.get(`/agent/v1/${path}`).catch((error: Error) => error.message)))
  }
  return answers
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Where `after` does not hold what `before` did. A field that only `after` has is an addition and goes into `added`. */
const differences = (before: unknown, after: unknown, path: string, added: Set<string>): ReadonlyArray<string> => {
  if (isRecord(before) && isRecord(after)) {
    for (const name of Object.keys(after)) if (!(name in before)) added.add(name)
    return Object.keys(before).flatMap((name) => differences(before[name], after[name], `${path} ${name}`, added))
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((inner, index) => differences(inner, after[index], `${path} ${index}`, added))
  }
  const [was, is] = [JSON.stringify(before), JSON.stringify(after)]
  return was === is ? [] : [`${path}: ${was} became ${is}`]
}

/** What is read can also be changed. */
const write = async (port: string): Promise<void> => {
  const owner = new Client(port, key)
  await owner.patch("deployments/shop/staging", { version: "2.0.0" })
  await owner.patch("products/shop/secrets/DATABASE_URL", { values: { staging: "postgres://d" } })
  await owner.patch("tickets/ENG-1", { title: "Changed" })
  await owner.post("tickets", { team: "ENG", title: "Third" })
  await fillRuns(owner)
}

const check = async (name: string, settings: Settings): Promise<void> => {
  const port = String(await freePort())
  const all = { ...settings, PORT: port, BASE_URL: "https://delivery.example", BOOTSTRAP_API_KEY: key }
  const [filled, expected] = await withServer(resolve(before), all, async () => {
    const made = await fill(port)
    return [made, await read(port, made)] as const
  })
  const found = await withServer(resolve(import.meta.dirname, "../../../.."), all, async () => {
    const answers = await read(port, filled)
    await write(port)
    return answers
  })
  const readable = [...expected.values()].filter((answer) => typeof answer !== "string" || answer.startsWith("bytes"))
  const added = new Set<string>()
  const lost = [...expected].flatMap(([path, answer]) => differences(answer, found.get(path), path, added))
  assert.deepEqual(lost, [], `${name}: answers that this version lost or changed`)
  const fields = added.size === 0 ? "" : ` New fields: ${[...added].toSorted().join(", ")}.`
  process.stdout.write(`${name}: ${found.size} answers are kept, ${readable.length} of them data.${fields}\n`)
}

const directory = mkdtempSync(join(tmpdir(), "delivery-upgrade-"))
const postgres = await startPostgres()
try {
  const vaultKeys = `k1:${Buffer.alloc(32, 7).toString("base64")}`
  await check("The embedded database", { DATA_DIR: join(directory, "embedded") })
  await check("PostgreSQL", {
    DATA_DIR: join(directory, "postgres"),
    DATABASE_URL: postgres.url,
    VAULT_KEYS: vaultKeys
  })
} finally {
  await postgres.stop()
  rmSync(directory, { recursive: true, force: true })
}

import { Client, key } from "./Versions.ts"

/** Everything that the API can store. */

export const attempt = (status: "passed" | "failed") => ({
  status,
  durationMs: 12.5,
  startedAt: "2026-11-21T09:30:10.000Z",
  ...(status === "failed" ? { errorMessage: "Expected 200" } : {})
})
export const test = (caseId: string, status: "passed" | "failed") => ({
  caseId,
  title: `Case ${caseId}`,
  file: `${caseId}.spec.ts`,
  coverage: "acceptance",
  testKind: "behavior",
  attempt: attempt(status),
  files: status === "failed" ? ["trace/a b.zip"] : []
})
export const origin = {
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

export const fillRuns = async (ci: Client) => {
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

export interface Filled {
  readonly keys: ReadonlyArray<string>
  readonly agentKey: string
  readonly message: string
}

export const fill = async (port: string): Promise<Filled> => {
  const owner = new Client(port, key)
  const { accountKey, ci, sam, samId, samKey } = await fillIdentity(owner, port)
  await fillCatalog(owner)
  await fillVault(owner)
  await fillRuns(ci)
  await fillPlanning(owner, samId)
  const { agentKey, message } = await fillAgents(sam, owner, port)
  return { keys: [key, samKey, accountKey], agentKey, message }
}

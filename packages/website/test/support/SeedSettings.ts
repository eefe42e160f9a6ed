import { createServer } from "node:http"
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { accept, callWith, type Site } from "./Site.ts"

/** What an admin has made after some weeks: tokens, publishers, webhooks, keys, and semaphores that are held and waited for. */

export interface SeededSettings {
  /** The id of a webhook whose deliveries arrive. */
  readonly webhook: string
  /** Ends what receives them. */
  readonly close: () => void
}

/** Receives deliveries: those below `/broken` are refused. */
const startReceiver = async () => {
  const server = createServer((request, response) => {
    response.statusCode = request.url?.startsWith("/broken") === true ? 503 : 204
    response.end()
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => void server.close() }
}

const semaphoreTests = [
  "tests/checkout/pays-by-card.spec.ts › Checkout › pays by card",
  "tests/checkout/pays-by-invoice.spec.ts › Checkout › pays by invoice after the address was changed in a second window",
  "tests/account/invoices.spec.ts › Account › downloads an invoice"
]

interface Started {
  readonly number: number
  readonly semaphores: { readonly token: string }
}

/** A run that runs. */
export const startRun = ({ call }: Pick<Site, "call">) =>
  call<Started>("POST", "test-runs", {
    product: "shop",
    environment: "staging",
    baseUrl: "https://staging.shop.example.com",
    git: { branch: "main", sha: "a".repeat(40), dirty: false, subject: "Show the basket beside the list of results" },
    machine: { hostname: "ci-9", platform: "linux" },
    selection: { coverage: "critical", folders: [], caseIds: [] }
  })

const seedSemaphores = async (site: Site) => {
  const [first, second] = [await startRun(site), await startRun(site)]
  const [one, other] = [first, second].map(({ semaphores }) => callWith(site.origin, semaphores.token)) as [
    Site["call"],
    Site["call"]
  ]
  const ttlMs = 300_000
  const held: Array<() => Promise<unknown>> = []
  const take = async (call: Site["call"], name: string, capacity: number, test: string, requestId: string) => {
    const leases = `semaphores/${name}/leases`
    const ask = () =>
      call<{ lease: string; position?: number }>("POST", leases, { capacity, test, requestId, ttlMs, waitMs: 0 })
    const { lease, position } = await ask()
    held.push(() => (position !== undefined ? ask() : call("POST", `${leases}/${lease}/renew`, { ttlMs })))
    return lease
  }
  const lease = await take(one, "printer", 1, semaphoreTests[0]!, "4")
  await one("DELETE", `semaphores/printer/leases/${lease}`)
  held.length = 0
  await take(one, "payment-sandbox", 2, semaphoreTests[0]!, "1")
  await take(other, "payment-sandbox", 2, semaphoreTests[1]!, "1")
  await take(one, "payment-sandbox", 2, semaphoreTests[2]!, "2")
  await take(other, "payment-sandbox", 2, semaphoreTests[0]!, "2")
  await take(one, "mailbox", 3, semaphoreTests[2]!, "3")
  // As holders and those who wait do: the screens are looked at for longer than a lease and a place last.
  const renewing = setInterval(() => {
    for (const renew of held) void renew()
  }, 5_000)
  return () => clearInterval(renewing)
}

const seedTokens = async ({ call }: Site) => {
  const path = "deployments/shop/production/tokens"
  const { token } = await call<{ token: string }>("POST", path, { name: "kubernetes" })
  const old = await call<{ id: string }>("POST", path, {
    name: "old machine",
    expiresAt: new Date(Date.now() + 40 * 86_400_000).toISOString(),
    allowedAddresses: ["203.0.113.0/24", "2001:db8::/32"]
  })
  await call("POST", `${path}/${old.id}/rotate`, { overlapSeconds: 86_400 })
  return token
}

const seedPublishers = async ({ call }: Site) => {
  const shared = { ref: "refs/heads/main", role: "member", scopes: ["read", "publish"] }
  await call("POST", "trusted-publishers", {
    ...shared,
    issuer: "https://token.actions.githubusercontent.com",
    repositoryId: "710093112",
    ownerId: "9919421",
    workflow: "e2e.yml"
  })
  await call("POST", "trusted-publishers", {
    ...shared,
    issuer: "https://gitlab.com",
    repositoryId: "4711",
    ownerId: "72",
    workflow: ".gitlab-ci.yml",
    environment: "production",
    allowPullRequests: true
  })
}

/** Needs a site that was started with `WEBHOOK_PRIVATE`. */
const seedWebhooks = async ({ call }: Site) => {
  const receiver = await startReceiver()
  const { id } = await call<{ id: string }>("POST", "webhooks", { url: `${receiver.url}/delivery` })
  // Before anything happens that is delivered to it: the order of deliveries is always the same.
  await call("POST", `webhooks/${id}/test`, {})
  await call("POST", "webhooks", {
    url: `${receiver.url}/broken/T0/B0/x`,
    format: "slack",
    kinds: ["run_finished", "deployment_updated"]
  })
  return { webhook: id, close: receiver.close }
}

export const seedSettings = async (site: Site): Promise<SeededSettings> => {
  const { call, origin } = site
  const token = await seedTokens(site)
  await fetch(`${origin}/deploy/v1/me`, { headers: { authorization: `Bearer ${token}` } })
  await seedPublishers(site)
  const webhooks = await seedWebhooks(site)
  await call("POST", "account-api-keys", { name: "ci", role: "member", scopes: ["read", "publish"] })
  const invite = await call<{ token: string }>("POST", "invites", {
    email: "sam@example.com",
    role: "member",
    deliver: "link"
  })
  await accept(origin, invite.token, "Sam Okafor")
  await call("PATCH", "deployments/billing/staging", { version: "v1.9.0" })
  const release = await seedSemaphores(site)
  return {
    webhook: webhooks.webhook,
    close: () => {
      release()
      webhooks.close()
    }
  }
}

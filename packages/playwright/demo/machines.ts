import { createSemaphores, type PromiseClient } from "@delivery/client"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { type Commit, day, gitOf, slug } from "./history.ts"

/** What works in the workspace of the demo beside its people: deployed products, workflows, programs that are told, and a run of now. */

const params = { slug }

/** Tokens with which the deployed shop reads its secrets; one of them has been used. */
export const addDeploymentTokens = async (client: PromiseClient, url: string): Promise<void> => {
  const production = { slug, product: "shop", environment: "production" }
  const { token } = await client.deploymentTokens.create({ params: production, payload: { name: "kubernetes" } })
  await fetch(`${url}/deploy/v1/me`, { headers: { authorization: `Bearer ${token}` } })
  await client.deploymentTokens.create({
    params: production,
    payload: {
      name: "nightly back-up",
      expiresAt: new Date(Date.now() + 60 * day).toISOString(),
      allowedAddresses: ["203.0.113.0/24"]
    }
  })
  await client.deploymentTokens.create({
    params: { ...production, environment: "staging" },
    payload: { name: "docker compose" }
  })
}

/** Workflows that publish and deploy without a key of their own. */
export const addPublishers = async (client: PromiseClient): Promise<void> => {
  const main = { ref: "refs/heads/main", role: "member", scopes: ["read", "publish"] } as const
  await client.trustedPublishers.create({
    params,
    payload: {
      ...main,
      issuer: "https://token.actions.githubusercontent.com",
      repositoryId: "710093112",
      ownerId: "9919421",
      workflow: "e2e.yml"
    }
  })
  await client.trustedPublishers.create({
    params,
    payload: {
      ...main,
      issuer: "https://gitlab.com",
      repositoryId: "4711",
      ownerId: "72",
      workflow: ".gitlab-ci.yml",
      environment: "production"
    }
  })
}

/** A program that is told what happens. It answers as one that works does. */
const startReceiver = async () => {
  const server = createServer((request, response) => {
    request.resume()
    response.statusCode = 204
    response.end()
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() }
}

/** Webhooks whose deliveries arrive: of all that happens, and of what a channel is told. Answers what ends the receiver. */
export const addWebhooks = async (client: PromiseClient): Promise<() => void> => {
  const receiver = await startReceiver()
  const { id } = await client.webhooks.create({ params, payload: { url: `${receiver.url}/dashboard` } })
  await client.webhooks.test({ params: { slug, webhook: id } })
  await client.webhooks.create({
    params,
    payload: {
      url: `${receiver.url}/services/T0/B0/releases`,
      format: "slack",
      kinds: ["run_finished", "deployment_updated"]
    }
  })
  return receiver.close
}

const tests = ["pays by card", "pays by invoice", "shows the receipt", "refunds an order"].map(
  (title) => `checkout.spec.ts › ${title}`
)

/** A run that runs now, whose tests share a sandbox of the bank and a mailbox: one of them waits. Answers what ends that. */
export const startSharing = async (client: PromiseClient, commit: Commit): Promise<() => void> => {
  const { semaphores } = await client.testRuns.start({
    params,
    payload: {
      product: "shop",
      environment: "staging",
      baseUrl: "https://staging.shop.example.com",
      git: gitOf(commit),
      machine: { hostname: "ci-7", platform: "linux" },
      selection: { coverage: "critical", folders: [], caseIds: [] }
    }
  })
  const { withSemaphore } = createSemaphores(semaphores)
  const end = new AbortController()
  const hold = (name: string, capacity: number, index: number) =>
    new Promise<void>((resolve, reject) => {
      const held = withSemaphore(name, { capacity, test: tests[index], signal: end.signal }, async (_, signal) => {
        resolve()
        await once(signal, "abort")
      })
      // Once it is held, it ends with the demo or with its run.
      held.catch(reject)
    })
  await Promise.all([hold("payment-sandbox", 2, 0), hold("payment-sandbox", 2, 1), hold("mailbox", 3, 3)])
  void hold("payment-sandbox", 2, 2).catch(() => undefined)
  return () => end.abort()
}

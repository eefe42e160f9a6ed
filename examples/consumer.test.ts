// Tests a program of your own against the whole service, in memory: no database, no Docker, a free port.
// Every file starts with an empty workspace; the owner's API key is in the server.
import { createClient, type PromiseClient } from "@delivery/client"
import { DeliveryServer } from "@delivery/server/testing"
import { ManagedRuntime, Redacted } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { createShop } from "./shop.ts"

/** The program under test: records which version runs, and says what it replaced. */
const recordVersion = async (client: PromiseClient, version: string): Promise<string> => {
  const params = { slug: "main", product: "shop", environment: "staging" }
  const before = await client.deployments.get({ params })
  const after = await client.deployments.update({ params, payload: { version } })
  return `${before.version ?? "nothing"} → ${after.version}`
}

const runtime = ManagedRuntime.make(DeliveryServer.layerMemory())
let client: PromiseClient

beforeAll(async () => {
  const { apiKey, baseUrl } = await runtime.runPromise(DeliveryServer)
  client = createClient({ baseUrl, apiKey: Redacted.value(apiKey) })
  await createShop(client)
})
afterAll(() => runtime.dispose())

it("records which version runs", async () => {
  expect(await recordVersion(client, "1.0.0")).toBe("nothing → 1.0.0")
  expect(await recordVersion(client, "1.1.0")).toBe("1.0.0 → 1.1.0")
  const { events } = await client.events.list({ params: { slug: "main" } })
  expect(events[0]).toMatchObject({
    kind: "deployment_updated",
    changes: [{ field: "version", from: "1.0.0", to: "1.1.0" }]
  })
})

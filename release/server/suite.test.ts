// A consumer that tests a program of their own against the whole service, in memory.
import { createClient } from "@delivery/client"
import { DeliveryServer } from "@delivery/server/testing"
import { ManagedRuntime, Redacted } from "effect"
import { afterAll, expect, it } from "vitest"

const runtime = ManagedRuntime.make(DeliveryServer.layerMemory())
afterAll(() => runtime.dispose())

it("calls a service of its own", async () => {
  const { apiKey, baseUrl } = await runtime.runPromise(DeliveryServer)
  const client = createClient({ baseUrl, apiKey: Redacted.value(apiKey) })
  const params = { slug: "main" }
  await client.products.create({ params, payload: { slug: "shop", name: "Shop", type: "website" } })
  const { products } = await client.products.list({ params })
  expect(products.map(({ slug }) => slug)).toEqual(["shop"])
})

// A consumer of the client that does not use Effect. What the Playwright suite publishes for is made here.
import { Conflict, createClient } from "@delivery/client"
import assert from "node:assert/strict"

const client = createClient({ baseUrl: process.env["DELIVERY_URL"]!, apiKey: process.env["DELIVERY_API_KEY"]! })
const params = { slug: "main" }
const shop = { slug: "shop", name: "Shop", type: "website" } as const

const product = await client.products.create({ params, payload: shop })
assert.equal(product.slug, "shop")
await client.environments.create({ params, payload: { slug: "staging", name: "Staging", class: "non-production" } })
await client.deployments.create({
  params,
  payload: { product: "shop", environment: "staging", baseUrl: "https://staging.shop.example.com" }
})

const again = await client.safe.products.create({ params, payload: shop })
assert.ok(!again.ok && again.error instanceof Conflict)
assert.equal(again.error.reason, "slug_in_use")

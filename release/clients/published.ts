// What the Playwright suite has published.
import { createClient } from "@delivery/client"
import assert from "node:assert/strict"

const client = createClient({ baseUrl: process.env["DELIVERY_URL"]!, apiKey: process.env["DELIVERY_API_KEY"]! })
const { runs } = await client.testRuns.list({ params: { slug: "main" } })
assert.deepEqual(
  runs.map(({ counts, product, result }) => ({ passed: counts?.passed, product: product.slug, result })),
  [{ passed: 1, product: "shop", result: "passed" }]
)

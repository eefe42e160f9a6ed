// A product that loads its own secrets, with promises and with Effect. It prints the token of its deployment, with which
// `pnpm release:check` runs `delivery secrets run`.
import { createClient } from "@delivery/client"
import { loadSecrets, SecretsConfig, SecretsError } from "@delivery/client/deploy"
import { Config, Effect, Redacted } from "effect"
import assert from "node:assert/strict"

const baseUrl = process.env["DELIVERY_URL"]!
const client = createClient({ baseUrl, apiKey: process.env["DELIVERY_API_KEY"]! })
const place = { slug: "main", product: "shop", environment: "staging" }
const { token } = await client.deploymentTokens.create({ params: place, payload: { name: "release" } })
await client.vault.assign({
  params: { slug: "main" },
  payload: { products: ["shop"], environments: ["staging"], name: "GREETING", value: "It's ready" }
})

using secrets = await loadSecrets({ token, refreshSeconds: 60 })
assert.equal(secrets.require("GREETING"), "It's ready")

const greeting = await Config.Redacted("GREETING").pipe(
  Effect.map(Redacted.value),
  Effect.provide(SecretsConfig.layer({ token })),
  Effect.runPromise
)
assert.equal(greeting, "It's ready")

const wrong = await loadSecrets({ token: `dtk_${"a".repeat(42)}` }).catch((error: unknown) => error)
assert.ok(wrong instanceof SecretsError && wrong.reason === "refused")
console.log(token)

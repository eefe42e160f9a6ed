// A consumer of the client that has an Effect of its own. Its errors and schemas must be those of the client.
import { DeliveryClient, NotFound } from "@delivery/client"
import { Deployment } from "@delivery/domain/catalog/Deployment"
import { Effect, Schema } from "effect"
import assert from "node:assert/strict"

const program = Effect.gen(function* () {
  const client = yield* DeliveryClient
  const { deployments } = yield* client.deployments.list({ params: { slug: "main" } })
  const missing = yield* Effect.flip(client.products.get({ params: { slug: "main", product: "missing" } }))
  return { deployments, missing }
})

const { deployments, missing } = await program.pipe(
  Effect.provide(
    DeliveryClient.layer({ baseUrl: process.env["DELIVERY_URL"]!, apiKey: process.env["DELIVERY_API_KEY"]! })
  ),
  Effect.runPromise
)
assert.equal(deployments.length, 1)
assert.ok(Schema.is(Deployment)(deployments[0]))
assert.ok(missing instanceof NotFound)

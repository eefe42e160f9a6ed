// What the examples publish to: the product "shop", deployed in "staging". Safe to call again.
import { Conflict, type PromiseClient } from "@delivery/client"

/** The value of a call; nothing where what it makes is there already. */
const unlessThere = async (call: Promise<unknown>): Promise<void> => {
  await call.catch((error: unknown) => {
    if (!(error instanceof Conflict)) throw error
  })
}

export const createShop = async (client: PromiseClient): Promise<void> => {
  const params = { slug: "main" }
  await unlessThere(client.products.create({ params, payload: { slug: "shop", name: "Shop", type: "website" } }))
  await unlessThere(
    client.environments.create({ params, payload: { slug: "staging", name: "Staging", class: "non-production" } })
  )
  await unlessThere(
    client.deployments.create({
      params,
      payload: { product: "shop", environment: "staging", baseUrl: "https://staging.shop.example.com" }
    })
  )
}

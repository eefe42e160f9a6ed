// What the examples share: a client, and the product "shop", deployed in "staging". Safe to call again.
import { Conflict, createClient, type PromiseClient } from "@delivery/client"
import { baseUrl, endWith, requiredApiKey } from "./explain.ts"

/** Waits for a call that creates something, which may exist already. */
const ignoreConflict = async (call: Promise<unknown>): Promise<void> => {
  await call.catch((error: unknown) => {
    if (!(error instanceof Conflict)) throw error
  })
}

/** A client of the server that the environment names, where the shop exists. */
export const connectToShop = async (): Promise<PromiseClient> => {
  const client = createClient({ baseUrl, apiKey: requiredApiKey() })
  await createShop(client).catch(endWith)
  return client
}

/** What every run of the shop's tests says of itself. */
export const shopRun = {
  product: "shop",
  environment: "staging",
  baseUrl: "https://staging.shop.example.com",
  git: { branch: "main", sha: "9fceb02d0ae598e95dc970b74767f19372d61af8", dirty: false, subject: "Add the basket" },
  machine: { hostname: "ci-7", platform: "linux" }
}

export const createShop = async (client: PromiseClient): Promise<void> => {
  const params = { slug: "main" }
  await ignoreConflict(client.products.create({ params, payload: { slug: "shop", name: "Shop", type: "website" } }))
  await ignoreConflict(
    client.environments.create({ params, payload: { slug: "staging", name: "Staging", class: "non-production" } })
  )
  await ignoreConflict(
    client.deployments.create({
      params,
      payload: { product: "shop", environment: "staging", baseUrl: "https://staging.shop.example.com" }
    })
  )
}

import { createClient } from "@delivery/client"
import { apiKey, open } from "./Bench.ts"
import { start, type Started } from "./Processes.ts"

/** A service with products in production, each with a token of its deployment. All have the same secrets. */
export interface Deployed {
  readonly service: Started
  readonly tokens: ReadonlyArray<string>
}

/** Measures such a service on a PostgreSQL of its own, and ends both. */
export const withDeployed = async (
  { products, secrets }: { readonly products: ReadonlyArray<string>; readonly secrets: number },
  measure: (deployed: Deployed) => Promise<void>
): Promise<void> => {
  const bench = await open()
  try {
    const service = await start("packages/server/src/cli/main.ts", ["serve"], {
      ...bench.settings,
      BASE_URL: "http://127.0.0.1",
      LOG_LEVEL: "warn"
    })
    try {
      const client = createClient({ baseUrl: service.baseUrl, apiKey })
      const params = { slug: "main" }
      await client.environments.create({ params, payload: { slug: "live", name: "Live", class: "production" } })
      const tokens: Array<string> = []
      for (const product of products) {
        await client.products.create({ params, payload: { slug: product, name: product, type: "library" } })
        await client.deployments.create({ params, payload: { product, environment: "live" } })
        const place = { ...params, product, environment: "live" }
        tokens.push((await client.deploymentTokens.create({ params: place, payload: { name: "bench" } })).token)
      }
      for (let index = 0; index < secrets; index++) {
        const payload = { products, environments: ["live"], name: `SECRET_${index}`, value: "x".repeat(64) }
        await client.vault.assign({ params, payload })
      }
      await measure({ service, tokens })
    } finally {
      await service.end()
    }
  } finally {
    await bench.close()
  }
}

import type { PromiseClient, StartTestRun } from "@delivery/client"

/** What a run begins with. */
export const startOfRun: StartTestRun = {
  product: "shop",
  environment: "ci",
  baseUrl: "http://localhost",
  git: { branch: "main", sha: "0".repeat(40), dirty: false, subject: "bench" },
  machine: { hostname: "bench", platform: process.platform },
  selection: { coverage: null, folders: [], caseIds: [] }
}

/** Starts a run in the workspace `main` of a new server, with the product, environment and deployment it needs. */
export const startRun = async (client: PromiseClient) => {
  const params = { slug: "main" }
  await client.products.create({ params, payload: { slug: "shop", name: "Shop", type: "library" } })
  await client.environments.create({ params, payload: { slug: "ci", name: "CI", class: "non-production" } })
  await client.deployments.create({ params, payload: { product: "shop", environment: "ci" } })
  return client.testRuns.start({ params, payload: startOfRun })
}

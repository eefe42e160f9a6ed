import { useQueryClient } from "@tanstack/react-query"
import { deploymentsQuery, releasesQuery } from "./queries.ts"

/** Reads the versions of a product that run somewhere, or did as far as the newest releases tell. */
export const useKnownVersions = (slug: string, product: string) => {
  const queries = useQueryClient()
  return async (): Promise<ReadonlyArray<string>> => {
    const { deployments } = await queries.fetchQuery(deploymentsQuery(slug)).catch(() => ({ deployments: [] }))
    const places = deployments.filter((one) => one.product.slug === product)
    const histories = await Promise.all(
      places.map(({ environment }) =>
        queries.fetchQuery(releasesQuery(slug, product, environment.slug)).catch(() => undefined)
      )
    )
    const released = histories.flatMap((one) => one?.releases.map(({ version }) => version) ?? [])
    return [...places.map(({ version }) => version), ...released].filter((version) => version !== null)
  }
}

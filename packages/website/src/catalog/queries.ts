import { queryOptions } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"
import { environmentOrder } from "./environmentOrder.ts"

export const productsQuery = (slug: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "products"),
    queryFn: ({ signal }) => client.products.list({ params: { slug }, query: {} }, { signal })
  })

/** In the order in which they stand everywhere. */
export const environmentsQuery = (slug: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "environments"),
    queryFn: async ({ signal }) => {
      const { environments } = await client.environments.list({ params: { slug }, query: {} }, { signal })
      return { environments: environments.toSorted(environmentOrder) }
    }
  })

export const deploymentsQuery = (slug: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "deployments"),
    queryFn: ({ signal }) => client.deployments.list({ params: { slug } }, { signal })
  })

export const deploymentQuery = (slug: string, product: string, environment: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "deployments", product, environment),
    queryFn: ({ signal }) => client.deployments.get({ params: { slug, product, environment } }, { signal })
  })

export const releasesQuery = (slug: string, product: string, environment: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "releases", product, environment),
    queryFn: ({ signal }) => client.releases.history({ params: { slug, product, environment }, query: {} }, { signal })
  })

/** What is archived of the catalog. */
export const archivedQuery = (slug: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "products", "archived"),
    queryFn: async ({ signal }) => {
      const query = { archived: "only" } as const
      const [{ products }, { environments }] = await Promise.all([
        client.products.list({ params: { slug }, query }, { signal }),
        client.environments.list({ params: { slug }, query }, { signal })
      ])
      return { products, environments }
    }
  })

/** The starts of the keys of what a change of products, environments and deployments makes old. */
export const catalogKeys = (slug: string) =>
  ["products", "environments", "deployments", "vault"].map((kind) => workspaceKey(slug, kind))

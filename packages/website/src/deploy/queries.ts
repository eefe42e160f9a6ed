import { queryOptions } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"

/** For admins alone. */
export const tokensQuery = (slug: string, product: string, environment: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "tokens", product, environment),
    queryFn: ({ signal }) => client.deploymentTokens.list({ params: { slug, product, environment } }, { signal })
  })

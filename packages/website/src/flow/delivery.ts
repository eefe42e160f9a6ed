import { queryOptions } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"
import { daysBack } from "./deliveryPlots.ts"

export const deliveryQuery = (slug: string, days: number, product: string | undefined) => {
  const from = daysBack(days)[0]!
  return queryOptions({
    queryKey: workspaceKey(slug, "releases", "metrics", from, product ?? null),
    queryFn: ({ signal }) =>
      client.metrics.delivery(
        { params: { slug }, query: { from, ...(product === undefined ? {} : { product }) } },
        { signal }
      )
  })
}

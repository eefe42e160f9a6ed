import { queryOptions } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"
import { semaphoresQuery } from "./queries.ts"

/** What is asked beside a run while it is running. */

/** The newest runs of a product in an environment. */
export const runsLikeQuery = (slug: string, product: string, environment: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "runs", "like", product, environment),
    queryFn: ({ signal }) => client.testRuns.list({ params: { slug }, query: { product, environment } }, { signal })
  })

/** Leases are no events. Here they may be a little older than on the screen of semaphores. */
const leaseMillis = 5_000

export const semaphoresOfRunQuery = (slug: string) =>
  queryOptions({
    ...semaphoresQuery(slug),
    refetchInterval: ({ state }) => (state.error === null ? leaseMillis : false)
  })

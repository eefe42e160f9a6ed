import { queryOptions } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"

/** Who asked to write in an environment. Among the queries of events, so that each thing that happens reads them again. */
export const approvalsQuery = (slug: string, environment: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "events", "approvals", environment),
    queryFn: ({ signal }) => client.approvals.list({ params: { slug }, query: { environment } }, { signal })
  })

/** What waits for an admin, in all environments. */
export const pendingApprovalsQuery = (slug: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "events", "pending approvals"),
    queryFn: ({ signal }) => client.approvals.list({ params: { slug }, query: { state: "pending" } }, { signal })
  })

import { queryOptions } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"

/** The teams that the person sees. */
export const teamsQuery = (slug: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "teams"),
    queryFn: ({ signal }) => client.teams.list({ params: { slug } }, { signal })
  })

export const agentsQuery = (slug: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "agents"),
    queryFn: ({ signal }) => client.agents.list({ params: { slug }, query: {} }, { signal })
  })

/** The start of the keys of all queries of tickets. */
export const ticketsKey = (slug: string) => workspaceKey(slug, "tickets")

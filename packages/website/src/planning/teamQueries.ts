import { queryOptions } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"

export const teamMembersQuery = (slug: string, team: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "teams", "members", team),
    queryFn: ({ signal }) => client.teams.listMembers({ params: { slug, team } }, { signal })
  })

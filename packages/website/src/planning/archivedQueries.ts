import { queryOptions } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"

export const archivedTeamsQuery = (slug: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "teams", "archived"),
    queryFn: ({ signal }) => client.teams.list({ params: { slug }, query: { archived: "only" } }, { signal })
  })

export const archivedProjectsQuery = (slug: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "projects", "archived"),
    queryFn: ({ signal }) => client.projects.list({ params: { slug }, query: { archived: "only" } }, { signal })
  })

import { infiniteQueryOptions } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"

/** The documents that a project had, the last replaced first. */
export const documentHistoryQuery = (slug: string, project: string) =>
  infiniteQueryOptions({
    queryKey: workspaceKey(slug, "projects", "history", project),
    queryFn: ({ pageParam, signal }) =>
      client.projects.history(
        { params: { slug, project }, query: pageParam === null ? {} : { cursor: pageParam } },
        { signal }
      ),
    initialPageParam: null as number | null,
    getNextPageParam: (page) => page.nextCursor
  })

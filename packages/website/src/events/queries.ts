import { infiniteQueryOptions } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"

export const eventsQuery = (slug: string) =>
  infiniteQueryOptions({
    queryKey: workspaceKey(slug, "events"),
    queryFn: ({ pageParam, signal }) =>
      client.events.list({ params: { slug }, query: pageParam === null ? {} : { before: pageParam } }, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.before
  })

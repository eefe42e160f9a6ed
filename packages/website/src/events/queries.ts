import { infiniteQueryOptions } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"

/** What happened, newest first; with types, only to objects of these. */
export const eventsQuery = (slug: string, types: ReadonlyArray<string> = []) =>
  infiniteQueryOptions({
    queryKey: workspaceKey(slug, "events", types),
    queryFn: async ({ pageParam, signal }) => {
      // The names of all kinds are loaded for a filter alone.
      const kinds = types.length === 0 ? [] : (await import("./kinds.ts")).kindsOf(types)
      return client.events.list(
        {
          params: { slug },
          query: {
            ...(kinds.length === 0 ? {} : { kinds: kinds.join(",") }),
            ...(pageParam === null ? {} : { before: pageParam })
          }
        },
        { signal }
      )
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.before
  })

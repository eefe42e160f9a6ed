import { queryOptions } from "@tanstack/react-query"
import { client } from "./client.ts"

/**
 * The place among the events of a workspace behind which a page has not been told of any: asked for before what the page shows
 * (the answers have all that stands before it), and moved on by what it is told. Empty where it is not known.
 */
export const cursorQuery = (slug: string) =>
  queryOptions({
    // What a workspace has is read again where it may have changed. This is not.
    queryKey: ["cursor", slug],
    queryFn: () =>
      client.events.list({ params: { slug }, query: { limit: 1 } }).then(
        ({ after }) => after,
        () => ""
      ),
    staleTime: Infinity,
    gcTime: Infinity
  })

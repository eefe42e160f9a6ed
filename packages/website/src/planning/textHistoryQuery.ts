import type { TextField } from "@delivery/domain/planning/TicketText"
import { infiniteQueryOptions } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { ticketsKey } from "./queries.ts"

/** The texts that a ticket had, the last replaced first. */
export const textHistoryQuery = (slug: string, ticket: string, field: TextField) =>
  infiniteQueryOptions({
    queryKey: [...ticketsKey(slug), "history", ticket.toUpperCase(), field],
    queryFn: ({ pageParam, signal }) =>
      client.tickets.history(
        { params: { slug, ticket }, query: { field, ...(pageParam === null ? {} : { cursor: pageParam }) } },
        { signal }
      ),
    initialPageParam: null as number | null,
    getNextPageParam: (page) => page.nextCursor
  })

import { queryOptions } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"

export const commentsKey = (slug: string, ticket: string) => workspaceKey(slug, "comments", ticket.toUpperCase())

export const commentsQuery = (slug: string, ticket: string) =>
  queryOptions({
    queryKey: commentsKey(slug, ticket),
    queryFn: ({ signal }) => client.comments.list({ params: { slug, ticket } }, { signal })
  })

/** No event tells that an agent has taken a message: what waits is asked for again while it is looked at. */
const takenMillis = 10_000

/** Its commits, where they run, and the messages about it that the person may see. */
export const traceQuery = (slug: string, ticket: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "trace", ticket.toUpperCase()),
    queryFn: ({ signal }) => client.releases.trace({ params: { slug, ticket } }, { signal }),
    refetchInterval: ({ state }) =>
      state.error === null && state.data?.messages.some(({ status }) => status === "queued") === true
        ? takenMillis
        : false
  })

/** What happened to something, newest first. */
export const historyQuery = (slug: string, subject: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "events", "of", subject),
    queryFn: ({ signal }) => client.events.list({ params: { slug }, query: { subject } }, { signal })
  })

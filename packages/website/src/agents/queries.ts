import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"

/** About tickets, newest first: all, or what is unread. Each page tells how many are unread in all. */
export const ticketNotificationsQuery = (slug: string, onlyUnread: boolean) =>
  infiniteQueryOptions({
    queryKey: workspaceKey(slug, "notifications", "tickets", onlyUnread),
    queryFn: ({ pageParam, signal }) =>
      client.ticketNotifications.list(
        {
          params: { slug },
          query: { ...(onlyUnread ? { unread: "true" } : {}), ...(pageParam === null ? {} : { cursor: pageParam }) }
        },
        { signal }
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor
  })

/** The newest 100 about messages to agents, read and unread. */
export const notificationsQuery = (slug: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "notifications", "messages"),
    queryFn: ({ signal }) => client.notifications.list({ params: { slug } }, { signal })
  })

/** What agents report of themselves is no event: it is asked for again while it is looked at. */
const reportMillis = 10_000

const interval = ({ state }: { readonly state: { readonly error: Error | null } }) =>
  state.error === null ? reportMillis : false

export const liveAgentsQuery = (slug: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "agents"),
    queryFn: ({ signal }) => client.agents.list({ params: { slug }, query: {} }, { signal }),
    refetchInterval: interval
  })

export const messageQuery = (slug: string, message: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "messages", message),
    queryFn: ({ signal }) => client.messages.get({ params: { slug, message } }, { signal })
  })

/** The newest 100 that the person sent, or that their agents received; for admins those of all. */
export const messagesQuery = (slug: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "messages"),
    queryFn: ({ signal }) => client.messages.list({ params: { slug }, query: {} }, { signal })
  })

/** The same, also when an agent has taken one, which is no event. */
export const liveMessagesQuery = (slug: string) => queryOptions({ ...messagesQuery(slug), refetchInterval: interval })

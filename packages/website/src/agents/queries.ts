import type { TicketNotification } from "@delivery/domain/planning/TicketNotification"
import { queryOptions } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"

/** How many pages of unread ones are read beside the newest. */
const unreadPages = 3

/** The newest 100 about tickets, read and unread, and what is unread behind them: a hundred assignments hide no mention. */
export const ticketNotificationsQuery = (slug: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "notifications", "tickets"),
    queryFn: async ({ signal }): Promise<{ readonly notifications: ReadonlyArray<TicketNotification> }> => {
      const { nextCursor, notifications } = await client.ticketNotifications.list(
        { params: { slug }, query: {} },
        { signal }
      )
      const all = [...notifications]
      let cursor = nextCursor
      for (let page = 0; cursor !== null && page < unreadPages; page++) {
        const query = { unread: "true", cursor } as const
        // oxlint-disable-next-line no-await-in-loop -- each page begins where the one before ends
        const next = await client.ticketNotifications.list({ params: { slug }, query }, { signal })
        all.push(...next.notifications)
        cursor = next.nextCursor
      }
      return { notifications: all }
    }
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

import { useQuery } from "@tanstack/react-query"
import { useMe } from "../api/session.ts"
import { type Notice, noticesOf } from "./inbox.ts"
import { notificationsQuery, ticketNotificationsQuery } from "./queries.ts"

/** What the person was told: about their tickets, and about messages to agents. */
export const useNotices = (slug: string) => {
  const me = useMe()
  const ofMessages = useQuery(notificationsQuery(slug))
  const ofTickets = useQuery(ticketNotificationsQuery(slug))
  const isThere = ofMessages.data !== undefined && ofTickets.data !== undefined
  const notices: ReadonlyArray<Notice> = isThere
    ? noticesOf(me?.id, ofMessages.data.notifications, ofTickets.data.notifications)
    : []
  // What is still missing is waited for, or said to have failed.
  const query = ofTickets.data === undefined ? ofTickets : ofMessages
  return { notices, unread: notices.filter(({ readAt }) => readAt === null), query }
}

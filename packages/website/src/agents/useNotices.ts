import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { useMe } from "../api/session.ts"
import { formatCount } from "../ui/format.ts"
import { type Notice, noticesOf } from "./inbox.ts"
import { notificationsQuery, ticketNotificationsQuery } from "./queries.ts"

/** As far as the server counts what is unread about tickets. */
const mostCounted = 1_000

/** What the person was told, about their tickets and about messages to agents: all, or what is unread. */
export const useNotices = (slug: string, onlyUnread = true) => {
  const me = useMe()
  const ofMessages = useQuery(notificationsQuery(slug))
  const ofTickets = useInfiniteQuery(ticketNotificationsQuery(slug, onlyUnread))
  const pages = ofTickets.data?.pages
  const all: ReadonlyArray<Notice> =
    ofMessages.data === undefined || pages === undefined
      ? []
      : noticesOf(
          me?.id,
          ofMessages.data.notifications,
          pages.flatMap(({ notifications }) => notifications)
        )
  const isUnread = ({ readAt }: Notice) => readAt === null
  const unreadOfTickets = pages?.[0]?.unreadCount ?? 0
  const count = unreadOfTickets + all.filter((one) => one.source === "message" && isUnread(one)).length
  const last = pages?.at(-1)?.notifications.at(-1)
  // What is older than the pages that are read comes with the next ones.
  const notices = all.filter(
    (one) =>
      (!onlyUnread || isUnread(one)) &&
      (!ofTickets.hasNextPage || last === undefined || one.createdAt >= last.createdAt)
  )
  return {
    notices,
    /** How much is unread, on whatever page, and how it is said. */
    count,
    counted: `${formatCount(count)}${unreadOfTickets < mostCounted ? "" : "+"}`,
    onMore: () => {
      if (ofTickets.hasNextPage && !ofTickets.isFetchingNextPage) void ofTickets.fetchNextPage()
    },
    // What is still missing is waited for, or said to have failed.
    query: pages === undefined ? ofTickets : ofMessages
  }
}

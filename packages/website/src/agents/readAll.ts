import { client } from "../api/client.ts"
import type { Notice } from "./inbox.ts"

/**
 * Marks all read that is unread. Answers what takes that back: those about tickets by their time, since there may be more
 * than `ones`, which are shown.
 */
export const readAll = async (slug: string, ones: ReadonlyArray<Notice>) => {
  const params = { slug }
  const [{ readAt }] = await Promise.all([
    client.ticketNotifications.read({ params }),
    client.notifications.read({ params })
  ])
  return () =>
    Promise.all([
      readAt !== null && client.ticketNotifications.unread({ params, payload: { readAt } }),
      ...ones
        .filter(({ source }) => source === "message")
        .map(({ id }) => client.notifications.markUnread({ params: { slug, notification: id } }))
    ])
}

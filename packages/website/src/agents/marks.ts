import { client } from "../api/client.ts"
import type { Notice } from "./inbox.ts"

/** The calls that mark notifications, of both kinds. */

export const sendRead = (slug: string, { id, source }: Notice): Promise<unknown> =>
  source === "ticket"
    ? client.ticketNotifications.markRead({ params: { slug, notification: id } })
    : client.notifications.markRead({ params: { slug, notification: id } })

export const sendUnread = (slug: string, { id, source }: Notice): Promise<unknown> =>
  source === "ticket"
    ? client.ticketNotifications.markUnread({ params: { slug, notification: id } })
    : client.notifications.markUnread({ params: { slug, notification: id } })

/**
 * Marks all read that is unread. Answers what takes that back: those about tickets by their time, since there may be more
 * than `ones`, which are shown.
 */
export const sendAllRead = async (slug: string, ones: ReadonlyArray<Notice>) => {
  const params = { slug }
  const [{ readAt }] = await Promise.all([
    client.ticketNotifications.read({ params }),
    client.notifications.read({ params })
  ])
  return () =>
    Promise.all([
      readAt !== null && client.ticketNotifications.unread({ params, payload: { readAt } }),
      ...ones.filter(({ source }) => source === "message").map((one) => sendUnread(slug, one))
    ])
}

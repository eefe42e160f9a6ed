import { useQueryClient } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { tellFailure } from "../api/failures.ts"
import { counted } from "../ui/format.ts"
import { toast } from "../ui/toast.ts"
import type { Notice } from "./inbox.ts"
import { notificationsQuery, ticketNotificationsQuery } from "./queries.ts"

interface Shown {
  readonly notifications: ReadonlyArray<{ readonly id: string; readonly readAt: string | null }>
}

/** Marks notifications as read and unread: at once on the screen, and back where the server refuses. */
export const useReading = (slug: string) => {
  const queries = useQueryClient()
  const keys = [notificationsQuery(slug).queryKey, ticketNotificationsQuery(slug).queryKey]

  const show = (ids: ReadonlySet<string>, readAt: string | null) => {
    for (const queryKey of keys) {
      queries.setQueryData<Shown>(queryKey as ReadonlyArray<unknown>, (before) =>
        before === undefined
          ? before
          : { notifications: before.notifications.map((one) => (ids.has(one.id) ? { ...one, readAt } : one)) }
      )
    }
  }

  const change = async (ones: ReadonlyArray<Notice>, isRead: boolean, send: () => Promise<unknown>) => {
    // What is read meanwhile must not show them as they were.
    await Promise.all(keys.map((queryKey) => queries.cancelQueries({ queryKey })))
    show(new Set(ones.map(({ id }) => id)), isRead ? new Date().toISOString() : null)
    try {
      await send()
      return true
    } catch (error) {
      for (const one of ones) show(new Set([one.id]), one.readAt)
      tellFailure(`${counted(ones.length, "notification")} could not be marked ${isRead ? "read" : "unread"}`, error)
      return false
    } finally {
      for (const queryKey of keys) void queries.invalidateQueries({ queryKey })
    }
  }

  const sendRead = ({ id, source }: Notice): Promise<unknown> =>
    source === "ticket"
      ? client.ticketNotifications.markRead({ params: { slug, notification: id } })
      : client.notifications.markRead({ params: { slug, notification: id } })

  const sendUnread = ({ id, source }: Notice): Promise<unknown> =>
    source === "ticket"
      ? client.ticketNotifications.markUnread({ params: { slug, notification: id } })
      : client.notifications.markUnread({ params: { slug, notification: id } })

  const unread = (ones: ReadonlyArray<Notice>) => change(ones, false, () => Promise.all(ones.map(sendUnread)))

  const read = async (one: Notice) => {
    if (await change([one], true, () => sendRead(one))) toast({ title: "Marked read", undo: () => void unread([one]) })
  }

  const readAll = async (ones: ReadonlyArray<Notice>) => {
    if (ones.length === 0) return
    const send = () =>
      Promise.all([
        client.notifications.read({ params: { slug } }),
        client.ticketNotifications.read({ params: { slug } })
      ])
    if (await change(ones, true, send)) {
      toast({ title: `${counted(ones.length, "notification")} marked read`, undo: () => void unread(ones) })
    }
  }

  /** Whoever opens it has read it. */
  const opened = (one: Notice) => {
    if (one.readAt === null) void change([one], true, () => sendRead(one))
  }

  return { opened, read, readAll, unread: (one: Notice) => void unread([one]) }
}

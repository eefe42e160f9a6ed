import type { Notification } from "@delivery/domain/agents/Notification"
import { useQueryClient } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { tellFailure } from "../api/failures.ts"
import { counted } from "../ui/format.ts"
import { toast } from "../ui/toast.ts"
import { type Notifications, notificationsQuery } from "./queries.ts"

/** Marks notifications as read and unread: at once on the screen, and back where the server refuses. */
export const useReading = (slug: string) => {
  const queries = useQueryClient()
  const { queryKey } = notificationsQuery(slug)

  const show = (ids: ReadonlySet<string>, readAt: string | null) =>
    queries.setQueryData<Notifications>(queryKey, (before) =>
      before === undefined
        ? before
        : { notifications: before.notifications.map((one) => (ids.has(one.id) ? { ...one, readAt } : one)) }
    )

  const change = async (ones: ReadonlyArray<Notification>, isRead: boolean, send: () => Promise<unknown>) => {
    // What is read meanwhile must not show them as they were.
    await queries.cancelQueries({ queryKey })
    const ids = new Set<string>(ones.map(({ id }) => id))
    show(ids, isRead ? new Date().toISOString() : null)
    try {
      await send()
      return true
    } catch (error) {
      for (const one of ones) show(new Set([one.id]), one.readAt)
      tellFailure(`${counted(ones.length, "notification")} could not be marked ${isRead ? "read" : "unread"}`, error)
      return false
    } finally {
      void queries.invalidateQueries({ queryKey })
    }
  }

  const unread = (ones: ReadonlyArray<Notification>) =>
    change(ones, false, () =>
      Promise.all(ones.map(({ id }) => client.notifications.markUnread({ params: { slug, notification: id } })))
    )

  const read = async (one: Notification) => {
    const send = () => client.notifications.markRead({ params: { slug, notification: one.id } })
    if (await change([one], true, send)) toast({ title: "Marked read", undo: () => void unread([one]) })
  }

  const readAll = async (ones: ReadonlyArray<Notification>) => {
    if (ones.length === 0) return
    const send = () => client.notifications.read({ params: { slug } })
    if (await change(ones, true, send)) {
      toast({ title: `${counted(ones.length, "notification")} marked read`, undo: () => void unread(ones) })
    }
  }

  return { read, readAll, unread: (one: Notification) => void unread([one]) }
}

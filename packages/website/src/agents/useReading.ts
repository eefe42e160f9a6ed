import { useQueryClient } from "@tanstack/react-query"
import { workspaceKey } from "../api/queries.ts"
import { tellFailure } from "../api/failures.ts"
import { counted } from "../ui/format.ts"
import { later } from "../ui/later.tsx"
import { toast } from "../ui/toast.ts"
import type { Notice } from "./inbox.ts"

const marks = () => import("./marks.ts")
// Loaded like parts of the page: without a network, too, it is the call that fails.
later(async () => {
  await marks()
  return { default: () => null }
})

interface Page {
  readonly notifications: ReadonlyArray<{ readonly id: string; readonly readAt: string | null }>
  readonly unreadCount?: number
}

/** What the queries of both kinds have read: about messages one page, about tickets some. */
type Shown = Page | { readonly pages: ReadonlyArray<Page> }

const unreadIn = (pages: ReadonlyArray<Page>): number =>
  pages.flatMap(({ notifications }) => notifications).filter(({ readAt }) => readAt === null).length

/** Pages with some of their notifications read or unread, and what that makes of the count of all. */
const marked = (before: Shown, ids: ReadonlySet<string>, readAt: string | null): Shown => {
  const mark = (page: Page): Page => ({
    ...page,
    notifications: page.notifications.map((one) => (ids.has(one.id) ? { ...one, readAt } : one))
  })
  if (!("pages" in before)) return mark(before)
  const pages = before.pages.map(mark)
  const more = unreadIn(pages) - unreadIn(before.pages)
  return { ...before, pages: pages.map((page) => ({ ...page, unreadCount: (page.unreadCount ?? 0) + more })) }
}

/** Marks notifications as read and unread: at once on the screen, and back where the server refuses. */
export const useReading = (slug: string) => {
  const queries = useQueryClient()
  const queryKey = workspaceKey(slug, "notifications")

  const show = (ids: ReadonlySet<string>, readAt: string | null) =>
    queries.setQueriesData<Shown>({ queryKey }, (before) => before && marked(before, ids, readAt))

  const change = async (ones: ReadonlyArray<Notice>, isRead: boolean, send: () => Promise<unknown>) => {
    // What is read meanwhile must not show them as they were.
    await queries.cancelQueries({ queryKey })
    show(new Set(ones.map(({ id }) => id)), isRead ? new Date().toISOString() : null)
    try {
      await send()
      return true
    } catch (error) {
      for (const one of ones) show(new Set([one.id]), one.readAt)
      tellFailure(`${counted(ones.length, "notification")} could not be marked ${isRead ? "read" : "unread"}`, error)
      return false
    } finally {
      void queries.invalidateQueries({ queryKey })
      void import("../api/pages.ts").then(
        ({ tellPages }) => tellPages(slug, "notifications"),
        () => undefined
      )
    }
  }

  const unread = (ones: ReadonlyArray<Notice>) =>
    change(ones, false, async () => {
      const { sendUnread } = await marks()
      await Promise.all(ones.map((one) => sendUnread(slug, one)))
    })

  const unreadAgain = async (ones: ReadonlyArray<Notice>) =>
    (await unread(ones)) ? `${counted(ones.length, "notification")} unread again` : undefined

  const readOne = (one: Notice) => change([one], true, async () => (await marks()).sendRead(slug, one))

  const read = async (one: Notice) => {
    if (await readOne(one)) toast({ title: "Marked read", undo: () => unreadAgain([one]) })
  }

  /** Of all that is unread, `ones` are those that are shown. */
  const readAll = async (ones: ReadonlyArray<Notice>, count: number) => {
    if (count === 0) return
    let takeBack: () => Promise<unknown>
    const send = async () => {
      takeBack = await (await marks()).sendAllRead(slug, ones)
    }
    if (await change(ones, true, send)) {
      toast({
        title: `${counted(count, "notification")} marked read`,
        undo: async () =>
          (await change(ones, false, takeBack)) ? `${counted(count, "notification")} unread again` : undefined
      })
    }
  }

  /** Whoever opens it has read it. */
  const opened = (one: Notice) => {
    if (one.readAt === null) void readOne(one)
  }

  return { opened, read, readAll, unread: (one: Notice) => void unread([one]) }
}

import { useQueryClient } from "@tanstack/react-query"
import { useEffect, useRef, useSyncExternalStore } from "react"
import { tellPages } from "../api/pages.ts"
import { workspaceKey } from "../api/queries.ts"
import type { Notice } from "./inbox.ts"
import { sendRead } from "./marks.ts"
import { useNotices } from "./useNotices.ts"

const onVisibility = (tell: () => void) => {
  document.addEventListener("visibilitychange", tell)
  return () => document.removeEventListener("visibilitychange", tell)
}

const isVisible = () => document.visibilityState === "visible"

/** What shows a line of something at the edge of the window does not show what it says. */
const readFrom = { rootMargin: "-64px 0px" }

/**
 * Whoever has a ticket before them reads what they were told of it, and what they are told meanwhile; what somebody said there,
 * once that is in view. Each is sent once: what is marked unread elsewhere stays so, and what was refused waits in the inbox.
 */
export const useReadWhileShown = (slug: string, ticket: string): void => {
  const queries = useQueryClient()
  const { notices } = useNotices(slug)
  const isSeen = useSyncExternalStore(onVisibility, isVisible)
  const sent = useRef(new Set<string>())
  useEffect(() => {
    if (!isSeen) return undefined
    const mark = (isRead: (one: Notice) => boolean) => {
      const ones = notices.filter((one) => one.ticket.id === ticket && !sent.current.has(one.id) && isRead(one))
      if (ones.length === 0) return
      for (const { id } of ones) sent.current.add(id)
      void Promise.allSettled(ones.map((one) => sendRead(slug, one))).then(() => {
        tellPages(slug, "notifications")
        return queries.invalidateQueries({ queryKey: workspaceKey(slug, "notifications") })
      })
    }
    mark(({ at }) => at === undefined)
    const view = new IntersectionObserver((entries) => {
      const seen = new Set(entries.filter(({ isIntersecting }) => isIntersecting).map(({ target }) => target.id))
      mark(({ at }) => at !== undefined && seen.has(at))
    }, readFrom)
    for (const one of notices) {
      const said = one.ticket.id === ticket && one.at !== undefined && document.getElementById(one.at)
      if (said) view.observe(said)
    }
    return () => view.disconnect()
  }, [isSeen, notices, queries, slug, ticket])
}

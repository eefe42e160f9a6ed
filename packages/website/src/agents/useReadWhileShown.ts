import { useQueryClient } from "@tanstack/react-query"
import { useEffect, useRef, useSyncExternalStore } from "react"
import { tellPages } from "../api/pages.ts"
import { workspaceKey } from "../api/queries.ts"
import { sendRead } from "./marks.ts"
import { useNotices } from "./useNotices.ts"

const onVisibility = (tell: () => void) => {
  document.addEventListener("visibilitychange", tell)
  return () => document.removeEventListener("visibilitychange", tell)
}

const isVisible = () => document.visibilityState === "visible"

/**
 * Whoever has a ticket before them reads what they were told of it, and what they are told meanwhile. Each is sent once: what
 * is marked unread elsewhere stays so, and what was refused waits in the inbox.
 */
export const useReadWhileShown = (slug: string, ticket: string): void => {
  const queries = useQueryClient()
  const { notices } = useNotices(slug)
  const isSeen = useSyncExternalStore(onVisibility, isVisible)
  const sent = useRef(new Set<string>())
  useEffect(() => {
    if (!isSeen) return
    const ones = notices.filter((one) => one.ticket.id === ticket && !sent.current.has(one.id))
    if (ones.length === 0) return
    for (const { id } of ones) sent.current.add(id)
    void Promise.allSettled(ones.map((one) => sendRead(slug, one))).then(() => {
      tellPages(slug, "notifications")
      return queries.invalidateQueries({ queryKey: workspaceKey(slug, "notifications") })
    })
  }, [isSeen, notices, queries, slug, ticket])
}

import { useRouter } from "@tanstack/react-router"
import { useEffect, useRef, useState } from "react"

/**
 * Asks before a place is left that has what is written nowhere yet: by the history, by a link, or by loading the page again, where the
 * browser asks. With `isAbove`, going to another view of the same screen loses it, too.
 */
export const useLeaving = (hasText: boolean, isAbove = false) => {
  const { history } = useRouter()
  const [isAsking, setAsking] = useState(false)
  const stop = useRef<(isStopped: boolean) => void>(undefined)
  const reply = (isStopped: boolean) => {
    stop.current?.(isStopped)
    stop.current = undefined
    setAsking(false)
  }
  useEffect(() => {
    if (!hasText) return undefined
    const unblock = history.block({
      enableBeforeUnload: true,
      blockerFn: ({ action, currentLocation, nextLocation }) => {
        const isElsewhere = currentLocation.pathname !== nextLocation.pathname
        if (!isElsewhere && (!isAbove || action === "REPLACE")) return false
        // Who goes on while it asks has not answered.
        stop.current?.(true)
        setAsking(true)
        return new Promise<boolean>((resolve) => {
          stop.current = resolve
        })
      }
    })
    return () => {
      unblock()
      reply(false)
    }
  }, [hasText, history, isAbove])
  return { isAsking, leave: () => reply(false), stay: () => reply(true) }
}

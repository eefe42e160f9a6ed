import { useEffect } from "react"
import { sidebar } from "./overlay.ts"

/** Marks a place of the sidebar while the component is shown: it belongs there, and its address does not begin as that place's. */
export const useMarkedPlace = (to: string): void => {
  useEffect(() => {
    sidebar.mark(to)
    return () => sidebar.mark(undefined)
  }, [to])
}

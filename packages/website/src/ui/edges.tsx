import { useEffect, useRef, useState } from "react"
import { Icon } from "./Icon.tsx"

/** What is wider than its place says at its edges that there is more. */

/** Beyond which edges there is more. */
export const useEdges = () => {
  const scrolled = useRef<HTMLDivElement>(null)
  const [edges, setEdges] = useState({ isMoreLeft: false, isMoreRight: false })
  useEffect(() => {
    const element = scrolled.current
    if (element === null) return
    const look = () => {
      const { clientWidth, scrollLeft, scrollWidth } = element
      setEdges({ isMoreLeft: scrollLeft > 1, isMoreRight: scrollLeft + clientWidth < scrollWidth - 1 })
    }
    const size = new ResizeObserver(look)
    for (const one of [element, ...element.children]) size.observe(one)
    element.addEventListener("scroll", look, { passive: true })
    return () => {
      size.disconnect()
      element.removeEventListener("scroll", look)
    }
  }, [])
  return { scrolled, ...edges }
}

const edgeClass = "pointer-events-none absolute inset-y-0 w-10 from-surface from-50% to-transparent"

export const MoreLeft = () => <span aria-hidden="true" className={`${edgeClass} left-0 bg-linear-to-r`} />

export const MoreRight = () => (
  <span
    aria-hidden="true"
    className={`${edgeClass} text-muted right-0 z-10 flex items-center justify-end bg-linear-to-l pr-1`}
  >
    <Icon name="chevronRight" />
  </span>
)

import { useEffect, useRef, useState } from "react"

/** A row that is dragged onto another one of its kind, which then gets its place. Without a handler it is not. */
export const useRowDrag = (kind: string, id: string, onDropped: ((id: string) => void) | undefined) => {
  const element = useRef<HTMLDivElement>(null)
  const [isOver, setOver] = useState(false)
  const dropped = useRef(onDropped)
  useEffect(() => {
    dropped.current = onDropped
  })
  const isDraggable = onDropped !== undefined
  useEffect(() => {
    if (!isDraggable) return
    const gone = new AbortController()
    const begin = async () => {
      const { attach } = await import("./rowDrag.ts")
      if (gone.signal.aborted || element.current === null) return
      const drag = { id, kind, onOver: setOver, onDropped: (other: string) => dropped.current?.(other) }
      gone.signal.addEventListener("abort", attach(element.current, drag))
    }
    // Rows that cannot be dragged are moved by their menus.
    begin().catch(() => undefined)
    return () => gone.abort()
  }, [id, isDraggable, kind])
  return { element, isOver }
}

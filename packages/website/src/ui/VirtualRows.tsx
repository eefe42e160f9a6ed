import { useVirtualizer } from "@tanstack/react-virtual"
import { useDeferredValue, useEffect, useLayoutEffect, useRef, useState } from "react"
import { rowHeight } from "./rowHeight.ts"
import type { RowsProps } from "./DrawnRows.tsx"

/** How far from its end a list is read on. */
const nearEnd = 15

/** How many rows are drawn above and below those in view. */
const mostOverscan = 12

/** Of many rows those in view. */
const VirtualRows = (props: RowsProps) => {
  const { count, keyOf, onNearEnd, reveal, row, rowClass = "", rowRole = "listitem", rowStyle, scroller } = props
  const frame = useRef<HTMLDivElement>(null)
  const [scrollMargin, setMargin] = useState(0)
  useLayoutEffect(() => {
    const [inner, outer] = [
      frame.current?.getBoundingClientRect().top ?? 0,
      scroller()?.getBoundingClientRect().top ?? 0
    ]
    setMargin(inner - outer + (scroller()?.scrollTop ?? 0))
  }, [scroller])
  // Those in view come first.
  const overscan = useDeferredValue(mostOverscan, 1)
  const virtual = useVirtualizer({
    count,
    getScrollElement: scroller,
    // Where it is: it may have been scrolled while fewer rows were drawn as they are.
    initialOffset: () => scroller()?.scrollTop ?? 0,
    estimateSize: rowHeight,
    scrollMargin,
    overscan,
    getItemKey: keyOf
  })
  reveal.current = (index) => virtual.scrollToIndex(index)
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (last >= count - nearEnd) onNearEnd?.()
  }, [count, last, onNearEnd])
  return (
    <div className="relative" ref={frame} role="presentation" style={{ height: virtual.getTotalSize() }}>
      {items.map((item) => (
        <div
          aria-rowindex={rowRole === "row" ? item.index + 2 : undefined}
          className={`absolute inset-x-0 top-0 ${rowClass}`}
          data-row={item.index}
          key={item.key}
          role={rowRole}
          style={{ ...rowStyle, transform: `translateY(${item.start - scrollMargin}px)` }}
        >
          {row(item.index)}
        </div>
      ))}
    </div>
  )
}

export default VirtualRows

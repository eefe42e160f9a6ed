import { defaultRangeExtractor, type Range, useVirtualizer, type VirtualItem } from "@tanstack/react-virtual"
import { useDeferredValue, useEffect, useLayoutEffect, useRef, useState } from "react"
import { rowHeight } from "./rowHeight.ts"
import type { RowsProps } from "./DrawnRows.tsx"

/** How far from its end a list is read on. */
const nearEnd = 15

/** How many rows are drawn above and below those in view. */
const mostOverscan = 12

const before = (index: number, isOne: (index: number) => boolean): number => {
  let at = index
  while (at >= 0 && !isOne(at)) at -= 1
  return at
}

const after = (index: number, count: number, isOne: (index: number) => boolean): number => {
  let at = index + 1
  while (at < count && !isOne(at)) at += 1
  return at
}

/** How much at its top the scroller keeps free. */
const paddingOf = (scroller: HTMLElement | null): number =>
  scroller === null ? 0 : Number.parseFloat(getComputedStyle(scroller).scrollPaddingTop) || 0

interface HeadingProps extends Pick<RowsProps, "row"> {
  readonly index: number
  readonly top: number
  /** That of its group. */
  readonly height: number
}

/** A heading stays below the header for as long as rows of its group pass: it moves in a box that is as high as they are together. */
const Heading = ({ height, index, row, top }: HeadingProps) => (
  <div className="pointer-events-none absolute inset-x-0 z-10" role="presentation" style={{ height, top }}>
    <div className="pointer-events-auto" data-row={index} role="listitem">
      {row(index)}
    </div>
  </div>
)

/** Of many rows those in view. */
const VirtualRows = (props: RowsProps) => {
  const { count, isChoosable, isTall, keyOf, lines = 1, onNearEnd, reveal, row, scroller } = props
  const { rowClass = "", rowRole = "listitem", rowStyle } = props
  const frame = useRef<HTMLDivElement>(null)
  const [scrollMargin, setMargin] = useState(0)
  useLayoutEffect(() => {
    const [inner, outer] = [
      frame.current?.getBoundingClientRect().top ?? 0,
      scroller()?.getBoundingClientRect().top ?? 0
    ]
    setMargin(inner - outer + (scroller()?.scrollTop ?? 0))
  }, [scroller])
  // By the header and the heading of a group, at the top of what is scrolled.
  const covered = useRef(0)
  // Those in view come first.
  const overscan = useDeferredValue(mostOverscan, 1)
  const isHeading = (index: number) => isChoosable?.(index) === false
  /** Of the rows in view, also the heading. */
  const withHeading = (range: Range): Array<number> => {
    const drawn = defaultRangeExtractor(range)
    const heading = before(range.startIndex, isHeading)
    return heading < 0 || heading >= drawn[0]! ? drawn : [heading, ...drawn]
  }
  const virtual = useVirtualizer({
    count,
    getScrollElement: scroller,
    // Where it is: it may have been scrolled while fewer rows were drawn as they are.
    initialOffset: () => scroller()?.scrollTop ?? 0,
    estimateSize: () => rowHeight(isTall) * lines,
    scrollMargin,
    scrollPaddingStart: covered.current,
    overscan,
    getItemKey: keyOf,
    rangeExtractor: isChoosable === undefined ? defaultRangeExtractor : withHeading
  })
  reveal.current = (index) => {
    covered.current = paddingOf(scroller()) + (isChoosable === undefined ? 0 : rowHeight(isTall))
    virtual.setOptions({ ...virtual.options, scrollPaddingStart: covered.current })
    virtual.scrollToIndex(index)
  }
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (last >= count - nearEnd) onNearEnd?.()
  }, [count, last, onNearEnd])
  const topOf = ({ start }: VirtualItem) => start - scrollMargin
  return (
    <div className="relative" ref={frame} role="presentation" style={{ height: virtual.getTotalSize() }}>
      {items.map((item) =>
        isHeading(item.index) ? (
          <Heading
            height={item.size * (after(item.index, count, isHeading) - item.index)}
            index={item.index}
            key={item.key}
            row={row}
            top={topOf(item)}
          />
        ) : (
          <div
            aria-rowindex={rowRole === "row" ? item.index + 2 : undefined}
            className={`absolute inset-x-0 top-0 ${rowClass}`}
            data-row={item.index}
            key={item.key}
            role={rowRole}
            style={{ ...rowStyle, transform: `translateY(${topOf(item)}px)` }}
          >
            {row(item.index)}
          </div>
        )
      )}
    </div>
  )
}

export default VirtualRows

import { type ReactNode, type RefObject, useDeferredValue } from "react"
import { later } from "./later.tsx"

/** Rows of one height: a few are drawn as they are; of many those in view, by a part that is loaded then. */

/** As many as fill a large screen. */
const fewRows = 60

/** As many as fill half of a screen: they come first, and the others in the next frames. */
const firstRows = 16

export interface RowsProps {
  readonly count: number
  /** The row that the keyboard begins at: it is among the first to be drawn. */
  readonly at?: number | undefined
  readonly keyOf: (index: number) => string
  /** Whether the keyboard stops at a row. The others are headings of those below them. */
  readonly isChoosable?: ((index: number) => boolean) | undefined
  readonly row: (index: number) => ReactNode
  /** How many times as high as a row of a list each of them is. Default: 1. */
  readonly lines?: number
  /** They have two lines on narrow screens. */
  readonly isTall?: boolean | undefined
  /** The roles of a list unless told. */
  readonly rowRole?: "listitem" | "row"
  /** What scrolls. */
  readonly scroller: () => HTMLElement | null
  /** Set to what brings a row into view. */
  readonly reveal: RefObject<(index: number) => void>
  readonly rowClass?: string
  readonly rowStyle?: Readonly<Record<string, string>>
  /** Called when the last rows are near. */
  readonly onNearEnd?: (() => void) | undefined
}

const PlainRows = ({
  at = 0,
  count,
  keyOf,
  lines = 1,
  reveal,
  row,
  rowClass = "",
  rowRole = "listitem",
  rowStyle,
  scroller
}: RowsProps) => {
  const drawn = useDeferredValue(fewRows, Math.max(firstRows, at + 1))
  reveal.current = (index) => scroller()?.querySelector(`[data-row="${index}"]`)?.scrollIntoView({ block: "nearest" })
  const last = Math.min(count, fewRows)
  const now = Math.min(last, drawn)
  return (
    <>
      {Array.from({ length: now }, (_, index) => (
        <div
          aria-rowindex={rowRole === "row" ? index + 2 : undefined}
          className={rowClass}
          data-row={index}
          key={keyOf(index)}
          role={rowRole}
          style={rowStyle}
        >
          {row(index)}
        </div>
      ))}
      {now < last && <div role="presentation" style={{ height: `calc(var(--row) * ${(last - now) * lines})` }} />}
    </>
  )
}

const VirtualRows = later(() => import("./VirtualRows.tsx"), PlainRows)
// Rows that were drawn as they are would all be drawn anew once it comes.
void VirtualRows.preload()

export const DrawnRows = (props: RowsProps) =>
  props.count <= fewRows ? <PlainRows {...props} /> : <VirtualRows {...props} />

import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react"
import { DrawnRows, type RowsProps } from "./DrawnRows.tsx"
import { useKeys } from "./keys.ts"
import { later } from "./later.tsx"
import { useRows } from "./useRows.ts"

const Peek = later(() => import("./Peek.tsx"))

const screenOf = (): HTMLElement | null => document.querySelector("#screen")

interface ListProps extends Pick<RowsProps, "count" | "isTall" | "keyOf" | "lines" | "onNearEnd"> {
  readonly label: string
  /** What a row is, for the list of keys. */
  readonly noun: string
  readonly row: (index: number, isCurrent: boolean) => ReactNode
  readonly onOpen: (index: number) => void
  /** Where the keyboard is, when rows move below it. */
  readonly at?: number
  /** Told of the row that the keyboard has come to. */
  readonly onCurrent?: (index: number) => void
  /** Whether the keyboard stops at a row. Default: at every row. */
  readonly isChoosable?: (index: number) => boolean
  /** What a row shows beside the list, when asked; undefined where it has nothing to show. */
  readonly peek?: (index: number) => ReactNode
}

/** A list of rows in the screen that the keyboard walks. */
export const Rows = ({ at, count, isChoosable, label, noun, onCurrent, onOpen, peek, row, ...rest }: ListProps) => {
  const [isPeeking, setPeeking] = useState(false)
  const reveal = useRef<(index: number) => void>(() => {})
  const onMove = (index: number) => {
    reveal.current(index)
    onCurrent?.(index)
  }
  const { current, onKeyDown } = useRows({ at, count, isChoosable, noun, onMove, onOpen })
  useKeys(
    peek === undefined
      ? []
      : [{ keys: " ", label: `Peek at the ${noun}`, group: "List", run: () => setPeeking((before) => !before) }]
  )
  useEffect(() => {
    if (at === undefined || at < 0) return
    // After the router, which scrolls to where the screen was left. Once: what others move later stays where it is looked at.
    const frame = requestAnimationFrame(() => reveal.current(at))
    return () => cancelAnimationFrame(frame)
  }, [])
  const peeked = isPeeking && current >= 0 ? peek?.(current) : undefined
  return (
    <>
      <div
        aria-label={label}
        data-tall={rest.isTall}
        onKeyDown={(event: KeyboardEvent) => onKeyDown(event)}
        role="list"
        tabIndex={0}
      >
        <DrawnRows
          {...rest}
          at={at}
          count={count}
          isChoosable={isChoosable}
          reveal={reveal}
          row={(index) => row(index, index === current)}
          scroller={screenOf}
        />
      </div>
      {peeked !== undefined && (
        <Peek label={`The current ${noun}`} onClose={() => setPeeking(false)}>
          {peeked}
        </Peek>
      )}
    </>
  )
}

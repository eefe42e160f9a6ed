import {
  dropTargetForElements,
  type ElementDropTargetEventBasePayload
} from "@atlaskit/pragmatic-drag-and-drop/element/adapter"
import { type RefObject, useEffect, useRef, useState } from "react"
import { placeOf } from "./board.ts"
import type { Column } from "./columns.ts"

/** Where a card that is dragged over a column would land. Load it lazily: it brings the dragging. */

interface Over {
  /** Before the card at this place. */
  readonly place: number
  readonly ticket: string
}

interface Asked {
  readonly cardHeight: number
  readonly column: Column
  readonly frame: RefObject<HTMLElement | null>
  readonly list: RefObject<HTMLElement | null>
  readonly mayChange: boolean
  readonly onDrop: (ticket: string, place: number) => void
}

export const useDropPlace = ({ cardHeight, column, frame, list, mayChange, onDrop }: Asked): Over | undefined => {
  const [over, setOver] = useState<Over>()
  const dropped = useRef(onDrop)
  dropped.current = onDrop
  const count = column.tickets.length
  useEffect(() => {
    const [shown, element] = [list.current, frame.current]
    if (shown === null || element === null || !mayChange) return
    const overAt = ({ location, source }: ElementDropTargetEventBasePayload): Over => {
      const { scrollTop } = shown
      const offset = location.current.input.clientY - shown.getBoundingClientRect().top + scrollTop
      return { place: placeOf(offset, cardHeight, count), ticket: String(source.data["ticket"]) }
    }
    // Each movement tells of it: only another place is drawn.
    const look = (event: ElementDropTargetEventBasePayload) => {
      const next = overAt(event)
      setOver((last) => (last?.place === next.place && last.ticket === next.ticket ? last : next))
    }
    return dropTargetForElements({
      element,
      onDragEnter: look,
      onDrag: look,
      onDragLeave: () => setOver(undefined),
      onDrop: (event) => {
        setOver(undefined)
        const { place, ticket } = overAt(event)
        dropped.current(ticket, place)
      }
    })
  }, [cardHeight, count, frame, list, mayChange])
  return over
}

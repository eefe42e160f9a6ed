import { combine } from "@atlaskit/pragmatic-drag-and-drop/combine"
import { draggable, dropTargetForElements } from "@atlaskit/pragmatic-drag-and-drop/element/adapter"

/** What makes a row one that is dragged onto another. Load it lazily: it brings the dragging. */

export interface RowDrag {
  readonly id: string
  /** What the rows are: those of another kind are not dropped here. */
  readonly kind: string
  readonly onOver: (isOver: boolean) => void
  /** Another row was dropped on this one. */
  readonly onDropped: (id: string) => void
}

export const attach = (element: HTMLElement, { id, kind, onDropped, onOver }: RowDrag): (() => void) =>
  combine(
    draggable({ element, getInitialData: () => ({ kind, id }) }),
    dropTargetForElements({
      element,
      canDrop: ({ source }) => source.data["kind"] === kind && source.data["id"] !== id,
      onDragEnter: () => onOver(true),
      onDragLeave: () => onOver(false),
      onDrop: ({ source }) => {
        onOver(false)
        onDropped(String(source.data["id"]))
      }
    })
  )

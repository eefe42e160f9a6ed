import { useEffect } from "react"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { BoardSkeleton } from "./BoardSkeleton.tsx"
import type { Column } from "./columns.ts"
import { TicketList } from "./TicketList.tsx"
import type { Selection } from "./useSelection.ts"

const Board = later(() => import("./Board.tsx"), BoardSkeleton)
const TicketActions = later(() => import("./TicketActions.tsx"))

export interface ShownProps {
  readonly slug: string
  readonly layout: "list" | "board"
  readonly mayChange: boolean
  readonly selection: Selection
}

/** Tickets in their groups, as a list or a board, with what is done with them. */
export const ShownTickets = ({ layout, ...props }: ShownProps & { readonly columns: ReadonlyArray<Column> }) => {
  const { columns, mayChange, selection } = props
  const { current, select, toggle } = selection
  useKeys(
    mayChange
      ? [
          {
            keys: "x",
            label: "Select the ticket, or no longer",
            group: "Tickets",
            run: () => current !== undefined && toggle(current)
          },
          {
            keys: "X",
            label: "Select all",
            group: "Tickets",
            run: () => select(new Set(columns.flatMap(({ tickets }) => tickets.map(({ id }) => id))))
          }
        ]
      : []
  )
  // The board is asked for beside its tickets, not after them.
  useEffect(() => {
    if (layout === "board") void Board.preload()
  }, [layout])
  return (
    <>
      {layout === "list" ? <TicketList {...props} /> : <Board {...props} />}
      <TicketActions {...props} />
    </>
  )
}

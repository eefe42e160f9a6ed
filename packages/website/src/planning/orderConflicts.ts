import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import type { TicketChange } from "./changes.ts"
import type { Beside } from "./pendingTickets.ts"

/** What is shown of a move where somebody else has moved or taken away what it went beside. */

export interface Named {
  readonly name: string
}

export type Moved =
  | {
      readonly kind: "ticket"
      readonly moved: TicketSummary
      readonly beside: Beside
      /** Moves it again, by what is true now. */
      readonly again: (ticket: TicketSummary, change: TicketChange, beside: Beside) => void
    }
  | {
      readonly kind: "project"
      readonly moved: Named
      readonly other: Named & { readonly slug: string }
      readonly isAfter: boolean
      /** The one on this side of it, and what moves it there. */
      readonly instead: { readonly other: Named; readonly run: () => void } | undefined
    }
  | {
      readonly kind: "status"
      readonly moved: Named
      readonly other: Named
      readonly isAfter: boolean
    }

interface OrderConflicts {
  /** Answers whether it is shown. `thrown` has the reason. */
  tell?: (thrown: unknown, moved: Moved) => boolean
}

export const orderConflicts: OrderConflicts = {}

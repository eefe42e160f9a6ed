import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import type { Beside } from "./pendingTickets.ts"

/** Where cards go. Pure. */

/** Before which of `count` cards something goes that was dropped so many pixels from the start of the first. */
export const placeOf = (offset: number, cardHeight: number, count: number): number =>
  Math.max(0, Math.min(count, Math.round(offset / cardHeight)))

/** Whether a card of this column that is dropped there stays where it is; `from` is -1 where it is of another one. */
export const isStaying = (place: number, from: number): boolean => from >= 0 && (place === from || place === from + 1)

/** Beside which of the others a card stands at this place; undefined where there is no other. */
export const besideAt = (others: ReadonlyArray<TicketSummary>, place: number): Beside | undefined => {
  const [before, after] = [others[place], others[place - 1]]
  return before !== undefined ? { before } : after === undefined ? undefined : { after }
}

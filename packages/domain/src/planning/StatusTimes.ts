import type { Timestamp } from "../Timestamp.ts"
import type { StatusCategory } from "./TicketStatus.ts"

/** When a ticket's work began and ended. */
export interface TicketDates {
  readonly startedAt: Timestamp | null
  readonly completedAt: Timestamp | null
  readonly canceledAt: Timestamp | null
}

/**
 * The dates of a ticket that goes from a category to another at an instant; null for a new one. `startedAt` is set once,
 * on first entering `started`; `completedAt` and `canceledAt` are set on entering and cleared on leaving their category
 * (docs/contract.md, Tickets).
 */
export const datesInCategory = (
  { canceledAt, completedAt, startedAt }: TicketDates,
  from: StatusCategory | null,
  to: StatusCategory,
  at: Timestamp
): TicketDates =>
  from === to
    ? { startedAt, completedAt, canceledAt }
    : {
        startedAt: startedAt ?? (to === "started" ? at : null),
        completedAt: to === "completed" ? at : null,
        canceledAt: to === "canceled" ? at : null
      }

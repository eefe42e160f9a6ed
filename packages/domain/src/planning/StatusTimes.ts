import type { Timestamp } from "../Timestamp.ts"
import type { StatusCategory } from "./TicketStatus.ts"

/** When the work on a ticket began and ended. */
export interface TicketDates {
  readonly startedAt: Timestamp | null
  readonly completedAt: Timestamp | null
  readonly canceledAt: Timestamp | null
}

/**
 * The dates of a ticket whose status moves between categories; `from` is null for a new ticket. `startedAt` is set once,
 * when the ticket first enters `started`. The others are set on entering their category and cleared on leaving it
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

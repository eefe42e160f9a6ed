import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import { makeOptimistic } from "../api/optimistic.ts"
import type { Shown } from "./changes.ts"

/** Changes of tickets that are on their way. */

/** Beside which ticket another one goes. */
export type Beside = { readonly before: TicketSummary } | { readonly after: TicketSummary }

export interface PendingTicket {
  readonly id: string
  readonly shown: Shown
  /** Its place in lists that have the other ticket. */
  readonly beside?: Beside | undefined
}

export const pendingTickets = makeOptimistic<PendingTicket>()

export const neighbourOf = (beside: Beside): TicketSummary => ("before" in beside ? beside.before : beside.after)

/** One ticket as it will be. */
export const asPending = <T extends { readonly id: string }>(ticket: T, pending: ReadonlyArray<PendingTicket>): T =>
  Object.assign({}, ticket, ...pending.filter(({ id }) => id === ticket.id).map(({ shown }) => shown)) as T

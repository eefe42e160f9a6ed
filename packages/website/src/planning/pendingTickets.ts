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

const withOne = (
  tickets: ReadonlyArray<TicketSummary>,
  { beside, id, shown }: PendingTicket
): ReadonlyArray<TicketSummary> => {
  const at = tickets.findIndex((one) => one.id === id)
  if (at < 0) return tickets
  const next = { ...tickets[at]!, ...shown }
  if (beside === undefined) return tickets.with(at, next)
  const rest = tickets.toSpliced(at, 1)
  const anchor = rest.findIndex((one) => one.id === neighbourOf(beside).id)
  const to = anchor < 0 ? at : "before" in beside ? anchor : anchor + 1
  return rest.toSpliced(to, 0, next)
}

/** The tickets as they will be. */
export const withPending = (
  tickets: ReadonlyArray<TicketSummary>,
  pending: ReadonlyArray<PendingTicket>
): ReadonlyArray<TicketSummary> => pending.reduce(withOne, tickets)

/** One ticket as it will be. */
export const asPending = <T extends { readonly id: string }>(ticket: T, pending: ReadonlyArray<PendingTicket>): T =>
  Object.assign({}, ticket, ...pending.filter(({ id }) => id === ticket.id).map(({ shown }) => shown)) as T

import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import { neighbourOf, type PendingTicket } from "./pendingTickets.ts"

/** Lists of tickets with the changes that are on their way. Pure. */

const isBelow = (one: TicketSummary, other: TicketSummary): boolean =>
  one.rank === other.rank ? one.id > other.id : one.rank > other.rank

/**
 * Where a ticket of another status goes: it keeps its rank, and lists have their tickets by category, then by the position of their
 * status, then by rank. Of a category alone, it has the first status of its team there. What the position of its status is, those who
 * have it tell, or else its team. Undefined where nobody is in its category.
 */
const placeByRank = (others: ReadonlyArray<TicketSummary>, { id, rank, status, team }: TicketSummary) => {
  const isIn = (one: TicketSummary | undefined): one is TicketSummary => one?.status.category === status.category
  const first = [
    (one: TicketSummary) => isIn(one) && one.status.id === status.id,
    (one: TicketSummary) => isIn(one) && one.team.id === team.id,
    isIn
  ]
    .map((is) => others.findIndex(is))
    .find((found) => found >= 0)
  if (first === undefined) return undefined
  let start = first
  while (isIn(others[start - 1]) && isBelow(others[start]!, others[start - 1]!)) start--
  const end = others.findIndex(
    (one, at) => at >= start && (!isIn(one) || (at > start && isBelow(others[at - 1]!, one)))
  )
  const run = others.slice(start, end < 0 ? undefined : end)
  return start + run.filter((one) => isBelow({ ...one, id, rank }, one)).length
}

const isMoved = ({ status }: TicketSummary, { shown }: PendingTicket): boolean =>
  shown.status !== undefined && (shown.status.id !== status.id || shown.status.category !== status.category)

/** The tickets as they will be. */
export const withPending = (
  tickets: ReadonlyArray<TicketSummary>,
  pending: ReadonlyArray<PendingTicket>
): ReadonlyArray<TicketSummary> => {
  const placed = new Set(pending.filter(({ beside }) => beside !== undefined).map(({ id }) => id))
  const withOne = (all: ReadonlyArray<TicketSummary>, change: PendingTicket): ReadonlyArray<TicketSummary> => {
    const { beside, id, shown } = change
    const at = all.findIndex((one) => one.id === id)
    if (at < 0) return all
    const before = all[at]!
    const next = { ...before, ...shown }
    const rest = all.toSpliced(at, 1)
    if (beside === undefined) {
      const to = isMoved(before, change) && !placed.has(id) ? placeByRank(rest, next) : undefined
      return rest.toSpliced(to ?? at, 0, next)
    }
    const anchor = rest.findIndex((one) => one.id === neighbourOf(beside).id)
    const to = anchor < 0 ? at : "before" in beside ? anchor : anchor + 1
    return rest.toSpliced(to, 0, next)
  }
  return pending.reduce(withOne, tickets)
}

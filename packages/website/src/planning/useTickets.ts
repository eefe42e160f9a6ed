import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import { useQuery } from "@tanstack/react-query"
import { useMemo } from "react"
import { useMe } from "../api/session.ts"
import { askedOf, matches } from "./filters.ts"
import { pendingTickets } from "./pendingTickets.ts"
import { ticketListsQuery, viewTicketsQuery } from "./queries.ts"
import type { TicketsSearch } from "./search.ts"
import { withPending } from "./withPending.ts"

export interface TicketsData {
  /** Undefined until they are there. */
  readonly data: ReadonlyArray<TicketSummary> | undefined
  readonly error: unknown
  readonly refetch: () => void
}

/** The tickets that match a search, in their order, as they will be. */
export const useTickets = (slug: string, search: TicketsSearch, isEnabled: boolean): TicketsData => {
  const me = useMe()?.id
  const pending = pendingTickets.usePending()
  const { data, error, refetch } = useQuery({ ...ticketListsQuery(slug, askedOf(search)), enabled: isEnabled })
  const tickets = useMemo(
    () => data && withPending(data.tickets, pending).filter((ticket) => matches(ticket, search, me)),
    [data, me, pending, search]
  )
  return { data: tickets, error, refetch: () => void refetch() }
}

/** Those of a view, as the server knows it: also by what of it the person cannot see. */
export const useViewTickets = (slug: string, view: string | undefined): TicketsData => {
  const pending = pendingTickets.usePending()
  const { data, error, refetch } = useQuery({ ...viewTicketsQuery(slug, view ?? ""), enabled: view !== undefined })
  const tickets = useMemo(() => data && withPending(data.tickets, pending), [data, pending])
  return { data: tickets, error, refetch: () => void refetch() }
}

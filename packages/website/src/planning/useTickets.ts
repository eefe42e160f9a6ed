import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import { useQueries, useQuery, type UseQueryResult } from "@tanstack/react-query"
import { useMemo } from "react"
import { useMe } from "../api/session.ts"
import { askedOf, matches } from "./filters.ts"
import { pendingTickets, withPending } from "./pendingTickets.ts"
import { ticketListQuery, viewTicketsQuery } from "./queries.ts"
import type { TicketsSearch } from "./search.ts"

export interface TicketsData {
  /** Undefined until they are there. */
  readonly data: ReadonlyArray<TicketSummary> | undefined
  readonly error: unknown
  readonly refetch: () => void
}

interface List {
  readonly tickets: ReadonlyArray<TicketSummary>
}

/** The lists one after the other. */
const combine = (answers: ReadonlyArray<UseQueryResult<List>>): TicketsData => ({
  data: answers.some(({ data }) => data === undefined) ? undefined : answers.flatMap(({ data }) => data!.tickets),
  error: answers.find(({ error }) => error !== null)?.error ?? null,
  refetch: () => {
    for (const answer of answers) void answer.refetch()
  }
})

/** The tickets that match a search, in their order, as they will be. */
export const useTickets = (slug: string, search: TicketsSearch, isEnabled: boolean): TicketsData => {
  const me = useMe()?.id
  const pending = pendingTickets.usePending()
  const answer = useQueries({
    queries: askedOf(search).map((asked) => ({ ...ticketListQuery(slug, asked), enabled: isEnabled })),
    combine
  })
  const data = useMemo(
    () => answer.data && withPending(answer.data, pending).filter((ticket) => matches(ticket, search, me)),
    [answer.data, me, pending, search]
  )
  return { ...answer, data }
}

/** Those of a view, as the server knows it: also by what of it the person cannot see. */
export const useViewTickets = (slug: string, view: string | undefined): TicketsData => {
  const pending = pendingTickets.usePending()
  const { data, error, refetch } = useQuery({ ...viewTicketsQuery(slug, view ?? ""), enabled: view !== undefined })
  const tickets = useMemo(() => data && withPending(data.tickets, pending), [data, pending])
  return { data: tickets, error, refetch: () => void refetch() }
}

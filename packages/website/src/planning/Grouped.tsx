import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import type { TicketStatus } from "@delivery/domain/planning/TicketStatus"
import { useQuery } from "@tanstack/react-query"
import { useMemo } from "react"
import { groupsOf } from "./groups.ts"
import { wholeProjectsQuery } from "./groupQueries.ts"
import type { TicketsSearch } from "./search.ts"
import { type ShownProps, ShownTickets } from "./ShownTickets.tsx"

interface Props extends ShownProps {
  readonly search: TicketsSearch
  readonly statuses: ReadonlyArray<TicketStatus> | undefined
  readonly tickets: ReadonlyArray<TicketSummary>
}

/** The projects that are looked at: those of the filter, else the one that all tickets are of. */
const projectsOf = (
  { group, projects }: TicketsSearch,
  tickets: ReadonlyArray<TicketSummary>
): ReadonlyArray<string> => {
  if (group !== "milestone") return []
  if (projects !== undefined) return projects
  const all = new Set(tickets.map(({ project }) => project?.slug))
  const [only] = all
  return all.size === 1 && only !== undefined ? [only] : []
}

/** Tickets in other groups than their statuses, or in another order than their own. */
const Grouped = ({ search, statuses, tickets, ...props }: Props) => {
  const { group, sort } = search
  const { slug } = props
  const { data: projects } = useQuery(wholeProjectsQuery(slug, projectsOf(search, tickets)))
  const columns = useMemo(
    () => groupsOf(tickets, group, sort, statuses, projects),
    [group, projects, sort, statuses, tickets]
  )
  return <ShownTickets {...props} columns={columns} />
}

export default Grouped

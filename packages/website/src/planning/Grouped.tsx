import type { Project } from "@delivery/domain/planning/Project"
import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import type { TicketStatus } from "@delivery/domain/planning/TicketStatus"
import { useQueries } from "@tanstack/react-query"
import { useMemo } from "react"
import { groupsOf } from "./groups.ts"
import { projectQuery } from "./queries.ts"
import type { TicketsSearch } from "./search.ts"
import { type ShownProps, ShownTickets } from "./ShownTickets.tsx"

/** Those that are known by now. */
const whole = (results: ReadonlyArray<{ readonly data: Project | undefined }>): ReadonlyArray<Project> =>
  results.flatMap(({ data }) => data ?? [])

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
  const projects = useQueries({
    queries: projectsOf(search, tickets).map((project) => projectQuery(slug, project)),
    combine: whole
  })
  const columns = useMemo(
    () => groupsOf(tickets, group, sort, statuses, projects),
    [group, projects, sort, statuses, tickets]
  )
  return <ShownTickets {...props} columns={columns} />
}

export default Grouped

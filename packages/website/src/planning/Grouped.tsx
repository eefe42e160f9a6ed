import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import type { TicketStatus } from "@delivery/domain/planning/TicketStatus"
import { useMemo } from "react"
import { groupsOf } from "./groups.ts"
import type { TicketsSearch } from "./search.ts"
import { type ShownProps, ShownTickets } from "./ShownTickets.tsx"

interface Props extends ShownProps {
  readonly search: TicketsSearch
  readonly statuses: ReadonlyArray<TicketStatus> | undefined
  readonly tickets: ReadonlyArray<TicketSummary>
}

/** Tickets in other groups than their statuses, or in another order than their own. */
const Grouped = ({ search, statuses, tickets, ...props }: Props) => {
  const { group, sort } = search
  const columns = useMemo(() => groupsOf(tickets, group, sort, statuses), [group, sort, statuses, tickets])
  return <ShownTickets {...props} columns={columns} />
}

export default Grouped

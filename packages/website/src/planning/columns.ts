import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import type { StatusCategory, TicketStatus } from "@delivery/domain/planning/TicketStatus"
import { categories, categoryNames } from "./categories.ts"
import type { TicketChange } from "./changes.ts"

/** Tickets in the groups of their statuses: the columns of a board, the headings of a list. Pure. */

export interface Column {
  readonly key: string
  readonly label: string
  readonly category?: StatusCategory
  readonly tickets: ReadonlyArray<TicketSummary>
  /** What becomes of a ticket that is moved here. */
  readonly change: TicketChange
  /** Whether its tickets have an order of their own, of one team and status. */
  readonly isOrdered: boolean
  /** A list shows it without tickets, too. */
  readonly isAlwaysShown?: boolean
}

const byStatus = (
  tickets: ReadonlyArray<TicketSummary>,
  statuses: ReadonlyArray<TicketStatus>
): ReadonlyArray<Column> => {
  const groups = Map.groupBy(tickets, ({ status }) => status.id)
  return statuses.map(({ category, id, name }) => ({
    key: id,
    label: name,
    category,
    tickets: groups.get(id) ?? [],
    change: { status: { id, name, category } },
    isOrdered: true
  }))
}

const byCategory = (tickets: ReadonlyArray<TicketSummary>): ReadonlyArray<Column> => {
  const groups = Map.groupBy(tickets, ({ status }) => status.category)
  return categories.map((category) => ({
    key: category,
    label: categoryNames[category],
    category,
    tickets: groups.get(category) ?? [],
    change: { category },
    isOrdered: false
  }))
}

/** Without the statuses of the one team that there is, the columns are categories. */
export const columnsOf = (
  tickets: ReadonlyArray<TicketSummary>,
  statuses: ReadonlyArray<TicketStatus> | undefined
): ReadonlyArray<Column> => (statuses === undefined ? byCategory(tickets) : byStatus(tickets, statuses))

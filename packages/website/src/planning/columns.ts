import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import type { StatusCategory, TicketStatus } from "@delivery/domain/planning/TicketStatus"
import { actorName } from "../api/actors.ts"
import { visible } from "../ui/format.ts"
import { categories, categoryNames } from "./categories.ts"
import type { TicketChange } from "./changes.ts"
import type { Grouping } from "./search.ts"

/** Tickets in groups: the columns of a board, the headings of a list. Pure. */

export interface Column {
  readonly key: string
  readonly label: string
  readonly category?: StatusCategory
  readonly tickets: ReadonlyArray<TicketSummary>
  /** What becomes of a ticket that is moved here. */
  readonly change: TicketChange
  /** Whether its tickets have an order of their own, of one team and status. */
  readonly isOrdered: boolean
}

const byStatus = (
  tickets: ReadonlyArray<TicketSummary>,
  statuses: ReadonlyArray<TicketStatus>
): ReadonlyArray<Column> => {
  const groups = Map.groupBy(tickets, ({ status }) => status.id)
  return statuses.map(({ category, id, name }) => ({
    key: id,
    label: visible(name),
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

const byOwner = (tickets: ReadonlyArray<TicketSummary>): ReadonlyArray<Column> =>
  [...Map.groupBy(tickets, ({ owner }) => owner?.id ?? "")].map(([key, some]) => {
    const { owner } = some[0]!
    return {
      key,
      label: owner === null ? "Nobody" : actorName(owner),
      tickets: some,
      change: { owner },
      isOrdered: false
    }
  })

const byProject = (tickets: ReadonlyArray<TicketSummary>): ReadonlyArray<Column> =>
  [...Map.groupBy(tickets, ({ project }) => project?.id ?? "")].map(([key, some]) => {
    const { project } = some[0]!
    return {
      key,
      label: project === null ? "No project" : visible(project.name),
      tickets: some,
      change: { project },
      isOrdered: false
    }
  })

/** Those without a milestone come last of their project, and those without a project last of all. */
const byMilestone = (tickets: ReadonlyArray<TicketSummary>): ReadonlyArray<Column> => {
  const nameOf = ({ milestone, project }: TicketSummary) =>
    project === null
      ? "No project"
      : `${visible(project.name)} · ${milestone === null ? "no milestone" : visible(milestone.name)}`
  const placeOf = ({ milestone, project }: TicketSummary) =>
    [project === null ? 1 : 0, project?.name ?? "", milestone?.number ?? Infinity] as const
  return [...Map.groupBy(tickets, ({ milestone, project }) => `${project?.id} ${milestone?.number}`)]
    .map(([key, some]) => ({ key, some, place: placeOf(some[0]!) }))
    .toSorted(
      ({ place: a }, { place: b }) => a[0] - b[0] || a[1].localeCompare(b[1]) || (a[2] === b[2] ? 0 : a[2] - b[2])
    )
    .map(({ key, some }) => ({
      key,
      label: nameOf(some[0]!),
      tickets: some,
      change: { project: some[0]!.project, milestone: some[0]!.milestone },
      isOrdered: false
    }))
}

/** Without the statuses of the one team that there is, the columns of statuses are their categories. */
export const columnsOf = (
  tickets: ReadonlyArray<TicketSummary>,
  group: Grouping,
  statuses: ReadonlyArray<TicketStatus> | undefined
): ReadonlyArray<Column> => {
  switch (group) {
    case "status":
      return statuses === undefined ? byCategory(tickets) : byStatus(tickets, statuses)
    case "owner":
      return byOwner(tickets).toSorted((a, b) => a.label.localeCompare(b.label))
    case "milestone":
      return byMilestone(tickets)
    case "project":
      return byProject(tickets).toSorted((a, b) => a.label.localeCompare(b.label))
  }
}

import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import type { TicketStatus } from "@delivery/domain/planning/TicketStatus"
import { actorName } from "../api/actors.ts"
import { visible } from "../ui/format.ts"
import { type Column, columnsOf } from "./columns.ts"
import type { Grouping, Sorting } from "./search.ts"

/** Tickets in other groups than their statuses, and in another order than their own. Pure. */

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

const grouped = (
  tickets: ReadonlyArray<TicketSummary>,
  group: Grouping,
  statuses: ReadonlyArray<TicketStatus> | undefined
): ReadonlyArray<Column> => {
  switch (group) {
    case "status":
      return columnsOf(tickets, statuses)
    case "owner":
      return byOwner(tickets).toSorted((a, b) => a.label.localeCompare(b.label))
    case "milestone":
      return byMilestone(tickets)
    case "project":
      return byProject(tickets).toSorted((a, b) => a.label.localeCompare(b.label))
  }
}

/** What was changed, or made, last comes first. In an order that is not their own, tickets cannot be put elsewhere. */
export const groupsOf = (
  tickets: ReadonlyArray<TicketSummary>,
  group: Grouping = "status",
  sort: Sorting | undefined,
  statuses: ReadonlyArray<TicketStatus> | undefined
): ReadonlyArray<Column> => {
  const columns = grouped(tickets, group, statuses)
  if (sort === undefined) return columns
  const at = ({ createdAt, updatedAt }: TicketSummary) => (sort === "updated" ? updatedAt : createdAt)
  return columns.map((column) => ({
    ...column,
    tickets: column.tickets.toSorted((a, b) => at(b).localeCompare(at(a))),
    isOrdered: false
  }))
}

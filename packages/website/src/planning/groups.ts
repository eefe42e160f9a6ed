import type { Project } from "@delivery/domain/planning/Project"
import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import type { TicketStatus } from "@delivery/domain/planning/TicketStatus"
import { actorName } from "../api/actors.ts"
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
      label: project === null ? "No project" : project.name,
      tickets: some,
      change: { project },
      isOrdered: false
    }
  })

interface Place {
  readonly project: TicketSummary["project"]
  readonly milestone: TicketSummary["milestone"]
}

const keyOf = ({ milestone, project }: Place): string => `${project?.id} ${milestone?.number}`

/** All milestones of the projects that are looked at, and the place for what is in none of them. */
const placesOf = (projects: ReadonlyArray<Project>): ReadonlyArray<Place> =>
  projects.flatMap(({ id, milestones, name, slug }) =>
    [...milestones.map(({ name, number }) => ({ name, number })), null].map((milestone) => ({
      project: { id, slug, name },
      milestone
    }))
  )

/** Those without a milestone come last of their project, and those without a project last of all. */
const byMilestone = (
  tickets: ReadonlyArray<TicketSummary>,
  projects: ReadonlyArray<Project>
): ReadonlyArray<Column> => {
  const nameOf = ({ milestone, project }: Place) =>
    project === null ? "No project" : `${project.name} · ${milestone === null ? "no milestone" : milestone.name}`
  const orderOf = ({ milestone, project }: Place) =>
    [project === null ? 1 : 0, project?.name ?? "", milestone?.number ?? Infinity] as const
  const groups = Map.groupBy(tickets, keyOf)
  const known = placesOf(projects)
  const places = new Map([...known, ...[...groups.values()].map(([one]) => one!)].map((one) => [keyOf(one), one]))
  return [...places]
    .map(([key, place]) => ({ key, place, order: orderOf(place) }))
    .toSorted(
      ({ order: a }, { order: b }) => a[0] - b[0] || a[1].localeCompare(b[1]) || (a[2] === b[2] ? 0 : a[2] - b[2])
    )
    .map(({ key, place: { milestone, project } }) => ({
      key,
      label: nameOf({ milestone, project }),
      tickets: groups.get(key) ?? [],
      change: { project, milestone },
      isOrdered: false,
      isAlwaysShown: milestone !== null
    }))
}

const grouped = (
  tickets: ReadonlyArray<TicketSummary>,
  group: Grouping,
  statuses: ReadonlyArray<TicketStatus> | undefined,
  projects: ReadonlyArray<Project>
): ReadonlyArray<Column> => {
  switch (group) {
    case "status":
      return columnsOf(tickets, statuses)
    case "owner":
      return byOwner(tickets).toSorted((a, b) => a.label.localeCompare(b.label))
    case "milestone":
      return byMilestone(tickets, projects)
    case "project":
      return byProject(tickets).toSorted((a, b) => a.label.localeCompare(b.label))
  }
}

/** What was changed, or made, last comes first. In an order that is not their own, tickets cannot be put elsewhere. */
export const groupsOf = (
  tickets: ReadonlyArray<TicketSummary>,
  group: Grouping = "status",
  sort: Sorting | undefined,
  statuses: ReadonlyArray<TicketStatus> | undefined,
  projects: ReadonlyArray<Project> = []
): ReadonlyArray<Column> => {
  const columns = grouped(tickets, group, statuses, projects)
  if (sort === undefined) return columns
  const at = ({ createdAt, updatedAt }: TicketSummary) => (sort === "updated" ? updatedAt : createdAt)
  return columns.map((column) => ({
    ...column,
    tickets: column.tickets.toSorted((a, b) => at(b).localeCompare(at(a))),
    isOrdered: false
  }))
}

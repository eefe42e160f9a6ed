import type { Change } from "@delivery/domain/events/Event"
import { byName } from "@delivery/domain/Order"
import type { NewEvent } from "../events/Events.ts"
import { identifierOf } from "./TicketRefs.ts"
import type { ListedTicket, TagPart, TicketDetails } from "./TicketsRepo.ts"

/** The events of tickets (docs/contract.md, Events). */

/** The ticket's page below the workspace's. */
export const ticketPath = (ticket: Pick<ListedTicket, "number" | "team">): string => `tickets/${identifierOf(ticket)}`

/** The subject of an event about a ticket, and who sees it. */
export const about = (ticket: Pick<ListedTicket, "id" | "number" | "team" | "title">): Omit<NewEvent, "kind"> => ({
  subject: {
    type: "ticket",
    id: ticket.id,
    label: `${identifierOf(ticket)} ${ticket.title}`,
    path: ticketPath(ticket)
  },
  teams: [ticket.team.id]
})

/** The changes between two states, with names of references. Long texts are recorded only as changed. */
export const changesOf = (before: TicketDetails, after: TicketDetails): ReadonlyArray<Change> => {
  const changes: Array<Change> = []
  const compare = (field: string, a: string | null, b: string | null, from = a, to = b) => {
    if (a !== b) changes.push({ field, from, to })
  }
  const compareNamed = (field: "team" | "status" | "owner" | "project" | "milestone") => {
    const [a, b] = [before[field], after[field]]
    compare(field, a?.id ?? null, b?.id ?? null, a?.name, b?.name)
  }
  compare("title", before.title, after.title)
  compare("description", before.description, after.description, null, "changed")
  compare("plan", before.plan, after.plan, null, "changed")
  for (const field of ["team", "status", "owner", "project", "milestone"] as const) compareNamed(field)
  compare("cases", casesKey(before.cases), casesKey(after.cases), shownCases(before.cases), shownCases(after.cases))
  compare("completion", before.completion, after.completion)
  compare("passes", String(before.passes), String(after.passes))
  compare("tags", idsOf(before.tags), idsOf(after.tags), namesOf(before.tags), namesOf(after.tags))
  compare("blocks", String(before.blocks), String(after.blocks))
  return changes
}

const casesKey = (cases: TicketDetails["cases"]): string | null =>
  cases && JSON.stringify([cases.productId, cases.caseIds.toSorted()])

/** How many tests of which product. */
export const shownCases = (cases: Pick<NonNullable<TicketDetails["cases"]>, "caseIds" | "product"> | null) =>
  cases && `${cases.caseIds.length} ${cases.caseIds.length === 1 ? "test" : "tests"} of ${cases.product}`

/** The ids of tags in the order of ids. */
export const idsOf = (tags: ReadonlyArray<TagPart>): string =>
  tags
    .map(({ id }) => id)
    .toSorted()
    .join()

const namesOf = (tags: ReadonlyArray<TagPart>): string | null =>
  tags.length === 0
    ? null
    : tags
        .toSorted(byName)
        .map(({ name }) => name)
        .join(", ")

/**
 * The events of a change. A ticket that moves between two teams of which one is private gets an event for each team:
 * who sees only one of them learns nothing of the other where that is private.
 */
export const updateEvents = (
  before: TicketDetails,
  after: TicketDetails,
  changes: ReadonlyArray<Change>
): ReadonlyArray<NewEvent> => {
  const kind = "ticket_updated"
  const teams = [...new Set([before.team.id, after.team.id])]
  const isHidden = teams.length > 1 && [before.team, after.team].some(({ visibility }) => visibility === "private")
  if (!isHidden) return [{ kind, ...about(after), changes, teams }]
  const left = { field: "team", from: before.team.name, to: null }
  const entered = { field: "team", from: null, to: after.team.name }
  return [
    after.team.visibility === "open"
      ? { kind, ...about(after), changes, teams: [before.team.id] }
      : { kind, ...about(before), changes: [left] },
    before.team.visibility === "open"
      ? { kind, ...about(after), changes }
      : { kind, ...about(after), changes: [entered] }
  ]
}

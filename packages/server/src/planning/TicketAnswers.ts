import type { WorkspaceId } from "@delivery/domain/Ids"
import { byName } from "@delivery/domain/Order"
import { maxListedDescription, type Ticket, type TicketSummary } from "@delivery/domain/planning/Ticket"
import { maxListedCases } from "@delivery/domain/planning/TicketCases"
import { firstCharacters } from "@delivery/domain/Text"
import type { Access } from "../access/Access.ts"
import { ticketPath } from "./TicketEvents.ts"
import { identifierOf } from "./TicketRefs.ts"
import type { LockedProject, LockedTeam, ListedTicket, ProjectPart, TicketDetails, TicketRow } from "./TicketsRepo.ts"

/** A ticket as lists of the API answer it. */
export const listed = (baseUrl: string, access: Access, ticket: ListedTicket): TicketSummary => {
  const whole = summaryOf(baseUrl, access, ticket)
  const { cases, mute } = whole
  const summary = {
    ...whole,
    cases: cases && {
      ...cases,
      caseIds: cases.caseIds.slice(0, maxListedCases),
      ...countOf(ticket.cases?.caseIds, ticket.cases)
    },
    mute: mute && { ...mute, cases: mute.cases.slice(0, maxListedCases), ...countOf(ticket.mute?.cases, ticket.mute) }
  }
  const description = summary.description && firstCharacters(summary.description, maxListedDescription)
  return description === summary.description ? summary : { ...summary, description, descriptionTruncated: true }
}

/** How many tests there are, where a list shows the first alone. */
const countOf = (ids: ReadonlyArray<string> = [], stored: { readonly count?: number } | null) => {
  const count = stored?.count ?? ids.length
  return count > maxListedCases ? { count } : {}
}

const summaryOf = (baseUrl: string, { workspace }: Access, ticket: ListedTicket): Omit<Ticket, "plan"> => {
  const { category, id, name } = ticket.status
  return {
    id: ticket.id,
    identifier: identifierOf(ticket),
    number: ticket.number,
    url: `${baseUrl}/w/${workspace.slug}/${ticketPath(ticket)}`,
    title: ticket.title,
    description: ticket.description,
    team: ticket.team,
    status: { id, name, category },
    rank: ticket.rank,
    owner: ticket.owner,
    project: ticket.project,
    milestone: ticket.milestone && { number: ticket.milestone.number, name: ticket.milestone.name },
    tags: ticket.tags.toSorted(byName).map(({ color, id, name }) => ({ id, name, color })),
    cases: ticket.cases && { product: ticket.cases.product, caseIds: ticket.cases.caseIds },
    completion: ticket.completion,
    passes: ticket.passes,
    mute: ticket.mute && { product: ticket.mute.product, cases: ticket.mute.cases, until: ticket.mute.until },
    blocks: ticket.blocks,
    commentCount: ticket.commentCount,
    createdBy: ticket.createdBy,
    startedAt: ticket.startedAt,
    completedAt: ticket.completedAt,
    canceledAt: ticket.canceledAt,
    createdAt: ticket.createdAt,
    updatedAt: ticket.updatedAt
  }
}

/** A ticket as the API answers it. */
export const present = (baseUrl: string, access: Access, ticket: TicketDetails): Ticket => ({
  ...summaryOf(baseUrl, access, ticket),
  plan: ticket.plan
})

/** The row that stores a ticket. */
export const rowOf = (workspaceId: WorkspaceId, ticket: TicketDetails): TicketRow => ({
  id: ticket.id,
  workspaceId,
  teamId: ticket.team.id,
  number: ticket.number,
  title: ticket.title,
  description: ticket.description,
  plan: ticket.plan,
  statusId: ticket.status.id,
  rank: ticket.rank,
  ownerKind: ticket.owner?.kind ?? null,
  ownerId: ticket.owner?.id ?? null,
  projectId: ticket.project?.id ?? null,
  milestoneId: ticket.milestone?.id ?? null,
  cases: ticket.cases && {
    productId: ticket.cases.productId,
    caseIds: ticket.cases.caseIds,
    ...(ticket.cases.askedAt === undefined ? {} : { askedAt: ticket.cases.askedAt })
  },
  completion: ticket.completion,
  passes: ticket.passes,
  pastOwners: ticket.pastOwners,
  mute: ticket.mute && {
    productId: ticket.mute.productId,
    cases: ticket.mute.cases,
    until: ticket.mute.until,
    by: ticket.mute.by
  },
  blocks: ticket.blocks,
  creatorKind: ticket.creator.kind,
  creatorId: ticket.creator.id,
  startedAt: ticket.startedAt,
  completedAt: ticket.completedAt,
  canceledAt: ticket.canceledAt,
  createdAt: ticket.createdAt,
  updatedAt: ticket.updatedAt
})

export const projectPart = ({ id, name, slug }: LockedProject): ProjectPart => ({ id, slug, name })

export const teamPart = ({ id, key, name, visibility }: LockedTeam): TicketDetails["team"] => ({
  id,
  key,
  name,
  visibility
})

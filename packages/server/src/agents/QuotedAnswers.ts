import type { AgentRef } from "@delivery/domain/agents/Agent"
import { AgentMessage } from "@delivery/domain/agents/Message"
import { authorOf, quote, Quoted, quoteOrNull } from "@delivery/domain/agents/Quote"
import { Attachment } from "@delivery/domain/planning/Attachment"
import { Comment } from "@delivery/domain/planning/Comment"
import { Milestone, type Project, ProjectSummary } from "@delivery/domain/planning/Project"
import { type Ticket, TicketSummary } from "@delivery/domain/planning/Ticket"
import { visible } from "@delivery/domain/Text"
import { Schema } from "effect"

/**
 * What the tools of `/agent/mcp` answer: as the API does, but what people and other agents wrote is quoted, beside its
 * author (docs/contract.md, MCP).
 */

const QuotedOrNull = Schema.NullOr(Quoted)

export const QuotedMessage = Schema.Struct({
  ...AgentMessage.fields,
  ticket: Schema.Struct({ ...AgentMessage.fields.ticket.fields, title: Quoted }),
  note: QuotedOrNull,
  reply: QuotedOrNull
})
export const quotedMessage = (message: AgentMessage): typeof QuotedMessage.Type => ({
  ...message,
  ticket: { ...message.ticket, title: quote(members, message.ticket.title) },
  note: quoteOrNull(authorOf(message.sender), message.note),
  reply: quoteOrNull(agentOf(message.agent), message.reply)
})

/** A message that was taken: with what its ticket says, for sign-ins that cannot ask for it. */
export const QuotedTakenMessage = Schema.Struct({
  ...QuotedMessage.fields,
  ticket: Schema.Struct({
    ...QuotedMessage.fields.ticket.fields,
    description: QuotedOrNull,
    plan: QuotedOrNull,
    status: Schema.NullOr(TicketSummary.fields.status).annotate({
      description:
        "Where the ticket is now, which may be long after the message was sent; null where the ticket is gone. One whose category is completed or canceled may need nothing any more."
    })
  })
})
export const quotedTakenMessage = (
  message: AgentMessage,
  ticket: Pick<Ticket, "description" | "plan" | "status"> | undefined
): typeof QuotedTakenMessage.Type => {
  const quoted = quotedMessage(message)
  const description = quoteOrNull(members, ticket?.description ?? null)
  const plan = quoteOrNull(members, ticket?.plan ?? null)
  return { ...quoted, ticket: { ...quoted.ticket, description, plan, status: ticket?.status ?? null } }
}

/** Titles, names and Markdown of tickets, projects and milestones may be edited by every member. */
const members = "members of the workspace"
const agentOf = ({ name, person }: AgentRef) => `${name}, agent of ${authorOf(person)}, or that person`

const {
  cases: ticketCases,
  milestone: ticketMilestone,
  mute: ticketMute,
  project: ticketProject
} = TicketSummary.fields
/** Ids of tests, one on a line, are in the words of whoever wrote the tests. */
const quotedIds = (ids: ReadonlyArray<string>) => quote("the tests", ids.join("\n"))
export const QuotedTicketSummary = Schema.Struct({
  ...TicketSummary.fields,
  title: Quoted,
  description: QuotedOrNull,
  cases: Schema.NullOr(Schema.Struct({ ...ticketCases.members[0].fields, caseIds: Quoted })),
  mute: Schema.NullOr(Schema.Struct({ ...ticketMute.members[0].fields, cases: Quoted })),
  project: Schema.NullOr(Schema.Struct({ ...ticketProject.members[0].fields, name: Quoted })),
  milestone: Schema.NullOr(Schema.Struct({ ...ticketMilestone.members[0].fields, name: Quoted }))
})
export const quotedTicketSummary = ({
  cases,
  milestone,
  mute,
  project,
  ...ticket
}: TicketSummary): typeof QuotedTicketSummary.Type => ({
  ...ticket,
  title: quote(members, ticket.title),
  description: quoteOrNull(members, ticket.description),
  cases: cases && { ...cases, caseIds: quotedIds(cases.caseIds) },
  mute: mute && { ...mute, cases: quotedIds(mute.cases) },
  project: project && { ...project, name: quote(members, project.name) },
  milestone: milestone && { ...milestone, name: quote(members, milestone.name) }
})

export const QuotedComment = Schema.Struct({ ...Comment.fields, body: Quoted })
export const quotedComment = (comment: Comment): typeof QuotedComment.Type => ({
  ...comment,
  body: quote(authorOf(comment.author), comment.body)
})

export const QuotedAttachment = Schema.Struct({ ...Attachment.fields, name: Quoted })
export const quotedAttachment = (attachment: Attachment): typeof QuotedAttachment.Type => ({
  ...attachment,
  name: quote(authorOf(attachment.createdBy), attachment.name),
  // Its parameters may hold any text.
  contentType: attachment.contentType.replace(/[\t ]*;.*$/s, "")
})

export const QuotedTicket = Schema.Struct({ ...QuotedTicketSummary.fields, plan: QuotedOrNull })
export const quotedTicket = ({ plan, ...ticket }: Ticket): typeof QuotedTicket.Type => ({
  ...quotedTicketSummary(ticket),
  plan: quoteOrNull(members, plan)
})

export const QuotedProjectSummary = Schema.Struct({ ...ProjectSummary.fields, name: Quoted, summary: QuotedOrNull })
export const quotedProjectSummary = (project: ProjectSummary): typeof QuotedProjectSummary.Type => ({
  ...project,
  name: quote(members, project.name),
  summary: quoteOrNull(members, project.summary)
})

const QuotedMilestone = Schema.Struct({ ...Milestone.fields, name: Quoted, summary: QuotedOrNull })
export const QuotedProject = Schema.Struct({
  ...QuotedProjectSummary.fields,
  milestones: Schema.Array(QuotedMilestone),
  document: QuotedOrNull
})
export const quotedProject = ({ document, milestones, ...project }: Project): typeof QuotedProject.Type => ({
  ...quotedProjectSummary(project),
  milestones: milestones.map((milestone) => ({
    ...milestone,
    name: quote(members, milestone.name),
    summary: quoteOrNull(members, milestone.summary)
  })),
  document: quoteOrNull(members, document)
})

/** An answer in which nothing is hidden, in names and labels neither. What is quoted shows it already, on several lines. */
export const shown = <A>(answer: A): A => shownValue(answer) as A

const shownValue = (value: unknown): unknown => {
  if (typeof value === "string") return visible(value)
  if (Array.isArray(value)) return value.map(shownValue)
  if (typeof value !== "object" || value === null || ("by" in value && "text" in value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, shownValue(one)]))
}

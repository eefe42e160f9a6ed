import { AgentMe, type AgentRef, ReportSession, ReportedSession, SessionName } from "@delivery/domain/agents/Agent"
import { AgentCaller } from "@delivery/domain/agents/AgentAuthorization"
import { AgentDecline, AgentMessage, CompleteMessage, TakeMessages } from "@delivery/domain/agents/Message"
import { authorOf, quote, Quoted, quoteOrNull } from "@delivery/domain/agents/Quote"
import type { Conflict, Forbidden, InvalidInput, NotFound } from "@delivery/domain/Errors"
import { Caller } from "@delivery/domain/identity/Authorization"
import { Comment, CreateComment } from "@delivery/domain/planning/Comment"
import { Milestone, type Project, ProjectSummary } from "@delivery/domain/planning/Project"
import { projectQuery } from "@delivery/domain/planning/ProjectsApi"
import { CreateTicket, type Ticket, TicketSummary, UpdateTicket } from "@delivery/domain/planning/Ticket"
import { ticketQuery } from "@delivery/domain/planning/TicketsApi"
import { TicketStatus } from "@delivery/domain/planning/TicketStatus"
import { statusQuery } from "@delivery/domain/planning/TicketStatusesApi"
import { Ref } from "@delivery/domain/Text"
import { Effect, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"
import { Settings } from "../Config.ts"
import { Comments } from "../planning/Comments.ts"
import { Projects } from "../planning/Projects.ts"
import { Tickets } from "../planning/Tickets.ts"
import { TicketStatuses } from "../planning/TicketStatuses.ts"
import { AgentSessions, mayWrite } from "./AgentSessions.ts"
import { Inbox } from "./Inbox.ts"

/** The tools of `/agent/mcp` (contract, section 9). What others wrote reaches the agent quoted, beside its author. */

/** A rule that a call broke, for the model to read; MCP's own errors are of the protocol. */
class ToolFailure extends Schema.TaggedError<ToolFailure>()("ToolFailure", { message: Schema.String }) {}

type DomainError = InvalidInput | Forbidden | NotFound | Conflict

/** A call as a whole is bounded like a request (http/RequestTimes.ts), and answers in MCP's own form. */
const failingWithin =
  (millis: number) =>
  <A, R>(effect: Effect.Effect<A, DomainError, R>): Effect.Effect<A, ToolFailure, R> =>
    effect.pipe(
      Effect.mapError((error) => {
        const reason = "reason" in error && error.reason !== undefined ? ` (${error.reason})` : ""
        return new ToolFailure({ message: `${error._tag}: ${error.message}${reason}` })
      }),
      Effect.timeoutOrElse({
        duration: millis,
        orElse: () => Effect.fail(new ToolFailure({ message: "Internal: The call took too long." }))
      })
    )

const QuotedOrNull = Schema.NullOr(Quoted)

const QuotedMessage = Schema.Struct({
  ...AgentMessage.fields,
  ticket: Schema.Struct({ ...AgentMessage.fields.ticket.fields, title: Quoted }),
  note: QuotedOrNull,
  reply: QuotedOrNull
})
const quotedMessage = (message: AgentMessage): typeof QuotedMessage.Type => ({
  ...message,
  ticket: { ...message.ticket, title: quote(members, message.ticket.title) },
  note: quoteOrNull(authorOf(message.sender), message.note),
  reply: quoteOrNull(agentOf(message.agent), message.reply)
})

/** Titles, names and Markdown of tickets, projects and milestones may be edited by every member. */
const members = "members of the workspace"
const agentOf = ({ name, person }: AgentRef) => `${name}, agent of ${authorOf(person)}, or that person`

const { milestone: ticketMilestone, project: ticketProject } = TicketSummary.fields
const QuotedTicketSummary = Schema.Struct({
  ...TicketSummary.fields,
  title: Quoted,
  description: QuotedOrNull,
  project: Schema.NullOr(Schema.Struct({ ...ticketProject.members[0].fields, name: Quoted })),
  milestone: Schema.NullOr(Schema.Struct({ ...ticketMilestone.members[0].fields, name: Quoted }))
})
const quotedTicketSummary = ({ milestone, project, ...ticket }: TicketSummary): typeof QuotedTicketSummary.Type => ({
  ...ticket,
  title: quote(members, ticket.title),
  description: quoteOrNull(members, ticket.description),
  project: project && { ...project, name: quote(members, project.name) },
  milestone: milestone && { ...milestone, name: quote(members, milestone.name) }
})

const QuotedComment = Schema.Struct({ ...Comment.fields, body: Quoted })
const quotedComment = (comment: Comment): typeof QuotedComment.Type => ({
  ...comment,
  body: quote(authorOf(comment.author), comment.body)
})

const QuotedTicket = Schema.Struct({ ...QuotedTicketSummary.fields, plan: QuotedOrNull })
const quotedTicket = ({ plan, ...ticket }: Ticket): typeof QuotedTicket.Type => ({
  ...quotedTicketSummary(ticket),
  plan: quoteOrNull(members, plan)
})

const QuotedProjectSummary = Schema.Struct({ ...ProjectSummary.fields, name: Quoted, summary: QuotedOrNull })
const quotedProjectSummary = (project: ProjectSummary): typeof QuotedProjectSummary.Type => ({
  ...project,
  name: quote(members, project.name),
  summary: quoteOrNull(members, project.summary)
})

const QuotedMilestone = Schema.Struct({ ...Milestone.fields, name: Quoted, summary: QuotedOrNull })
const QuotedProject = Schema.Struct({
  ...QuotedProjectSummary.fields,
  milestones: Schema.Array(QuotedMilestone),
  document: QuotedOrNull
})
const quotedProject = ({ document, milestones, ...project }: Project): typeof QuotedProject.Type => ({
  ...quotedProjectSummary(project),
  milestones: milestones.map((milestone) => ({
    ...milestone,
    name: quote(members, milestone.name),
    summary: quoteOrNull(members, milestone.summary)
  })),
  document: quoteOrNull(members, document)
})

/** Some clients send a made-up argument to a tool that has none: ignored, as others are. */
const NoParameters = Schema.Record(Schema.String, Schema.Unknown)
const message = Ref.annotate({ description: "The message's id." })
const ticket = Ref.annotate({ description: "The ticket's identifier, such as ENG-12, or its id." })

const make = <const Name extends string, Parameters extends Schema.Constraint, Success extends Schema.Constraint>(
  name: Name,
  description: string,
  parameters: Parameters,
  success: Success
) => Tool.make(name, { description, parameters, success, failure: ToolFailure, dependencies: [Caller, AgentCaller] })

/** The hints of a tool; none reaches beyond the service. */
const reads = { readOnly: true, destructive: false, idempotent: true }
const changes = { readOnly: false, destructive: false, idempotent: true }
const adds = { readOnly: false, destructive: false, idempotent: false }

const hinted = <T extends Tool.Any>(tool: T, title: string, hints: typeof reads): T =>
  tool
    .annotate(Tool.Title, title)
    .annotate(Tool.Readonly, hints.readOnly)
    .annotate(Tool.Destructive, hints.destructive)
    .annotate(Tool.Idempotent, hints.idempotent)
    .annotate(Tool.OpenWorld, false) as T

export const AgentTools = Toolkit.make(
  hinted(
    make("whoami", "Who you are here: agent, person, computer, workspace and what you may do.", NoParameters, AgentMe),
    "Who am I",
    reads
  ),
  hinted(
    make(
      "list_inbox",
      "The messages that wait for you, oldest first; they stay in the inbox.",
      NoParameters,
      Schema.Struct({ messages: Schema.Array(QuotedMessage) })
    ),
    "List the inbox",
    reads
  ),
  hinted(
    make(
      "take_message",
      "Takes the oldest messages out of the inbox: they are yours alone now, and wait for complete_message or decline_message.",
      TakeMessages,
      Schema.Struct({ messages: Schema.Array(QuotedMessage) })
    ),
    "Take messages",
    adds
  ),
  hinted(
    make(
      "complete_message",
      "Ends a message that you are done with; its sender is told your reply.",
      Schema.Struct({ message, ...CompleteMessage.fields }),
      QuotedMessage
    ),
    "Complete a message",
    adds
  ),
  hinted(
    make(
      "decline_message",
      "Ends a message that you will not do; its sender is told your reason.",
      Schema.Struct({ message, ...AgentDecline.fields }),
      QuotedMessage
    ),
    "Decline a message",
    adds
  ),
  hinted(
    make(
      "list_tickets",
      "Tickets that you see, in board order, without plans.",
      Schema.Struct(ticketQuery),
      Schema.Struct({ tickets: Schema.Array(QuotedTicketSummary) })
    ),
    "List tickets",
    reads
  ),
  hinted(
    make(
      "get_ticket",
      "A ticket with its plan and its comments, oldest first.",
      Schema.Struct({ ticket }),
      Schema.Struct({ ...QuotedTicket.fields, comments: Schema.Array(QuotedComment) })
    ),
    "Get a ticket",
    reads
  ),
  hinted(make("create_ticket", "Makes a ticket.", CreateTicket, QuotedTicket), "Create a ticket", adds),
  hinted(
    make(
      "update_ticket",
      "Changes the fields of a ticket that are sent; null clears.",
      Schema.Struct({ ticket, ...UpdateTicket.fields }),
      QuotedTicket
    ),
    "Update a ticket",
    { ...changes, destructive: true }
  ),
  hinted(
    make(
      "add_comment",
      "Writes a comment on a ticket, as you.",
      Schema.Struct({ ticket, ...CreateComment.fields }),
      QuotedComment
    ),
    "Add a comment",
    adds
  ),
  hinted(
    make(
      "list_statuses",
      "The ticket statuses of a team, or of the workspace's template, in board order.",
      Schema.Struct(statusQuery),
      Schema.Struct({ statuses: Schema.Array(TicketStatus) })
    ),
    "List ticket statuses",
    reads
  ),
  hinted(
    make(
      "list_projects",
      "Projects that you see, in priority order.",
      Schema.Struct(projectQuery),
      Schema.Struct({ projects: Schema.Array(QuotedProjectSummary) })
    ),
    "List projects",
    reads
  ),
  hinted(
    make(
      "get_project",
      "A project with its milestones and its document.",
      Schema.Struct({ project: Ref.annotate({ description: "The project's slug." }) }),
      QuotedProject
    ),
    "Get a project",
    reads
  ),
  hinted(
    make(
      "report_session",
      "Says what you work on now, so that messages find you; live for a minute after the last report.",
      Schema.Struct({ session: SessionName, ...ReportSession.fields }),
      ReportedSession
    ),
    "Report the session",
    changes
  )
)

export const AgentToolsLive = AgentTools.toLayer(
  Effect.gen(function* () {
    const failing = failingWithin((yield* Settings).requestLimitMillis)
    const inbox = yield* Inbox
    const sessions = yield* AgentSessions
    const tickets = yield* Tickets
    const comments = yield* Comments
    const statuses = yield* TicketStatuses
    const projects = yield* Projects
    const listed = (messages: ReadonlyArray<AgentMessage>) => ({ messages: messages.map(quotedMessage) })

    return AgentTools.of({
      whoami: () => failing(sessions.me),
      list_inbox: () => failing(Effect.map(inbox.list, listed)),
      take_message: (input) => failing(Effect.map(inbox.take(input), listed)),
      complete_message: ({ message, ...input }) => failing(Effect.map(inbox.complete(message, input), quotedMessage)),
      decline_message: ({ message, ...input }) => failing(Effect.map(inbox.decline(message, input), quotedMessage)),
      list_tickets: (query) =>
        failing(Effect.map(tickets.list(query), (tickets) => ({ tickets: tickets.map(quotedTicketSummary) }))),
      get_ticket: ({ ticket }) =>
        failing(
          Effect.map(Effect.all([tickets.get(ticket), comments.list(ticket)]), ([ticket, comments]) => ({
            ...quotedTicket(ticket),
            comments: comments.map(quotedComment)
          }))
        ),
      create_ticket: (input) => failing(Effect.andThen(mayWrite, Effect.map(tickets.create(input), quotedTicket))),
      update_ticket: ({ ticket, ...input }) =>
        failing(Effect.andThen(mayWrite, Effect.map(tickets.update(ticket, input), quotedTicket))),
      add_comment: ({ ticket, ...input }) =>
        failing(Effect.andThen(mayWrite, Effect.map(comments.create(ticket, input), quotedComment))),
      list_statuses: ({ team }) => failing(Effect.map(statuses.list(team), (statuses) => ({ statuses }))),
      list_projects: (query) =>
        failing(Effect.map(projects.list(query), (projects) => ({ projects: projects.map(quotedProjectSummary) }))),
      get_project: ({ project }) => failing(Effect.map(projects.get(project), quotedProject)),
      report_session: ({ session, ...input }) => failing(sessions.report(session, input))
    })
  })
)

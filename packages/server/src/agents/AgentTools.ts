import { AgentMe, ReportSession, ReportedSession, SessionName } from "@delivery/domain/agents/Agent"
import { AgentCaller, AnyScope } from "@delivery/domain/agents/AgentAuthorization"
import { AgentDecline, CompleteMessage, TakeMessages } from "@delivery/domain/agents/Message"
import { Caller } from "@delivery/domain/identity/Authorization"
import { CreateComment } from "@delivery/domain/planning/Comment"
import { projectQuery } from "@delivery/domain/planning/ProjectsApi"
import { CreateTicket, UpdateTicket } from "@delivery/domain/planning/Ticket"
import { ticketQuery } from "@delivery/domain/planning/TicketsApi"
import { TicketStatus } from "@delivery/domain/planning/TicketStatus"
import { statusQuery } from "@delivery/domain/planning/TicketStatusesApi"
import { Ref } from "@delivery/domain/Text"
import { Context, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"
import {
  QuotedAttachment,
  QuotedComment,
  QuotedMessage,
  QuotedProject,
  QuotedProjectSummary,
  QuotedTakenMessage,
  QuotedTicket,
  QuotedTicketSummary
} from "./QuotedAnswers.ts"

/** The tools of `/agent/mcp` (docs/contract.md, MCP). What they do is in AgentToolHandlers.ts. */

/** A rule of the service that a call broke, for the model to read. Errors of the protocol are MCP's own. */
export class ToolFailure extends Schema.TaggedError<ToolFailure>()("ToolFailure", { message: Schema.String }) {}

/** Annotates a tool that sign-ins by the server's URL have. */
const ByServerUrl = Context.Reference<boolean>("@delivery/server/agents/ByServerUrl", { defaultValue: () => false })

/** A resource that an answer is about: the client may read it. */
export interface Link {
  readonly uri: string
  readonly name: string
  readonly mimeType: string
  readonly size: number
}

/** Annotates a tool with what finds the resources in its answers, as they are encoded. */
const Links = Context.Reference<(answer: never) => ReadonlyArray<Link>>("@delivery/server/agents/Links", {
  defaultValue: () => () => []
})

/** What a tool does, as MCP's hints say it. */
type Hints = { readonly readOnly: boolean; readonly destructive: boolean; readonly idempotent: boolean }
export const reads: Hints = { readOnly: true, destructive: false, idempotent: true }
const changes: Hints = { readOnly: false, destructive: false, idempotent: true }
const overwrites: Hints = { readOnly: false, destructive: true, idempotent: true }
export const adds: Hints = { readOnly: false, destructive: false, idempotent: false }

interface Described<Parameters, Success extends Schema.Constraint> {
  readonly title: string
  readonly description: string
  readonly parameters: Parameters
  readonly success: Success
  readonly hints: Hints
  /** True if an access token of any scope may call it, although it changes something. */
  readonly anyScope?: boolean
  /** True if sign-ins by the server's URL have it. */
  readonly byServerUrl?: boolean
  /** The resources that its answer is about. */
  readonly links?: (answer: Success["Encoded"]) => ReadonlyArray<Link>
}

/** A tool as it is registered: its errors, its hints, and who has it. */
export const tool = <
  const Name extends string,
  Parameters extends Schema.Constraint,
  Success extends Schema.Constraint
>(
  name: Name,
  {
    anyScope = false,
    byServerUrl = false,
    description,
    hints,
    links = () => [],
    parameters,
    success,
    title
  }: Described<Parameters, Success>
) =>
  Tool.make(name, { description, parameters, success, failure: ToolFailure, dependencies: [Caller, AgentCaller] })
    .annotate(Tool.Title, title)
    .annotate(Tool.Readonly, hints.readOnly)
    .annotate(Tool.Destructive, hints.destructive)
    .annotate(Tool.Idempotent, hints.idempotent)
    // No tool reaches beyond the service.
    .annotate(Tool.OpenWorld, false)
    .annotate(AnyScope, anyScope)
    .annotate(ByServerUrl, byServerUrl)
    .annotate(Links, links)

/** Whether a tool needs the scope `write`: all do that are neither read-only nor for any scope. */
export const toolNeedsWriteScope = ({ annotations }: Pick<Tool.Any, "annotations">): boolean =>
  !Context.get(annotations, Tool.Readonly) && !Context.get(annotations, AnyScope)

/** Whether a sign-in by the server's URL has the tool. */
export const isByServerUrl = ({ annotations }: Pick<Tool.Any, "annotations">): boolean =>
  Context.get(annotations, ByServerUrl)

/** The resources that what a tool answered is about. */
export const linksOf = ({ annotations }: Pick<Tool.Any, "annotations">, answer: unknown): ReadonlyArray<Link> =>
  Context.get(annotations, Links)(answer as never)

/** Some clients send a made-up argument to a tool that has none. It is ignored, as unknown ones of others are. */
const NoParameters = Schema.Record(Schema.String, Schema.Unknown)
const message = Ref.annotate({ description: "The message's id." })
export const ticket = Ref.annotate({ description: "The ticket's identifier, such as ENG-12, or its id." })
const status = Schema.optionalKey(
  Ref.annotate({ description: "A status of the team: its name, in any case, or its id." })
)
/** What does not fit into an answer (FittingAnswers.ts) is counted in it. */
export const leftOut = Schema.Int.annotate({
  description: "How many more there are, which the answer has no room for."
})

export const AgentTools = Toolkit.make(
  tool("whoami", {
    title: "Who am I",
    description: "Who you are here: agent, person, computer, workspace and what you may do.",
    parameters: NoParameters,
    success: AgentMe,
    hints: reads,
    byServerUrl: true
  }),
  tool("list_inbox", {
    title: "List the inbox",
    description:
      "The oldest messages that wait for you, oldest first; they stay in the inbox. leftOut counts those that the answer has no room for: take some, and list again.",
    parameters: NoParameters,
    success: Schema.Struct({ messages: Schema.Array(QuotedMessage), leftOut }),
    hints: reads,
    byServerUrl: true
  }),
  tool("take_message", {
    title: "Take messages",
    description:
      "Takes the oldest messages out of the inbox, with description, plan and status of their tickets: they are yours alone now, and wait for complete_message or decline_message. A ticket may have been completed or canceled since it was sent: then ask yourself whether anything is left to do, and decline it where nothing is. Long ones are fewer than limit; the others stay in the inbox.",
    parameters: TakeMessages,
    success: Schema.Struct({ messages: Schema.Array(QuotedTakenMessage) }),
    hints: adds,
    anyScope: true,
    byServerUrl: true
  }),
  tool("complete_message", {
    title: "Complete a message",
    description: "Ends a message that you are done with; its sender is notified of your reply.",
    parameters: Schema.Struct({ message, ...CompleteMessage.fields }),
    success: Schema.Struct({
      ...QuotedMessage.fields,
      doubts: Schema.Array(Schema.String).annotate({
        description: "What the run that you named does not show: that it failed, or has none of the ticket's tests."
      })
    }),
    hints: adds,
    anyScope: true,
    byServerUrl: true
  }),
  tool("decline_message", {
    title: "Decline a message",
    description: "Ends a message that you will not do; its sender is notified of your reason.",
    parameters: Schema.Struct({ message, ...AgentDecline.fields }),
    success: QuotedMessage,
    hints: adds,
    anyScope: true,
    byServerUrl: true
  }),
  tool("list_tickets", {
    title: "List tickets",
    description:
      "Tickets that you see, in board order, without plans; with q, the 100 that the search finds, best first. leftOut counts those that the answer has no room for: ask for fewer with the filters.",
    parameters: Schema.Struct(ticketQuery),
    success: Schema.Struct({ tickets: Schema.Array(QuotedTicketSummary), leftOut }),
    hints: reads
  }),
  tool("get_ticket", {
    title: "Get a ticket",
    description:
      "A ticket with its plan, its attachments and its newest comments, oldest of these first. commentsLeftOut counts the older ones: for those, call it again with before, the id of the first comment that you have. Texts refer to an attachment by attachment:ID; what is in it is not answered.",
    parameters: Schema.Struct({
      ticket,
      before: Schema.optionalKey(Ref.annotate({ description: "The id of a comment: the comments before it." }))
    }),
    success: Schema.Struct({
      ...QuotedTicket.fields,
      comments: Schema.Array(QuotedComment),
      commentsLeftOut: Schema.Int.annotate({ description: "How many comments are older than the first of these." }),
      attachments: Schema.Array(QuotedAttachment)
    }),
    hints: reads
  }),
  tool("create_ticket", {
    title: "Create a ticket",
    description: "Creates a ticket. Its status may be given by its name, too.",
    parameters: CreateTicket,
    success: QuotedTicket,
    hints: adds
  }),
  tool("update_ticket", {
    title: "Update a ticket",
    description:
      "Changes the fields of a ticket that you send. Null clears a field. Texts in expected are the true ones: not quoted, so without `> ` before their lines, and with the characters that a quotation shows like `\\u{202E}`.",
    parameters: Schema.Struct({ ticket, ...UpdateTicket.fields, status }),
    success: QuotedTicket,
    hints: overwrites
  }),
  tool("add_comment", {
    title: "Add a comment",
    description: "Writes a comment on a ticket, as you.",
    parameters: Schema.Struct({ ticket, ...CreateComment.fields }),
    success: QuotedComment,
    hints: adds
  }),
  tool("list_statuses", {
    title: "List ticket statuses",
    description: "The ticket statuses of a team, or of the workspace's template, in board order.",
    parameters: Schema.Struct(statusQuery),
    success: Schema.Struct({ statuses: Schema.Array(TicketStatus) }),
    hints: reads
  }),
  tool("list_projects", {
    title: "List projects",
    description: "Projects that you see, in priority order.",
    parameters: Schema.Struct(projectQuery),
    success: Schema.Struct({ projects: Schema.Array(QuotedProjectSummary), leftOut }),
    hints: reads
  }),
  tool("get_project", {
    title: "Get a project",
    description: "A project with its milestones and its document.",
    parameters: Schema.Struct({ project: Ref.annotate({ description: "The project's slug." }) }),
    success: QuotedProject,
    hints: reads
  }),
  tool("report_session", {
    title: "Report the session",
    description:
      "Says what you work on now, so that messages find you. The session is live for a minute after the last report.",
    parameters: Schema.Struct({ session: SessionName, ...ReportSession.fields }),
    success: ReportedSession,
    hints: changes,
    anyScope: true
  })
)

import type { AgentCaller } from "@delivery/domain/agents/AgentAuthorization"
import type { AgentMessage } from "@delivery/domain/agents/Message"
import type { Conflict, Forbidden, InvalidInput, NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import { Effect, Option } from "effect"
import type { Tool, Toolkit } from "effect/ai"
import { Settings } from "../Config.ts"
import { Attachments } from "../planning/Attachments.ts"
import { Comments } from "../planning/Comments.ts"
import { Projects } from "../planning/Projects.ts"
import { Tickets } from "../planning/Tickets.ts"
import { TicketStatuses } from "../planning/TicketStatuses.ts"
import { AgentSessions } from "./AgentSessions.ts"
import { AgentTools, ToolFailure, toolNeedsWriteScope } from "./AgentTools.ts"
import { mayWrite } from "./AgentWrites.ts"
import { Inbox } from "./Inbox.ts"
import {
  quotedAttachment,
  quotedComment,
  quotedMessage,
  quotedProject,
  quotedProjectSummary,
  quotedTakenMessage,
  quotedTicket,
  quotedTicketSummary
} from "./QuotedAnswers.ts"

type Tools = Toolkit.Tools<typeof AgentTools>

/** A tool as a service answers it. */
type Handler<T extends Tool.Any> = (
  input: Tool.Parameters<T>
) => Effect.Effect<Tool.Success<T>, InvalidInput | Forbidden | NotFound | Conflict, Caller | AgentCaller>

type Handlers = { readonly [Name in keyof Tools]: Handler<Tools[Name]> }

/** What the tools do. */
export const layer = AgentTools.toLayer(Effect.gen(make))

function* make() {
  const inbox = yield* Inbox
  const sessions = yield* AgentSessions
  const tickets = yield* Tickets
  const comments = yield* Comments
  const attachments = yield* Attachments
  const statuses = yield* TicketStatuses
  const projects = yield* Projects
  // The message is theirs by now, whether or not the ticket is still there.
  const withTicket = (message: AgentMessage) =>
    Effect.map(Effect.option(tickets.get(message.ticket.id)), (ticket) =>
      quotedTakenMessage(message, Option.getOrUndefined(ticket))
    )
  const quotedMessages = (messages: ReadonlyArray<AgentMessage>) => ({ messages: messages.map(quotedMessage) })

  const handlers: Handlers = {
    whoami: () => sessions.me,
    list_inbox: () => Effect.map(inbox.list, quotedMessages),
    take_message: (input) =>
      Effect.flatMap(inbox.take(input), (messages) =>
        Effect.map(Effect.forEach(messages, withTicket), (messages) => ({ messages }))
      ),
    complete_message: ({ message, ...input }) => Effect.map(inbox.complete(message, input), quotedMessage),
    decline_message: ({ message, ...input }) => Effect.map(inbox.decline(message, input), quotedMessage),
    list_tickets: (query) =>
      Effect.map(tickets.list(query), (tickets) => ({ tickets: tickets.map(quotedTicketSummary) })),
    get_ticket: ({ ticket }) =>
      Effect.map(
        Effect.all([tickets.get(ticket), comments.list(ticket), attachments.list(ticket)]),
        ([ticket, comments, attachments]) => ({
          ...quotedTicket(ticket),
          comments: comments.map(quotedComment),
          attachments: attachments.map(quotedAttachment)
        })
      ),
    create_ticket: (input) => Effect.map(tickets.create(input), quotedTicket),
    update_ticket: ({ ticket, ...input }) => Effect.map(tickets.update(ticket, input), quotedTicket),
    add_comment: ({ ticket, ...input }) => Effect.map(comments.create(ticket, input), quotedComment),
    list_statuses: ({ team }) => Effect.map(statuses.list(team), (statuses) => ({ statuses })),
    list_projects: (query) =>
      Effect.map(projects.list(query), (projects) => ({ projects: projects.map(quotedProjectSummary) })),
    get_project: ({ project }) => Effect.map(projects.get(project), quotedProject),
    report_session: ({ session, ...input }) => sessions.report(session, input)
  }
  return toolHandlers(handlers, (yield* Settings).requestLimitMillis)
}

/** Adds to each tool the check of the scope, MCP's form of errors, and a time limit. */
const toolHandlers = (handlers: Handlers, limitMillis: number) => {
  const within = failingWithin(limitMillis)
  const guarded = Object.values(AgentTools.tools).map((tool: Tools[keyof Tools]) => {
    const handler = handlers[tool.name] as Handler<Tool.Any>
    return [
      tool.name,
      toolNeedsWriteScope(tool)
        ? (input: unknown) => within(Effect.andThen(mayWrite, handler(input)))
        : (input: unknown) => within(handler(input))
    ] as const
  })
  return AgentTools.of(Object.fromEntries(guarded) as unknown as Toolkit.HandlersFrom<Tools>)
}

/** A call has the time limit of a request (http/RequestTimes.ts); its errors have the form of MCP. */
const failingWithin =
  (millis: number) =>
  <A, R>(
    effect: Effect.Effect<A, InvalidInput | Forbidden | NotFound | Conflict, R>
  ): Effect.Effect<A, ToolFailure, R> =>
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

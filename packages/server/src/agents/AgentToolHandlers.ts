import type { AgentCaller } from "@delivery/domain/agents/AgentAuthorization"
import { quote } from "@delivery/domain/agents/Quote"
import { type AgentMessage, messagesPageSize, type TakeMessages } from "@delivery/domain/agents/Message"
import type {
  Conflict,
  Forbidden,
  InvalidInput,
  MissingEvidence,
  NotFound,
  TooManyRequests
} from "@delivery/domain/Errors"
import { whyNotCounted } from "@delivery/domain/flow/EvidenceWords"
import type { Caller } from "@delivery/domain/identity/Authorization"
import { visible } from "@delivery/domain/Text"
import { Effect, Option } from "effect"
import type { Tool, Toolkit } from "effect/ai"
import { Settings } from "../Config.ts"
import { Attachments } from "../planning/Attachments.ts"
import { ListTurns } from "../http/ListTurns.ts"
import { Comments } from "../planning/Comments.ts"
import { Projects } from "../planning/Projects.ts"
import { Tickets } from "../planning/Tickets.ts"
import { TicketStatuses } from "../planning/TicketStatuses.ts"
import { AgentSessions } from "./AgentSessions.ts"
import { statusesByName } from "./AgentStatuses.ts"
import { AgentTools, ToolFailure, toolNeedsWriteScope } from "./AgentTools.ts"
import { mayWrite } from "./AgentWrites.ts"
import { fitting, maxAnswer, maxAnsweredComments, maxListed, sizeOf } from "./FittingAnswers.ts"
import { Inbox } from "./Inbox.ts"
import {
  quotedAttachment,
  quotedComment,
  quotedMessage,
  quotedProject,
  quotedProjectSummary,
  type QuotedTakenMessage,
  quotedTakenMessage,
  quotedTicket,
  quotedTicketSummary,
  shown
} from "./QuotedAnswers.ts"

type Tools = Toolkit.Tools<typeof AgentTools>

/** A tool as a service answers it. */
type Handler<T extends Tool.Any> = (
  input: Tool.Parameters<T>
) => Effect.Effect<Tool.Success<T>, InvalidInput | Forbidden | NotFound | Conflict, Caller | AgentCaller>

type Handlers<All> = { readonly [Name in keyof All]: All[Name] extends Tool.Any ? Handler<All[Name]> : never }

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
  const listInbox = Effect.gen(function* () {
    const listed = yield* inbox.list
    const messages = yield* fitting(listed, quotedMessage, maxAnswer)
    const isWhole = messages.length === listed.length && listed.length < messagesPageSize
    return { messages, leftOut: isWhole ? 0 : Math.max(0, (yield* inbox.count) - messages.length) }
  })
  // One after the other: what no longer fits stays in the inbox.
  const takeMessages = Effect.fnUntraced(function* ({ limit = 1 }: TakeMessages) {
    const messages: Array<typeof QuotedTakenMessage.Type> = []
    for (let size = 0; messages.length < limit && size < maxAnswer;) {
      const [message] = yield* inbox.take({ limit: 1 })
      if (message === undefined) break
      const taken = yield* withTicket(message)
      messages.push(taken)
      size += sizeOf(taken)
      yield* Effect.yieldNow
    }
    return { messages }
  })
  const getTicket = Effect.fnUntraced(function* ({ before, ticket: ref }: Tool.Parameters<Tools["get_ticket"]>) {
    // Bytes that are read: what fits has at most three for each of its characters.
    const part = { before, limit: maxAnsweredComments, bytes: 3 * maxAnswer }
    const [ticket, found, files] = yield* Effect.all([
      tickets.get(ref),
      comments.newest(ref, part),
      attachments.list(ref)
    ])
    const newest = yield* fitting(found.comments.toReversed(), quotedComment, maxAnswer)
    const commentsLeftOut = found.older + found.comments.length - newest.length
    return {
      ...quotedTicket(ticket),
      comments: newest.toReversed(),
      commentsLeftOut,
      attachments: files.map(quotedAttachment)
    }
  })
  const byName = statusesByName(tickets, statuses)
  const handlers: Handlers<Tools> = {
    whoami: () => sessions.me,
    list_inbox: () => listInbox,
    take_message: takeMessages,
    complete_message: ({ message, ...input }) =>
      Effect.flatMap(inbox.complete(message, input), (ended) =>
        Effect.map(inbox.doubts(ended), (doubts) => ({ ...quotedMessage(ended), doubts }))
      ),
    decline_message: ({ message, ...input }) => Effect.map(inbox.decline(message, input), quotedMessage),
    list_tickets: (query) =>
      Effect.flatMap(tickets.list(query), (all) =>
        Effect.map(fitting(all, quotedTicketSummary, maxListed), (tickets) => ({
          tickets,
          leftOut: all.length - tickets.length
        }))
      ),
    get_ticket: getTicket,
    create_ticket: (input) => Effect.map(byName.create(input), quotedTicket),
    update_ticket: ({ ticket, ...input }) => Effect.map(byName.update(ticket, input), quotedTicket),
    add_comment: ({ ticket, ...input }) => Effect.map(comments.create(ticket, input), quotedComment),
    list_statuses: ({ team }) => Effect.map(statuses.list(team), (statuses) => ({ statuses })),
    list_projects: (query) =>
      Effect.flatMap(projects.list(query), (all) =>
        Effect.map(fitting(all, quotedProjectSummary, maxListed), (projects) => ({
          projects,
          leftOut: all.length - projects.length
        }))
      ),
    get_project: ({ project }) => Effect.map(projects.get(project), quotedProject),
    report_session: ({ session, ...input }) => sessions.report(session, input)
  }
  return yield* toolHandlers(AgentTools, handlers)
}

/**
 * Adds to each tool the check of the scope, MCP's form of errors, and a time limit. What reads takes turns, as long lists do. An
 * answer hides nothing.
 */
export const toolHandlers = Effect.fnUntraced(function* <All extends Record<string, Tool.Any>>(
  toolkit: Toolkit.Toolkit<All>,
  handlers: Handlers<All>
) {
  const turns = yield* ListTurns
  const within = failingWithin((yield* Settings).requestLimitMillis)
  const guarded = Object.values(toolkit.tools).map((tool) => {
    const handler = handlers[tool.name] as Handler<Tool.Any>
    return [
      tool.name,
      toolNeedsWriteScope(tool)
        ? (input: unknown) => Effect.map(within(Effect.andThen(mayWrite, handler(input))), shown)
        : (input: unknown) => Effect.map(within(Effect.scoped(Effect.andThen(turns.take, handler(input)))), shown)
    ] as const
  })
  return Object.fromEntries(guarded) as unknown as Toolkit.HandlersFrom<All>
})

/** A call has the time limit of a request (http/RequestTimes.ts); its errors have the form of MCP. */
export const failingWithin =
  (millis: number) =>
  <A, R>(
    effect: Effect.Effect<A, InvalidInput | Forbidden | NotFound | Conflict | TooManyRequests, R>
  ): Effect.Effect<A, ToolFailure, R> =>
    effect.pipe(
      Effect.mapError((error) => {
        const reason = "reason" in error && error.reason !== undefined ? ` (${error.reason})` : ""
        const missing = "missing" in error && error.missing !== undefined ? missingText(error.missing) : ""
        return new ToolFailure({ message: `${visible(`${error._tag}: ${error.message}${reason}`)}${missing}` })
      }),
      Effect.timeoutOrElse({
        duration: millis,
        orElse: () => Effect.fail(new ToolFailure({ message: "Internal: The call took too long." }))
      })
    )

/** How many tests a failure names. */
const namedCases = 100

/** What is missing: in how many runs that count each test passed, where, and which one does not count. The ids of tests are quoted. */
const missingText = (missing: ReadonlyArray<typeof MissingEvidence.Type>): string => {
  const named = missing.slice(0, namedCases)
  const lines = named.map(
    ({ caseId, environment, failed, needed, notCounted, passed, seen }) =>
      `${passed} of ${needed} runs${environment === null ? "" : ` in ${environment}`}${
        notCounted === null ? "" : ` (run ${notCounted.run} does not count: ${visible(whyNotCounted(notCounted))})`
      }${failed === undefined ? "" : ` (failed last in run ${failed.run})`}${seen === false ? " (no run has ever run it)" : ""}: ${caseId.replaceAll(/\s+/g, " ")}`
  )
  const { by, text } = quote("the tests", lines.join("\n"))
  const more = missing.length - named.length
  return `\nPassed so far, by ${by}:\n${text}${more > 0 ? `\nAnd ${more} more.` : ""}`
}

import { DeliveryApi } from "@delivery/domain/Api"
import { TicketSummary } from "@delivery/domain/planning/Ticket"
import { Effect, Layer } from "effect"
import { handlersOf } from "../http/Handlers.ts"
import { listAnswer } from "../http/ListAnswer.ts"
import { ListTurns } from "../http/ListTurns.ts"
import { Settings } from "../Config.ts"
import { challenge } from "./AgentAuthentication.ts"
import { Agents } from "./Agents.ts"
import { Authorizations } from "./Authorizations.ts"
import { Comments } from "../planning/Comments.ts"
import { Projects } from "../planning/Projects.ts"
import { Tickets } from "../planning/Tickets.ts"
import { TicketStatuses } from "../planning/TicketStatuses.ts"
import { agentHandlersOf } from "./AgentWrites.ts"
import { AgentSessions } from "./AgentSessions.ts"
import { Inbox } from "./Inbox.ts"
import { Messages } from "./Messages.ts"
import * as OAuthHttp from "./OAuthHttp.ts"

/** The handlers of agents, their messages and notifications, and of what agents call. */
export const layer = Layer.mergeAll(
  OAuthHttp.layer,

  handlersOf(DeliveryApi, "authorizations", (handlers) =>
    Effect.map(Authorizations, (authorizations) =>
      handlers
        .handle("client", ({ params }) => authorizations.client(params.authorization))
        .handle("get", ({ params }) => authorizations.get(params.authorization))
        .handle("decide", ({ params, payload }) => authorizations.decide(params.authorization, payload))
    )
  ),

  handlersOf(DeliveryApi, "agents", (handlers) =>
    Effect.map(Agents, (agents) =>
      handlers
        .handle("list", ({ query }) => Effect.map(agents.list(query.person), (agents) => ({ agents })))
        .handle("register", ({ payload }) => agents.register(payload))
        .handle("revoke", ({ params }) => agents.revoke(params.agent))
    )
  ),

  agentHandlersOf(DeliveryApi, "agent", (handlers) =>
    Effect.map(AgentSessions, (sessions) =>
      handlers
        .handle("me", () => sessions.me)
        .handle("reportSession", ({ params, payload }) => sessions.report(params.session, payload ?? {}))
        .handle("endSession", ({ params }) => sessions.end(params.session))
    )
  ),

  agentHandlersOf(DeliveryApi, "agentInbox", (handlers) =>
    Effect.gen(function* () {
      const inbox = yield* Inbox
      const unauthorized = challenge((yield* Settings).baseUrl)
      return handlers
        .handle("list", ({ query }) =>
          inbox.wait(query.wait ?? 0).pipe(
            Effect.map((messages) => ({ messages })),
            Effect.catch(() => Effect.succeed(unauthorized))
          )
        )
        .handle("take", ({ payload }) => Effect.map(inbox.take(payload ?? {}), (messages) => ({ messages })))
        .handle("get", ({ params }) => inbox.get(params.message))
        .handle("complete", ({ params, payload }) => inbox.complete(params.message, payload))
        .handle("decline", ({ params, payload }) => inbox.decline(params.message, payload))
    })
  ),

  agentHandlersOf(DeliveryApi, "agentPlanning", (handlers) =>
    Effect.gen(function* () {
      const tickets = yield* Tickets
      const comments = yield* Comments
      const statuses = yield* TicketStatuses
      const projects = yield* Projects
      const ticketList = listAnswer(yield* ListTurns, "tickets", TicketSummary)
      return handlers
        .handle("listTickets", ({ query }) => ticketList(tickets.list(query)))
        .handle("createTicket", ({ payload }) => tickets.create(payload))
        .handle("getTicket", ({ params }) => tickets.get(params.ticket))
        .handle("updateTicket", ({ params, payload }) => tickets.update(params.ticket, payload))
        .handle("createComment", ({ params, payload }) => comments.create(params.ticket, payload))
        .handle("listStatuses", ({ query }) => Effect.map(statuses.list(query.team), (statuses) => ({ statuses })))
        .handle("listProjects", ({ query }) => Effect.map(projects.list(query), (projects) => ({ projects })))
        .handle("getProject", ({ params }) => projects.get(params.project))
    })
  ),

  handlersOf(DeliveryApi, "messages", (handlers) =>
    Effect.map(Messages, (messages) =>
      handlers
        .handle("list", ({ query }) => Effect.map(messages.list(query), (messages) => ({ messages })))
        .handle("send", ({ payload }) => messages.send(payload))
        .handle("get", ({ params }) => messages.get(params.message))
        .handle("decline", ({ params, payload }) => messages.decline(params.message, payload ?? {}))
    )
  ),

  handlersOf(DeliveryApi, "notifications", (handlers) =>
    Effect.map(Messages, ({ mark, notifications, read }) =>
      handlers
        .handle("list", () => Effect.map(notifications, (notifications) => ({ notifications })))
        .handle("read", () => Effect.map(read, (read) => ({ read })))
        .handle("markRead", ({ params }) => mark(params.notification, "read"))
        .handle("markUnread", ({ params }) => mark(params.notification, "unread"))
    )
  )
)

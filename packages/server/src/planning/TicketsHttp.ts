import { DeliveryApi } from "@delivery/domain/Api"
import { Comment } from "@delivery/domain/planning/Comment"
import { TicketSummary } from "@delivery/domain/planning/Ticket"
import { Effect, Layer } from "effect"
import { HttpServerResponse } from "effect/http"
import { download } from "../http/Downloads.ts"
import { handlersOf } from "../http/Handlers.ts"
import { listAnswer } from "../http/ListAnswer.ts"
import { ListTurns } from "../http/ListTurns.ts"
import { alsoRequested } from "../http/RateLimits.ts"
import { Attachments } from "./Attachments.ts"
import { Comments } from "./Comments.ts"
import { TicketNotifications } from "./TicketNotifications.ts"
import { Tickets } from "./Tickets.ts"

/** The handlers of tickets, their comments and attachments, and what persons are told of them. */
export const layer = Layer.mergeAll(
  handlersOf(DeliveryApi, "tickets", (handlers) =>
    Effect.gen(function* () {
      const tickets = yield* Tickets
      const turns = yield* ListTurns
      const ticketList = listAnswer(turns, "tickets", TicketSummary)
      return handlers
        .handle("list", ({ query }) => ticketList(tickets.list(query)))
        .handle("create", ({ payload }) => tickets.create(payload))
        .handle("get", ({ params }) => tickets.get(params.ticket))
        .handle("history", ({ params, query }) => Effect.andThen(turns.take, tickets.history(params.ticket, query)))
        .handle("update", ({ params, payload }) => tickets.update(params.ticket, payload))
        .handle("updateMany", ({ payload }) =>
          Effect.andThen(
            alsoRequested(payload.tickets.length - 1),
            Effect.map(tickets.updateMany(payload), (results) => ({ results }))
          )
        )
        .handle("delete", ({ params }) => tickets.delete(params.ticket))
        .handle("reorder", ({ params, payload }) => tickets.reorder(params.ticket, payload))
    })
  ),

  handlersOf(DeliveryApi, "ticketNotifications", (handlers) =>
    Effect.map(TicketNotifications, ({ list, mark, read, unread }) =>
      handlers
        .handle("list", ({ query }) => list(query))
        .handle("read", () => read)
        .handle("unread", ({ payload }) => Effect.map(unread(payload), (unread) => ({ unread })))
        .handle("markRead", ({ params }) => mark(params.notification, "read"))
        .handle("markUnread", ({ params }) => mark(params.notification, "unread"))
    )
  ),

  handlersOf(DeliveryApi, "comments", (handlers) =>
    Effect.gen(function* () {
      const comments = yield* Comments
      const commentList = listAnswer(yield* ListTurns, "comments", Comment)
      return handlers
        .handle("list", ({ params }) => commentList(comments.list(params.ticket)))
        .handle("create", ({ params, payload }) => comments.create(params.ticket, payload))
        .handle("update", ({ params, payload }) => comments.update(params.ticket, params.comment, payload))
        .handle("delete", ({ params }) => comments.delete(params.ticket, params.comment))
    })
  ),

  handlersOf(DeliveryApi, "attachments", (handlers) =>
    Effect.map(Attachments, (attachments) =>
      handlers
        .handle("list", ({ params }) => Effect.map(attachments.list(params.ticket), (attachments) => ({ attachments })))
        .handleRaw("upload", ({ params, query, request }) =>
          Effect.map(
            attachments.upload({
              ticket: params.ticket,
              name: query.name,
              contentType: request.headers["content-type"],
              contentLength: request.headers["content-length"],
              body: request.stream
            }),
            (attachment) =>
              HttpServerResponse.jsonUnsafe(attachment, { status: 201, headers: { etag: `"${attachment.sha256}"` } })
          )
        )
        .handle("download", ({ headers, params, request }) =>
          download(attachments.open(params.ticket, params.attachment), headers, request.method === "HEAD")
        )
        .handle("delete", ({ params }) => attachments.delete(params.ticket, params.attachment))
    )
  )
)

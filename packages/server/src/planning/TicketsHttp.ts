import { DeliveryApi } from "@delivery/domain/Api"
import { Comment } from "@delivery/domain/planning/Comment"
import { TicketSummary } from "@delivery/domain/planning/Ticket"
import { Effect, Layer } from "effect"
import { handlersOf } from "../http/Handlers.ts"
import { listAnswer } from "../http/ListAnswer.ts"
import { Comments } from "./Comments.ts"
import { Tickets } from "./Tickets.ts"

const ticketList = listAnswer("tickets", TicketSummary)
const commentList = listAnswer("comments", Comment)

/** The handlers of tickets and their comments. */
export const layer = Layer.mergeAll(
  handlersOf(DeliveryApi, "tickets", (handlers) =>
    Effect.map(Tickets, (tickets) =>
      handlers
        .handle("list", ({ query }) => Effect.map(tickets.list(query), ticketList))
        .handle("create", ({ payload }) => tickets.create(payload))
        .handle("get", ({ params }) => tickets.get(params.ticket))
        .handle("update", ({ params, payload }) => tickets.update(params.ticket, payload))
        .handle("delete", ({ params }) => tickets.delete(params.ticket))
        .handle("reorder", ({ params, payload }) => tickets.reorder(params.ticket, payload))
    )
  ),

  handlersOf(DeliveryApi, "comments", (handlers) =>
    Effect.map(Comments, (comments) =>
      handlers
        .handle("list", ({ params }) => Effect.map(comments.list(params.ticket), commentList))
        .handle("create", ({ params, payload }) => comments.create(params.ticket, payload))
        .handle("update", ({ params, payload }) => comments.update(params.ticket, params.comment, payload))
        .handle("delete", ({ params }) => comments.delete(params.ticket, params.comment))
    )
  )
)

import { DeliveryApi } from "@delivery/domain/Api"
import { TicketSummary } from "@delivery/domain/planning/Ticket"
import { Effect, Layer } from "effect"
import { listAnswer } from "../http/ListAnswer.ts"
import { ListTurns } from "../http/ListTurns.ts"
import { handlersOf } from "../http/Handlers.ts"
import { Milestones } from "./Milestones.ts"
import { Projects } from "./Projects.ts"
import { Tags } from "./Tags.ts"
import { Teams } from "./Teams.ts"
import { TicketStatuses } from "./TicketStatuses.ts"
import { Views } from "./Views.ts"

export const layer = Layer.mergeAll(
  handlersOf(DeliveryApi, "teams", (handlers) =>
    Effect.map(Teams, (teams) =>
      handlers
        .handle("list", ({ query }) => Effect.map(teams.list(query.archived), (teams) => ({ teams })))
        .handle("create", ({ payload }) => teams.create(payload))
        .handle("get", ({ params }) => teams.get(params.team))
        .handle("update", ({ params, payload }) => teams.update(params.team, payload))
        .handle("archive", ({ params }) => teams.archive(params.team))
        .handle("restore", ({ params }) => teams.restore(params.team))
        .handle("listMembers", ({ params }) => Effect.map(teams.listMembers(params.team), (members) => ({ members })))
        .handle("addMember", ({ params, payload }) => teams.addMember(params.team, payload))
        .handle("removeMember", ({ params }) => teams.removeMember(params.team, params.member))
    )
  ),

  handlersOf(DeliveryApi, "ticketStatuses", (handlers) =>
    Effect.map(TicketStatuses, (ticketStatuses) =>
      handlers
        .handle("list", ({ query }) => Effect.map(ticketStatuses.list(query.team), (statuses) => ({ statuses })))
        .handle("create", ({ payload }) => ticketStatuses.create(payload))
        .handle("update", ({ params, payload }) => ticketStatuses.update(params.status, payload))
        .handle("delete", ({ params, query }) => ticketStatuses.delete(params.status, query.moveTo))
        .handle("reorder", ({ params, payload }) =>
          Effect.map(ticketStatuses.reorder(params.status, payload), (statuses) => ({ statuses }))
        )
    )
  ),

  handlersOf(DeliveryApi, "projects", (handlers) =>
    Effect.gen(function* () {
      const projects = yield* Projects
      const milestones = yield* Milestones
      const turns = yield* ListTurns
      return handlers
        .handle("list", ({ query }) => Effect.map(projects.list(query), (projects) => ({ projects })))
        .handle("create", ({ payload }) => projects.create(payload))
        .handle("get", ({ params }) => projects.get(params.project))
        .handle("history", ({ params, query }) => Effect.andThen(turns.take, projects.history(params.project, query)))
        .handle("update", ({ params, payload }) => projects.update(params.project, payload))
        .handle("reorder", ({ params, payload }) => projects.reorder(params.project, payload))
        .handle("archive", ({ params }) => projects.archive(params.project))
        .handle("restore", ({ params }) => projects.restore(params.project))
        .handle("createMilestone", ({ params, payload }) => milestones.create(params.project, payload))
        .handle("updateMilestone", ({ params, payload }) => milestones.update(params.project, params.number, payload))
        .handle("deleteMilestone", ({ params }) => milestones.delete(params.project, params.number))
    })
  ),

  handlersOf(DeliveryApi, "views", (handlers) =>
    Effect.gen(function* () {
      const views = yield* Views
      const ticketList = listAnswer(yield* ListTurns, "tickets", TicketSummary)
      return handlers
        .handle("list", ({ query }) => Effect.map(views.list(query), (views) => ({ views })))
        .handle("create", ({ payload }) => views.create(payload))
        .handle("get", ({ params }) => views.get(params.view))
        .handle("update", ({ params, payload }) => views.update(params.view, payload))
        .handle("delete", ({ params }) => views.delete(params.view))
        .handle("reorder", ({ params, payload }) => views.reorder(params.view, payload))
        .handle("listTickets", ({ params }) => ticketList(views.listTickets(params.view)))
    })
  ),

  handlersOf(DeliveryApi, "tags", (handlers) =>
    Effect.map(Tags, (tags) =>
      handlers
        .handle("list", ({ query }) => Effect.map(tags.list(query.team), (tags) => ({ tags })))
        .handle("create", ({ payload }) => tags.create(payload))
        .handle("update", ({ params, payload }) => tags.update(params.tag, payload))
        .handle("delete", ({ params }) => tags.delete(params.tag))
    )
  )
)

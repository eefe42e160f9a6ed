import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, InvalidInput, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { OneOf, Ref } from "../Text.ts"
import { CreateTicket, ReorderTicket, Ticket, TicketList, UpdateTicket } from "./Ticket.ts"
import { StatusCategory } from "./TicketStatus.ts"

const path = `${workspacePath}/tickets` as const
const one = `${path}/:ticket` as const

/** `{ticket}` of a path. */
export const TicketPathRef = PathRef.annotate({
  description: "The ticket's identifier in any case, one that it had before it moved, or its id.",
  examples: ["ENG-12"]
})
const params = { slug: WorkspaceRef, ticket: TicketPathRef }

const archived = "The team is archived."

/** Why what a ticket refers to may not be. */
export const ticketReferences = {
  archived,
  project_not_in_team: "The project is not linked to the ticket's team.",
  inactive_owner: "The owner is no active member, or an agent that was revoked.",
  owner_cannot_see: "The owner does not see the ticket's team, which is private."
}

/** The filters of the list of tickets. */
export const ticketQuery = {
  team: Schema.optionalKey(Ref.annotate({ description: "A team's key.", examples: ["ENG"] })),
  project: Schema.optionalKey(Ref.annotate({ description: "A project's slug.", examples: ["checkout"] })),
  owner: Schema.optionalKey(
    Ref.annotate({
      description:
        "The id or email address of a member, the id of an agent, `me`, or `none` for nobody's. For an agent, `me` is itself and the person it works for; an account API key owns nothing.",
      examples: ["me"]
    })
  ),
  category: Schema.optionalKey(
    OneOf(StatusCategory.literals).annotate({
      description: "The category of their status.",
      examples: ["started"]
    })
  )
}

/** Tickets (docs/contract.md, Tickets). Changes need a member. */
export class TicketsApi extends HttpApiGroup.make("tickets")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      query: ticketQuery,
      success: TicketList,
      error: NotFound
    }).annotateMerge(
      doc(
        "List tickets",
        "By status category, status position, then rank; without plans. Filters combine. Tickets of archived teams and projects are among them. A team, project or owner that does not exist: 404. Every role."
      )
    ),
    HttpApiEndpoint.post("create", path, {
      params: { slug: WorkspaceRef },
      payload: CreateTicket,
      success: Ticket.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "Create a ticket",
        "It goes last in its team. Members and up. A team, status of the team, owner, project, milestone or tag that does not exist: 404, naming the field. A milestone without a project: 400. An archived team or project: 409 `archived`.",
        { conflicts: ticketReferences }
      )
    ),
    HttpApiEndpoint.get("get", one, { params, success: Ticket, error: NotFound }).annotateMerge(
      doc(
        "Get a ticket",
        "By its identifier, in any case, or id. It keeps answering to the identifiers that it had in other teams, for those who see those teams. Every role."
      )
    ),
    HttpApiEndpoint.patch("update", one, {
      params,
      payload: UpdateTicket,
      success: Ticket,
      error: [Forbidden, InvalidInput, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "Update a ticket",
        "Changes the fields sent. Another `team` gives it a new identifier and the last rank there, the first status of its category unless `status` is sent, and takes tags of the old team off unless `tags` is sent. Another `project` takes it out of its milestone unless `milestone` is sent. A milestone while it has no project: 400. Owners and projects are judged when they are sent, and when the team changes. Members and up. A ticket of an archived team: 409 `archived`.",
        { conflicts: ticketReferences }
      )
    ),
    HttpApiEndpoint.delete("delete", one, {
      params,
      success: HttpApiSchema.NoContent.annotate({ description: "Deleted." }),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "Delete a ticket",
        "With its comments; its identifiers are not used again. Whoever created it, the person whose agent did, an admin or an owner; others: 403 `not_creator`. A ticket of an archived team: 409 `archived`.",
        { conflicts: { archived } }
      )
    ),
    HttpApiEndpoint.post("reorder", `${one}/reorder`, {
      params,
      payload: ReorderTicket,
      success: Ticket,
      error: [Forbidden, InvalidInput, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "Reorder a ticket",
        "Puts it directly before or after another ticket of its team and status; after null, first. One in another team or status: 409 `other_status`. Itself: 400. Members and up. A ticket of an archived team: 409 `archived`.",
        { conflicts: { other_status: "The two tickets are in different statuses or teams.", archived } }
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Tickets",
      description:
        "What teams have to do. A ticket of a private team does not exist for those who do not see the team. `{ticket}` is an identifier (`ENG-12`) in any case, or an id."
    })
  ) {}

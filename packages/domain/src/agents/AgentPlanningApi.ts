import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc } from "../Doc.ts"
import { Conflict, Forbidden, InvalidInput, NotFound } from "../Errors.ts"
import { Edge } from "../identity/Authorization.ts"
import { Comment, CreateComment } from "../planning/Comment.ts"
import { Project } from "../planning/Project.ts"
import { projectParam, projectQuery, Projects } from "../planning/ProjectsApi.ts"
import { CreateTicket, Ticket, TicketList, UpdateTicket } from "../planning/Ticket.ts"
import { TicketPathRef, ticketQuery, ticketReferences } from "../planning/TicketsApi.ts"
import { statusQuery, TicketStatuses } from "../planning/TicketStatusesApi.ts"
import { AgentAuthorization } from "./AgentAuthorization.ts"

const ticket = { ticket: TicketPathRef }
const seen = "An agent sees what its person sees."
const write =
  "Needs the scope `write`: else 403 `insufficient_scope`, or `role_too_low` when its person is a viewer now."

/** Planning for a signed-in agent, who does what its person may (docs/contract.md, Agent API). */
export class AgentPlanningApi extends HttpApiGroup.make("agentPlanning")
  .add(
    HttpApiEndpoint.get("listTickets", "/agent/v1/tickets", {
      query: ticketQuery,
      success: TicketList,
      error: NotFound
    }).annotateMerge(
      doc("List tickets as an agent", `As persons list them; \`owner=me\`: its own and its person's. ${seen}`)
    ),
    HttpApiEndpoint.post("createTicket", "/agent/v1/tickets", {
      payload: CreateTicket,
      success: Ticket.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(doc("Create a ticket as an agent", write, { conflicts: ticketReferences })),
    HttpApiEndpoint.get("getTicket", "/agent/v1/tickets/:ticket", {
      params: ticket,
      success: Ticket,
      error: NotFound
    }).annotateMerge(doc("Get a ticket as an agent", seen)),
    HttpApiEndpoint.patch("updateTicket", "/agent/v1/tickets/:ticket", {
      params: ticket,
      payload: UpdateTicket,
      success: Ticket,
      error: [Forbidden, InvalidInput, NotFound, Conflict]
    }).annotateMerge(doc("Update a ticket as an agent", write, { conflicts: ticketReferences })),
    HttpApiEndpoint.post("createComment", "/agent/v1/tickets/:ticket/comments", {
      params: ticket,
      payload: CreateComment,
      success: Comment.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc("Comment as an agent", `${write} Agents that an agent mentions get no message.`, {
        conflicts: { archived: "The team is archived." }
      })
    ),
    HttpApiEndpoint.get("listStatuses", "/agent/v1/ticket-statuses", {
      query: statusQuery,
      success: TicketStatuses,
      error: NotFound
    }).annotateMerge(doc("List ticket statuses as an agent", `Of a team, or of the template; in board order. ${seen}`)),
    HttpApiEndpoint.get("listProjects", "/agent/v1/projects", {
      query: projectQuery,
      success: Projects,
      error: NotFound
    }).annotateMerge(doc("List projects as an agent", `In priority order. ${seen}`)),
    HttpApiEndpoint.get("getProject", "/agent/v1/projects/:project", {
      params: projectParam,
      success: Project,
      error: NotFound
    }).annotateMerge(doc("Get a project as an agent", seen))
  )
  .middleware(AgentAuthorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Agent planning",
      description: "Tickets, comments, statuses and projects for a signed-in agent, who does what its person may."
    })
  ) {}

import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc } from "../Doc.ts"
import { Conflict, Forbidden, InvalidInput, NotFound } from "../Errors.ts"
import { Edge } from "../identity/Authorization.ts"
import { Comment, CreateComment } from "../planning/Comment.ts"
import { Project } from "../planning/Project.ts"
import { projectParam, projectQuery, Projects } from "../planning/ProjectsApi.ts"
import { CreateTicket, Ticket, TicketList, UpdateTicket } from "../planning/Ticket.ts"
import { evidenceMissing, ticketChanged, TicketPathRef, ticketQuery, ticketReferences } from "../planning/TicketsApi.ts"
import { statusQuery, TicketStatuses } from "../planning/TicketStatusesApi.ts"
import { AgentAuthorization } from "./AgentAuthorization.ts"

const ticket = { ticket: TicketPathRef }
const seen = "An agent sees what the person it works for sees."
const write =
  "Requires the scope `write` (403 `insufficient_scope`), and that its person is still a member or higher (403 `role_too_low`)."

/** Planning for a signed-in agent, which may do what its person may (docs/contract.md, Agent API). */
export class AgentPlanningApi extends HttpApiGroup.make("agentPlanning")
  .add(
    HttpApiEndpoint.get("listTickets", "/agent/v1/tickets", {
      query: ticketQuery,
      success: TicketList,
      error: NotFound
    }).annotateMerge(
      doc(
        "read",
        "List tickets as an agent",
        `Lists tickets, or searches them with \`q\`, as people do. \`owner=me\` means the agent and its person. ${seen}`
      )
    ),
    HttpApiEndpoint.post("createTicket", "/agent/v1/tickets", {
      payload: CreateTicket,
      success: Ticket.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc("write", "Create a ticket as an agent", `Creates a ticket, as people create one. ${write}`, {
        conflicts: ticketReferences
      })
    ),
    HttpApiEndpoint.get("getTicket", "/agent/v1/tickets/:ticket", {
      params: ticket,
      success: Ticket,
      error: NotFound
    }).annotateMerge(doc("read", "Get a ticket as an agent", `Returns the ticket with its plan. ${seen}`)),
    HttpApiEndpoint.patch("updateTicket", "/agent/v1/tickets/:ticket", {
      params: ticket,
      payload: UpdateTicket,
      success: Ticket,
      error: [Forbidden, InvalidInput, NotFound, Conflict]
    }).annotateMerge(
      doc("write", "Update a ticket as an agent", `Changes the fields that are sent, as people change them. ${write}`, {
        conflicts: { ...ticketReferences, ...evidenceMissing, ...ticketChanged }
      })
    ),
    HttpApiEndpoint.post("createComment", "/agent/v1/tickets/:ticket/comments", {
      params: ticket,
      payload: CreateComment,
      success: Comment.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "write",
        "Comment as an agent",
        `Adds a comment to the ticket. Agents that an agent mentions get no message. ${write}`,
        {
          conflicts: { archived: "The team is archived." }
        }
      )
    ),
    HttpApiEndpoint.get("listStatuses", "/agent/v1/ticket-statuses", {
      query: statusQuery,
      success: TicketStatuses,
      error: NotFound
    }).annotateMerge(
      doc(
        "read",
        "List ticket statuses as an agent",
        `Lists the statuses of a team, or of the template, in board order. ${seen}`
      )
    ),
    HttpApiEndpoint.get("listProjects", "/agent/v1/projects", {
      query: projectQuery,
      success: Projects,
      error: NotFound
    }).annotateMerge(doc("read", "List projects as an agent", `Lists projects in priority order. ${seen}`)),
    HttpApiEndpoint.get("getProject", "/agent/v1/projects/:project", {
      params: projectParam,
      success: Project,
      error: NotFound
    }).annotateMerge(
      doc("read", "Get a project as an agent", `Returns the project with its milestones and its document. ${seen}`)
    )
  )
  .middleware(AgentAuthorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Agent planning",
      description: "Tickets, comments, statuses and projects for a signed-in agent, which may do what its person may."
    })
  ) {}

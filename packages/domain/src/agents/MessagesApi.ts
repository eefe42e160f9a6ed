import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { OneOf, Ref } from "../Text.ts"
import { AgentFilter, AgentMessage, DeclineMessage, MessageStatus, SendMessage } from "./Message.ts"

const path = `${workspacePath}/messages` as const
const params = {
  slug: WorkspaceRef,
  message: PathRef.annotate({
    description: "The message's id.",
    examples: ["0197a1b2-0000-7000-8000-0000000000e5"]
  })
}

/** Messages to coding agents (docs/contract.md, Messages). */
export class MessagesApi extends HttpApiGroup.make("messages")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      query: {
        agent: Schema.optional(AgentFilter),
        ticket: Schema.optional(Ref.annotate({ description: "Only about this ticket, by identifier or id." })),
        status: Schema.optional(
          OneOf(MessageStatus.literals).annotate({ description: "Only in this state.", examples: ["queued"] })
        )
      },
      success: Schema.Struct({ messages: Schema.Array(AgentMessage) }).annotate({
        identifier: "AgentMessages",
        description: "Messages to agents, newest first."
      }),
      error: NotFound
    }).annotateMerge(
      doc(
        "List messages",
        "The 100 newest: those that you sent and those to your agents; admins and owners see all. Messages about tickets that you do not see are left out. Filters combine; an agent or ticket that is not there: 404. Every role."
      )
    ),
    HttpApiEndpoint.post("send", path, {
      params: { slug: WorkspaceRef },
      payload: SendMessage,
      success: AgentMessage.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "Send a message to an agent",
        "Members and up; account API keys are refused. Where no computer is named, routing chooses: one with a live session in a repository of the ticket's project, else the latest live session, a live computer, the computer seen last, or none. The agent's person is notified, also of own messages. A revoked agent: 409 `agent_revoked`; one whose person is no active member: 409 `inactive_member`; a person who does not see the ticket: 409 `ticket_invisible`.",
        {
          conflicts: {
            agent_revoked: "The agent was revoked.",
            inactive_member: "The agent's person is no active member.",
            ticket_invisible: "The agent's person does not see the ticket."
          }
        }
      )
    ),
    HttpApiEndpoint.get("get", `${path}/:message`, { params, success: AgentMessage, error: NotFound }).annotateMerge(
      doc("Get a message", "One that the list would show. Every role.")
    ),
    HttpApiEndpoint.post("decline", `${path}/:message/decline`, {
      params,
      payload: [DeclineMessage, Schema.Null],
      success: AgentMessage,
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "Decline a message",
        "By the person whom the agent works for, queued or delivered; its sender is notified. Others: 403 `other_member`. One that was completed or declined: 409 `ended`. The body may be left out.",
        { isBodyOptional: true, conflicts: { ended: "The message was completed already." } }
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Messages",
      description: "What persons ask of coding agents, each about one ticket."
    })
  ) {}

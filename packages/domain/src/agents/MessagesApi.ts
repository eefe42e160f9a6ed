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
    description: "The id of the message.",
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
        ticket: Schema.optional(Ref.annotate({ description: "Only messages about this ticket, by identifier or id." })),
        status: Schema.optional(
          OneOf(MessageStatus.literals).annotate({
            description: "Only messages with this status.",
            examples: ["queued"]
          })
        )
      },
      success: Schema.Struct({ messages: Schema.Array(AgentMessage) }).annotate({
        identifier: "AgentMessages",
        description: "Messages to agents, newest first."
      }),
      error: NotFound
    }).annotateMerge(
      doc(
        "read",
        "List messages",
        "Lists the 100 newest messages that you sent or that your agents received. Admins and owners see all messages. Messages about tickets that you cannot see are left out. Filters combine. Returns 404 if the agent or ticket of a filter does not exist. Any role may call this."
      )
    ),
    HttpApiEndpoint.post("send", path, {
      params: { slug: WorkspaceRef },
      payload: SendMessage,
      success: AgentMessage.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "write",
        "Send a message to an agent",
        "Sends a message to an agent, and notifies its person, even if that is you. If you name no computer, the service chooses the first of these that exists: a computer with a live session in a repository of the ticket's project, the computer with the latest live session, a live computer, the computer that was seen last. Returns 409 `agent_revoked` if the agent was revoked, 409 `inactive_member` if its person is not an active member, 409 `ticket_invisible` if its person cannot see the ticket, and 409 `too_many_messages` if 50 messages of yours wait in its inbox. Requires the role `member` or higher. Account API keys cannot send messages (403 `account_key`).",
        {
          conflicts: {
            agent_revoked: "The agent was revoked.",
            inactive_member: "The person of the agent is not an active member.",
            ticket_invisible: "The person of the agent cannot see the ticket.",
            too_many_messages: "50 messages of yours wait in the inbox of the agent already, which is the limit."
          }
        }
      )
    ),
    HttpApiEndpoint.get("get", `${path}/:message`, { params, success: AgentMessage, error: NotFound }).annotateMerge(
      doc(
        "read",
        "Get a message",
        "Returns a message that you can see in the list of messages. Any role may call this."
      )
    ),
    HttpApiEndpoint.post("decline", `${path}/:message/decline`, {
      params,
      payload: [DeclineMessage, Schema.Null],
      success: AgentMessage,
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "write",
        "Decline a message",
        "Declines a queued or delivered message, and notifies its sender. The body may be left out. Returns 409 `ended` if the message was completed or declined already. Only the person that the agent works for can decline its messages (403 `other_member`).",
        { isBodyOptional: true, conflicts: { ended: "The message was completed already." } }
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Messages",
      description: "What people ask of coding agents. Each message is about one ticket."
    })
  ) {}

import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { doc, PathRef } from "../Doc.ts"
import { Conflict, NotFound } from "../Errors.ts"
import { Edge } from "../identity/Authorization.ts"
import { WholeInQuery } from "../Numbers.ts"
import { AgentAuthorization, AnyScope } from "./AgentAuthorization.ts"
import { AgentDecline, AgentMessage, CompleteMessage, TakeMessages } from "./Message.ts"

/** The longest wait of one call, in seconds. */
const maxWait = 25

const Wait = WholeInQuery(
  0,
  maxWait,
  `How many seconds to wait for a message if there is none: 0 to ${maxWait}, by default 0.`,
  "25"
)

const params = {
  message: PathRef.annotate({
    description: "The id of the message.",
    examples: ["0197a1b2-0000-7000-8000-0000000000e5"]
  })
}
const ended = { conflicts: { ended: "The message was completed already." } }
const messages = (identifier: string, description: string) =>
  Schema.Struct({ messages: Schema.Array(AgentMessage) }).annotate({ identifier, description })

/** The messages of a signed-in agent (docs/contract.md, Agent API). */
export class AgentInboxApi extends HttpApiGroup.make("agentInbox")
  .add(
    HttpApiEndpoint.get("list", "/agent/v1/inbox", {
      query: { wait: Schema.optionalKey(Wait) },
      success: messages("Inbox", "The queued messages, oldest first.")
    }).annotateMerge(
      doc(
        "read",
        "List the inbox",
        "Lists the 100 oldest queued messages for the computer of the access token, for no computer in particular, and for computers that were not seen for 10 minutes. With `wait`, a call that finds the inbox empty answers as soon as a message arrives, at any server, or when the time is over. It answers 401 at once if the access token ends meanwhile. A server that is stopping answers at once with what there is: call again."
      )
    ),
    HttpApiEndpoint.post("take", "/agent/v1/inbox/take", {
      payload: [TakeMessages, Schema.Null],
      success: messages("TakenMessages", "The messages that are delivered to you now, oldest first.")
    })
      .annotate(AnyScope, true)
      .annotateMerge(
        doc(
          "write",
          "Take messages",
          "Takes the oldest messages of the inbox. They become `delivered`; each message goes to one taker only. Without a body, takes one message.",
          { isBodyOptional: true }
        )
      ),
    HttpApiEndpoint.get("get", "/agent/v1/messages/:message", {
      params,
      success: AgentMessage,
      error: NotFound
    }).annotateMerge(
      doc("read", "Get a message of the agent", "Returns a message to the agent, whatever its status and its computer.")
    ),
    HttpApiEndpoint.post("complete", "/agent/v1/messages/:message/complete", {
      params,
      payload: CompleteMessage,
      success: AgentMessage,
      error: [NotFound, Conflict]
    })
      .annotate(AnyScope, true)
      .annotateMerge(
        doc(
          "write",
          "Complete a message",
          "Completes the message with a reply, and notifies its sender. A message that is still queued is delivered by this call. Returns 409 `ended` if it was completed or declined already.",
          ended
        )
      ),
    HttpApiEndpoint.post("decline", "/agent/v1/messages/:message/decline", {
      params,
      payload: AgentDecline,
      success: AgentMessage,
      error: [NotFound, Conflict]
    })
      .annotate(AnyScope, true)
      .annotateMerge(
        doc(
          "write",
          "Decline a message as the agent",
          "Declines the message with a reason, and notifies its sender. Returns 409 `ended` if it was completed or declined already.",
          ended
        )
      )
  )
  .middleware(AgentAuthorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Agent inbox",
      description: "The messages of a signed-in agent. Both scopes allow these calls."
    })
  ) {}

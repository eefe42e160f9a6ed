import { Schema, SchemaTransformation } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { doc, PathRef } from "../Doc.ts"
import { Conflict, NotFound } from "../Errors.ts"
import { Edge } from "../identity/Authorization.ts"
import { undocumented } from "../Text.ts"
import { AgentAuthorization } from "./AgentAuthorization.ts"
import { AgentDecline, AgentMessage, CompleteMessage, TakeMessages } from "./Message.ts"

/** Longest wait of one call, in seconds. */
const maxWait = 25
const waitMessage = `Expected a whole number from 0 to ${maxWait}`

const Wait = Schema.String.annotate({ format: "int32" })
  .check(Schema.isPattern(/^\d{1,2}$/, { message: waitMessage, toJsonSchema: undocumented }))
  .pipe(
    Schema.decodeTo(
      Schema.Int.check(Schema.isLessThanOrEqualTo(maxWait, { message: waitMessage })),
      SchemaTransformation.numberFromString
    )
  )
  .pipe(
    Schema.annotateEncoded({
      description: `Seconds that the call waits for a message to be there, 0 to ${maxWait}; 0 when left out.`,
      examples: ["25"]
    })
  )

const params = {
  message: PathRef.annotate({
    description: "The message's id.",
    examples: ["0197a1b2-0000-7000-8000-0000000000e5"]
  })
}
const ended = { conflicts: { ended: "The message was completed already." } }
const messages = (identifier: string, description: string) =>
  Schema.Struct({ messages: Schema.Array(AgentMessage) }).annotate({ identifier, description })

/** A signed-in agent's messages (docs/contract.md, Agent API). */
export class AgentInboxApi extends HttpApiGroup.make("agentInbox")
  .add(
    HttpApiEndpoint.get("list", "/agent/v1/inbox", {
      query: { wait: Schema.optionalKey(Wait) },
      success: messages("Inbox", "What is queued, oldest first.")
    }).annotateMerge(
      doc(
        "List the inbox",
        "The 100 oldest messages that are queued for the token's computer, for none, or for one that was not seen for 10 minutes. With `wait`, an empty inbox is answered when a message comes, or when the time is over; a message that comes at any server is heard at once. A server that stops answers at once, with what there is. When the access token ends meanwhile, the call answers 401 at once."
      )
    ),
    HttpApiEndpoint.post("take", "/agent/v1/inbox/take", {
      payload: [TakeMessages, Schema.Null],
      success: messages("TakenMessages", "What is delivered to the caller, oldest first.")
    }).annotateMerge(
      doc(
        "Take messages",
        "The oldest of the inbox become `delivered`, each to one taker only. The body may be left out: one message.",
        { isBodyOptional: true }
      )
    ),
    HttpApiEndpoint.get("get", "/agent/v1/messages/:message", {
      params,
      success: AgentMessage,
      error: NotFound
    }).annotateMerge(doc("Get a message of the agent", "One to the token's agent, whatever its status or computer.")),
    HttpApiEndpoint.post("complete", "/agent/v1/messages/:message/complete", {
      params,
      payload: CompleteMessage,
      success: AgentMessage,
      error: [NotFound, Conflict]
    }).annotateMerge(
      doc(
        "Complete a message",
        "Its sender is notified of the reply. A queued message is delivered by it. One that was completed or declined: 409 `ended`.",
        ended
      )
    ),
    HttpApiEndpoint.post("decline", "/agent/v1/messages/:message/decline", {
      params,
      payload: AgentDecline,
      success: AgentMessage,
      error: [NotFound, Conflict]
    }).annotateMerge(
      doc(
        "Decline a message as the agent",
        "Its sender is notified of the reason. One that was completed or declined: 409 `ended`.",
        ended
      )
    )
  )
  .middleware(AgentAuthorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({ title: "Agent inbox", description: "The messages of a signed-in agent. Any scope." })
  ) {}

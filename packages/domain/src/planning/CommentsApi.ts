import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { Comment, CreateComment, UpdateComment } from "./Comment.ts"
import { TicketPathRef } from "./TicketsApi.ts"

const path = `${workspacePath}/tickets/:ticket/comments` as const
const one = `${path}/:comment` as const
const params = { slug: WorkspaceRef, ticket: TicketPathRef }
const paramsOfOne = {
  ...params,
  comment: PathRef.annotate({
    description: "The id of the comment.",
    examples: ["0197a1b2-0000-7000-8000-000000000e41"]
  })
}
const conflicts = { archived: "The team is archived." }
const mentioning = {
  ...conflicts,
  too_many_messages: "200 messages of yours wait in the inbox of the agent already, which is the limit."
}

/** Comments on tickets (docs/contract.md, Comments). Writing requires a member. */
export class CommentsApi extends HttpApiGroup.make("comments")
  .add(
    HttpApiEndpoint.get("list", path, {
      params,
      success: Schema.Struct({ comments: Schema.Array(Comment) }).annotate({
        identifier: "Comments",
        description: "The comments of a ticket, oldest first."
      }),
      error: NotFound
    }).annotateMerge(
      doc("read", "List comments", "Lists all comments of the ticket, oldest first. Any role may call this.")
    ),
    HttpApiEndpoint.post("create", path, {
      params,
      payload: CreateComment,
      success: Comment.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "write",
        "Create a comment",
        "Adds a comment to the ticket. Links such as `[@Ana](user:ID)` and `[@Claude](agent:ID)` in its Markdown mention active members and agents of the workspace. Links in code are not mentions, and an id that nobody has stays plain text. Each agent that a person mentions gets one message with the ask `mention`, unless the person it works for cannot see the ticket. Returns 409 `archived` if the team of the ticket is archived, and 409 `too_many_messages` if 200 messages of yours wait in the inbox of an agent that you mention. Requires the role `member` or higher.",
        { conflicts: mentioning }
      )
    ),
    HttpApiEndpoint.patch("update", one, {
      params: paramsOfOne,
      payload: UpdateComment,
      success: Comment,
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "write",
        "Edit a comment",
        "Replaces the text of the comment. Agents that the comment did not mention before get a message, as with a new comment. Sending the same text changes nothing. Returns 409 `archived` if the team of the ticket is archived, and 409 `too_many_messages` as a new comment does. Only the author can edit a comment (403 `not_author`).",
        { conflicts: mentioning }
      )
    ),
    HttpApiEndpoint.delete("delete", one, {
      params: paramsOfOne,
      success: HttpApiSchema.NoContent.annotate({ description: "Deleted." }),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "write",
        "Delete a comment",
        "Deletes the comment. Returns 409 `archived` if the team of the ticket is archived. Only the author, the person whose agent wrote it, an admin or an owner can delete a comment (403 `not_author`).",
        { conflicts }
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({ title: "Comments", description: "Comments of people and agents on tickets." })
  ) {}

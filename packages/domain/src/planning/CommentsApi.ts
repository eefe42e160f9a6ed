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
    description: "The comment's id.",
    examples: ["0197a1b2-0000-7000-8000-000000000e41"]
  })
}
const conflicts = { archived: "The team is archived." }

/** Comments on tickets (docs/contract.md, Comments). Writing needs a member. */
export class CommentsApi extends HttpApiGroup.make("comments")
  .add(
    HttpApiEndpoint.get("list", path, {
      params,
      success: Schema.Struct({ comments: Schema.Array(Comment) }).annotate({
        identifier: "Comments",
        description: "The comments of a ticket, oldest first."
      }),
      error: NotFound
    }).annotateMerge(doc("List comments", "All comments of a ticket, oldest first. Every role.")),
    HttpApiEndpoint.post("create", path, {
      params,
      payload: CreateComment,
      success: Comment.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "Create a comment",
        "Members and up. Links `[@Ana](user:ID)` and `[@Claude](agent:ID)` in its Markdown mention active members and agents of the workspace; code holds no mentions, and an id of nobody is text. Each agent that a person mentions gets one message, `ask: mention`, unless its person does not see the ticket. A ticket of an archived team: 409 `archived`.",
        { conflicts }
      )
    ),
    HttpApiEndpoint.patch("update", one, {
      params: paramsOfOne,
      payload: UpdateComment,
      success: Comment,
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "Edit a comment",
        "Its author alone; others: 403 `not_author`. Agents that the comment did not mention before get a message as of a new one. The same text changes nothing. A ticket of an archived team: 409 `archived`.",
        { conflicts }
      )
    ),
    HttpApiEndpoint.delete("delete", one, {
      params: paramsOfOne,
      success: HttpApiSchema.NoContent.annotate({ description: "Deleted." }),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "Delete a comment",
        "Its author, the person whose agent wrote it, an admin or an owner; others: 403 `not_author`. A ticket of an archived team: 409 `archived`.",
        { conflicts }
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({ title: "Comments", description: "What people and agents wrote about tickets." })
  ) {}

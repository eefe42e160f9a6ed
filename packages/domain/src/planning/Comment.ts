import { Schema } from "effect"
import { Body } from "../Body.ts"
import { Actor, Person } from "../identity/Actor.ts"
import { AgentId, CommentId, PersonId } from "../Ids.ts"
import { atLeast, isVisible, Text } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"
import { maxMarkdown } from "./Ticket.ts"

/** A comment on a ticket (docs/contract.md, Comments). */
export const Comment = Schema.Struct({
  id: CommentId,
  body: Schema.String.annotate({ description: "The text of the comment, in Markdown." }),
  author: Actor,
  createdAt: Timestamp,
  editedAt: Schema.NullOr(Timestamp).annotate({
    description: "When the comment was last edited; null if it never was."
  }),
  mentions: Schema.Struct({
    users: Schema.Array(Person),
    agents: Schema.Array(Schema.Struct({ id: AgentId, name: Schema.String, person: Person }))
  }).annotate({ description: "Whom the body mentions: each once, in the order of the text." })
}).annotate({
  identifier: "Comment",
  description: "A comment on a ticket.",
  examples: [
    {
      id: CommentId.make("0197a1b2-0000-7000-8000-000000000e41"),
      body: "[@Claude](agent:0197a1b2-0000-7000-8000-000000000a01) please write a plan.",
      author: {
        kind: "user",
        id: PersonId.make("0197a1b2-0000-7000-8000-000000000001"),
        name: "Ana Diaz",
        email: "ana@example.com"
      },
      createdAt: "2026-11-21T10:00:00.000Z",
      editedAt: null,
      mentions: {
        users: [],
        agents: [
          {
            id: AgentId.make("0197a1b2-0000-7000-8000-000000000a01"),
            name: "Claude",
            person: {
              id: PersonId.make("0197a1b2-0000-7000-8000-000000000001"),
              name: "Ana Diaz",
              email: "ana@example.com"
            }
          }
        ]
      }
    }
  ]
})
export type Comment = typeof Comment.Type

const CommentBody = Text(maxMarkdown).check(atLeast(1), isVisible).annotate({
  description:
    "The text of the comment, in Markdown. `[@Ana](user:ID)` mentions a person, `[@Claude](agent:ID)` an agent."
})

export const CreateComment = Body({ body: CommentBody }).annotate({
  identifier: "CreateComment",
  description: "The text of a new comment.",
  examples: [{ body: "[@Claude](agent:0197a1b2-0000-7000-8000-000000000a01) please write a plan." }]
})
export type CreateComment = typeof CreateComment.Type

export const UpdateComment = Body({ body: CommentBody }).annotate({
  identifier: "UpdateComment",
  description: "The new text of the comment.",
  examples: [{ body: "Never mind, found it." }]
})
export type UpdateComment = typeof UpdateComment.Type

import { Schema } from "effect"
import { ApiKeyId, PersonId, WorkspaceId } from "../Ids.ts"
import { EmailVerifiedAt } from "./Member.ts"
import { WorkspaceMembership } from "./Workspace.ts"

/** Whom the API key of the request belongs to, and where it may act (docs/contract.md, Identity). */
export const Me = Schema.Union([
  Schema.Struct({
    kind: Schema.Literal("user"),
    id: PersonId,
    name: Schema.String,
    email: Schema.String,
    emailVerifiedAt: EmailVerifiedAt,
    workspaces: Schema.Array(WorkspaceMembership).annotate({
      description: "The workspaces in which the person is an active member."
    })
  }).annotate({ title: "user" }),
  Schema.Struct({
    kind: Schema.Literal("apiKey"),
    id: ApiKeyId,
    name: Schema.String,
    workspaces: Schema.Array(WorkspaceMembership).annotate({ description: "The workspace of the key: always one." })
  }).annotate({ title: "apiKey" })
]).annotate({
  identifier: "Me",
  description: "Whom the API key belongs to, and the workspaces it may act in, by name.",
  examples: [
    {
      kind: "user",
      id: PersonId.make("0197a1b2-0000-7000-8000-000000000001"),
      name: "Ana Diaz",
      email: "ana@example.com",
      emailVerifiedAt: "2026-11-21T09:30:00.000Z",
      workspaces: [
        { id: WorkspaceId.make("0197a1b2-0000-7000-8000-00000000000a"), slug: "main", name: "Main", role: "owner" }
      ]
    }
  ]
})
export type Me = typeof Me.Type

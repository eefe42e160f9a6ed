import { Schema } from "effect"
import { Body } from "../Body.ts"
import { WorkspaceId } from "../Ids.ts"
import { Name, Slug } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"
import { Role } from "./Role.ts"

const id = WorkspaceId.make("0197a1b2-0000-7000-8000-00000000000a")

/** A workspace as its members see it; `role` is that of the caller. */
export const Workspace = Schema.Struct({
  id: WorkspaceId,
  slug: Schema.String,
  name: Schema.String,
  role: Role,
  createdAt: Timestamp,
  updatedAt: Timestamp
}).annotate({
  identifier: "Workspace",
  description: "A workspace, with your role in it.",
  examples: [
    {
      id,
      slug: "main",
      name: "Main",
      role: "owner",
      createdAt: "2026-11-21T09:30:00.000Z",
      updatedAt: "2026-11-21T09:30:00.000Z"
    }
  ]
})
export type Workspace = typeof Workspace.Type

/** A workspace in its short form, with a role in it. */
export const WorkspaceMembership = Schema.Struct({
  id: WorkspaceId,
  slug: Schema.String,
  name: Schema.String,
  role: Role
}).annotate({
  identifier: "WorkspaceMembership",
  description: "A workspace in its short form, with a role in it.",
  examples: [{ id, slug: "main", name: "Main", role: "owner" }]
})
export type WorkspaceMembership = typeof WorkspaceMembership.Type

export const CreateWorkspace = Body({ slug: Slug, name: Name(100) }).annotate({
  identifier: "CreateWorkspace",
  description: "The slug and name of a new workspace.",
  examples: [{ slug: "acme", name: "Acme" }]
})
export type CreateWorkspace = typeof CreateWorkspace.Type

export const UpdateWorkspace = Body({
  slug: Schema.optionalKey(Slug),
  name: Schema.optionalKey(Name(100))
}).annotate({
  identifier: "UpdateWorkspace",
  description: "The fields to change.",
  examples: [{ name: "Acme Inc." }]
})
export type UpdateWorkspace = typeof UpdateWorkspace.Type

import { Schema } from "effect"
import { Body } from "../Body.ts"
import { WorkspaceId } from "../Ids.ts"
import { Name, Slug } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"
import { Role } from "./Role.ts"

const id = WorkspaceId.make("0197a1b2-0000-7000-8000-00000000000a")

const maxDays = 36_500
const daysMessage = `Expected days: a number above 0 and up to ${maxDays}, or null`

/** A number of days for which something is kept: decimals are allowed, null is the server's own number. */
const Days = (description: string) =>
  Schema.NullOr(
    Schema.Finite.check(
      Schema.isGreaterThan(0, { message: daysMessage }),
      Schema.isLessThanOrEqualTo(maxDays, { message: daysMessage })
    )
  ).annotate({ description })

const runDays = Days(
  "How many days runs are kept after they or their last retry ended. Null: as the server's `RUN_DAYS` says, and for ever without it."
)
const fileDays = Days(
  "How many days files of runs are kept after their upload. Null: as the server's `FILE_DAYS` says, and for ever without it."
)

/** A workspace as its members see it; `role` is that of the caller. */
export const Workspace = Schema.Struct({
  id: WorkspaceId,
  slug: Schema.String,
  name: Schema.String,
  role: Role,
  runDays,
  fileDays,
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
      runDays: 90,
      fileDays: null,
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
  name: Schema.optionalKey(Name(100)),
  runDays: Schema.optionalKey(runDays),
  fileDays: Schema.optionalKey(fileDays)
}).annotate({
  identifier: "UpdateWorkspace",
  description: "The fields to change.",
  examples: [{ name: "Acme Inc.", runDays: 90 }]
})
export type UpdateWorkspace = typeof UpdateWorkspace.Type

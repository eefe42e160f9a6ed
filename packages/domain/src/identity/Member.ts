import { Schema } from "effect"
import { Body } from "../Body.ts"
import { PersonId } from "../Ids.ts"
import { Timestamp } from "../Timestamp.ts"
import { Role } from "./Role.ts"

/** A person in a workspace; `id` is that of the person (docs/contract.md, Members). */
export const Member = Schema.Struct({
  id: PersonId,
  name: Schema.String,
  email: Schema.String,
  role: Role,
  active: Schema.Boolean.annotate({
    description: "Whether the member has access. The keys of an inactive member do not work in this workspace."
  }),
  joinedAt: Timestamp
}).annotate({
  identifier: "Member",
  description: "A person in a workspace. `id` is the id of the person.",
  examples: [
    {
      id: PersonId.make("0197a1b2-0000-7000-8000-000000000001"),
      name: "Ana Diaz",
      email: "ana@example.com",
      role: "owner",
      active: true,
      joinedAt: "2026-11-21T09:30:00.000Z"
    }
  ]
})
export type Member = typeof Member.Type

export const UpdateMember = Body({ role: Role }).annotate({
  identifier: "UpdateMember",
  description: "The new role of the member.",
  examples: [{ role: "admin" }]
})
export type UpdateMember = typeof UpdateMember.Type

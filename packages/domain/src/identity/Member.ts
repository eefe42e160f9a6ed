import { Schema } from "effect"
import { Body } from "../Body.ts"
import { OneOf } from "../Text.ts"
import { PersonId } from "../Ids.ts"
import { Timestamp } from "../Timestamp.ts"
import { Role } from "./Role.ts"

/** When an address was proven, as persons and members show it. */
export const EmailVerifiedAt = Schema.NullOr(Timestamp).annotate({
  description:
    "When the person proved that the email address is theirs; null if they have not. Others may then have the same address."
})

/** A person in a workspace; `id` is that of the person (docs/contract.md, Members). */
export const Member = Schema.Struct({
  id: PersonId,
  name: Schema.String,
  email: Schema.String,
  emailVerifiedAt: EmailVerifiedAt,
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
      emailVerifiedAt: "2026-11-21T09:30:00.000Z",
      role: "owner",
      active: true,
      joinedAt: "2026-11-21T09:30:00.000Z"
    }
  ]
})
export type Member = typeof Member.Type

const AccountApiKeys = OneOf(["revoke", "keep"])

export const UpdateMember = Body({
  role: Role,
  accountApiKeys: Schema.optionalKey(
    AccountApiKeys.annotate({
      description: "What becomes of the account API keys that the member made and whose role is above the new one.",
      default: "revoke"
    })
  )
}).annotate({
  identifier: "UpdateMember",
  description: "The new role of the member.",
  examples: [{ role: "admin" }]
})
export type UpdateMember = typeof UpdateMember.Type

export const DeactivateMember = Body({
  accountApiKeys: Schema.optionalKey(
    AccountApiKeys.annotate({
      description: "What becomes of the account API keys that the member made.",
      default: "revoke"
    })
  )
}).annotate({
  identifier: "DeactivateMember",
  description: "What outlives the access of the member.",
  examples: [{ accountApiKeys: "keep" }]
})
export type DeactivateMember = typeof DeactivateMember.Type

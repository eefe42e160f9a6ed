import { Schema } from "effect"
import { Body } from "../Body.ts"
import { OneOf } from "../Text.ts"
import { ApiKeyId, InviteId, PersonId } from "../Ids.ts"
import { Timestamp } from "../Timestamp.ts"
import { Role } from "./Role.ts"

/** When an address was proven, as persons and members show it. */
export const EmailVerifiedAt = Schema.NullOr(Timestamp).annotate({
  description:
    "When the person proved that the email address is theirs; null if they have not. Others may then have the same address."
})

const example = {
  id: PersonId.make("0197a1b2-0000-7000-8000-000000000001"),
  name: "Ana Diaz",
  email: "ana@example.com",
  emailVerifiedAt: "2026-11-21T09:30:00.000Z",
  role: "owner",
  active: true,
  joinedAt: "2026-11-21T09:30:00.000Z"
} as const

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
  examples: [example]
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

const endedExample = {
  accountApiKeys: [{ id: ApiKeyId.make("0197a1b2-0000-7000-8000-0000000000b2"), name: "ci" }],
  invites: [{ id: InviteId.make("0197a1b2-0000-7000-8000-0000000000c1"), email: "sam@example.com" }],
  agentSignIns: 1,
  runs: 0
}

/** What ended when a member was deactivated. */
const EndedWithMember = Schema.Struct({
  accountApiKeys: Schema.Array(Schema.Struct({ id: ApiKeyId, name: Schema.String })).annotate({
    description: "The account API keys that were revoked: those that the member made, and those made with these."
  }),
  invites: Schema.Array(Schema.Struct({ id: InviteId, email: Schema.String })).annotate({
    description: "The pending invites that were revoked."
  }),
  agentSignIns: Schema.Int.annotate({ description: "How many sign-ins of agents ended." }),
  runs: Schema.Int.annotate({ description: "How many runs and retries were interrupted." })
}).annotate({
  identifier: "EndedWithMember",
  description: "What ended in the workspace when the member was deactivated. Nothing if they were inactive already.",
  examples: [endedExample]
})
export type EndedWithMember = typeof EndedWithMember.Type

/** A member who has no access any more. */
export const DeactivatedMember = Schema.Struct({ ...Member.fields, ended: EndedWithMember }).annotate({
  identifier: "DeactivatedMember",
  description: "The member, and what ended with their access.",
  examples: [{ ...example, active: false, ended: endedExample }]
})
export type DeactivatedMember = typeof DeactivatedMember.Type

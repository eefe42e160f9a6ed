import { Schema } from "effect"
import { Body } from "../Body.ts"
import { PersonId, TeamId } from "../Ids.ts"
import { Role } from "../identity/Role.ts"
import { Name, OneOf, Ref } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"

const keyPattern = /^[A-Z][A-Z0-9]{0,9}$/u

/** Whether `text` can be a team's key. */
export const isTeamKey = (text: string): boolean => keyPattern.test(text)

/** A team's key, unique in its workspace; the identifiers of its tickets begin with it (docs/contract.md, Conventions). */
export const TeamKey = Schema.String.check(
  Schema.isPattern(keyPattern, {
    message: "Expected 1 to 10 upper-case letters and digits, a letter first"
  })
).annotate({
  description:
    "The key of the team: 1 to 10 upper-case letters and digits, beginning with a letter. The identifiers of its tickets begin with it.",
  examples: ["ENG"]
})

export const TeamVisibility = OneOf(["open", "private"]).annotate({
  identifier: "TeamVisibility",
  description:
    "Who sees the team and all that belongs to it. `open`: everybody in the workspace. `private`: its members, admins and owners.",
  examples: ["open"]
})
export type TeamVisibility = typeof TeamVisibility.Type

/** A team, in the short form that other objects have. */
export const TeamRef = Schema.Struct({
  id: TeamId,
  key: Schema.String,
  name: Schema.String,
  visibility: TeamVisibility
}).annotate({
  identifier: "TeamRef",
  description: "A team, in the short form that other objects have.",
  examples: [
    { id: TeamId.make("0197a1b2-0000-7000-8000-000000000e01"), key: "ENG", name: "Engineering", visibility: "open" }
  ]
})
export type TeamRef = typeof TeamRef.Type

/** A group of people who share statuses, tags and tickets (docs/contract.md, Teams). */
export const Team = Schema.Struct({
  id: TeamId,
  key: Schema.String,
  name: Schema.String,
  visibility: TeamVisibility,
  memberCount: Schema.Int.annotate({
    description: "How many members the team has. Members who are inactive in the workspace do not count."
  }),
  archivedAt: Schema.NullOr(Timestamp).annotate({ description: "When it was archived; null if it is not." }),
  createdAt: Timestamp,
  updatedAt: Timestamp
}).annotate({
  identifier: "Team",
  description: "A group of people who share statuses, tags and tickets.",
  examples: [
    {
      id: TeamId.make("0197a1b2-0000-7000-8000-000000000e01"),
      key: "ENG",
      name: "Engineering",
      visibility: "open",
      memberCount: 3,
      archivedAt: null,
      createdAt: "2026-11-21T09:30:00.000Z",
      updatedAt: "2026-11-21T09:30:00.000Z"
    }
  ]
})
export type Team = typeof Team.Type

export const CreateTeam = Body({
  key: TeamKey,
  name: Name(100),
  visibility: Schema.optionalKey(TeamVisibility)
}).annotate({
  identifier: "CreateTeam",
  description: "The fields of a new team. It is open by default.",
  examples: [{ key: "ENG", name: "Engineering", visibility: "open" }]
})
export type CreateTeam = typeof CreateTeam.Type

export const UpdateTeam = Body({
  name: Schema.optionalKey(Name(100)),
  visibility: Schema.optionalKey(TeamVisibility)
}).annotate({
  identifier: "UpdateTeam",
  description: "The fields to change.",
  examples: [{ visibility: "private" }]
})
export type UpdateTeam = typeof UpdateTeam.Type

/** A member of a team; `id` is that of the person, `role` the role in the workspace (docs/contract.md, Teams). */
export const TeamMember = Schema.Struct({
  id: PersonId,
  name: Schema.String,
  email: Schema.String,
  role: Role,
  active: Schema.Boolean.annotate({ description: "Whether the member is active in the workspace." }),
  addedAt: Timestamp
}).annotate({
  identifier: "TeamMember",
  description: "A member of a team. `id` is the id of the person, `role` the role in the workspace.",
  examples: [
    {
      id: PersonId.make("0197a1b2-0000-7000-8000-000000000001"),
      name: "Ana Diaz",
      email: "ana@example.com",
      role: "member",
      active: true,
      addedAt: "2026-11-21T09:30:00.000Z"
    }
  ]
})
export type TeamMember = typeof TeamMember.Type

export const AddTeamMember = Body({
  member: Ref.annotate({ description: "The id of the person." })
}).annotate({
  identifier: "AddTeamMember",
  description: "The member of the workspace who joins the team.",
  examples: [{ member: "0197a1b2-0000-7000-8000-000000000001" }]
})
export type AddTeamMember = typeof AddTeamMember.Type

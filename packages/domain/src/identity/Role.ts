import { OneOf } from "../Text.ts"

/** What a member or an account API key may do in a workspace, from least to most (docs/contract.md, Identity). */
export const Role = OneOf(["viewer", "member", "admin", "owner"]).annotate({
  identifier: "Role",
  description:
    "What somebody may do in a workspace. A `viewer` reads, a `member` also changes things and publishes test runs, an `admin` also manages the workspace, an `owner` also manages owners.",
  examples: ["member"]
})
export type Role = typeof Role.Type

const ranks: Record<Role, number> = { viewer: 0, member: 1, admin: 2, owner: 3 }

/** Whether `role` is `needed` or higher. */
export const isAtLeast = (role: Role, needed: Role): boolean => ranks[role] >= ranks[needed]

/** Whether somebody with the role `by` may give and take these roles: only owners handle the role owner. */
export const mayAssign = (by: Role, ...roles: ReadonlyArray<Role>): boolean =>
  by === "owner" || !roles.includes("owner")

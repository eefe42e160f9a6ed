import { OneOf } from "../Text.ts"

/** What a member or account key may do in a workspace, from least to most (docs/contract.md, Identity). */
export const Role = OneOf(["viewer", "member", "admin", "owner"]).annotate({
  identifier: "Role",
  description: "viewer: reads; member: changes and publishes; admin: manages; owner: manages owners too.",
  examples: ["member"]
})
export type Role = typeof Role.Type

const ranks: Record<Role, number> = { viewer: 0, member: 1, admin: 2, owner: 3 }

/** Whether `role` may do what needs at least `needed`. */
export const isAtLeast = (role: Role, needed: Role): boolean => ranks[role] >= ranks[needed]

/** Only owners give, take and invite owners. */
export const mayAssign = (by: Role, ...roles: ReadonlyArray<Role>): boolean =>
  by === "owner" || !roles.includes("owner")

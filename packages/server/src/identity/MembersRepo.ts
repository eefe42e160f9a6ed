import type { Member } from "@delivery/domain/identity/Member"
import type { Role } from "@delivery/domain/identity/Role"
import type { PersonId, WorkspaceId } from "@delivery/domain/Ids"
import { Context, type Effect } from "effect"
import type { UniqueViolation } from "../storage/Sql.ts"
import { boolean, instant, type Row, table, text, uuid } from "../storage/Table.ts"

export const members = table("members", {
  workspaceId: uuid<WorkspaceId>(),
  personId: uuid<PersonId>(),
  role: text<Role>(),
  active: boolean(),
  joinedAt: instant()
})

export type MemberRow = Row<typeof members>

/** Under which a member stands in the memory storage. */
export const memberKey = (workspaceId: string | undefined, personId: string): string => `${workspaceId}/${personId}`

/** A member in events. */
export const memberSubject = ({ id, name }: { readonly id: PersonId; readonly name: string }) => ({
  type: "member",
  id,
  label: name,
  path: "settings/members"
})

/** Stores who is a member of which workspace. A person is one member of a workspace at most. */
export class MembersRepo extends Context.Service<
  MembersRepo,
  {
    readonly insert: (member: MemberRow) => Effect.Effect<void, UniqueViolation>
    readonly update: (member: Pick<MemberRow, "workspaceId" | "personId" | "role" | "active">) => Effect.Effect<void>
    readonly find: (workspaceId: WorkspaceId, personId: PersonId) => Effect.Effect<Member | undefined>
    /**
     * Whether the person is an active member. They stay so until the transaction ends, which holds this before a maker
     * (`Makers.hold`): whoever deactivates them waits, and finds what was made.
     */
    readonly holdActive: (workspaceId: WorkspaceId, personId: PersonId) => Effect.Effect<boolean>
    /** The active member with the address, or else who joined last of those who were deactivated. */
    readonly findByEmail: (workspaceId: WorkspaceId, email: string) => Effect.Effect<Member | undefined>
    readonly list: (workspaceId: WorkspaceId) => Effect.Effect<ReadonlyArray<Member>>
    readonly countActiveOwners: (workspaceId: WorkspaceId) => Effect.Effect<number>
  }
>()("@delivery/server/identity/MembersRepo") {}

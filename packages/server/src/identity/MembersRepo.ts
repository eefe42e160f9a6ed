import type { Member } from "@delivery/domain/identity/Member"
import type { Role } from "@delivery/domain/identity/Role"
import type { PersonId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { date, dieOnSqlError, failOnDuplicate, iso, UniqueViolation } from "../storage/Sql.ts"
import type { PersonRow } from "./PersonsRepo.ts"

export interface MemberRow {
  readonly workspaceId: WorkspaceId
  readonly personId: PersonId
  readonly role: Role
  readonly active: boolean
  readonly joinedAt: Timestamp
}

/** Stores who is a member of which workspace; a person is one member of a workspace at most. */
export class MembersRepo extends Context.Service<
  MembersRepo,
  {
    readonly insert: (member: MemberRow) => Effect.Effect<void, UniqueViolation>
    readonly update: (member: Pick<MemberRow, "workspaceId" | "personId" | "role" | "active">) => Effect.Effect<void>
    readonly find: (workspaceId: WorkspaceId, personId: PersonId) => Effect.Effect<Member | undefined>
    readonly findByEmail: (workspaceId: WorkspaceId, email: string) => Effect.Effect<Member | undefined>
    readonly list: (workspaceId: WorkspaceId) => Effect.Effect<ReadonlyArray<Member>>
    readonly countActiveOwners: (workspaceId: WorkspaceId) => Effect.Effect<number>
  }
>()("@delivery/server/identity/MembersRepo") {
  static readonly layerSql = Layer.effect(
    MembersRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const members = sql.literal(`select p.id, p.name, p.email, m.role, m.active, m.joined_at as "joinedAt"
        from members m join persons p on p.id = m.person_id`)
      return MembersRepo.of({
        insert: (member) =>
          failOnDuplicate(
            Effect.asVoid(sql`insert into members (workspace_id, person_id, role, active, joined_at)
            values (${member.workspaceId}, ${member.personId}, ${member.role}, ${member.active},
              ${date(member.joinedAt)})`)
          ),
        update: (member) =>
          dieOnSqlError(
            Effect.asVoid(sql`update members set role = ${member.role}, active = ${member.active}
            where workspace_id = ${member.workspaceId} and person_id = ${member.personId}`)
          ),
        find: (workspaceId, personId) =>
          sql<SqlRow>`${members} where m.workspace_id = ${workspaceId} and m.person_id = ${personId}`.pipe(
            Effect.map((rows) => rows.map(readRow)[0]),
            dieOnSqlError
          ),
        findByEmail: (workspaceId, email) =>
          sql<SqlRow>`${members} where m.workspace_id = ${workspaceId} and p.email = ${email}`.pipe(
            Effect.map((rows) => rows.map(readRow)[0]),
            dieOnSqlError
          ),
        list: (workspaceId) =>
          sql<SqlRow>`${members} where m.workspace_id = ${workspaceId}`.pipe(
            Effect.map((rows) => rows.map(readRow)),
            dieOnSqlError
          ),
        countActiveOwners: (workspaceId) =>
          sql<{ count: number }>`select count(*)::int as count from members
            where workspace_id = ${workspaceId} and active and role = 'owner'`.pipe(
            Effect.map((rows) => rows[0]!.count),
            dieOnSqlError
          )
      })
    })
  )

  static readonly layerMemory = Layer.effect(
    MembersRepo,
    Effect.gen(function* () {
      const memory = yield* MemoryStorage
      const list = (workspaceId: WorkspaceId) =>
        memory.read((database): ReadonlyArray<Member> =>
          database
            .table<MemberRow>("members")
            .filter((member) => member.workspaceId === workspaceId)
            .map(({ active, joinedAt, personId, role }) => {
              const { email, id, name } = database.table<PersonRow>("persons").get(personId)!
              return { id, name, email, role, active, joinedAt }
            })
        )
      return MembersRepo.of({
        insert: (member) =>
          memory.write((database) => {
            const members = database.table<MemberRow>("members")
            const key = `${member.workspaceId}/${member.personId}`
            return members.get(key) !== undefined
              ? Effect.fail(new UniqueViolation({ constraint: "members_key" }))
              : Effect.sync(() => members.set(key, member))
          }),
        update: (member) =>
          memory.write((database) =>
            Effect.sync(() => {
              const members = database.table<MemberRow>("members")
              const key = `${member.workspaceId}/${member.personId}`
              members.set(key, { ...members.get(key)!, ...member })
            })
          ),
        find: (workspaceId, personId) =>
          Effect.map(list(workspaceId), (members) => members.find((member) => member.id === personId)),
        findByEmail: (workspaceId, email) =>
          Effect.map(list(workspaceId), (members) => members.find((member) => member.email === email)),
        list,
        countActiveOwners: (workspaceId) =>
          Effect.map(
            list(workspaceId),
            (members) => members.filter((member) => member.active && member.role === "owner").length
          )
      })
    })
  )
}

type SqlRow = Omit<Member, "joinedAt"> & { readonly joinedAt: Date }

const readRow = (row: SqlRow): Member => ({ ...row, joinedAt: iso(row.joinedAt) })

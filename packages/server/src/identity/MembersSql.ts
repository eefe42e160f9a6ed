import type { Member } from "@delivery/domain/identity/Member"
import type { PersonId, WorkspaceId } from "@delivery/domain/Ids"
import { Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { dieOnSqlError, failOnDuplicate, iso, isoOrNull } from "../storage/Sql.ts"
import { insertInto } from "../storage/Table.ts"
import { members, type MemberRow, MembersRepo } from "./MembersRepo.ts"

export const layer = Layer.effect(
  MembersRepo,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const insert = insertInto(sql, members)
    return MembersRepo.of({
      insert: (member) => failOnDuplicate(insert(member)),
      update: update(sql),
      find: find(sql),
      holdActive: holdActive(sql),
      findByEmail: findByEmail(sql),
      list: list(sql),
      countActiveOwners: countActiveOwners(sql)
    })
  })
)

/** A member with the name and email of the person. */
interface SqlMember extends Omit<Member, "joinedAt" | "emailVerifiedAt"> {
  readonly emailVerifiedAt: Date | null
  readonly joinedAt: Date
}

const select = (sql: SqlClient.SqlClient, where: Statement.Fragment): Effect.Effect<ReadonlyArray<Member>> =>
  sql<SqlMember>`select p.id, p.name, p.email, p.email_verified_at as "emailVerifiedAt", m.role, m.active,
      m.joined_at as "joinedAt"
    from members m join persons p on p.id = m.person_id where ${where}`.pipe(
    Effect.map((rows) =>
      rows.map((row) => ({ ...row, emailVerifiedAt: isoOrNull(row.emailVerifiedAt), joinedAt: iso(row.joinedAt) }))
    ),
    dieOnSqlError
  )

const update =
  (sql: SqlClient.SqlClient) =>
  ({ active, personId, role, workspaceId }: Pick<MemberRow, "workspaceId" | "personId" | "role" | "active">) =>
    dieOnSqlError(
      Effect.asVoid(sql`update members set role = ${role}, active = ${active}
        where workspace_id = ${workspaceId} and person_id = ${personId}`)
    )

const find = (sql: SqlClient.SqlClient) => (workspaceId: WorkspaceId, personId: PersonId) =>
  Effect.map(select(sql, sql`m.workspace_id = ${workspaceId} and m.person_id = ${personId}`), (found) => found[0])

const holdActive = (sql: SqlClient.SqlClient) => (workspaceId: WorkspaceId, personId: PersonId) =>
  sql`select 1 from members where workspace_id = ${workspaceId} and person_id = ${personId} and active for share`.pipe(
    Effect.map((rows) => rows.length > 0),
    dieOnSqlError
  )

const findByEmail = (sql: SqlClient.SqlClient) => (workspaceId: WorkspaceId, email: string) =>
  Effect.map(
    select(
      sql,
      sql`m.workspace_id = ${workspaceId} and p.email = ${email}
    order by m.active desc, m.joined_at desc, p.id desc limit 1`
    ),
    (found) => found[0]
  )

const list = (sql: SqlClient.SqlClient) => (workspaceId: WorkspaceId) =>
  select(sql, sql`m.workspace_id = ${workspaceId}`)

const countActiveOwners = (sql: SqlClient.SqlClient) => (workspaceId: WorkspaceId) =>
  sql<{ readonly count: number }>`select count(*)::int as count from members
    where workspace_id = ${workspaceId} and active and role = 'owner'`.pipe(
    Effect.map((rows) => rows[0]!.count),
    dieOnSqlError
  )

import type { Role } from "@delivery/domain/identity/Role"
import type { WorkspaceMembership } from "@delivery/domain/identity/Workspace"
import type { PersonId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { date, dieOnSqlError, failOnDuplicate, iso, UniqueViolation } from "../storage/Sql.ts"
import type { MemberRow } from "./MembersRepo.ts"

export interface WorkspaceRow {
  readonly id: WorkspaceId
  readonly slug: string
  readonly name: string
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}

/** A workspace with the role of the person it was asked for. */
export interface WorkspaceOfPerson extends WorkspaceRow, WorkspaceMembership {}

/** Stores workspaces; a slug is used once. */
export class WorkspacesRepo extends Context.Service<
  WorkspacesRepo,
  {
    readonly insert: (workspace: WorkspaceRow) => Effect.Effect<void, UniqueViolation>
    readonly update: (workspace: WorkspaceRow) => Effect.Effect<void, UniqueViolation>
    readonly find: (id: WorkspaceId) => Effect.Effect<WorkspaceRow | undefined>
    /** The workspaces in which the person is an active member. */
    readonly ofPerson: (personId: PersonId) => Effect.Effect<ReadonlyArray<WorkspaceOfPerson>>
    /** Holds the workspace's row until the transaction ends, so that what depends on it is decided one by one. */
    readonly lock: (id: WorkspaceId) => Effect.Effect<void>
  }
>()("@delivery/server/identity/WorkspacesRepo") {
  static readonly layerSql = Layer.effect(
    WorkspacesRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const columns = sql.literal(`w.id, w.slug, w.name, w.created_at as "createdAt", w.updated_at as "updatedAt"`)
      return WorkspacesRepo.of({
        insert: (workspace) =>
          failOnDuplicate(
            Effect.asVoid(sql`insert into workspaces (id, slug, name, created_at, updated_at)
            values (${workspace.id}, ${workspace.slug}, ${workspace.name}, ${date(workspace.createdAt)},
              ${date(workspace.updatedAt)})`)
          ),
        update: (workspace) =>
          failOnDuplicate(
            Effect.asVoid(sql`update workspaces set slug = ${workspace.slug}, name = ${workspace.name},
            updated_at = ${date(workspace.updatedAt)} where id = ${workspace.id}`)
          ),
        find: (id) =>
          sql<SqlRow>`select ${columns} from workspaces w where w.id = ${id}`.pipe(
            Effect.map((rows) => rows.map(readRow)[0]),
            dieOnSqlError
          ),
        ofPerson: (personId) =>
          sql<SqlRow & { role: Role }>`select ${columns}, m.role
            from members m join workspaces w on w.id = m.workspace_id
            where m.person_id = ${personId} and m.active`.pipe(
            Effect.map((rows) => rows.map((row) => ({ ...readRow(row), role: row.role }))),
            dieOnSqlError
          ),
        lock: (id) => dieOnSqlError(Effect.asVoid(sql`select 1 from workspaces where id = ${id} for no key update`))
      })
    })
  )

  static readonly layerMemory = Layer.effect(
    WorkspacesRepo,
    Effect.gen(function* () {
      const memory = yield* MemoryStorage
      const put = (workspace: WorkspaceRow) =>
        memory.write((database) => {
          const workspaces = database.table<WorkspaceRow>("workspaces")
          return workspaces.find((other) => other.slug === workspace.slug && other.id !== workspace.id) !== undefined
            ? Effect.fail(new UniqueViolation({ constraint: "workspaces_slug_key" }))
            : Effect.sync(() => workspaces.set(workspace.id, workspace))
        })
      return WorkspacesRepo.of({
        insert: put,
        update: put,
        find: (id) => memory.read((database) => database.table<WorkspaceRow>("workspaces").get(id)),
        ofPerson: (personId) =>
          memory.read((database) => {
            const workspaces = database.table<WorkspaceRow>("workspaces")
            return database
              .table<MemberRow>("members")
              .filter((member) => member.personId === personId && member.active)
              .map((member) => ({ ...workspaces.get(member.workspaceId)!, role: member.role }))
          }),
        lock: () => Effect.void
      })
    })
  )
}

interface SqlRow extends Omit<WorkspaceRow, "createdAt" | "updatedAt"> {
  readonly createdAt: Date
  readonly updatedAt: Date
}

const readRow = (row: SqlRow): WorkspaceRow => ({
  id: row.id,
  slug: row.slug,
  name: row.name,
  createdAt: iso(row.createdAt),
  updatedAt: iso(row.updatedAt)
})

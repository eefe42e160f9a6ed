import type { Role } from "@delivery/domain/identity/Role"
import type { PersonId, WorkspaceId } from "@delivery/domain/Ids"
import { isId, isSlug } from "@delivery/domain/Text"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { dieOnSqlError, failOnDuplicate } from "../storage/Sql.ts"
import { columnsOf, insertInto, readerOf, type SelectedRow, selectFrom, updateById } from "../storage/Table.ts"
import { workspaces, WorkspacesRepo } from "./WorkspacesRepo.ts"

export const layer = Layer.effect(
  WorkspacesRepo,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const insert = insertInto(sql, workspaces)
    const update = updateById(sql, workspaces, ["slug", "name", "runDays", "fileDays", "updatedAt"])
    return WorkspacesRepo.of({
      insert: (workspace) => failOnDuplicate(insert(workspace)),
      update: (workspace) => failOnDuplicate(update(workspace)),
      find: find(sql),
      named: named(sql),
      ofPerson: ofPerson(sql),
      lock: lock(sql)
    })
  })
)

const readRow = readerOf(workspaces)

const find = (sql: SqlClient.SqlClient) => {
  const select = selectFrom(sql, workspaces)
  return (id: WorkspaceId) =>
    sql<SelectedRow>`${select} where id = ${id}`.pipe(
      Effect.map((rows) => rows.map(readRow)[0]),
      dieOnSqlError
    )
}

const named = (sql: SqlClient.SqlClient) => {
  const select = selectFrom(sql, workspaces)
  return (ref: string) =>
    sql<SelectedRow>`${select} where ${isId(ref) ? sql`id = ${ref}` : sql`slug = ${isSlug(ref) ? ref : null}`}`.pipe(
      Effect.map((rows) => rows.map(readRow)[0]),
      dieOnSqlError
    )
}

const ofPerson = (sql: SqlClient.SqlClient) => {
  const columns = sql.literal(columnsOf(workspaces, { of: "w" }))
  return (personId: PersonId, credentialId?: string) =>
    sql<SelectedRow & { readonly role: Role }>`select ${columns}, m.role
      from members m join workspaces w on w.id = m.workspace_id
      where m.person_id = ${personId} and m.active and not exists (select from credential_blocks b
        where b.workspace_id = w.id and b.credential_id = ${credentialId ?? null}::uuid)`.pipe(
      Effect.map((rows) => rows.map((row) => ({ ...readRow(row), role: row.role }))),
      dieOnSqlError
    )
}

const lock = (sql: SqlClient.SqlClient) => (id: WorkspaceId) =>
  dieOnSqlError(Effect.asVoid(sql`select 1 from workspaces where id = ${id} for no key update`))

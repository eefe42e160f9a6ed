import type { PersonId, SignInId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { deleteExpired } from "../storage/Expiry.ts"
import { date, dieOnSqlError } from "../storage/Sql.ts"
import { columnsOf, insertInto, readerOf, type SelectedRow, selectFrom } from "../storage/Table.ts"
import {
  type AuthorizationCodeRow,
  authorizationCodes,
  type AuthorizationRow,
  authorizations,
  AuthorizationsRepo
} from "./AuthorizationsRepo.ts"

export const layer = Layer.effect(
  AuthorizationsRepo,
  Effect.map(SqlClient.SqlClient, (sql) =>
    AuthorizationsRepo.of({
      insert: insert(sql),
      find: find(sql),
      take: take(sql),
      insertCode: insertCode(sql),
      lockCode: lockCode(sql),
      useCode: useCode(sql),
      endCode: endCode(sql),
      endCodes: endCodes(sql)
    })
  )
)

const readAuthorization = readerOf(authorizations)
const readCode = readerOf(authorizationCodes)

const insert = (sql: SqlClient.SqlClient) => {
  const deleteOld = deleteExpired(sql, authorizations, { key: ["id"], until: "expiresAt" })
  const insertRow = insertInto(sql, authorizations)
  return (authorization: AuthorizationRow) =>
    dieOnSqlError(Effect.andThen(deleteOld(authorization.createdAt), insertRow(authorization)))
}

const find = (sql: SqlClient.SqlClient) => {
  const select = selectFrom(sql, authorizations)
  return (id: string, now: Timestamp) =>
    sql<SelectedRow>`${select} where id = ${id} and expires_at > ${date(now)}`.pipe(
      Effect.map((rows) => rows.map(readAuthorization)[0]),
      dieOnSqlError
    )
}

const take = (sql: SqlClient.SqlClient) => {
  const columns = sql.literal(columnsOf(authorizations))
  return (id: string, now: Timestamp) =>
    sql<SelectedRow>`delete from authorizations where id = ${id} and expires_at > ${date(now)}
      returning ${columns}`.pipe(
      Effect.map((rows) => rows.map(readAuthorization)[0]),
      dieOnSqlError
    )
}

const insertCode = (sql: SqlClient.SqlClient) => {
  const deleteOld = deleteExpired(sql, authorizationCodes, { key: ["codeHash"], until: "keptUntil" })
  const insertRow = insertInto(sql, authorizationCodes)
  return (code: AuthorizationCodeRow, now: Timestamp) => dieOnSqlError(Effect.andThen(deleteOld(now), insertRow(code)))
}

const lockCode = (sql: SqlClient.SqlClient) => {
  const select = selectFrom(sql, authorizationCodes)
  return (codeHash: string) =>
    sql<SelectedRow>`${select} where code_hash = ${codeHash} for update`.pipe(
      Effect.map((rows) => rows.map(readCode)[0]),
      dieOnSqlError
    )
}

const useCode = (sql: SqlClient.SqlClient) => (codeHash: string, signInId: SignInId, keptUntil: Timestamp) =>
  dieOnSqlError(
    Effect.asVoid(sql`update authorization_codes set sign_in_id = ${signInId}, kept_until = ${date(keptUntil)}
      where code_hash = ${codeHash}`)
  )

const endCode = (sql: SqlClient.SqlClient) => (codeHash: string) =>
  sql<SelectedRow>`delete from authorization_codes where code_hash = ${codeHash} and sign_in_id is null
    returning ${sql.literal(columnsOf(authorizationCodes))}`.pipe(
    Effect.map((rows) => rows.map(readCode)[0]),
    dieOnSqlError
  )

const endCodes = (sql: SqlClient.SqlClient) => (workspaceId: WorkspaceId, personId: PersonId) =>
  dieOnSqlError(
    Effect.asVoid(sql`delete from authorization_codes
      where workspace_id = ${workspaceId} and person_id = ${personId} and sign_in_id is null`)
  )

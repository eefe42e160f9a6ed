import type { LoginId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { deleteExpired } from "../storage/Expiry.ts"
import { date, dieOnSqlError } from "../storage/Sql.ts"
import { columnsOf, insertInto, readerOf, type SelectedRow, selectFrom, updateById } from "../storage/Table.ts"
import { decidedFields, type LoginRow, logins, LoginsRepo } from "./LoginsRepo.ts"

export const layer = Layer.effect(
  LoginsRepo,
  Effect.map(SqlClient.SqlClient, (sql) =>
    LoginsRepo.of({
      insert: insert(sql),
      find: select(sql, ""),
      lock: select(sql, "for update"),
      decide: decide(sql),
      delete: (id) => dieOnSqlError(Effect.asVoid(sql`delete from logins where id = ${id}`)),
      endCode: endCode(sql)
    })
  )
)

const readRow = readerOf(logins)

const insert = (sql: SqlClient.SqlClient) => {
  const deleteOld = deleteExpired(sql, logins, { key: ["id"], until: "expiresAt" })
  const insertRow = insertInto(sql, logins)
  return (login: LoginRow) => dieOnSqlError(Effect.andThen(deleteOld(login.createdAt), insertRow(login)))
}

const select = (sql: SqlClient.SqlClient, lock: "" | "for update") => {
  const rows = selectFrom(sql, logins)
  return (id: LoginId, now: Timestamp) =>
    sql<SelectedRow>`${rows} where id = ${id} and expires_at > ${date(now)} ${sql.literal(lock)}`.pipe(
      Effect.map(([row]) => row && readRow(row)),
      dieOnSqlError
    )
}

const decide = (sql: SqlClient.SqlClient): LoginsRepo["Service"]["decide"] => {
  const update = updateById(sql, logins, decidedFields)
  return (login) => dieOnSqlError(update(login))
}

const endCode = (sql: SqlClient.SqlClient) => {
  const columns = sql.literal(columnsOf(logins))
  return (codeHash: string) =>
    sql<SelectedRow>`delete from logins where code_hash = ${codeHash} returning ${columns}`.pipe(
      Effect.map(([row]) => row && readRow(row)),
      dieOnSqlError
    )
}

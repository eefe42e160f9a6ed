import type { Timestamp } from "@delivery/domain/Timestamp"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { deleteExpired } from "../storage/Expiry.ts"
import { date, dieOnSqlError } from "../storage/Sql.ts"
import { columnsOf, insertInto, readerOf, type SelectedRow } from "../storage/Table.ts"
import { type ReturningBrowser, type SignInFlowRow, signInFlows, SignInFlowsRepo } from "./SignInFlowsRepo.ts"

export const layer = Layer.effect(
  SignInFlowsRepo,
  Effect.map(SqlClient.SqlClient, (sql) => SignInFlowsRepo.of({ insert: insert(sql), use: use(sql) }))
)

const insert = (sql: SqlClient.SqlClient) => {
  const deleteOld = deleteExpired(sql, signInFlows, { key: ["id"], until: "expiresAt" })
  const insertRow = insertInto(sql, signInFlows)
  return (flow: SignInFlowRow) => dieOnSqlError(Effect.andThen(deleteOld(flow.createdAt), insertRow(flow)))
}

const readRow = readerOf(signInFlows)

const use = (sql: SqlClient.SqlClient) => {
  const columns = sql.literal(columnsOf(signInFlows))
  return ({ browserHash, provider, stateHash }: ReturningBrowser, now: Timestamp) =>
    sql<SelectedRow>`delete from sign_in_flows
      where state_hash = ${stateHash} and browser_hash = ${browserHash} and provider = ${provider}
        and expires_at > ${date(now)}
      returning ${columns}`.pipe(
      Effect.map((rows) => rows.map(readRow)[0]),
      dieOnSqlError
    )
}

import type { MailedProofId, PersonId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { deleteExpired } from "../storage/Expiry.ts"
import { date, dieOnSqlError } from "../storage/Sql.ts"
import { columnsOf, insertInto, readerOf, type SelectedRow, selectFrom } from "../storage/Table.ts"
import { type MailedProofRow, mailedProofs, MailedProofsRepo, type MailedPurpose } from "./MailedProofsRepo.ts"

export const layer = Layer.effect(
  MailedProofsRepo,
  Effect.map(SqlClient.SqlClient, (sql) =>
    MailedProofsRepo.of({
      insert: insert(sql),
      findByToken: findByToken(sql),
      tryCode: tryCode(sql),
      personsOf: personsOf(sql),
      use: use(sql)
    })
  )
)

const readRow = readerOf(mailedProofs)

const insert = (sql: SqlClient.SqlClient) => {
  const deleteOld = deleteExpired(sql, mailedProofs, { key: ["id"], until: "expiresAt" })
  const insertRow = insertInto(sql, mailedProofs)
  return (proof: MailedProofRow) => dieOnSqlError(Effect.andThen(deleteOld(proof.createdAt), insertRow(proof)))
}

const findByToken = (sql: SqlClient.SqlClient) => {
  const select = selectFrom(sql, mailedProofs)
  return (purpose: MailedPurpose, tokenHash: string, now: Timestamp) =>
    sql<SelectedRow>`${select} where token_hash = ${tokenHash} and purpose = ${purpose}
      and expires_at > ${date(now)}`.pipe(
      Effect.map(([row]) => row && readRow(row)),
      dieOnSqlError
    )
}

const tryCode = (sql: SqlClient.SqlClient) => {
  const columns = sql.literal(columnsOf(mailedProofs))
  return (purpose: MailedPurpose, browserHash: string, now: Timestamp, most: number) =>
    // Locked in one order: two that try at once must not wait for each other.
    sql<SelectedRow>`update mailed_proofs set tries = tries + 1 where tries < ${most} and id in (
        select id from mailed_proofs where browser_hash = ${browserHash} and purpose = ${purpose}
          and expires_at > ${date(now)} and tries < ${most} order by id for update)
      returning ${columns}`.pipe(
      Effect.map((rows) => rows.map(readRow)),
      dieOnSqlError
    )
}

const personsOf =
  (sql: SqlClient.SqlClient): MailedProofsRepo["Service"]["personsOf"] =>
  (purpose, { browserHash, tokenHash }) =>
    sql<{ readonly personId: PersonId }>`select distinct person_id as "personId" from mailed_proofs
      where purpose = ${purpose} and person_id is not null
        and (token_hash = ${tokenHash} or browser_hash = ${browserHash})`.pipe(
      Effect.map((rows) => rows.map(({ personId }) => personId)),
      dieOnSqlError
    )

const use = (sql: SqlClient.SqlClient) => {
  const columns = sql.literal(columnsOf(mailedProofs))
  return (id: MailedProofId, now: Timestamp) =>
    sql<SelectedRow>`delete from mailed_proofs where id = ${id} and expires_at > ${date(now)}
      returning ${columns}`.pipe(
      Effect.map(([row]) => row && readRow(row)),
      dieOnSqlError
    )
}

import type { PasskeyId, PersonId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { deleteExpired } from "../storage/Expiry.ts"
import { date, dieOnSqlError, failOnDuplicate } from "../storage/Sql.ts"
import { columnsOf, insertInto, readerOf, type SelectedRow, selectFrom } from "../storage/Table.ts"
import { type PasskeyChallengeRow, passkeyChallenges, passkeys, PasskeysRepo, type PasskeyUse } from "./PasskeysRepo.ts"

export const layer = Layer.effect(
  PasskeysRepo,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const insert = insertInto(sql, passkeys)
    return PasskeysRepo.of({
      insert: (passkey) => failOnDuplicate(insert(passkey)),
      ofPerson: (personId) => select(sql, sql`where person_id = ${personId}`),
      ofCredential: (id) => Effect.map(select(sql, sql`where credential_id = ${id}`), (found) => found[0]),
      rename: rename(sql),
      remove: remove(sql),
      use: use(sql),
      addChallenge: addChallenge(sql),
      useChallenge: useChallenge(sql)
    })
  })
)

const readRow = readerOf(passkeys)

const select = (sql: SqlClient.SqlClient, rest: Statement.Fragment) =>
  sql<SelectedRow>`${selectFrom(sql, passkeys)} ${rest}`.pipe(
    Effect.map((rows) => rows.map(readRow)),
    dieOnSqlError
  )

const rename = (sql: SqlClient.SqlClient) => {
  const columns = sql.literal(columnsOf(passkeys))
  return (personId: PersonId, id: PasskeyId, name: string) =>
    sql<SelectedRow>`update passkeys set name = ${name} where id = ${id} and person_id = ${personId}
      returning ${columns}`.pipe(
      Effect.map((rows) => rows[0] && readRow(rows[0])),
      dieOnSqlError
    )
}

const remove = (sql: SqlClient.SqlClient) => (personId: PersonId, id: PasskeyId) =>
  sql`delete from passkeys where id = ${id} and person_id = ${personId} returning 1`.pipe(
    Effect.map((rows) => rows.length > 0),
    dieOnSqlError
  )

const use =
  (sql: SqlClient.SqlClient) =>
  ({ counter, id, lastUsedAt, synced }: PasskeyUse) =>
    sql`update passkeys set counter = ${counter}, synced = ${synced}, last_used_at = ${date(lastUsedAt)}
      where id = ${id} and (counter < ${counter} or counter = 0 and ${counter} = 0) returning 1`.pipe(
      Effect.map((rows) => rows.length > 0),
      dieOnSqlError
    )

const addChallenge = (sql: SqlClient.SqlClient) => {
  const deleteOld = deleteExpired(sql, passkeyChallenges, { key: ["challengeHash"], until: "expiresAt" })
  const insert = insertInto(sql, passkeyChallenges)
  return (challenge: PasskeyChallengeRow) =>
    dieOnSqlError(Effect.andThen(deleteOld(challenge.createdAt), insert(challenge)))
}

const useChallenge =
  (sql: SqlClient.SqlClient) =>
  (
    { challengeHash, personId, purpose }: Pick<PasskeyChallengeRow, "challengeHash" | "purpose" | "personId">,
    now: Timestamp
  ) =>
    sql`delete from passkey_challenges where challenge_hash = ${challengeHash} and purpose = ${purpose}
      and person_id is not distinct from ${personId} and expires_at > ${date(now)} returning 1`.pipe(
      Effect.map((rows) => rows.length > 0),
      dieOnSqlError
    )

import type { PersonId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { deleteExpired } from "../storage/Expiry.ts"
import { date, dieOnSqlError } from "../storage/Sql.ts"
import { insertInto } from "../storage/Table.ts"
import { type SignInLinkRow, signInLinks, SignInLinksRepo } from "./SignInLinksRepo.ts"

export const layer = Layer.effect(
  SignInLinksRepo,
  Effect.map(SqlClient.SqlClient, (sql) => SignInLinksRepo.of({ insert: insert(sql), use: use(sql) }))
)

const insert = (sql: SqlClient.SqlClient) => {
  const deleteOld = deleteExpired(sql, signInLinks, { key: ["id"], until: "expiresAt" })
  const insertRow = insertInto(sql, signInLinks)
  return (link: SignInLinkRow) => dieOnSqlError(Effect.andThen(deleteOld(link.createdAt), insertRow(link)))
}

const use = (sql: SqlClient.SqlClient) => (tokenHash: string, now: Timestamp, only?: PersonId) =>
  sql<{ readonly personId: PersonId }>`delete from sign_in_links
    where token_hash = ${tokenHash} and expires_at > ${date(now)}
      ${only === undefined ? sql.literal("") : sql`and person_id = ${only}`}
    returning person_id as "personId"`.pipe(
    Effect.map((rows) => rows[0]?.personId),
    dieOnSqlError
  )

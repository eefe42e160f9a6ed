import type { IdentityId, PersonId } from "@delivery/domain/Ids"
import { Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { dieOnSqlError, failOnDuplicate } from "../storage/Sql.ts"
import { insertInto, readerOf, type SelectedRow, selectFrom, updateById } from "../storage/Table.ts"
import { identities, IdentitiesRepo } from "./IdentitiesRepo.ts"

export const layer = Layer.effect(
  IdentitiesRepo,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const insert = insertInto(sql, identities)
    const use = updateById(sql, identities, ["provider", "email", "lastUsedAt"])
    return IdentitiesRepo.of({
      insert: (identity) => failOnDuplicate(insert(identity)),
      findBySubject: (issuer, subject) =>
        Effect.map(select(sql, sql`where issuer = ${issuer} and subject = ${subject}`), (found) => found[0]),
      ofPerson: (personId: PersonId) => select(sql, sql`where person_id = ${personId} order by created_at, id`),
      use: (identity) => dieOnSqlError(use(identity)),
      delete: (id: IdentityId) => dieOnSqlError(Effect.asVoid(sql`delete from identities where id = ${id}`))
    })
  })
)

const readRow = readerOf(identities)

const select = (sql: SqlClient.SqlClient, rest: Statement.Fragment) =>
  sql<SelectedRow>`${selectFrom(sql, identities)} ${rest}`.pipe(
    Effect.map((rows) => rows.map(readRow)),
    dieOnSqlError
  )

import type { PersonId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { persons } from "../access/ActorRows.ts"
import { date, dieOnSqlError, failOnDuplicate } from "../storage/Sql.ts"
import { insertInto, readerOf, type SelectedRow, selectFrom } from "../storage/Table.ts"
import { PersonsRepo } from "./PersonsRepo.ts"

export const layer = Layer.effect(
  PersonsRepo,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const insert = insertInto(sql, persons)
    return PersonsRepo.of({
      insert: (person) => failOnDuplicate(insert(person)),
      find: (id) => Effect.map(select(sql, sql`where id = ${id}`), (found) => found[0]),
      ofAddress: (email) => select(sql, sql`where email = ${email} order by ${inOrder(sql)}`),
      prove: prove(sql),
      list: select(sql, sql`order by email collate "C", ${inOrder(sql)}`),
      lock: lock(sql),
      isEmpty: isEmpty(sql)
    })
  })
)

const readRow = readerOf(persons)

const select = (sql: SqlClient.SqlClient, rest: Statement.Fragment) =>
  sql<SelectedRow>`${selectFrom(sql, persons)} ${rest}`.pipe(
    Effect.map((rows) => rows.map(readRow)),
    dieOnSqlError
  )

/** Of one address: who has proven it first, then the oldest first. */
const inOrder = (sql: SqlClient.SqlClient) => sql.literal("email_verified_at is null, created_at, id")

const prove = (sql: SqlClient.SqlClient) => (id: PersonId, at: Timestamp) =>
  failOnDuplicate(
    Effect.asVoid(
      sql`update persons set email_verified_at = ${date(at)} where id = ${id} and email_verified_at is null`
    )
  )

/** As weak as it may be: rows that refer to the person are stored meanwhile, such as entries of the audit. */
const lock = (sql: SqlClient.SqlClient) => (id: PersonId) =>
  dieOnSqlError(Effect.asVoid(sql`select 1 from persons where id = ${id} for no key update`))

/** An advisory lock, since there is no row to hold. */
const isEmpty = (sql: SqlClient.SqlClient) =>
  dieOnSqlError(
    Effect.andThen(
      sql`select pg_advisory_xact_lock(hashtextextended('persons', 0))::text`,
      Effect.map(sql`select 1 from persons limit 1`, (rows) => rows.length === 0)
    )
  )

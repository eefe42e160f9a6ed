import type { Person } from "@delivery/domain/identity/Actor"
import type { PersonId } from "@delivery/domain/Ids"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { persons } from "../access/ActorRows.ts"
import { dieOnSqlError, failOnDuplicate } from "../storage/Sql.ts"
import { insertInto, readerOf, type SelectedRow, selectFrom } from "../storage/Table.ts"
import { PersonsRepo } from "./PersonsRepo.ts"

export const layer = Layer.effect(
  PersonsRepo,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const insert = insertInto(sql, persons)
    return PersonsRepo.of({
      insert: (person) => failOnDuplicate(insert(person)),
      find: find(sql),
      findByEmail: findByEmail(sql),
      list: list(sql),
      lock: lock(sql),
      isEmpty: isEmpty(sql)
    })
  })
)

const find = (sql: SqlClient.SqlClient) => {
  const read = readerOf(persons)
  return (id: PersonId) =>
    sql<SelectedRow>`${selectFrom(sql, persons)} where id = ${id}`.pipe(
      Effect.map((rows) => rows.map(read)[0]),
      dieOnSqlError
    )
}

const findByEmail = (sql: SqlClient.SqlClient) => (email: string) =>
  dieOnSqlError(Effect.map(sql<Person>`select id, name, email from persons where email = ${email}`, (rows) => rows[0]))

const list = (sql: SqlClient.SqlClient) => {
  const read = readerOf(persons)
  return sql<SelectedRow>`${selectFrom(sql, persons)} order by email`.pipe(
    Effect.map((rows) => rows.map(read)),
    dieOnSqlError
  )
}

const lock = (sql: SqlClient.SqlClient) => (id: PersonId) =>
  dieOnSqlError(Effect.asVoid(sql`select 1 from persons where id = ${id} for update`))

/** An advisory lock, since there is no row to hold. */
const isEmpty = (sql: SqlClient.SqlClient) =>
  dieOnSqlError(
    Effect.andThen(
      sql`select pg_advisory_xact_lock(hashtextextended('persons', 0))::text`,
      Effect.map(sql`select 1 from persons limit 1`, (rows) => rows.length === 0)
    )
  )

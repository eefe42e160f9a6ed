import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { dieOnSqlError } from "./Sql.ts"
import { Storage } from "./Storage.ts"

/** PostgreSQL or the embedded database. */
export const layer = Layer.effect(
  Storage,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return Storage.of({
      transaction: (effect) => dieOnSqlError(sql.withTransaction(effect)),
      snapshot: (reads) =>
        dieOnSqlError(
          sql.withTransaction(Effect.andThen(sql`set transaction isolation level repeatable read, read only`, reads))
        ),
      ping: dieOnSqlError(Effect.asVoid(sql`select 1`))
    })
  })
)

import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { MemoryStorage } from "./MemoryStorage.ts"
import { dieOnSqlError } from "./Sql.ts"

/** Where the service keeps its data, seen from the services: a boundary around changes that happen together. */
export class Storage extends Context.Service<
  Storage,
  {
    /** Runs `effect` as one transaction: all of its changes happen, or, on any failure, none. Nests. */
    readonly transaction: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** Runs reads that all see the data as it is at one instant. Not within a transaction. */
    readonly snapshot: <A, E, R>(reads: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** Succeeds when the storage answers. */
    readonly ping: Effect.Effect<void>
  }
>()("@delivery/server/storage/Storage") {
  /** PostgreSQL or the embedded database. */
  static readonly layerSql = Layer.effect(
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

  static readonly layerMemory = Layer.effect(
    Storage,
    Effect.gen(function* () {
      const memory = yield* MemoryStorage
      return Storage.of({ transaction: memory.transaction, snapshot: memory.transaction, ping: Effect.void })
    })
  )
}

import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Storage } from "../../src/storage/Storage.ts"
import { layerEmbedded, layerPostgres } from "../support/Databases.ts"

for (const [name, database] of [
  ["PostgreSQL", layerPostgres],
  ["embedded", layerEmbedded]
] as const) {
  describe(name, () => {
    layer(Layer.provideMerge(Storage.layerSql, database))((it) => {
      it.effect("answers", () =>
        Effect.gen(function* () {
          const storage = yield* Storage
          yield* storage.ping
          const sql = yield* SqlClient.SqlClient
          assert.deepStrictEqual((yield* sql`select 1 as one`)[0], { one: 1 })
        })
      )
    })
  })
}

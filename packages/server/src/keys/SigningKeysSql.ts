import type { Timestamp } from "@delivery/domain/Timestamp"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { date, dieOnSqlError } from "../storage/Sql.ts"
import { readerOf, selectFrom, type SelectedRow } from "../storage/Table.ts"
import { type SigningKeyRow, signingKeys, SigningKeysRepo } from "./SigningKeysRepo.ts"

export const layer = Layer.effect(
  SigningKeysRepo,
  Effect.map(PgClient.PgClient, (sql) =>
    SigningKeysRepo.of({
      list: list(sql),
      insert: insert(sql),
      retire: retire(sql),
      replacePrivateKey: replacePrivateKey(sql)
    })
  )
)

const read = readerOf(signingKeys)

const list = (sql: PgClient.PgClient) =>
  sql<SelectedRow>`${selectFrom(sql, signingKeys)} order by generation desc`.pipe(
    Effect.map((rows) => rows.map(read)),
    dieOnSqlError
  )

const insert = (sql: PgClient.PgClient) => (key: Omit<SigningKeyRow, "retiresAt">, retireOlder: Timestamp) =>
  dieOnSqlError(
    Effect.asVoid(sql`with made as (
        insert into signing_keys (generation, kid, public_key, sealed_private_key, created_at)
        values (${key.generation}, ${key.kid}, ${sql.json(key.publicKey)}, ${key.sealedPrivateKey},
          ${date(key.createdAt)})
        on conflict (generation) do nothing
        returning generation
      )
      update signing_keys older set retires_at = ${date(retireOlder)}
      from made where older.generation < made.generation and older.retires_at is null`)
  )

const retire = (sql: PgClient.PgClient) => (now: Timestamp) =>
  dieOnSqlError(Effect.asVoid(sql`delete from signing_keys where retires_at <= ${date(now)}`))

const replacePrivateKey = (sql: PgClient.PgClient) => (kid: string, from: string, to: string) =>
  dieOnSqlError(
    Effect.asVoid(sql`update signing_keys set sealed_private_key = ${to}
      where kid = ${kid} and sealed_private_key = ${from}`)
  )

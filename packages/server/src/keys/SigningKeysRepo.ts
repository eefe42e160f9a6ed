import type { Timestamp } from "@delivery/domain/Timestamp"
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { date, dieOnSqlError, iso, isoOrNull } from "../storage/Sql.ts"

/** A key pair that signs tokens; the private key is sealed by the keyring. */
export interface StoredSigningKey {
  /** From 1. */
  readonly generation: number
  readonly kid: string
  /** The x coordinate of the public key (RFC 8037). */
  readonly publicKey: { readonly x: string }
  readonly sealedPrivateKey: string
  readonly createdAt: Timestamp
  /** When it is deleted: set when a newer one is stored. */
  readonly retiresAt: Timestamp | null
}

/** Stores the service's signing keys. */
export class SigningKeysRepo extends Context.Service<
  SigningKeysRepo,
  {
    /** Newest generation first. */
    readonly list: Effect.Effect<ReadonlyArray<StoredSigningKey>>
    /**
     * Stores the key unless its generation exists: of servers that make one at once, one does. Older keys that are not
     * yet to retire do so at `retireOlder`.
     */
    readonly insert: (key: Omit<StoredSigningKey, "retiresAt">, retireOlder: Timestamp) => Effect.Effect<void>
    /** Deletes the keys that are to be retired by `now`. */
    readonly retire: (now: Timestamp) => Effect.Effect<void>
    /** Puts the same private key, sealed anew, in place of `from`, unless another came first. */
    readonly reseal: (kid: string, from: string, to: string) => Effect.Effect<void>
  }
>()("@delivery/server/keys/SigningKeysRepo") {
  static readonly layerSql = Layer.effect(
    SigningKeysRepo,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      return SigningKeysRepo.of({
        list: sql<SqlRow>`select generation, kid, public_key as "publicKey", sealed_private_key as "sealedPrivateKey",
            created_at as "createdAt", retires_at as "retiresAt"
          from signing_keys order by generation desc`.pipe(
          Effect.map((rows) =>
            rows.map((row) => ({ ...row, createdAt: iso(row.createdAt), retiresAt: isoOrNull(row.retiresAt) }))
          ),
          dieOnSqlError
        ),
        insert: (key, retireOlder) =>
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
          ),
        retire: (now) => dieOnSqlError(Effect.asVoid(sql`delete from signing_keys where retires_at <= ${date(now)}`)),
        reseal: (kid, from, to) =>
          dieOnSqlError(
            Effect.asVoid(sql`update signing_keys set sealed_private_key = ${to}
              where kid = ${kid} and sealed_private_key = ${from}`)
          )
      })
    })
  )

  static readonly layerMemory = Layer.effect(
    SigningKeysRepo,
    Effect.gen(function* () {
      const memory = yield* MemoryStorage
      return SigningKeysRepo.of({
        list: memory.read((database) =>
          Array.from(database.table<StoredSigningKey>("signing_keys").values()).toSorted(
            (a, b) => b.generation - a.generation
          )
        ),
        insert: (key, retireOlder) =>
          memory.write((database) =>
            Effect.sync(() => {
              const keys = database.table<StoredSigningKey>("signing_keys")
              if (keys.get(String(key.generation)) !== undefined) return
              for (const older of keys.filter((one) => one.generation < key.generation && one.retiresAt === null)) {
                keys.set(String(older.generation), { ...older, retiresAt: retireOlder })
              }
              keys.set(String(key.generation), { ...key, retiresAt: null })
            })
          ),
        retire: (now) =>
          memory.write((database) =>
            Effect.sync(() => {
              const keys = database.table<StoredSigningKey>("signing_keys")
              for (const key of keys.filter(({ retiresAt }) => retiresAt !== null && retiresAt <= now)) {
                keys.delete(String(key.generation))
              }
            })
          ),
        reseal: (kid, from, to) =>
          memory.write((database) =>
            Effect.sync(() => {
              const keys = database.table<StoredSigningKey>("signing_keys")
              const key = keys.find((key) => key.kid === kid && key.sealedPrivateKey === from)
              if (key !== undefined) keys.set(String(key.generation), { ...key, sealedPrivateKey: to })
            })
          )
      })
    })
  )
}

type SqlRow = Omit<StoredSigningKey, "createdAt" | "retiresAt"> & {
  readonly createdAt: Date
  readonly retiresAt: Date | null
}

import type { Timestamp } from "@delivery/domain/Timestamp"
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { date, dieOnSqlError } from "../storage/Sql.ts"

/** A key pair that signs tokens; the private key is sealed by the keyring. */
export interface StoredSigningKey {
  /** From 1; the newest signs, all verify. */
  readonly generation: number
  readonly kid: string
  /** The x coordinate of the public key (RFC 8037). */
  readonly publicKey: { readonly x: string }
  readonly sealedPrivateKey: string
  readonly createdAt: Timestamp
}

/** Stores the service's signing keys. */
export class SigningKeysRepo extends Context.Service<
  SigningKeysRepo,
  {
    /** Newest generation first. */
    readonly list: Effect.Effect<ReadonlyArray<Omit<StoredSigningKey, "createdAt">>>
    /** Stores the key unless its generation exists: of servers that start at once, one makes it. */
    readonly insert: (key: StoredSigningKey) => Effect.Effect<void>
  }
>()("@delivery/server/crypto/SigningKeysRepo") {
  static readonly layerSql = Layer.effect(
    SigningKeysRepo,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      return SigningKeysRepo.of({
        list: dieOnSqlError(sql<StoredSigningKey>`select generation, kid, public_key as "publicKey",
            sealed_private_key as "sealedPrivateKey"
          from signing_keys order by generation desc`),
        insert: (key) =>
          dieOnSqlError(
            Effect.asVoid(sql`insert into signing_keys (generation, kid, public_key, sealed_private_key, created_at)
              values (${key.generation}, ${key.kid}, ${sql.json(key.publicKey)}, ${key.sealedPrivateKey},
                ${date(key.createdAt)})
              on conflict (generation) do nothing`)
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
        insert: (key) =>
          memory.write((database) =>
            Effect.sync(() => {
              const keys = database.table<StoredSigningKey>("signing_keys")
              const id = String(key.generation)
              if (keys.get(id) === undefined) keys.set(id, key)
            })
          )
      })
    })
  )
}

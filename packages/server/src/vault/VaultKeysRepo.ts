import type { WorkspaceId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { texts, uuids } from "../storage/Columns.ts"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { date, dieOnSqlError } from "../storage/Sql.ts"

/** The key that a workspace's values are encrypted with, sealed under the vault key `keyId`. */
export interface SealedDataKey {
  readonly id: string
  readonly workspaceId: WorkspaceId
  readonly keyId: string
  readonly sealed: string
}

export interface NewDataKey extends SealedDataKey {
  readonly createdAt: Timestamp
}

/** A known text, sealed under the vault key of this id. */
export interface Canary {
  readonly keyId: string
  readonly sealed: string
}

/** Stores data keys, one a workspace, and what proves the vault keys. */
export class VaultKeysRepo extends Context.Service<
  VaultKeysRepo,
  {
    readonly canaries: Effect.Effect<ReadonlyArray<Canary>>
    /** Stores the canary unless its key has one: of servers that start at once, one makes it. */
    readonly insertCanary: (canary: Canary) => Effect.Effect<void>
    /** How many data keys are sealed under each vault key, by its id. */
    readonly countDataKeys: Effect.Effect<ReadonlyArray<{ readonly keyId: string; readonly count: number }>>
    readonly dataKey: (workspaceId: WorkspaceId) => Effect.Effect<SealedDataKey | undefined>
    /** Stores the key unless its workspace has one. */
    readonly insertDataKey: (key: NewDataKey) => Effect.Effect<void>
    /**
     * Some data keys that are not sealed under this vault key, held until the transaction ends; those that another
     * holds are passed over.
     */
    readonly lockOthers: (keyId: string, limit: number) => Effect.Effect<ReadonlyArray<SealedDataKey>>
    readonly reseal: (keys: ReadonlyArray<SealedDataKey>) => Effect.Effect<void>
  }
>()("@delivery/server/vault/VaultKeysRepo") {
  static readonly layerSql = Layer.effect(
    VaultKeysRepo,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const dataKeys = sql.literal(`select id, workspace_id as "workspaceId", key_id as "keyId", sealed
        from vault_data_keys`)
      return VaultKeysRepo.of({
        canaries: dieOnSqlError(sql<Canary>`select key_id as "keyId", sealed from vault_canaries order by key_id`),
        insertCanary: ({ keyId, sealed }) =>
          dieOnSqlError(
            Effect.asVoid(sql`insert into vault_canaries (key_id, sealed) values (${keyId}, ${sealed})
              on conflict (key_id) do nothing`)
          ),
        countDataKeys: dieOnSqlError(
          sql<{ keyId: string; count: number }>`select key_id as "keyId", count(*)::int as count
            from vault_data_keys group by key_id order by key_id`
        ),
        dataKey: (workspaceId) =>
          sql<SealedDataKey>`${dataKeys} where workspace_id = ${workspaceId}`.pipe(
            Effect.map((rows) => rows[0]),
            dieOnSqlError
          ),
        insertDataKey: (key) =>
          dieOnSqlError(
            Effect.asVoid(sql`insert into vault_data_keys (id, workspace_id, key_id, sealed, created_at)
              values (${key.id}, ${key.workspaceId}, ${key.keyId}, ${key.sealed}, ${date(key.createdAt)})
              on conflict (workspace_id) do nothing`)
          ),
        lockOthers: (keyId, limit) =>
          dieOnSqlError(
            sql<SealedDataKey>`${dataKeys} where key_id <> ${keyId} order by id limit ${limit} for update skip locked`
          ),
        reseal: (keys) =>
          dieOnSqlError(
            Effect.asVoid(sql`update vault_data_keys k set key_id = n.key_id, sealed = n.sealed
              from unnest(${uuids(keys.map(({ id }) => id))}, ${texts(keys, (key) => key.keyId)},
                ${texts(keys, (key) => key.sealed)}) as n (id, key_id, sealed)
              where k.id = n.id`)
          )
      })
    })
  )

  static readonly layerMemory = Layer.effect(
    VaultKeysRepo,
    Effect.gen(function* () {
      const memory = yield* MemoryStorage
      return VaultKeysRepo.of({
        canaries: memory.read((database) => Array.from(database.table<Canary>("vault_canaries").values())),
        insertCanary: (canary) =>
          memory.write((database) =>
            Effect.sync(() => {
              const canaries = database.table<Canary>("vault_canaries")
              if (canaries.get(canary.keyId) === undefined) canaries.set(canary.keyId, canary)
            })
          ),
        countDataKeys: memory.read((database) => {
          const counts = new Map<string, number>()
          for (const { keyId } of database.table<SealedDataKey>("vault_data_keys").values()) {
            counts.set(keyId, (counts.get(keyId) ?? 0) + 1)
          }
          return Array.from(counts, ([keyId, count]) => ({ keyId, count })).toSorted((a, b) =>
            compare(a.keyId, b.keyId)
          )
        }),
        dataKey: (workspaceId) =>
          memory.read((database) => database.table<SealedDataKey>("vault_data_keys").get(workspaceId)),
        insertDataKey: ({ createdAt: _, ...key }) =>
          memory.write((database) =>
            Effect.sync(() => {
              const keys = database.table<SealedDataKey>("vault_data_keys")
              if (keys.get(key.workspaceId) === undefined) keys.set(key.workspaceId, key)
            })
          ),
        lockOthers: (keyId, limit) =>
          memory.read((database) =>
            database
              .table<SealedDataKey>("vault_data_keys")
              .filter((key) => key.keyId !== keyId)
              .toSorted((a, b) => compare(a.id, b.id))
              .slice(0, limit)
          ),
        reseal: (keys) =>
          memory.write((database) =>
            Effect.sync(() => {
              for (const key of keys) database.table<SealedDataKey>("vault_data_keys").set(key.workspaceId, key)
            })
          )
      })
    })
  )
}

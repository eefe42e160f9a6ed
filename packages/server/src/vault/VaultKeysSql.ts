import type { WorkspaceId } from "@delivery/domain/Ids"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { texts, uuids } from "../storage/Columns.ts"
import { date, dieOnSqlError } from "../storage/Sql.ts"
import { columnsOf, partReaderOf, type SelectedRow } from "../storage/Table.ts"
import { canaries, type CanaryRow, type DataKey, dataKeys, VaultKeysRepo } from "./VaultKeysRepo.ts"

export const layer = Layer.effect(
  VaultKeysRepo,
  Effect.map(PgClient.PgClient, (sql) =>
    VaultKeysRepo.of({
      canaries: listCanaries(sql),
      insertCanary: insertCanary(sql),
      countDataKeys: countDataKeys(sql),
      dataKeys: ofWorkspace(sql),
      insertDataKey: insertDataKey(sql),
      lockOthers: lockOthers(sql),
      updateDataKeys: updateDataKeys(sql)
    })
  )
)

const listCanaries = (sql: PgClient.PgClient) =>
  dieOnSqlError(sql<CanaryRow>`select ${sql.literal(columnsOf(canaries))} from vault_canaries order by key_id`)

const insertCanary =
  (sql: PgClient.PgClient) =>
  ({ keyId, sealed }: CanaryRow) =>
    dieOnSqlError(
      Effect.asVoid(sql`insert into vault_canaries (key_id, sealed) values (${keyId}, ${sealed})
        on conflict (key_id) do nothing`)
    )

const countDataKeys = (sql: PgClient.PgClient) =>
  dieOnSqlError(
    sql<{ readonly keyId: string; readonly count: number }>`select key_id as "keyId", count(*)::int as count
      from (select key_id from vault_data_keys union all select key_id from vault_replaced_data_keys) k
      group by key_id order by key_id`
  )

const ofWorkspace = (sql: PgClient.PgClient) => (workspaceId: WorkspaceId) =>
  sql<SelectedRow>`select ${sql.literal(columnsOf(dataKeys, { only: storedColumns }))} from (
      select id, workspace_id, key_id, sealed, revision_key, 0 as place from vault_data_keys
        where workspace_id = ${workspaceId}
      union all
      select id, workspace_id, key_id, sealed, null, 1 from vault_replaced_data_keys
        where workspace_id = ${workspaceId}
    ) k order by place, id desc`.pipe(
    Effect.map((rows) => rows.map(readStored)),
    dieOnSqlError
  )

const storedColumns = ["id", "workspaceId", "keyId", "sealed", "revisionKey"] as const
const readStored = partReaderOf(dataKeys, storedColumns)

const insertDataKey =
  (sql: PgClient.PgClient): VaultKeysRepo["Service"]["insertDataKey"] =>
  (key) =>
    dieOnSqlError(
      Effect.asVoid(sql`insert into vault_data_keys (id, workspace_id, key_id, sealed, created_at, revision_key)
        values (${key.id}, ${key.workspaceId}, ${key.keyId}, ${key.sealed}, ${date(key.createdAt)}, ${key.revisionKey})
        on conflict (workspace_id) do nothing`)
    )

const keyColumns = columnsOf(dataKeys, { only: ["id", "workspaceId", "keyId", "sealed"] })

const lockOthers = (sql: PgClient.PgClient) => (keyId: string, limit: number) =>
  Effect.gen(function* () {
    const select = (table: string) =>
      sql<DataKey>`select ${sql.literal(keyColumns)} from ${sql.literal(table)}
        where key_id <> ${keyId} order by id limit ${limit} for update skip locked`
    const current = yield* select("vault_data_keys")
    return current.length > 0 ? current : yield* select("vault_replaced_data_keys")
  }).pipe(dieOnSqlError)

/** A key is in one of the tables, under its id. */
const updateDataKeys = (sql: PgClient.PgClient) => (keys: ReadonlyArray<DataKey>) => {
  const update = (table: string) =>
    sql`update ${sql.literal(table)} k set key_id = n.key_id, sealed = n.sealed
      from unnest(${uuids(keys.map(({ id }) => id))}, ${texts(keys, (key) => key.keyId)},
        ${texts(keys, (key) => key.sealed)}) as n (id, key_id, sealed)
      where k.id = n.id`
  return dieOnSqlError(Effect.asVoid(Effect.andThen(update("vault_data_keys"), update("vault_replaced_data_keys"))))
}

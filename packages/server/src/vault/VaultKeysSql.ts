import type { WorkspaceId } from "@delivery/domain/Ids"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { texts, uuids } from "../storage/Columns.ts"
import { date, dieOnSqlError } from "../storage/Sql.ts"
import { columnsOf } from "../storage/Table.ts"
import { canaries, type CanaryRow, type DataKey, dataKeys, VaultKeysRepo } from "./VaultKeysRepo.ts"

export const layer = Layer.effect(
  VaultKeysRepo,
  Effect.map(PgClient.PgClient, (sql) =>
    VaultKeysRepo.of({
      canaries: listCanaries(sql),
      insertCanary: insertCanary(sql),
      countDataKeys: countDataKeys(sql),
      dataKey: dataKey(sql),
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
      from vault_data_keys group by key_id order by key_id`
  )

const selectDataKeys = `select ${columnsOf(dataKeys, { only: ["id", "workspaceId", "keyId", "sealed"] })}
  from vault_data_keys`

const dataKey = (sql: PgClient.PgClient) => (workspaceId: WorkspaceId) =>
  sql<DataKey>`${sql.literal(selectDataKeys)} where workspace_id = ${workspaceId}`.pipe(
    Effect.map((rows) => rows[0]),
    dieOnSqlError
  )

const insertDataKey =
  (sql: PgClient.PgClient): VaultKeysRepo["Service"]["insertDataKey"] =>
  (key) =>
    dieOnSqlError(
      Effect.asVoid(sql`insert into vault_data_keys (id, workspace_id, key_id, sealed, created_at)
        values (${key.id}, ${key.workspaceId}, ${key.keyId}, ${key.sealed}, ${date(key.createdAt)})
        on conflict (workspace_id) do nothing`)
    )

const lockOthers = (sql: PgClient.PgClient) => (keyId: string, limit: number) =>
  dieOnSqlError(
    sql<DataKey>`${sql.literal(selectDataKeys)} where key_id <> ${keyId} order by id limit ${limit}
      for update skip locked`
  )

const updateDataKeys = (sql: PgClient.PgClient) => (keys: ReadonlyArray<DataKey>) =>
  dieOnSqlError(
    Effect.asVoid(sql`update vault_data_keys k set key_id = n.key_id, sealed = n.sealed
      from unnest(${uuids(keys.map(({ id }) => id))}, ${texts(keys, (key) => key.keyId)},
        ${texts(keys, (key) => key.sealed)}) as n (id, key_id, sealed)
      where k.id = n.id`)
  )

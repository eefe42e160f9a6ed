import { PgClient, PgTypes } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { column, uuids } from "../storage/Columns.ts"
import { date, dieOnSqlError } from "../storage/Sql.ts"
import { columnsOf, partReaderOf, type SelectedRow } from "../storage/Table.ts"
import { DataKeyRotationRepo } from "./DataKeyRotationRepo.ts"
import { dataKeys } from "./VaultKeysRepo.ts"
import { secretVersions } from "./VaultRepo.ts"

export const layer = Layer.effect(
  DataKeyRotationRepo,
  Effect.map(PgClient.PgClient, (sql) =>
    DataKeyRotationRepo.of({
      lockAfter: lockAfter(sql),
      replace: replace(sql),
      valuesUnderReplaced: valuesUnderReplaced(sql),
      countUnderReplaced: countUnderReplaced(sql),
      replaceValues: replaceValues(sql)
    })
  )
)

type Repo = DataKeyRotationRepo["Service"]

const keyColumns = ["id", "workspaceId", "keyId", "sealed", "createdAt", "revisionKey"] as const
const readKey = partReaderOf(dataKeys, keyColumns)

const lockAfter =
  (sql: PgClient.PgClient): Repo["lockAfter"] =>
  (after, limit) => {
    const beyond = after === undefined ? sql.literal("true") : sql`workspace_id > ${after}`
    return sql<SelectedRow>`select ${sql.literal(columnsOf(dataKeys, { only: keyColumns }))} from vault_data_keys
      where ${beyond} order by workspace_id limit ${limit} for update`.pipe(
      Effect.map((rows) => rows.map(readKey)),
      dieOnSqlError
    )
  }

const replace =
  (sql: PgClient.PgClient): Repo["replace"] =>
  (replaced, key) =>
    dieOnSqlError(
      Effect.asVoid(sql`with kept as (
          insert into vault_replaced_data_keys (id, workspace_id, key_id, sealed, created_at)
          values (${replaced.id}, ${replaced.workspaceId}, ${replaced.keyId}, ${replaced.sealed},
            ${date(replaced.createdAt)})
        ) update vault_data_keys set id = ${key.id}, key_id = ${key.keyId}, sealed = ${key.sealed},
            created_at = ${date(key.createdAt)}, revision_key = ${key.revisionKey}
          where id = ${replaced.id}`)
    )

/** A value begins with its format, one byte, and the id of its data key. */
const underReplaced = `from secret_versions v join vault_data_keys k on k.workspace_id = v.workspace_id
  where substring(v.sealed from 2 for 16) <> uuid_send(k.id)`

const valueColumns = ["workspaceId", "secretId", "environmentId", "version", "sealed"] as const
const readValue = partReaderOf(secretVersions, valueColumns)

const valuesUnderReplaced =
  (sql: PgClient.PgClient): Repo["valuesUnderReplaced"] =>
  (after, limit) => {
    const beyond =
      after === undefined
        ? sql.literal("true")
        : sql`(v.secret_id, v.environment_id, v.version) > (${after.secretId}, ${after.environmentId}, ${after.version})`
    return sql<SelectedRow>`select ${sql.literal(columnsOf(secretVersions, { of: "v", only: valueColumns }))}
      ${sql.literal(underReplaced)} and ${beyond}
      order by v.secret_id, v.environment_id, v.version limit ${limit}`.pipe(
      Effect.map((rows) =>
        rows.map(readValue).flatMap(({ sealed, ...place }) => (sealed === null ? [] : [{ ...place, sealed }]))
      ),
      dieOnSqlError
    )
  }

const countUnderReplaced = (sql: PgClient.PgClient): Repo["countUnderReplaced"] =>
  sql<{ readonly count: number }>`select count(*)::int as count ${sql.literal(underReplaced)}`.pipe(
    Effect.map(([row]) => row?.count ?? 0),
    dieOnSqlError
  )

const replaceValues =
  (sql: PgClient.PgClient): Repo["replaceValues"] =>
  (values) =>
    sql<{ readonly version: number }>`update secret_versions v set sealed = n.sealed
      from unnest(${uuids(values.map(({ found }) => found.secretId))},
        ${uuids(values.map(({ found }) => found.environmentId))},
        ${column(values, PgTypes.OID.int4, ({ found }) => found.version)},
        ${column(values, PgTypes.OID.bytea, ({ found }) => found.sealed)},
        ${column(values, PgTypes.OID.bytea, ({ sealed }) => sealed)}
      ) as n (secret_id, environment_id, version, before, sealed)
      where v.secret_id = n.secret_id and v.environment_id = n.environment_id and v.version = n.version
        and v.sealed = n.before
      returning v.version`.pipe(
      Effect.map((rows) => rows.length),
      dieOnSqlError
    )

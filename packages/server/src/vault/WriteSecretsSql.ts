import { compare } from "@delivery/domain/Order"
import { type PgClient, PgTypes } from "@effect/sql-pg"
import { Effect } from "effect"
import type { Statement } from "effect/sql"
import { insertAudit } from "../audit/AuditStatements.ts"
import { insertEventRows } from "../events/EventStatements.ts"
import { column, texts, uuids } from "../storage/Columns.ts"
import { date, dieOnSqlError, failOnDuplicate } from "../storage/Sql.ts"
import { columnsOf, partReaderOf, type SelectedRow } from "../storage/Table.ts"
import { lockedSecrets } from "./LockedSecrets.ts"
import { type Change, type NewVersion, secrets, type VaultRepo, type VersionPlace } from "./VaultRepo.ts"

/** Locks and writes of secrets. The order of locks is that of `VaultRepo`. */

export const lockNames =
  (sql: PgClient.PgClient): VaultRepo["Service"]["lockNames"] =>
  (workspaceId, ...names) =>
    dieOnSqlError(
      Effect.forEach(
        names.toSorted(compare),
        (name) => sql`select pg_advisory_xact_lock(hashtextextended(${`vault:${workspaceId}:${name}`}, 0))::text`,
        { discard: true }
      )
    )

const secretColumns = ["id", "workspaceId", "productId", "name", "createdAt", "updatedAt"] as const
const readSecret = partReaderOf(secrets, secretColumns)

export const lock =
  (sql: PgClient.PgClient): VaultRepo["Service"]["lock"] =>
  (workspaceId, productIds, name) =>
    Effect.gen(function* () {
      const rows =
        yield* sql<SelectedRow>`select ${sql.literal(columnsOf(secrets, { only: secretColumns }))} from secrets
        where workspace_id = ${workspaceId} and product_id = any(${uuids(productIds)}) and name = ${name}
          and deleted_at is null
        order by id for update`
      if (rows.length === 0) return []
      const found = rows.map(readSecret)
      // A statement of its own: it must see what was committed while the one before waited.
      const current = yield* sql<VersionPlace>`
        select secret_id as "secretId", environment_id as "environmentId", version from secret_values
        where secret_id = any(${uuids(found.map(({ id }) => id))})`
      return lockedSecrets(found, current)
    }).pipe(dieOnSqlError)

export const insert =
  (sql: PgClient.PgClient): VaultRepo["Service"]["insert"] =>
  (rows) =>
    failOnDuplicate(
      Effect.asVoid(sql`insert into secrets (id, workspace_id, product_id, name, created_at, updated_at)
        select * from unnest(${uuids(rows.map(({ id }) => id))},
          ${uuids(rows.map(({ workspaceId }) => workspaceId))},
          ${uuids(rows.map(({ productId }) => productId))}, ${texts(rows, ({ name }) => name)},
          ${column(rows, PgTypes.OID.timestamptz, ({ createdAt }) => date(createdAt))},
          ${column(rows, PgTypes.OID.timestamptz, ({ updatedAt }) => date(updatedAt))})`)
    )

export const rename =
  (sql: PgClient.PgClient): VaultRepo["Service"]["rename"] =>
  (id, name) =>
    failOnDuplicate(Effect.asVoid(sql`update secrets set name = ${name} where id = ${id}`))

/** One statement, unless the values are so many bytes that they are stored before it, in statements of their own. */
export const write =
  (sql: PgClient.PgClient): VaultRepo["Service"]["write"] =>
  (change) =>
    Effect.gen(function* () {
      const { at, by } = change
      const [last = [], ...others] = slicesOf(change.versions)
      for (const slice of others) yield* sql`with ${insertVersions(sql, change, slice)} select 1`
      const { events } = change
      yield* sql`with ${insertVersions(sql, change, last)}, touched as (
          update secrets s set updated_at = t.updated_at
          from unnest(${uuids(change.updated.map(({ id }) => id))},
            ${column(change.updated, PgTypes.OID.timestamptz, ({ updatedAt }) => date(updatedAt))}
          ) as t (id, updated_at)
          where s.id = t.id
        ), deleted as (
          update secrets set deleted_at = ${date(at)} where id = any(${uuids(
            change.deleted === undefined ? [] : [change.deleted]
          )})
        ), audited as (
          ${insertAudit(sql, change.audit)}
        ), events_of as (
          select id, ${by.workspace.id}::uuid as workspace_id, kind,
            ${by.actor.kind} as actor_kind, ${by.actor.id}::uuid as actor_id,
            'secret' as subject_type, subject_id, subject_label, subject_path, changes::jsonb as changes,
            ${date(at)}::timestamptz as created_at
          from unnest(${uuids(events.map(({ id }) => id))}, ${texts(events, (event) => event.kind)},
            ${texts(events, (event) => event.subjectId)}, ${texts(events, (event) => event.subjectLabel)},
            ${texts(events, (event) => event.subjectPath)},
            ${texts(events, (event) => JSON.stringify(event.changes))}
          ) as t (id, kind, subject_id, subject_label, subject_path, changes)
        ), inserted as (
          ${insertEventRows(sql, "events_of")}
        ) select 1`
    }).pipe(dieOnSqlError)

/** The parts of a statement that store versions and make them the current ones. */
const insertVersions = (
  sql: PgClient.PgClient,
  change: Change,
  versions: ReadonlyArray<NewVersion>
): Statement.Fragment => {
  const { at } = change
  const { actor, workspace } = change.by
  return sql`new_versions as (
      select * from unnest(${uuids(versions.map((version) => version.secretId))},
        ${uuids(versions.map((version) => version.environmentId))},
        ${column(versions, PgTypes.OID.int4, (version) => version.version)},
        ${column(versions, PgTypes.OID.bytea, (version) => version.sealed)}
      ) as n (secret_id, environment_id, version, sealed)
    ), kept as (
      insert into secret_versions (workspace_id, secret_id, environment_id, version, source, sealed, actor_kind,
        actor_id, created_at)
      select ${workspace.id}, secret_id, environment_id, version, ${change.source}, sealed, ${actor.kind}, ${actor.id},
        ${date(at)} from new_versions
    ), current as (
      insert into secret_values (workspace_id, secret_id, environment_id, version)
      select ${workspace.id}, secret_id, environment_id, version from new_versions
      on conflict (secret_id, environment_id) do update set version = excluded.version
    )`
}

/** Bytes of encrypted values that one statement carries at most, unless a single value is larger. */
const sliceBytes = 4 * 1024 * 1024

const slicesOf = (versions: ReadonlyArray<NewVersion>): ReadonlyArray<ReadonlyArray<NewVersion>> => {
  const slices: Array<Array<NewVersion>> = []
  let bytes = 0
  for (const version of versions) {
    const size = version.sealed?.length ?? 0
    if (slices.length === 0 || bytes + size > sliceBytes) {
      slices.push([])
      bytes = 0
    }
    slices.at(-1)!.push(version)
    bytes += size
  }
  return slices
}

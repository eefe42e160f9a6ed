import type { EnvironmentId } from "@delivery/domain/Ids"
import type { VersionSource } from "@delivery/domain/vault/Secret"
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import { actorColumns, actorJoins, type ActorRow, readActor } from "../access/Actors.ts"
import { column, uuids } from "../storage/Columns.ts"
import { date, dieOnSqlError, iso } from "../storage/Sql.ts"
import { find, isNamed, lockTargets } from "./FindSecretsSql.ts"
import { type NewVersion, type VersionPage, type VersionPlace, VaultRepo } from "./VaultRepo.ts"
import { claimRequest, recordWritten } from "./VaultRequestsSql.ts"
import { insert, lock, lockNames, rename, write } from "./WriteSecretsSql.ts"

export const layer = Layer.effect(
  VaultRepo,
  Effect.map(PgClient.PgClient, (sql) =>
    VaultRepo.of({
      find: find(sql),
      lockTargets: lockTargets(sql),
      lockNames: lockNames(sql),
      lock: lock(sql),
      insert: insert(sql),
      rename: rename(sql),
      write: write(sql),
      versions: versions(sql),
      encryptedValues: encryptedValues(sql),
      storedVersions: storedVersions(sql),
      holdsValues: holdsValues(sql),
      eraseValues: eraseValues(sql),
      claimRequest: claimRequest(sql),
      recordWritten: recordWritten(sql),
      erase: erase(sql)
    })
  )
)

/** A row of `versions`: a version, or nulls where there is none. Each row says what of the path exists. */
type VersionsRow = ActorRow &
  Pick<VersionPage, "hasProduct" | "hasSecret" | "hasEnvironment"> & {
    readonly version: number | null
    readonly hasValue: boolean
    readonly source: VersionSource
    readonly createdAt: Date
  }

const versions =
  (sql: PgClient.PgClient): VaultRepo["Service"]["versions"] =>
  (workspaceId, { environment, name, product }, { before, limit }) =>
    sql<VersionsRow>`with p as (
        select p.id from products p where p.workspace_id = ${workspaceId} and ${isNamed(sql, "p", [product])}
      ), s as (
        select s.id from secrets s join p on p.id = s.product_id
        where s.workspace_id = ${workspaceId} and s.name = ${name} and s.deleted_at is null
      ), e as (
        select e.id from environments e where e.workspace_id = ${workspaceId} and ${isNamed(sql, "e", [environment])}
      )
      select exists (select 1 from p) as "hasProduct", exists (select 1 from s) as "hasSecret",
        exists (select 1 from e) as "hasEnvironment", v.version, v.sealed is not null as "hasValue", v.source,
        v.created_at as "createdAt", ${actorColumns(sql, "v.actor")}
      from (select 1) as one
      left join lateral (
        select * from secret_versions h
        where h.secret_id = (select id from s) and h.environment_id = (select id from e) and h.version < ${before}
        order by h.version desc limit ${limit}
      ) v on true
      ${actorJoins(sql, "v.actor")}
      order by v.version desc`.pipe(Effect.map(readPage), dieOnSqlError)

const readPage = (rows: ReadonlyArray<VersionsRow>): VersionPage => ({
  hasProduct: rows[0]!.hasProduct,
  hasSecret: rows[0]!.hasSecret,
  hasEnvironment: rows[0]!.hasEnvironment,
  versions: rows
    .filter((row) => row.version !== null)
    .map((row) => ({
      version: row.version!,
      hasValue: row.hasValue,
      source: row.source,
      createdAt: iso(row.createdAt),
      createdBy: readActor(row)
    }))
})

/** The versions at the places. */
const selectVersions = (sql: PgClient.PgClient, places: ReadonlyArray<VersionPlace>): Statement.Fragment =>
  sql`select h.secret_id as "secretId", h.environment_id as "environmentId", h.version, h.sealed
    from unnest(${uuids(places.map((place) => place.secretId))},
      ${uuids(places.map((place) => place.environmentId))},
      ${column(places, PgTypes.OID.int4, (place) => place.version)}) as v (secret_id, environment_id, version)
    join secret_versions h on h.secret_id = v.secret_id and h.environment_id = v.environment_id and h.version = v.version`

const encryptedValues =
  (sql: PgClient.PgClient): VaultRepo["Service"]["encryptedValues"] =>
  (places) =>
    dieOnSqlError(sql<NewVersion>`${selectVersions(sql, places)}
      join secrets s on s.id = h.secret_id and s.deleted_at is null
      join environments e on e.id = h.environment_id and e.class <> 'production'
      left join lateral (
        select bool_or(deleted_at is null) as now from deployments
        where workspace_id = s.workspace_id and product_id = s.product_id and environment_id = e.id
      ) d on true
      where d.now is distinct from false`)

const storedVersions =
  (sql: PgClient.PgClient): VaultRepo["Service"]["storedVersions"] =>
  (places) =>
    dieOnSqlError(sql<NewVersion>`${selectVersions(sql, places)}`)

const holdsValues = (sql: PgClient.PgClient) => (environmentId: EnvironmentId) =>
  sql`select 1 from secret_values v
    join secrets s on s.id = v.secret_id and s.deleted_at is null
    join secret_versions h on h.secret_id = v.secret_id and h.environment_id = v.environment_id
      and h.version = v.version and h.sealed is not null
    where v.environment_id = ${environmentId} limit 1`.pipe(
    Effect.map((rows) => rows.length === 1),
    dieOnSqlError
  )

const eraseValues =
  (sql: PgClient.PgClient): VaultRepo["Service"]["eraseValues"] =>
  (environmentId) =>
    sql`update secret_versions h set sealed = null from secret_values v
      where v.environment_id = ${environmentId} and h.secret_id = v.secret_id and h.environment_id = v.environment_id
        and h.sealed is not null`.pipe(Effect.asVoid, dieOnSqlError)

const erase =
  (sql: PgClient.PgClient): VaultRepo["Service"]["erase"] =>
  ({ deleted, requests }, limit) =>
    Effect.gen(function* () {
      const erasedSecrets = yield* sql`with gone as (
          select id from secrets where deleted_at < ${date(deleted)} order by deleted_at limit ${limit}
          for update skip locked
        ), erased_values as (
          delete from secret_values where secret_id in (select id from gone)
        ), erased_versions as (
          delete from secret_versions where secret_id in (select id from gone)
        )
        delete from secrets where id in (select id from gone) returning id`
      const erasedRequests = yield* sql`delete from vault_requests where ctid in (
          select ctid from vault_requests where created_at < ${date(requests)} limit ${limit}
          for update skip locked
        ) returning 1`
      return erasedSecrets.length + erasedRequests.length
    }).pipe(dieOnSqlError)

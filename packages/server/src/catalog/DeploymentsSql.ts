import type { DeploymentId, EnvironmentId, ProductId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { eventRecord, eventRecordColumns, insertEventRows } from "../events/EventStatements.ts"
import { batched } from "../storage/Batched.ts"
import { idsAndSlugs, uuids } from "../storage/Columns.ts"
import { date, dieOnSqlError, failOnDuplicate, prepared } from "../storage/Sql.ts"
import {
  columnName,
  columnsOf,
  insertInto,
  partReaderOf,
  recordFrom,
  recordOf,
  type SelectedRow
} from "../storage/Table.ts"
import {
  type DeployedPair,
  type DeploymentChange,
  deployments,
  DeploymentsRepo,
  type EndedDeployment,
  stateProperties,
  type Target
} from "./DeploymentsRepo.ts"
import { environments } from "./EnvironmentsRepo.ts"
import { products } from "./ProductsRepo.ts"
import { insertReleases, releaseRecord, releasesFrom } from "./ReleaseStatements.ts"

export const layer = Layer.effect(
  DeploymentsRepo,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    return DeploymentsRepo.of({
      insert: insert(sql),
      update: update(sql),
      delete: remove(sql),
      ended: ended(sql),
      lastRelease: lastRelease(sql),
      target: target(sql),
      list: list(sql),
      overrideOf: overrideOf(sql),
      someWithoutBaseUrl: someWithoutBaseUrl(sql)
    })
  })
)

const productColumns = ["id", "slug", "name", "type", "archivedAt"] as const
const environmentColumns = ["id", "slug", "name", "class", "emoji", "archivedAt"] as const

/** The columns of a deployment with its product and environment: `d`, `p` and `e` in the statement. */
const pairColumns = [
  columnsOf(products, { of: "p", as: "product", only: productColumns }),
  columnsOf(environments, { of: "e", as: "environment", only: environmentColumns }),
  columnsOf(deployments, { of: "d", as: "deployment", only: stateProperties })
].join(", ")

const readProduct = partReaderOf(products, productColumns, { as: "product" })
const readEnvironment = partReaderOf(environments, environmentColumns, { as: "environment" })
const readDeployment = partReaderOf(deployments, stateProperties, { as: "deployment" })

const readPair = (row: SelectedRow): DeployedPair => ({
  product: readProduct(row),
  environment: readEnvironment(row),
  deployment: readDeployment(row)
})

/** A row of left joins: what was not found is null in all of its columns. */
const readTarget = (row: SelectedRow): Target => ({
  product: row["productId"] === null ? undefined : readProduct(row),
  environment: row["environmentId"] === null ? undefined : readEnvironment(row),
  deployment: row["deploymentId"] === null ? undefined : readDeployment(row)
})

/** A product and an environment that a request names, each by slug or id. */
interface RequestedTarget {
  readonly workspaceId: WorkspaceId
  readonly product: string
  readonly environment: string
}

/** Concurrent look-ups share one statement. */
const overrideOf =
  (sql: PgClient.PgClient): DeploymentsRepo["Service"]["overrideOf"] =>
  ({ id, release }) =>
    sql<{ readonly reason: string | null }>`select override_reason as reason from deployment_releases
      where deployment_id = ${id} and number = ${release}`.pipe(
      Effect.map((rows) => rows[0]?.reason ?? null),
      dieOnSqlError
    )

const target = (sql: PgClient.PgClient) => {
  const find = findTargets(sql)
  const findAll = (requested: ReadonlyArray<RequestedTarget>) =>
    find(
      uuids(requested.map(({ workspaceId }) => workspaceId)),
      ...idsAndSlugs(requested, ({ product }) => product),
      ...idsAndSlugs(requested, ({ environment }) => environment)
    ).pipe(
      Effect.map((rows) => {
        const targets = Array.from<Target>({ length: requested.length })
        for (const row of rows) targets[row.place - 1] = readTarget(row)
        return targets
      }),
      dieOnSqlError
    )
  const findOne = batched(sql, findAll, { running: 2 })
  return (workspaceId: WorkspaceId, product: string, environment: string) =>
    findOne({ workspaceId, product, environment })
}

/** One row for each requested target, with its place in the request, from 1. */
const findTargets = (sql: PgClient.PgClient) =>
  prepared(
    sql,
    (
      workspaceIds: PgTypes.Parameter,
      productIds: PgTypes.Parameter,
      productSlugs: PgTypes.Parameter,
      environmentIds: PgTypes.Parameter,
      environmentSlugs: PgTypes.Parameter
    ) => sql<SelectedRow & { readonly place: number }>`select requested.place::int as place, ${sql.literal(pairColumns)}
      from unnest(${workspaceIds}::uuid[], ${productIds}::uuid[], ${productSlugs}::text[], ${environmentIds}::uuid[],
          ${environmentSlugs}::text[]) with ordinality
        as requested (workspace_id, product_id, product_slug, environment_id, environment_slug, place)
      left join products p on p.workspace_id = requested.workspace_id and p.id = coalesce(requested.product_id,
        (select id from products where workspace_id = requested.workspace_id and slug = requested.product_slug))
      left join environments e on e.workspace_id = requested.workspace_id and e.id = coalesce(requested.environment_id,
        (select id from environments where workspace_id = requested.workspace_id and slug = requested.environment_slug))
      left join deployments d on d.workspace_id = requested.workspace_id and d.product_id = p.id
        and d.environment_id = e.id and d.deleted_at is null`
  )

const insert = (sql: PgClient.PgClient): DeploymentsRepo["Service"]["insert"] => {
  const insertRow = insertInto(sql, deployments)
  const insertRelease = insertFirstRelease(sql)
  return (deployment, release) =>
    failOnDuplicate(
      release === undefined
        ? insertRow(deployment)
        : Effect.andThen(insertRow(deployment), insertRelease(PgTypes.json([releaseRecord(release)])))
    )
}

const insertFirstRelease = (sql: PgClient.PgClient) =>
  prepared(
    sql,
    (releases: PgTypes.Parameter) => sql`with releasing as (${releasesFrom(sql, sql`${releases}::json`)}),
      ${insertReleases(sql, "releasing")} select 1`
  )

/** The columns that an update may change: that of locks is the runs'. */
const changing = stateProperties.filter(
  (property) => property !== "id" && property !== "createdAt" && property !== "locks"
)

/** Concurrent updates share one statement. */
const update = (sql: PgClient.PgClient) => {
  const write = writeUpdates(sql)
  const updateAll = (requested: ReadonlyArray<DeploymentChange>) =>
    write(PgTypes.json(requested.map(recordOfUpdate))).pipe(
      Effect.map((rows) => {
        const changed = new Set(rows.map(({ place }) => place))
        return requested.map((_, place) => changed.has(place))
      }),
      dieOnSqlError
    )
  return batched(sql, updateAll, { running: 2 })
}

/** The rows are locked in the order of their ids, so that two statements cannot deadlock. */
const writeUpdates = (sql: PgClient.PgClient) => {
  const sets = changing.map((property) => columnName(property)).map((name) => `${name} = a.${name}`)
  const newReleases = sql.literal("case when a.new_release is null then '[]' else json_build_array(a.new_release) end")
  return prepared(
    sql,
    (changes: PgTypes.Parameter) => sql<{ readonly place: number }>`with requested as (
        select * from json_to_recordset(${changes}::json) as a (place integer, id uuid, before timestamptz,
          locks integer, ${sql.literal(recordOf(deployments, changing))}, event json, new_release json)
      ), held as materialized (
        select id from deployments where id in (select id from requested) order by id for update
      ), changed as (
        update deployments d set ${sql.literal(sets.join(", "))}
        from requested a join held on held.id = a.id
        where d.id = held.id and d.deleted_at is null and d.updated_at = a.before
          and (a.locks is null or d.locks = a.locks)
        returning a.place
      ), releasing as (
        select one.* from requested a join changed on changed.place = a.place
          cross join lateral (${releasesFrom(sql, newReleases)}) as one
      ), ${insertReleases(sql, "releasing")}, events_of as (
        select event.* from requested a join changed on changed.place = a.place
          cross join json_to_record(a.event) as event (${sql.literal(eventRecordColumns)})
      ), inserted as (
        ${insertEventRows(sql, "events_of")}
      )
      select place from changed`
  )
}

/** The change as a record of what `writeUpdates` reads. */
const recordOfUpdate = ({ after, before, event, isFree = false, release }: DeploymentChange, place: number) => ({
  place,
  id: before.id,
  before: before.updatedAt,
  locks: isFree ? before.locks : null,
  ...recordFrom(deployments, changing, after),
  event: eventRecord(event),
  new_release: release === undefined ? null : releaseRecord(release)
})

const remove = (sql: PgClient.PgClient) => (id: DeploymentId, at: Timestamp) =>
  sql`update deployments set deleted_at = ${date(at)} where id = ${id} and deleted_at is null returning id`.pipe(
    Effect.map((rows) => rows.length === 1),
    dieOnSqlError
  )

const ended = (sql: PgClient.PgClient) => (id: DeploymentId) =>
  sql<EndedDeployment>`select d.version, count(r.number)::integer as releases,
      (count(*) filter (where r.readiness ->> 'ready' = 'false'))::integer as "notReady"
    from deployments d left join deployment_releases r on r.deployment_id = d.id
    where d.id = ${id} group by d.id`.pipe(
    Effect.map((rows) => rows[0]!),
    dieOnSqlError
  )

const lastRelease =
  (sql: PgClient.PgClient): DeploymentsRepo["Service"]["lastRelease"] =>
  ({ environmentId, productId, workspaceId }) =>
    sql<{ readonly last: number }>`select coalesce(max(last.number), 0) as last
      from deployments d cross join lateral (
        select max(number) as number from deployment_releases where deployment_id = d.id
      ) as last
      where d.workspace_id = ${workspaceId} and d.product_id = ${productId} and d.environment_id = ${environmentId}`.pipe(
      Effect.map((rows) => rows[0]!.last),
      dieOnSqlError
    )

const list =
  (sql: PgClient.PgClient) =>
  (
    workspaceId: WorkspaceId,
    filter: { readonly productId?: ProductId | undefined; readonly environmentId?: EnvironmentId | undefined }
  ) =>
    sql<SelectedRow>`select ${sql.literal(pairColumns)}
      from deployments d join products p on p.id = d.product_id join environments e on e.id = d.environment_id
      where d.workspace_id = ${workspaceId} and d.deleted_at is null
        and ${filter.productId === undefined ? sql`true` : sql`d.product_id = ${filter.productId}`}
        and ${filter.environmentId === undefined ? sql`true` : sql`d.environment_id = ${filter.environmentId}`}`.pipe(
      Effect.map((rows) => rows.map(readPair)),
      dieOnSqlError
    )

const someWithoutBaseUrl = (sql: PgClient.PgClient) => (productId: ProductId) =>
  sql`select 1 from deployments d join products p on p.id = d.product_id
    where d.workspace_id = p.workspace_id and d.product_id = ${productId} and d.base_url is null
      and d.deleted_at is null limit 1`.pipe(
    Effect.map((rows) => rows.length === 1),
    dieOnSqlError
  )

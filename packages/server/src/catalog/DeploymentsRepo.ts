import type { EnvironmentClass } from "@delivery/domain/catalog/Environment"
import type { ProductType } from "@delivery/domain/catalog/Product"
import type { DeploymentId, EnvironmentId, ProductId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { insertEventRows, type StoredEvent } from "../events/EventsRepo.ts"
import { batched } from "../storage/Batched.ts"
import { idsAndSlugs, uuids } from "../storage/Columns.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { date, dieOnSqlError, failOnDuplicate, iso, isoOrNull, prepared, UniqueViolation } from "../storage/Sql.ts"
import type { EnvironmentRow } from "./EnvironmentsRepo.ts"
import type { ProductRow } from "./ProductsRepo.ts"

/** Where a deployment runs and what: the part that changes. */
export interface DeploymentState {
  readonly id: DeploymentId
  readonly baseUrl: string | null
  readonly fixtureUrl: string | null
  readonly version: string | null
  readonly versionUpdatedAt: Timestamp
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}

export interface DeploymentRow extends DeploymentState {
  readonly workspaceId: WorkspaceId
  readonly productId: ProductId
  readonly environmentId: EnvironmentId
}

/** A product and an environment, as one look-up for a deployment finds them. */
export interface Pair {
  readonly product: Pick<ProductRow, "id" | "slug" | "name" | "type" | "archivedAt">
  readonly environment: Pick<EnvironmentRow, "id" | "slug" | "name" | "class" | "emoji" | "archivedAt">
}

export interface DeployedPair extends Pair {
  readonly deployment: DeploymentState
}

/** What exists of a product, an environment and their deployment. */
export interface Target {
  readonly product: Pair["product"] | undefined
  readonly environment: Pair["environment"] | undefined
  readonly deployment: DeploymentState | undefined
}

/** Stores deployments; a pair of product and environment has one at most. */
export class DeploymentsRepo extends Context.Service<
  DeploymentsRepo,
  {
    readonly insert: (deployment: DeploymentRow) => Effect.Effect<void, UniqueViolation>
    /**
     * Stores the change and its event at once, where `updatedAt` is still what it was; false where another change came
     * first or the deployment is gone.
     */
    readonly update: (before: DeploymentState, after: DeploymentState, event: StoredEvent) => Effect.Effect<boolean>
    /** False where it was gone already. The row stays, so that it is known that the pair was deployed. */
    readonly delete: (id: DeploymentId, at: Timestamp) => Effect.Effect<boolean>
    /** In one look-up: the product, the environment (slug or id each) and their deployment. */
    readonly target: (workspaceId: WorkspaceId, product: string, environment: string) => Effect.Effect<Target>
    readonly list: (
      workspaceId: WorkspaceId,
      filter: { readonly productId?: ProductId | undefined; readonly environmentId?: EnvironmentId | undefined }
    ) => Effect.Effect<ReadonlyArray<DeployedPair>>
    readonly someWithoutBaseUrl: (productId: ProductId) => Effect.Effect<boolean>
  }
>()("@delivery/server/catalog/DeploymentsRepo") {
  static readonly layerSql = Layer.effect(
    DeploymentsRepo,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const columns = sql.literal(`p.id as "productId", p.slug as "productSlug", p.name as "productName",
        p.type as "productType", p.archived_at as "productArchivedAt", e.id as "environmentId",
        e.slug as "environmentSlug", e.name as "environmentName", e.class as "environmentClass",
        e.emoji as "environmentEmoji", e.archived_at as "environmentArchivedAt", d.id, d.base_url as "baseUrl",
        d.fixture_url as "fixtureUrl", d.version, d.version_updated_at as "versionUpdatedAt",
        d.created_at as "createdAt", d.updated_at as "updatedAt"`)
      const findTargets = prepared(
        sql,
        (
          workspaceIds: PgTypes.Parameter,
          productIds: PgTypes.Parameter,
          productSlugs: PgTypes.Parameter,
          environmentIds: PgTypes.Parameter,
          environmentSlugs: PgTypes.Parameter
        ) => sql<TargetRow>`select asked.place::int as place, ${columns}
          from unnest(${workspaceIds}::uuid[], ${productIds}::uuid[], ${productSlugs}::text[], ${environmentIds}::uuid[],
              ${environmentSlugs}::text[]) with ordinality
            as asked (workspace_id, product_id, product_slug, environment_id, environment_slug, place)
          left join products p on p.workspace_id = asked.workspace_id and p.id = coalesce(asked.product_id,
            (select id from products where workspace_id = asked.workspace_id and slug = asked.product_slug))
          left join environments e on e.workspace_id = asked.workspace_id and e.id = coalesce(asked.environment_id,
            (select id from environments where workspace_id = asked.workspace_id and slug = asked.environment_slug))
          left join deployments d on d.workspace_id = asked.workspace_id and d.product_id = p.id
            and d.environment_id = e.id and d.deleted_at is null`
      )
      const target = batched(
        sql,
        (asked: ReadonlyArray<AskedTarget>) =>
          findTargets(
            uuids(asked.map(({ workspaceId }) => workspaceId)),
            ...idsAndSlugs(asked, ({ product }) => product),
            ...idsAndSlugs(asked, ({ environment }) => environment)
          ).pipe(
            Effect.map((rows) => {
              const targets = Array.from<Target>({ length: asked.length })
              for (const row of rows) targets[row.place - 1] = readTarget(row)
              return targets
            }),
            dieOnSqlError
          ),
        { running: 2 }
      )
      const updateAll = prepared(
        sql,
        (changes: PgTypes.Parameter) => sql<{ readonly place: number }>`with asked as (
            select * from json_to_recordset(${changes}::json) as a (place integer, id uuid, before timestamptz,
              base_url text, fixture_url text, version text, version_updated_at timestamptz, updated_at timestamptz,
              event_id uuid, workspace_id uuid, kind text, actor_kind text, actor_id uuid, subject_type text,
              subject_id text, subject_label text, subject_path text, changes jsonb, created_at timestamptz)
          ), held as materialized (
            select id from deployments where id in (select id from asked) order by id for update
          ), changed as (
            update deployments d set base_url = a.base_url, fixture_url = a.fixture_url, version = a.version,
              version_updated_at = a.version_updated_at, updated_at = a.updated_at
            from asked a join held on held.id = a.id
            where d.id = held.id and d.deleted_at is null and d.updated_at = a.before
            returning a.place
          ), events_of as (
            select a.event_id as id, a.workspace_id, a.kind, a.actor_kind, a.actor_id, a.subject_type, a.subject_id,
              a.subject_label, a.subject_path, a.changes, a.created_at
            from asked a join changed on changed.place = a.place
          ), told as (
            ${insertEventRows(sql, "events_of")}
          )
          select place from changed`
      )
      /** Changes that come together are one write. Their rows are held in one order, so that none waits in a circle. */
      const update = batched(
        sql,
        (asked: ReadonlyArray<AskedUpdate>) =>
          updateAll(PgTypes.json(asked.map(updateRow))).pipe(
            Effect.map((rows) => {
              const changed = new Set(rows.map(({ place }) => place))
              return asked.map((_, place) => changed.has(place))
            }),
            dieOnSqlError
          ),
        { running: 2 }
      )
      return DeploymentsRepo.of({
        insert: (deployment) =>
          failOnDuplicate(
            Effect.asVoid(sql`insert into deployments (id, workspace_id, product_id, environment_id,
              base_url, fixture_url, version, version_updated_at, created_at, updated_at)
            values (${deployment.id}, ${deployment.workspaceId}, ${deployment.productId}, ${deployment.environmentId},
              ${deployment.baseUrl}, ${deployment.fixtureUrl}, ${deployment.version},
              ${date(deployment.versionUpdatedAt)}, ${date(deployment.createdAt)}, ${date(deployment.updatedAt)})`)
          ),
        update: (before, after, event) => update({ before, after, event }),
        delete: (id, at) =>
          sql`update deployments set deleted_at = ${date(at)} where id = ${id} and deleted_at is null returning id`.pipe(
            Effect.map((rows) => rows.length === 1),
            dieOnSqlError
          ),
        target: (workspaceId, product, environment) => target({ workspaceId, product, environment }),
        list: (workspaceId, { environmentId, productId }) =>
          sql<SqlRow>`select ${columns}
            from deployments d join products p on p.id = d.product_id join environments e on e.id = d.environment_id
            where d.workspace_id = ${workspaceId} and d.deleted_at is null
              and ${productId === undefined ? sql`true` : sql`d.product_id = ${productId}`}
              and ${environmentId === undefined ? sql`true` : sql`d.environment_id = ${environmentId}`}`.pipe(
            Effect.map((rows) => rows.map((row) => ({ ...readPair(row), deployment: readState(row) }))),
            dieOnSqlError
          ),
        someWithoutBaseUrl: (productId) =>
          sql`select 1 from deployments d join products p on p.id = d.product_id
            where d.workspace_id = p.workspace_id and d.product_id = ${productId} and d.base_url is null
              and d.deleted_at is null limit 1`.pipe(
            Effect.map((rows) => rows.length === 1),
            dieOnSqlError
          )
      })
    })
  )

  static readonly layerMemory = Layer.effect(
    DeploymentsRepo,
    Effect.gen(function* () {
      const memory = yield* MemoryStorage
      const rowsOf = (database: MemoryDatabase) => database.table<MemoryRow>("deployments")
      return DeploymentsRepo.of({
        insert: (deployment) =>
          memory.write((database) => {
            const isSamePair = (other: MemoryRow) =>
              !other.deleted &&
              other.productId === deployment.productId &&
              other.environmentId === deployment.environmentId
            return rowsOf(database).find(isSamePair) !== undefined
              ? Effect.fail(new UniqueViolation({ constraint: "deployments_pair_key" }))
              : Effect.sync(() => rowsOf(database).set(deployment.id, { ...deployment, deleted: false }))
          }),
        update: (before, after, event) =>
          memory.write((database) =>
            Effect.sync(() => {
              const row = rowsOf(database).get(before.id)
              if (row === undefined || row.deleted || row.updatedAt !== before.updatedAt) return false
              rowsOf(database).set(row.id, { ...row, ...after })
              database.table<StoredEvent>("events").set(event.id, event)
              return true
            })
          ),
        delete: (id) =>
          memory.write((database) =>
            Effect.sync(() => {
              const row = rowsOf(database).get(id)
              if (row === undefined || row.deleted) return false
              rowsOf(database).set(id, { ...row, deleted: true })
              return true
            })
          ),
        target: (workspaceId, productRef, environmentRef) =>
          memory.read((database) => {
            const product = database
              .table<ProductRow>("products")
              .find((row) => row.workspaceId === workspaceId && (row.id === productRef || row.slug === productRef))
            const environment = database
              .table<EnvironmentRow>("environments")
              .find(
                (row) => row.workspaceId === workspaceId && (row.id === environmentRef || row.slug === environmentRef)
              )
            const deployment = rowsOf(database).find(
              (row) => !row.deleted && row.productId === product?.id && row.environmentId === environment?.id
            )
            return { product, environment, deployment }
          }),
        list: (workspaceId, { environmentId, productId }) =>
          memory.read((database) =>
            rowsOf(database)
              .filter(
                (row) =>
                  row.workspaceId === workspaceId &&
                  !row.deleted &&
                  (productId === undefined || row.productId === productId) &&
                  (environmentId === undefined || row.environmentId === environmentId)
              )
              .map((deployment) => ({
                product: database.table<ProductRow>("products").get(deployment.productId)!,
                environment: database.table<EnvironmentRow>("environments").get(deployment.environmentId)!,
                deployment
              }))
          ),
        someWithoutBaseUrl: (productId) =>
          memory.read(
            (database) =>
              rowsOf(database).find((row) => !row.deleted && row.productId === productId && row.baseUrl === null) !==
              undefined
          )
      })
    })
  )
}

/** A product and an environment (slug or id each) that a request names; one that is neither finds nothing. */
interface AskedTarget {
  readonly workspaceId: WorkspaceId
  readonly product: string
  readonly environment: string
}

/** A change of a deployment, with its event. */
interface AskedUpdate {
  readonly before: DeploymentState
  readonly after: DeploymentState
  readonly event: StoredEvent
}

/** The change as a row of what `updateAll` reads. */
const updateRow = ({ after, before, event }: AskedUpdate, place: number) => ({
  place,
  id: before.id,
  before: before.updatedAt,
  base_url: after.baseUrl,
  fixture_url: after.fixtureUrl,
  version: after.version,
  version_updated_at: after.versionUpdatedAt,
  updated_at: after.updatedAt,
  event_id: event.id,
  workspace_id: event.workspaceId,
  kind: event.kind,
  actor_kind: event.actor.kind,
  actor_id: event.actor.id,
  subject_type: event.subjectType,
  subject_id: event.subjectId,
  subject_label: event.subjectLabel,
  subject_path: event.subjectPath,
  changes: event.changes,
  created_at: event.createdAt
})

type MemoryRow = DeploymentRow & { readonly deleted: boolean }

interface SqlRow {
  readonly productId: ProductId
  readonly productSlug: string
  readonly productName: string
  readonly productType: ProductType
  readonly productArchivedAt: Date | null
  readonly environmentId: EnvironmentId
  readonly environmentSlug: string
  readonly environmentName: string
  readonly environmentClass: EnvironmentClass
  readonly environmentEmoji: string | null
  readonly environmentArchivedAt: Date | null
  readonly id: DeploymentId
  readonly baseUrl: string | null
  readonly fixtureUrl: string | null
  readonly version: string | null
  readonly versionUpdatedAt: Date
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** What was found for the one asked for at `place`, from 1. */
type TargetRow = { readonly place: number } & {
  readonly [Column in keyof SqlRow]: SqlRow[Column] | null
}

const readTarget = (row: TargetRow): Target => {
  const found = row as SqlRow
  return {
    product: row.productId === null ? undefined : readProduct(found),
    environment: row.environmentId === null ? undefined : readEnvironment(found),
    deployment: row.id === null ? undefined : readState(found)
  }
}

const readState = (row: SqlRow): DeploymentState => ({
  id: row.id,
  baseUrl: row.baseUrl,
  fixtureUrl: row.fixtureUrl,
  version: row.version,
  versionUpdatedAt: iso(row.versionUpdatedAt),
  createdAt: iso(row.createdAt),
  updatedAt: iso(row.updatedAt)
})

const readProduct = (row: SqlRow): Pair["product"] => ({
  id: row.productId,
  slug: row.productSlug,
  name: row.productName,
  type: row.productType,
  archivedAt: isoOrNull(row.productArchivedAt)
})

const readEnvironment = (row: SqlRow): Pair["environment"] => ({
  id: row.environmentId,
  slug: row.environmentSlug,
  name: row.environmentName,
  class: row.environmentClass,
  emoji: row.environmentEmoji,
  archivedAt: isoOrNull(row.environmentArchivedAt)
})

const readPair = (row: SqlRow): Pair => ({ product: readProduct(row), environment: readEnvironment(row) })

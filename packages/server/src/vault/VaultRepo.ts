import type { EnvironmentClass } from "@delivery/domain/catalog/Environment"
import type { Actor } from "@delivery/domain/identity/Actor"
import type { EnvironmentId, ProductId, SecretId, WorkspaceId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import { isId, isSlug } from "@delivery/domain/Text"
import type { Timestamp } from "@delivery/domain/Timestamp"
import type { VersionSource } from "@delivery/domain/vault/Secret"
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import type { EnvironmentRow } from "../catalog/EnvironmentsRepo.ts"
import { type DeploymentRow, deployments } from "../catalog/DeploymentsRepo.ts"
import type { ProductRow } from "../catalog/ProductsRepo.ts"
import { SecretHoldings } from "../catalog/SecretHoldings.ts"
import { insertEventRows } from "../events/EventStatements.ts"
import type { StoredEvent } from "../events/EventsRepo.ts"
import type { ActorRef } from "../access/Access.ts"
import { actorColumns, actorJoins, type ActorRow, readActor, resolveActor } from "../access/Actors.ts"
import { batched } from "../storage/Batched.ts"
import { column, idsAndSlugs, texts, uuids } from "../storage/Columns.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { date, dieOnSqlError, failOnDuplicate, iso, isoOfJson, prepared, UniqueViolation } from "../storage/Sql.ts"

export interface SecretRow {
  readonly id: SecretId
  readonly workspaceId: WorkspaceId
  readonly productId: ProductId
  readonly name: string
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}

/** A secret that the transaction holds, with its current version in each environment where it has one. */
export interface HeldSecret extends SecretRow {
  readonly versions: ReadonlyMap<EnvironmentId, number>
}

export type ProductPart = Pick<ProductRow, "id" | "slug" | "name" | "archivedAt">
export type EnvironmentPart = Pick<EnvironmentRow, "id" | "slug" | "name" | "class" | "emoji" | "archivedAt">

/** A pair that is deployed, or was and is no longer: its values are detached. Pairs never deployed are not listed. */
export interface PairState {
  readonly productId: ProductId
  readonly environmentId: EnvironmentId
  readonly deployed: boolean
}

/** What a call names of the catalog. */
export interface Targets {
  readonly products: ReadonlyArray<ProductPart>
  readonly environments: ReadonlyArray<EnvironmentPart>
  readonly deployments: ReadonlyArray<PairState>
}

/** One version of a secret, as it stands in an environment. */
export interface StandingVersion {
  readonly secretId: SecretId
  readonly environmentId: EnvironmentId
  readonly version: number
  readonly hasValue: boolean
  readonly at: Timestamp
  readonly by: Actor
  /** Only with `read`, and only where `isReadable`. */
  readonly sealed: Uint8Array | null
}

/** Secrets and all that an answer shows of them. */
export interface Facts extends Targets {
  readonly secrets: ReadonlyArray<SecretRow>
  readonly versions: ReadonlyArray<StandingVersion>
}

/** What is known of the audit row of a reading before it. */
type ReadingAudit = Omit<Audit, "entries" | "newName" | "action">

/** Which secrets an answer shows: by product (slug or id) and name, or one as an earlier answer showed it. */
export type Selection =
  | { readonly product?: string | undefined; readonly name?: string | undefined }
  | { readonly secretId: SecretId; readonly versions: ReadonlyArray<ShownVersion> }

export interface ShownVersion {
  readonly environmentId: EnvironmentId
  readonly version: number
  /** Whether the earlier answer showed the value. */
  readonly shown: boolean
}

/** A version to be written. */
export interface NewVersion {
  readonly secretId: SecretId
  readonly environmentId: EnvironmentId
  readonly version: number
  /** Null clears. */
  readonly sealed: Uint8Array | null
}

/** Who read or wrote which versions of a name, in which request. */
export interface Audit {
  readonly id: string
  readonly workspaceId: WorkspaceId
  readonly action: "read" | "create" | "update" | "delete" | "assign" | "generate"
  readonly actor: ActorRef
  readonly name: string
  readonly newName: string | null
  readonly entries: ReadonlyArray<AuditEntry>
  readonly requestId: string
  readonly at: Timestamp
}

export interface AuditEntry {
  readonly product: ProductId
  readonly environment: EnvironmentId
  readonly version: number
}

/** What changes together with its audit row and events. */
export interface Change {
  readonly audit: Audit
  readonly source: VersionSource
  readonly versions: ReadonlyArray<NewVersion>
  /** The new `updatedAt` of secrets. */
  readonly touched: ReadonlyArray<Pick<SecretRow, "id" | "updatedAt">>
  readonly deleted?: SecretId
  readonly events: ReadonlyArray<StoredEvent>
}

/** Which request it is: its id counts per workspace, caller and operation. */
export interface RequestKey {
  readonly workspaceId: WorkspaceId
  readonly actor: ActorRef
  readonly operation: "create" | "update" | "assign" | "generate"
  readonly requestId: string
}

/** A page of versions, and what of its path exists. */
export interface VersionPage {
  readonly hasProduct: boolean
  readonly hasSecret: boolean
  readonly hasEnvironment: boolean
  readonly versions: ReadonlyArray<{
    readonly version: number
    readonly hasValue: boolean
    readonly source: VersionSource
    readonly createdAt: Timestamp
    readonly createdBy: Actor
  }>
}

/**
 * Whether the value of a pair may be read at all: never in production, and not while it is detached from a deleted
 * deployment. SQL says the same, so that other values do not even leave the database.
 */
export const isReadable = (environmentClass: EnvironmentClass, deployed: boolean | undefined): boolean =>
  environmentClass !== "production" && deployed !== false

/**
 * Stores secrets, their versions, the requests that wrote them, and the audit.
 *
 * A writing transaction takes locks in this order, and no other: the request's row (`claim`), products and environments
 * by id, shared (`hold`), names in order (`holdNames`: whoever makes or renames secrets), secrets by id (`lock`). Rows
 * of values and versions need no locks of their own: the secret's lock stands for them.
 */
export class VaultRepo extends Context.Service<
  VaultRepo,
  {
    /**
     * What is shown of secrets, in one look-up. With `read`, values too where they are readable, and the audit row of
     * it where there is one.
     */
    readonly facts: (workspaceId: WorkspaceId, selection: Selection, read?: ReadingAudit) => Effect.Effect<Facts>
    /** Like the facts of the products and environments that refs (slug or id) name, but held until the transaction ends. */
    readonly hold: (
      workspaceId: WorkspaceId,
      refs: { readonly products: ReadonlyArray<string>; readonly environments: ReadonlyArray<string> }
    ) => Effect.Effect<Targets>
    /** Holds names of the workspace until the transaction ends: one at a time makes secrets of a name, or renames. */
    readonly holdNames: (workspaceId: WorkspaceId, ...names: ReadonlyArray<string>) => Effect.Effect<void>
    /** Holds the products' secrets of the name until the transaction ends; by id. */
    readonly lock: (
      workspaceId: WorkspaceId,
      productIds: ReadonlyArray<ProductId>,
      name: string
    ) => Effect.Effect<ReadonlyArray<HeldSecret>>
    readonly insert: (secrets: ReadonlyArray<SecretRow>) => Effect.Effect<void, UniqueViolation>
    readonly rename: (id: SecretId, name: string) => Effect.Effect<void, UniqueViolation>
    /** Stores versions, each the next of its pair, and what goes with them. The secrets are held. */
    readonly write: (change: Change) => Effect.Effect<void>
    /** Newest first, below `before`; the product and environment by slug or id. */
    readonly versions: (
      workspaceId: WorkspaceId,
      path: { readonly product: string; readonly name: string; readonly environment: string },
      page: { readonly before: number; readonly limit: number }
    ) => Effect.Effect<VersionPage>
    /** Sealed values of versions whose pairs are readable now and whose secrets are not deleted. */
    readonly sealed: (
      places: ReadonlyArray<Pick<NewVersion, "secretId" | "environmentId" | "version">>
    ) => Effect.Effect<ReadonlyArray<NewVersion>>
    /** Stores the audit row of values that were read without `facts`. */
    readonly audit: (audit: Audit) => Effect.Effect<void>
    /**
     * Claims a request for this transaction: undefined where it is the first, else what the first was and wrote. Waits
     * while another transaction has it claimed. A claim older than `expired` counts for nothing.
     */
    readonly claim: (
      key: RequestKey,
      claim: { readonly fingerprint: string; readonly at: Timestamp; readonly expired: Timestamp }
    ) => Effect.Effect<{ readonly fingerprint: string; readonly written: unknown } | undefined>
    /** Stores what the claimed request wrote: versions, never values. */
    readonly record: (key: RequestKey, written: unknown) => Effect.Effect<void>
    /** Erases some secrets deleted before an instant, with their versions, and some requests; how many of either. */
    readonly erase: (
      before: { readonly deleted: Timestamp; readonly requests: Timestamp },
      limit: number
    ) => Effect.Effect<number>
  }
>()("@delivery/server/vault/VaultRepo") {
  static readonly layerSql = Layer.effectContext(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const named = (alias: string, refs: ReadonlyArray<string>) =>
        sql`(${sql.literal(alias)}.id = any(${uuids(refs.filter(isId))})
          or ${sql.literal(alias)}.slug = any(${texts(refs.filter(isSlug), (ref) => ref)}))`
      const productData = sql.literal(
        "'product' as kind, jsonb_build_array(p.id, p.slug, p.name, p.archived_at) as data"
      )
      const environmentData = sql.literal(
        "'environment' as kind, jsonb_build_array(e.id, e.slug, e.name, e.class, e.emoji, e.archived_at) as data"
      )
      const deploymentData = sql.literal(
        "'deployment' as kind, jsonb_build_array(d.product_id, d.environment_id, d.now) as data"
      )

      const insertVersions = (change: Change, versions: ReadonlyArray<NewVersion>) => {
        const { actor, at, workspaceId } = change.audit
        return sql`new_versions as (
          select * from unnest(${uuids(versions.map((version) => version.secretId))},
            ${uuids(versions.map((version) => version.environmentId))},
            ${column(versions, PgTypes.OID.int4, (version) => version.version)},
            ${column(versions, PgTypes.OID.bytea, (version) => version.sealed)}
          ) as n (secret_id, environment_id, version, sealed)
        ), kept as (
          insert into secret_versions (workspace_id, secret_id, environment_id, version, source, sealed, actor_kind,
            actor_id, created_at)
          select ${workspaceId}, secret_id, environment_id, version, ${change.source}, sealed, ${actor.kind}, ${actor.id},
            ${date(at)} from new_versions
        ), current as (
          insert into secret_values (workspace_id, secret_id, environment_id, version)
          select ${workspaceId}, secret_id, environment_id, version from new_versions
          on conflict (secret_id, environment_id) do update set version = excluded.version
        )`
      }

      const insertAudit = ({ actor, at, ...audit }: Audit) =>
        sql`insert into vault_audit (id, workspace_id, action, actor_kind, actor_id, name, new_name, entries, request_id,
            created_at)
          values (${audit.id}, ${audit.workspaceId}, ${audit.action}, ${actor.kind}, ${actor.id}, ${audit.name},
            ${audit.newName}, ${sql.json(audit.entries)}, ${audit.requestId}, ${date(at)})`

      const ofRequest = ({ actor, operation, requestId, workspaceId }: RequestKey) =>
        sql`workspace_id = ${workspaceId} and actor_kind = ${actor.kind} and actor_id = ${actor.id}
          and operation = ${operation} and request_id = ${requestId}`

      interface Parts {
        readonly chosen: Statement.Fragment
        readonly pairs: Statement.Fragment
        readonly products: Statement.Fragment
        readonly environments: Statement.Fragment
        readonly read: ReadingAudit | undefined
      }
      const factsOf = (workspaceId: WorkspaceId, parts: Parts) => {
        const { read } = parts
        const audited =
          read === undefined
            ? sql``
            : sql`, audited as (
                insert into vault_audit (id, workspace_id, action, actor_kind, actor_id, name, entries, request_id,
                  created_at)
                select ${read.id}::uuid, ${workspaceId}::uuid, 'read', ${read.actor.kind}, ${read.actor.id}::uuid,
                  ${read.name}, jsonb_agg(jsonb_build_object('product', product_id, 'environment', environment_id,
                    'version', version)), ${read.requestId}, ${date(read.at)}
                from standing where sealed is not null having count(*) > 0
              )`
        return sql<FactRow>`with chosen as (${parts.chosen}), pairs as (${parts.pairs}), deployed as (
            select d.product_id, d.environment_id, bool_or(d.deleted_at is null) as now from deployments d
            where d.workspace_id = ${workspaceId}
              and d.product_id in (select p.id from products p where p.workspace_id = ${workspaceId} and ${parts.products})
            group by d.product_id, d.environment_id
          ), standing as (
            select v.*, h.created_at, h.actor_kind, h.actor_id, h.sealed is not null as has_value,
              case when ${parts.read !== undefined} and v.shown and e.class <> 'production' and d.now is distinct from false
                then h.sealed end as sealed
            from pairs v
            join secret_versions h on h.secret_id = v.secret_id and h.environment_id = v.environment_id
              and h.version = v.version
            join environments e on e.id = v.environment_id
            left join deployed d on d.product_id = v.product_id and d.environment_id = v.environment_id
          )${audited}
          select ${productData}, null::bytea as sealed from products p
            where p.workspace_id = ${workspaceId} and ${parts.products}
          union all select ${environmentData}, null from environments e
            where e.workspace_id = ${workspaceId} and ${parts.environments}
          union all select ${deploymentData}, null from deployed d
          union all select 'secret', jsonb_build_array(c.id, c.product_id, c.name, c.created_at, c.updated_at), null
            from chosen c
          union all select 'version', jsonb_build_array(v.secret_id, v.environment_id, v.version, v.has_value,
              v.created_at, v.actor_kind, v.actor_id, coalesce(actor_person.name, actor_key.name), actor_person.email),
              v.sealed
            from standing v ${actorJoins(sql, "v.actor")}`
      }
      /** The parts for secrets as they are now. */
      const current = {
        pairs: sql`select c.id as secret_id, c.product_id, v.environment_id, v.version, true as shown
          from chosen c join secret_values v on v.secret_id = c.id`,
        environments: sql`(e.archived_at is null or e.id in (select environment_id from pairs))`
      }
      const live = (workspaceId: WorkspaceId) =>
        sql`select s.* from secrets s where s.workspace_id = ${workspaceId} and s.deleted_at is null`
      const ofProduct = (workspaceId: WorkspaceId, products: Statement.Fragment) =>
        sql`and s.product_id in (select p.id from products p where p.workspace_id = ${workspaceId} and ${products})`
      const findAsked = prepared(
        sql,
        (
          workspaceIds: PgTypes.Parameter,
          productIds: PgTypes.Parameter,
          slugs: PgTypes.Parameter,
          names: PgTypes.Parameter,
          ids: PgTypes.Parameter,
          actorKinds: PgTypes.Parameter,
          actorIds: PgTypes.Parameter,
          requestIds: PgTypes.Parameter,
          times: PgTypes.Parameter
        ) => sql<AskedRow>`with asked as (
            select place::int, workspace_id, product_id, slug, name, id, actor_kind, actor_id, request_id, at
            from unnest(${workspaceIds}::uuid[], ${productIds}::uuid[], ${slugs}::text[], ${names}::text[],
              ${ids}::uuid[], ${actorKinds}::text[], ${actorIds}::uuid[], ${requestIds}::text[],
              ${times}::timestamptz[]) with ordinality
              as a (workspace_id, product_id, slug, name, id, actor_kind, actor_id, request_id, at, place)
          ), p as (
            select a.place, p.workspace_id, p.id, p.slug, p.name, p.archived_at, s.id as secret_id,
              s.name as secret_name, s.created_at, s.updated_at, a.id is not null as is_reading
            from asked a
            join products p on p.workspace_id = a.workspace_id and p.id = coalesce(a.product_id,
              (select id from products where workspace_id = a.workspace_id and slug = a.slug))
            left join secrets s on s.workspace_id = p.workspace_id and s.product_id = p.id and s.name = a.name
              and s.deleted_at is null
          ), standing as (
            select p.place, p.id as product_id, e.id, e.slug, e.name, e.class, e.emoji, e.archived_at, d.now as deployed,
              v.version, h.created_at, h.actor_kind, h.actor_id, h.sealed is not null as has_value,
              case when p.is_reading and e.class <> 'production' and d.now is distinct from false then h.sealed end
                as sealed
            from p join environments e on e.workspace_id = p.workspace_id
            left join secret_values v on v.secret_id = p.secret_id and v.environment_id = e.id
            left join secret_versions h on h.secret_id = v.secret_id and h.environment_id = v.environment_id
              and h.version = v.version
            left join lateral (
              select bool_or(d.deleted_at is null) as now from deployments d
              where d.workspace_id = p.workspace_id and d.product_id = p.id and d.environment_id = e.id
            ) d on true
            where e.archived_at is null or v.version is not null
          ), audited as (
            insert into vault_audit (id, workspace_id, action, actor_kind, actor_id, name, entries, request_id,
              created_at)
            select a.id, a.workspace_id, 'read', a.actor_kind, a.actor_id, a.name, read.entries, a.request_id, a.at
            from asked a join (
              select place, jsonb_agg(jsonb_build_object('product', product_id, 'environment', id,
                'version', version)) as entries
              from standing where sealed is not null group by place
            ) read on read.place = a.place
          )
          select place, true as "isHead", json_build_array(id, slug, name, archived_at, secret_id, secret_name,
            created_at, updated_at) as data, null::bytea as sealed
          from p
          union all
          select s.place, false, json_build_array(s.id, s.slug, s.name, s.class, s.emoji, s.archived_at, s.deployed,
            s.version, s.has_value, s.created_at, s.actor_kind, s.actor_id,
            coalesce(actor_person.name, actor_key.name), actor_person.email), s.sealed
          from standing s ${actorJoins(sql, "s.actor")}`
      )
      /** Secrets that requests ask for most are read together, and their readings are one write. */
      const ask = batched(
        sql,
        (asked: ReadonlyArray<Asked>) =>
          findAsked(
            uuids(asked.map(({ workspaceId }) => workspaceId)),
            ...idsAndSlugs(asked, ({ product }) => product),
            texts(asked, ({ name }) => name),
            column(asked, PgTypes.OID.uuid, ({ read }) => read?.id),
            texts(asked, ({ read }) => read?.actor.kind),
            column(asked, PgTypes.OID.uuid, ({ read }) => read?.actor.id),
            texts(asked, ({ read }) => read?.requestId),
            column(asked, PgTypes.OID.timestamptz, ({ read }) => read && date(read.at))
          ).pipe(
            Effect.map((rows) => {
              const found = Map.groupBy(rows, ({ place }) => place)
              return asked.map(({ workspaceId }, index) => readAsked(workspaceId, found.get(index + 1) ?? []))
            }),
            dieOnSqlError
          ),
        { running: 2 }
      )

      const repo = VaultRepo.of({
        facts: (workspaceId, selection, read) => {
          if ("product" in selection && selection.product !== undefined && selection.name !== undefined) {
            return ask({ workspaceId, product: selection.product, name: selection.name, read })
          }
          const statement = (): Statement.Statement<FactRow> => {
            if ("secretId" in selection) {
              const shown = selection.versions
              return factsOf(workspaceId, {
                chosen: sql`select s.* from secrets s where s.workspace_id = ${workspaceId} and s.id = ${selection.secretId}`,
                pairs: sql`select c.id as secret_id, c.product_id, v.environment_id, v.version, v.shown and c.deleted_at is null as shown
                  from chosen c, unnest(${uuids(shown.map(({ environmentId }) => environmentId))},
                    ${column(shown, PgTypes.OID.int4, ({ version }) => version)},
                    ${column(shown, PgTypes.OID.bool, ({ shown }) => shown)}
                  ) as v (environment_id, version, shown)`,
                products: sql`p.id in (select product_id from chosen)`,
                environments: sql`e.id in (select environment_id from pairs)`,
                read
              })
            }
            const { name, product } = selection
            const products =
              product === undefined ? sql`p.id in (select product_id from chosen)` : named("p", [product])
            const chosen = sql`${live(workspaceId)}
              ${product === undefined ? sql`` : ofProduct(workspaceId, products)}
              ${name === undefined ? sql`` : sql`and s.name = ${name}`}`
            return factsOf(workspaceId, { ...current, chosen, products, read })
          }
          return statement().pipe(
            Effect.map((rows) => readFacts(workspaceId, rows)),
            dieOnSqlError
          )
        },

        hold: (workspaceId, { environments, products }) =>
          sql<FactRow>`with p as (
              select p.id, p.slug, p.name, p.archived_at from products p
              where p.workspace_id = ${workspaceId} and ${named("p", products)} order by p.id for share
            ), e as (
              select e.id, e.slug, e.name, e.class, e.emoji, e.archived_at from environments e
              where e.workspace_id = ${workspaceId} and ${named("e", environments)} order by e.id for share
            ), d as (
              select product_id, environment_id, bool_or(deleted_at is null) as now from deployments
              where workspace_id = ${workspaceId} and product_id in (select id from p)
                and environment_id in (select id from e)
              group by product_id, environment_id
            )
            select ${productData}, null::bytea as sealed from p
            union all select ${environmentData}, null from e
            union all select ${deploymentData}, null from d`.pipe(
            Effect.map((rows) => readFacts(workspaceId, rows)),
            dieOnSqlError
          ),

        holdNames: (workspaceId, ...names) =>
          dieOnSqlError(
            Effect.forEach(
              names.toSorted(compare),
              (name) => sql`select pg_advisory_xact_lock(hashtextextended(${`vault:${workspaceId}:${name}`}, 0))::text`,
              { discard: true }
            )
          ),

        lock: (workspaceId, productIds, name) =>
          Effect.gen(function* () {
            const secrets =
              yield* sql<SecretSqlRow>`select id, workspace_id as "workspaceId", product_id as "productId",
                name, created_at as "createdAt", updated_at as "updatedAt" from secrets
              where workspace_id = ${workspaceId} and product_id = any(${uuids(productIds)}) and name = ${name}
                and deleted_at is null
              order by id for update`
            if (secrets.length === 0) return []
            // A statement of its own: it must see what was committed while the one before waited.
            const current = yield* sql<{ secretId: SecretId; environmentId: EnvironmentId; version: number }>`
              select secret_id as "secretId", environment_id as "environmentId", version from secret_values
              where secret_id = any(${uuids(secrets.map(({ id }) => id))})`
            return withVersions(
              secrets.map((row) => ({ ...row, createdAt: iso(row.createdAt), updatedAt: iso(row.updatedAt) })),
              current
            )
          }).pipe(dieOnSqlError),

        insert: (secrets) =>
          failOnDuplicate(
            Effect.asVoid(sql`insert into secrets (id, workspace_id, product_id, name, created_at, updated_at)
              select * from unnest(${uuids(secrets.map(({ id }) => id))},
                ${uuids(secrets.map(({ workspaceId }) => workspaceId))},
                ${uuids(secrets.map(({ productId }) => productId))}, ${texts(secrets, ({ name }) => name)},
                ${column(secrets, PgTypes.OID.timestamptz, ({ createdAt }) => date(createdAt))},
                ${column(secrets, PgTypes.OID.timestamptz, ({ updatedAt }) => date(updatedAt))})`)
          ),

        rename: (id, name) => failOnDuplicate(Effect.asVoid(sql`update secrets set name = ${name} where id = ${id}`)),

        write: (change) =>
          Effect.gen(function* () {
            const { at } = change.audit
            const [last = [], ...others] = slices(change.versions)
            for (const slice of others) yield* sql`with ${insertVersions(change, slice)} select 1`
            const { events } = change
            yield* sql`with ${insertVersions(change, last)}, touched as (
                update secrets s set updated_at = t.updated_at
                from unnest(${uuids(change.touched.map(({ id }) => id))},
                  ${column(change.touched, PgTypes.OID.timestamptz, ({ updatedAt }) => date(updatedAt))}
                ) as t (id, updated_at)
                where s.id = t.id
              ), deleted as (
                update secrets set deleted_at = ${date(at)} where id = any(${uuids(
                  change.deleted === undefined ? [] : [change.deleted]
                )})
              ), audited as (
                ${insertAudit(change.audit)}
              ), told_of as (
                select id, ${change.audit.workspaceId}::uuid as workspace_id, kind,
                  ${change.audit.actor.kind} as actor_kind, ${change.audit.actor.id}::uuid as actor_id,
                  'secret' as subject_type, subject_id, subject_label, subject_path, changes::jsonb as changes,
                  ${date(at)}::timestamptz as created_at
                from unnest(${uuids(events.map(({ id }) => id))}, ${texts(events, (event) => event.kind)},
                  ${texts(events, (event) => event.subjectId)}, ${texts(events, (event) => event.subjectLabel)},
                  ${texts(events, (event) => event.subjectPath)},
                  ${texts(events, (event) => JSON.stringify(event.changes))}
                ) as t (id, kind, subject_id, subject_label, subject_path, changes)
              ), told as (
                ${insertEventRows(sql, "told_of")}
              ) select 1`
          }).pipe(dieOnSqlError),

        versions: (workspaceId, { environment, name, product }, { before, limit }) =>
          sql<VersionSqlRow>`with p as (
              select p.id from products p where p.workspace_id = ${workspaceId} and ${named("p", [product])}
            ), s as (
              select s.id from secrets s join p on p.id = s.product_id
              where s.workspace_id = ${workspaceId} and s.name = ${name} and s.deleted_at is null
            ), e as (
              select e.id from environments e where e.workspace_id = ${workspaceId} and ${named("e", [environment])}
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
            order by v.version desc`.pipe(
            Effect.map((rows): VersionPage => ({
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
            })),
            dieOnSqlError
          ),

        sealed: (places) =>
          dieOnSqlError(sql<NewVersion>`select h.secret_id as "secretId", h.environment_id as "environmentId", h.version,
              h.sealed
            from unnest(${uuids(places.map((place) => place.secretId))},
              ${uuids(places.map((place) => place.environmentId))},
              ${column(places, PgTypes.OID.int4, (place) => place.version)}) as v (secret_id, environment_id, version)
            join secrets s on s.id = v.secret_id and s.deleted_at is null
            join secret_versions h on h.secret_id = v.secret_id and h.environment_id = v.environment_id
              and h.version = v.version
            join environments e on e.id = h.environment_id and e.class <> 'production'
            left join lateral (
              select bool_or(deleted_at is null) as now from deployments
              where workspace_id = s.workspace_id and product_id = s.product_id and environment_id = e.id
            ) d on true
            where d.now is distinct from false`),

        audit: (audit) => dieOnSqlError(Effect.asVoid(insertAudit(audit))),

        claim: (key, { at, expired, fingerprint }) =>
          Effect.gen(function* () {
            const claimed = yield* sql`insert into vault_requests (workspace_id, actor_kind, actor_id, operation,
                request_id, fingerprint, created_at)
              values (${key.workspaceId}, ${key.actor.kind}, ${key.actor.id}, ${key.operation}, ${key.requestId},
                ${fingerprint}, ${date(at)})
              on conflict (workspace_id, actor_kind, actor_id, operation, request_id)
                do update set fingerprint = excluded.fingerprint, created_at = excluded.created_at, written = null
                where vault_requests.created_at <= ${date(expired)}
              returning 1`
            if (claimed.length === 1) return undefined
            const [first] = yield* sql<{ fingerprint: string; written: unknown }>`select fingerprint, written
              from vault_requests where ${ofRequest(key)}`
            return first
          }).pipe(dieOnSqlError),

        record: (key, written) =>
          dieOnSqlError(
            Effect.asVoid(sql`update vault_requests set written = ${sql.json(written)} where ${ofRequest(key)}`)
          ),

        erase: ({ deleted, requests }, limit) =>
          Effect.gen(function* () {
            const secrets = yield* sql`with gone as (
                select id from secrets where deleted_at < ${date(deleted)} order by deleted_at limit ${limit}
                for update skip locked
              ), erased_values as (
                delete from secret_values where secret_id in (select id from gone)
              ), erased_versions as (
                delete from secret_versions where secret_id in (select id from gone)
              )
              delete from secrets where id in (select id from gone) returning id`
            const keys = yield* sql`delete from vault_requests where ctid in (
                select ctid from vault_requests where created_at < ${date(requests)} limit ${limit}
                for update skip locked
              ) returning 1`
            return secrets.length + keys.length
          }).pipe(dieOnSqlError)
      })

      return Context.make(VaultRepo, repo).pipe(
        Context.add(SecretHoldings, {
          holdsValues: (environmentId) =>
            sql`select 1 from secret_values v
              join secrets s on s.id = v.secret_id and s.deleted_at is null
              join secret_versions h on h.secret_id = v.secret_id and h.environment_id = v.environment_id
                and h.version = v.version and h.sealed is not null
              where v.environment_id = ${environmentId} limit 1`.pipe(
              Effect.map((rows) => rows.length === 1),
              dieOnSqlError
            )
        })
      )
    })
  )

  static readonly layerMemory = Layer.effectContext(
    Effect.gen(function* () {
      const memory = yield* MemoryStorage

      const deploymentsOf = (database: MemoryDatabase, isIn: (row: DeploymentRow) => boolean) => {
        const pairs = new Map<string, PairState>()
        for (const row of database.table(deployments).filter(isIn)) {
          const key = `${row.productId} ${row.environmentId}`
          pairs.set(key, {
            productId: row.productId,
            environmentId: row.environmentId,
            deployed: row.deletedAt === null || (pairs.get(key)?.deployed ?? false)
          })
        }
        return Array.from(pairs.values())
      }
      const current = (database: MemoryDatabase, secretId: SecretId) =>
        tablesOf(database).values.filter((row) => row.secretId === secretId)

      const repo = VaultRepo.of({
        facts: (workspaceId, selection, read) =>
          memory.write((database) =>
            Effect.sync(() => {
              const tables = tablesOf(database)
              const isProduct = (product: ProductRow) =>
                product.workspaceId === workspaceId &&
                (!("product" in selection) || selection.product === undefined || isNamed([selection.product])(product))
              const named = database.table<ProductRow>("products").filter(isProduct)
              const secrets = tables.secrets.filter((secret) =>
                "secretId" in selection
                  ? secret.id === selection.secretId && secret.workspaceId === workspaceId
                  : secret.workspaceId === workspaceId &&
                    !secret.deletedAt &&
                    named.some((product) => product.id === secret.productId) &&
                    (selection.name === undefined || secret.name === selection.name)
              )
              const products =
                "product" in selection && selection.product !== undefined
                  ? named
                  : named.filter((product) => secrets.some((secret) => secret.productId === product.id))
              const deployments = deploymentsOf(
                database,
                (row) => row.workspaceId === workspaceId && products.some((product) => product.id === row.productId)
              )
              const standing = secrets.flatMap((secret) =>
                ("secretId" in selection
                  ? selection.versions
                  : current(database, secret.id).map((row) => ({ ...row, shown: true }))
                ).flatMap(({ environmentId, shown, version }) => {
                  const stored = tables.versions.get(versionKey({ secretId: secret.id, environmentId, version }))
                  if (stored === undefined) return []
                  const environment = database.table<EnvironmentRow>("environments").get(environmentId)!
                  const pair = deployments.find(
                    (pair) => pair.productId === secret.productId && pair.environmentId === environmentId
                  )
                  const isShown =
                    read !== undefined && shown && !secret.deletedAt && isReadable(environment.class, pair?.deployed)
                  return [
                    {
                      secretId: secret.id,
                      environmentId,
                      version,
                      hasValue: stored.sealed !== null,
                      at: stored.at,
                      by: resolveActor(database, stored.actor),
                      sealed: isShown ? stored.sealed : null,
                      productId: secret.productId
                    }
                  ]
                })
              )
              const isInPairs = ({ id }: EnvironmentRow) =>
                "secretId" in selection
                  ? selection.versions.some(({ environmentId }) => environmentId === id)
                  : standing.some(({ environmentId }) => environmentId === id)
              const environments = database
                .table<EnvironmentRow>("environments")
                .filter(
                  (environment) =>
                    environment.workspaceId === workspaceId &&
                    (isInPairs(environment) || (environment.archivedAt === null && !("secretId" in selection)))
                )
              const seen = standing.filter((version) => version.sealed !== null)
              if (read !== undefined && seen.length > 0) {
                const entries = seen.map(({ environmentId, productId, version }) => ({
                  product: productId,
                  environment: environmentId,
                  version
                }))
                tables.audit.set(read.id, { ...read, action: "read", newName: null, entries })
              }
              return { products, environments, deployments, secrets, versions: standing }
            })
          ),

        hold: (workspaceId, refs) =>
          memory.read((database) => {
            const products = database
              .table<ProductRow>("products")
              .filter((row) => row.workspaceId === workspaceId && isNamed(refs.products)(row))
            const environments = database
              .table<EnvironmentRow>("environments")
              .filter((row) => row.workspaceId === workspaceId && isNamed(refs.environments)(row))
            const deployments = deploymentsOf(
              database,
              (row) =>
                products.some(({ id }) => id === row.productId) &&
                environments.some(({ id }) => id === row.environmentId)
            )
            return { products, environments, deployments }
          }),

        holdNames: () => Effect.void,

        lock: (workspaceId, productIds, name) =>
          memory.read((database) => {
            const secrets = tablesOf(database)
              .secrets.filter(
                (secret) =>
                  secret.workspaceId === workspaceId &&
                  productIds.includes(secret.productId) &&
                  secret.name === name &&
                  !secret.deletedAt
              )
              .toSorted((a, b) => compare(a.id, b.id))
            return withVersions(
              secrets,
              secrets.flatMap(({ id }) => current(database, id))
            )
          }),

        insert: (secrets) =>
          memory.write((database) =>
            Effect.gen(function* () {
              for (const secret of secrets) yield* putSecret(database, secret)
            })
          ),

        rename: (id, name) =>
          memory.write((database) => putSecret(database, { ...tablesOf(database).secrets.get(id)!, name })),

        write: (change) =>
          memory.write((database) =>
            Effect.sync(() => {
              const tables = tablesOf(database)
              const { actor, at } = change.audit
              for (const version of change.versions) {
                tables.versions.set(versionKey(version), { ...version, source: change.source, actor, at })
                const { environmentId, secretId } = version
                tables.values.set(`${secretId} ${environmentId}`, { secretId, environmentId, version: version.version })
              }
              for (const { id, updatedAt } of change.touched) {
                tables.secrets.set(id, { ...tables.secrets.get(id)!, updatedAt })
              }
              if (change.deleted !== undefined) {
                tables.secrets.set(change.deleted, { ...tables.secrets.get(change.deleted)!, deletedAt: at })
              }
              tables.audit.set(change.audit.id, change.audit)
              for (const event of change.events) database.table<StoredEvent>("events").set(event.id, event)
            })
          ),

        versions: (workspaceId, path, { before, limit }) =>
          memory.read((database) => {
            const product = database
              .table<ProductRow>("products")
              .find((row) => row.workspaceId === workspaceId && isNamed([path.product])(row))
            const environment = database
              .table<EnvironmentRow>("environments")
              .find((row) => row.workspaceId === workspaceId && isNamed([path.environment])(row))
            const secret = tablesOf(database).secrets.find(
              (row) => row.productId === product?.id && row.name === path.name && !row.deletedAt
            )
            return {
              hasProduct: product !== undefined,
              hasSecret: secret !== undefined,
              hasEnvironment: environment !== undefined,
              versions: tablesOf(database)
                .versions.filter(
                  (row) => row.secretId === secret?.id && row.environmentId === environment?.id && row.version < before
                )
                .toSorted((a, b) => b.version - a.version)
                .slice(0, limit)
                .map(({ actor, at, sealed, source, version }) => ({
                  version,
                  hasValue: sealed !== null,
                  source,
                  createdAt: at,
                  createdBy: resolveActor(database, actor)
                }))
            }
          }),

        sealed: (places) =>
          memory.read((database) =>
            places.flatMap((place) => {
              const tables = tablesOf(database)
              const secret = tables.secrets.get(place.secretId)
              const version = tables.versions.get(versionKey(place))
              const environment = database.table<EnvironmentRow>("environments").get(place.environmentId)
              if (secret === undefined || secret.deletedAt || version === undefined || environment === undefined)
                return []
              const [pair] = deploymentsOf(
                database,
                (row) => row.productId === secret.productId && row.environmentId === place.environmentId
              )
              return isReadable(environment.class, pair?.deployed) ? [version] : []
            })
          ),

        audit: (audit) => memory.write((database) => Effect.sync(() => tablesOf(database).audit.set(audit.id, audit))),

        claim: (key, { at, expired, fingerprint }) =>
          memory.write((database) =>
            Effect.sync(() => {
              const { requests } = tablesOf(database)
              const name = requestKey(key)
              const first = requests.get(name)
              if (first !== undefined && first.createdAt > expired) return first
              requests.set(name, { key: name, fingerprint, written: null, createdAt: at })
              return undefined
            })
          ),

        record: (key, written) =>
          memory.write((database) =>
            Effect.sync(() => {
              const { requests } = tablesOf(database)
              requests.set(requestKey(key), { ...requests.get(requestKey(key))!, written })
            })
          ),

        erase: ({ deleted, requests: requestsBefore }, limit) =>
          memory.write((database) =>
            Effect.sync(() => {
              const { requests, secrets, values, versions } = tablesOf(database)
              const gone = secrets
                .filter((secret) => secret.deletedAt !== undefined && secret.deletedAt < deleted)
                .slice(0, limit)
              for (const { id } of gone) {
                for (const row of values.filter((row) => row.secretId === id)) {
                  values.delete(`${row.secretId} ${row.environmentId}`)
                }
                for (const row of versions.filter((row) => row.secretId === id)) versions.delete(versionKey(row))
                secrets.delete(id)
              }
              const old = requests.filter((request) => request.createdAt < requestsBefore).slice(0, limit)
              for (const { key } of old) requests.delete(key)
              return gone.length + old.length
            })
          )
      })

      return Context.make(VaultRepo, repo).pipe(
        Context.add(SecretHoldings, {
          holdsValues: (environmentId) =>
            memory.read((database) => {
              const { secrets, values, versions } = tablesOf(database)
              return (
                values.find(
                  (row) =>
                    row.environmentId === environmentId &&
                    !secrets.get(row.secretId)?.deletedAt &&
                    versions.get(versionKey(row))?.sealed !== null
                ) !== undefined
              )
            })
        })
      )
    })
  )
}

/** Bytes of sealed values that one statement carries at most, unless a single value is larger. */
const sliceBytes = 4 * 1024 * 1024

const slices = (versions: ReadonlyArray<NewVersion>): ReadonlyArray<ReadonlyArray<NewVersion>> => {
  const found: Array<Array<NewVersion>> = []
  let bytes = 0
  for (const version of versions) {
    const size = version.sealed?.length ?? 0
    if (found.length === 0 || bytes + size > sliceBytes) {
      found.push([])
      bytes = 0
    }
    found.at(-1)!.push(version)
    bytes += size
  }
  return found
}

const withVersions = (
  secrets: ReadonlyArray<SecretRow>,
  current: ReadonlyArray<{
    readonly secretId: SecretId
    readonly environmentId: EnvironmentId
    readonly version: number
  }>
): ReadonlyArray<HeldSecret> => {
  const versions = new Map(secrets.map(({ id }) => [id, new Map<EnvironmentId, number>()]))
  for (const row of current) versions.get(row.secretId)?.set(row.environmentId, row.version)
  return secrets.map((secret) => ({ ...secret, versions: versions.get(secret.id)! }))
}

type SecretSqlRow = Omit<SecretRow, "createdAt" | "updatedAt"> & { readonly createdAt: Date; readonly updatedAt: Date }

type VersionSqlRow = ActorRow &
  Pick<VersionPage, "hasProduct" | "hasSecret" | "hasEnvironment"> & {
    readonly version: number | null
    readonly hasValue: boolean
    readonly source: VersionSource
    readonly createdAt: Date
  }

type Instant = string

/** One row of the answer of many kinds: its columns in a JSON array. */
type FactRow = { readonly sealed: Uint8Array | null } & (
  | { readonly kind: "product"; readonly data: [ProductId, string, string, Instant | null] }
  | {
      readonly kind: "environment"
      readonly data: [EnvironmentId, string, string, EnvironmentClass, string | null, Instant | null]
    }
  | { readonly kind: "deployment"; readonly data: [ProductId, EnvironmentId, boolean] }
  | { readonly kind: "secret"; readonly data: [SecretId, ProductId, string, Instant, Instant] }
  | {
      readonly kind: "version"
      readonly data: [
        SecretId,
        EnvironmentId,
        number,
        boolean,
        Instant,
        ActorRow["actorKind"],
        string,
        string | null,
        string | null
      ]
    }
)

const instantOrNull = (text: Instant | null): Timestamp | null => (text === null ? null : isoOfJson(text))

const readFacts = (workspaceId: WorkspaceId, rows: ReadonlyArray<FactRow>): Facts => {
  const products: Array<ProductPart> = []
  const environments: Array<EnvironmentPart> = []
  const deployments: Array<PairState> = []
  const secrets: Array<SecretRow> = []
  const versions: Array<StandingVersion> = []
  for (const row of rows) {
    switch (row.kind) {
      case "product": {
        const [id, slug, name, archivedAt] = row.data
        products.push({ id, slug, name, archivedAt: instantOrNull(archivedAt) })
        break
      }
      case "environment": {
        const [id, slug, name, environmentClass, emoji, archivedAt] = row.data
        environments.push({ id, slug, name, class: environmentClass, emoji, archivedAt: instantOrNull(archivedAt) })
        break
      }
      case "deployment": {
        const [productId, environmentId, deployed] = row.data
        deployments.push({ productId, environmentId, deployed })
        break
      }
      case "secret": {
        const [id, productId, name, createdAt, updatedAt] = row.data
        secrets.push({
          id,
          workspaceId,
          productId,
          name,
          createdAt: isoOfJson(createdAt),
          updatedAt: isoOfJson(updatedAt)
        })
        break
      }
      case "version": {
        const [secretId, environmentId, version, hasValue, at, actorKind, actorId, actorName, actorEmail] = row.data
        const by = readActor({ actorKind, actorId, actorName, actorEmail })
        versions.push({ secretId, environmentId, version, hasValue, at: isoOfJson(at), by, sealed: row.sealed })
      }
    }
  }
  return { products, environments, deployments, secrets, versions }
}

/** One secret that a request asks for. */
interface Asked {
  readonly workspaceId: WorkspaceId
  readonly product: string
  readonly name: string
  readonly read: ReadingAudit | undefined
}

/** A row of the answer to those that asked: the product with the secret, or an environment with its version. */
type AskedRow = { readonly place: number; readonly sealed: Uint8Array | null } & (
  | {
      readonly isHead: true
      readonly data: [
        ...product: [ProductId, string, string, Instant | null],
        ...secret: [SecretId, string, Instant, Instant] | [null, null, null, null]
      ]
    }
  | {
      readonly isHead: false
      readonly data: [
        ...environment: [EnvironmentId, string, string, EnvironmentClass, string | null, Instant | null],
        deployed: boolean | null,
        version: number | null,
        hasValue: boolean,
        at: Instant,
        actorKind: ActorRow["actorKind"],
        actorId: string,
        actorName: string | null,
        actorEmail: string | null
      ]
    }
)

const readAsked = (workspaceId: WorkspaceId, rows: ReadonlyArray<AskedRow>): Facts => {
  const head = rows.find((row) => row.isHead)
  if (head === undefined) return { products: [], environments: [], deployments: [], secrets: [], versions: [] }
  const [productId, slug, name, archivedAt, secretId, secretName, createdAt, updatedAt] = head.data
  const environments: Array<EnvironmentPart> = []
  const deployments: Array<PairState> = []
  const versions: Array<StandingVersion> = []
  for (const row of rows) {
    if (row.isHead) continue
    const [id, slug, name, environmentClass, emoji, archivedAt, deployed, version, hasValue, at, ...actor] = row.data
    environments.push({ id, slug, name, class: environmentClass, emoji, archivedAt: instantOrNull(archivedAt) })
    if (deployed !== null) deployments.push({ productId, environmentId: id, deployed })
    if (secretId !== null && version !== null) {
      const [actorKind, actorId, actorName, actorEmail] = actor
      const by = readActor({ actorKind, actorId, actorName, actorEmail })
      versions.push({ secretId, environmentId: id, version, hasValue, at: isoOfJson(at), by, sealed: row.sealed })
    }
  }
  return {
    products: [{ id: productId, slug, name, archivedAt: instantOrNull(archivedAt) }],
    environments,
    deployments,
    secrets:
      secretId === null
        ? []
        : [
            {
              id: secretId,
              workspaceId,
              productId,
              name: secretName,
              createdAt: isoOfJson(createdAt),
              updatedAt: isoOfJson(updatedAt)
            }
          ],
    versions
  }
}

interface MemorySecret extends SecretRow {
  readonly deletedAt?: Timestamp
}

interface MemoryVersion extends NewVersion {
  readonly source: VersionSource
  readonly actor: ActorRef
  readonly at: Timestamp
}

type MemoryValue = Pick<NewVersion, "secretId" | "environmentId" | "version">

interface MemoryRequest {
  readonly key: string
  readonly fingerprint: string
  readonly written: unknown
  readonly createdAt: Timestamp
}

const tablesOf = (database: MemoryDatabase) => ({
  secrets: database.table<MemorySecret>("secrets"),
  values: database.table<MemoryValue>("secret_values"),
  versions: database.table<MemoryVersion>("secret_versions"),
  requests: database.table<MemoryRequest>("vault_requests"),
  audit: database.table<Audit>("vault_audit")
})

const versionKey = ({ environmentId, secretId, version }: MemoryValue) => `${secretId} ${environmentId} ${version}`

const requestKey = ({ actor, operation, requestId, workspaceId }: RequestKey) =>
  `${workspaceId} ${actor.kind} ${actor.id} ${operation} ${requestId}`

const isNamed = (refs: ReadonlyArray<string>) => (row: { readonly id: string; readonly slug: string }) =>
  refs.includes(row.id) || refs.includes(row.slug)

const putSecret = (database: MemoryDatabase, secret: MemorySecret) => {
  const { secrets } = tablesOf(database)
  const isTaken = (other: MemorySecret) =>
    !other.deletedAt && other.productId === secret.productId && other.name === secret.name && other.id !== secret.id
  return secrets.find(isTaken) !== undefined
    ? Effect.fail(new UniqueViolation({ constraint: "secrets_name_key" }))
    : Effect.sync(() => secrets.set(secret.id, secret))
}

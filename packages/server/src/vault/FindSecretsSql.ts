import type { EnvironmentClass } from "@delivery/domain/catalog/Environment"
import type { EnvironmentId, ProductId, SecretId, WorkspaceId } from "@delivery/domain/Ids"
import { isId, isSlug } from "@delivery/domain/Text"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { type PgClient, PgTypes } from "@effect/sql-pg"
import { Effect } from "effect"
import type { Statement } from "effect/sql"
import { actorJoins, type ActorRow, readActor } from "../access/Actors.ts"
import type { AuditOrigin } from "../audit/Audit.ts"
import { environmentLock } from "../catalog/EnvironmentLock.ts"
import { batched } from "../storage/Batched.ts"
import { column, idsAndSlugs, texts, uuids } from "../storage/Columns.ts"
import { dieOnSqlError, isoOfJson, prepared } from "../storage/Sql.ts"
import type {
  EnvironmentPart,
  FoundSecrets,
  FoundVersion,
  LockedTargets,
  PairState,
  ProductPart,
  SecretRow,
  Selection,
  VaultRepo
} from "./VaultRepo.ts"

/**
 * Secrets with the products, environments and deployments of them, in one statement. Its rows are of several kinds: the
 * columns of each stand in a JSON array.
 */

const productData = "'product' as kind, jsonb_build_array(p.id, p.slug, p.name, p.archived_at) as data"
const environmentData =
  "'environment' as kind, jsonb_build_array(e.id, e.slug, e.name, e.class, e.emoji, e.archived_at) as data"
const deploymentData = "'deployment' as kind, jsonb_build_array(d.product_id, d.environment_id, d.now) as data"

/** Whether the object of this alias is one that the refs (slug or id) name. */
export const isNamed = (sql: PgClient.PgClient, alias: string, refs: ReadonlyArray<string>): Statement.Fragment =>
  sql`(${sql.literal(alias)}.id = any(${uuids(refs.filter(isId))})
    or ${sql.literal(alias)}.slug = any(${texts(refs.filter(isSlug), (ref) => ref)}))`

/** Requests ask for one secret with all its values most often: that has a statement of its own. */
export const find = (sql: PgClient.PgClient): VaultRepo["Service"]["find"] => {
  const one = findOne(sql)
  return (workspaceId, selection, read) => {
    if (isWhole(selection, read)) return one({ workspaceId, product: selection.product, name: selection.name, read })
    const parts =
      "secretId" in selection ? partsOfAnswer(sql, workspaceId, selection) : partsOfCurrent(sql, workspaceId, selection)
    return selectSecrets(sql, workspaceId, parts, read).pipe(
      Effect.map((rows) => readRows(workspaceId, rows)),
      dieOnSqlError
    )
  }
}

/** Whether it is one secret, with all values or none. */
const isWhole = (
  selection: Selection,
  read: AuditOrigin | undefined
): selection is Selection & { readonly product: string; readonly name: string } =>
  "product" in selection &&
  selection.product !== undefined &&
  selection.name !== undefined &&
  (selection.valuesOf === undefined || read === undefined)

export const lockTargets =
  (sql: PgClient.PgClient): VaultRepo["Service"]["lockTargets"] =>
  (workspaceId, { environments, products }) =>
    sql<FoundRow>`with p as (
        select p.id, p.slug, p.name, p.archived_at from products p
        where p.workspace_id = ${workspaceId} and ${isNamed(sql, "p", products)} order by p.id for share
      ), e as (
        select e.id, e.slug, e.name, e.class, e.emoji, e.archived_at, e.approvals,
          pg_advisory_xact_lock_shared(${environmentLock(sql, "e.id::text")}) from environments e
        where e.workspace_id = ${workspaceId}
          and ${environments === "all" ? sql.literal("true") : isNamed(sql, "e", environments)} order by e.id for share
      ), d as (
        select product_id, environment_id, bool_or(deleted_at is null) as now from deployments
        where workspace_id = ${workspaceId} and product_id in (select id from p)
          and environment_id in (select id from e)
        group by product_id, environment_id
      )
      select ${sql.literal(productData)}, null::bytea as sealed from p
      union all select ${sql.literal(environmentData)}, null from e
      union all select 'guarded', jsonb_build_array(e.id), null from e where e.approvals
      union all select ${sql.literal(deploymentData)}, null from d`.pipe(
      Effect.map((rows) => readRows(workspaceId, rows)),
      dieOnSqlError
    )

/** The parts of `selectSecrets` that depend on what is asked for. */
interface Parts {
  /** The secrets. */
  readonly chosen: Statement.Fragment
  /** Their versions, and whether the value of each may be read. */
  readonly pairs: Statement.Fragment
  readonly products: Statement.Fragment
  readonly environments: Statement.Fragment
}

/** A secret as an earlier answer had it, deleted or not. */
const partsOfAnswer = (
  sql: PgClient.PgClient,
  workspaceId: WorkspaceId,
  { secretId, versions }: Extract<Selection, { readonly secretId: SecretId }>
): Parts => ({
  chosen: sql`select s.* from secrets s where s.workspace_id = ${workspaceId} and s.id = ${secretId}`,
  pairs: sql`select c.id as secret_id, c.product_id, v.environment_id, v.version, v.shown and c.deleted_at is null as shown
    from chosen c, unnest(${uuids(versions.map(({ environmentId }) => environmentId))},
      ${column(versions, PgTypes.OID.int4, ({ version }) => version)},
      ${column(versions, PgTypes.OID.bool, ({ shown }) => shown)}
    ) as v (environment_id, version, shown)`,
  products: sql`p.id in (select product_id from chosen)`,
  environments: sql`e.id in (select environment_id from pairs)`
})

/** Secrets as they are now: of the workspace, of a product, or of a name. */
const partsOfCurrent = (
  sql: PgClient.PgClient,
  workspaceId: WorkspaceId,
  { name, product, valuesOf }: Exclude<Selection, { readonly secretId: SecretId }>
): Parts => {
  const products = product === undefined ? sql`p.id in (select product_id from chosen)` : isNamed(sql, "p", [product])
  const ofProduct = sql`and s.product_id in (select p.id from products p
    where p.workspace_id = ${workspaceId} and ${products})`
  return {
    chosen: sql`select s.* from secrets s where s.workspace_id = ${workspaceId} and s.deleted_at is null
      ${product === undefined ? sql`` : ofProduct}
      ${name === undefined ? sql`` : sql`and s.name = ${name}`}`,
    pairs: sql`select c.id as secret_id, c.product_id, v.environment_id, v.version, ${
      valuesOf === undefined
        ? sql`true`
        : sql`exists (select from environments e where e.id = v.environment_id and ${isNamed(sql, "e", valuesOf)})`
    } as shown
      from chosen c join secret_values v on v.secret_id = c.id`,
    products,
    environments: sql`(e.archived_at is null or e.id in (select environment_id from pairs))`
  }
}

const selectSecrets = (
  sql: PgClient.PgClient,
  workspaceId: WorkspaceId,
  parts: Parts,
  read: AuditOrigin | undefined
): Statement.Statement<FoundRow> =>
  sql<FoundRow>`with chosen as (${parts.chosen}), pairs as (${parts.pairs}), deployed as (
      select d.product_id, d.environment_id, bool_or(d.deleted_at is null) as now from deployments d
      where d.workspace_id = ${workspaceId}
        and d.product_id in (select p.id from products p where p.workspace_id = ${workspaceId} and ${parts.products})
      group by d.product_id, d.environment_id
    ), found as (
      select v.*, h.created_at, h.actor_kind, h.actor_id, h.sealed is not null as has_value,
        case when ${read !== undefined} and v.shown and e.class <> 'production' and d.now is distinct from false
          then h.sealed end as sealed
      from pairs v
      join secret_versions h on h.secret_id = v.secret_id and h.environment_id = v.environment_id
        and h.version = v.version
      join environments e on e.id = v.environment_id
      left join deployed d on d.product_id = v.product_id and d.environment_id = v.environment_id
    )${read === undefined ? sql`` : auditFound(sql, workspaceId, read)}
    select ${sql.literal(productData)}, null::bytea as sealed from products p
      where p.workspace_id = ${workspaceId} and ${parts.products}
    union all select ${sql.literal(environmentData)}, null from environments e
      where e.workspace_id = ${workspaceId} and ${parts.environments}
    union all select ${sql.literal(deploymentData)}, null from deployed d
    union all select 'secret', jsonb_build_array(c.id, c.product_id, c.name, c.created_at, c.updated_at), null
      from chosen c
    union all select 'version', jsonb_build_array(v.secret_id, v.environment_id, v.version, v.has_value,
        v.created_at, v.actor_kind, v.actor_id, coalesce(actor_person.name, actor_key.name), actor_person.email),
        v.sealed
      from found v ${actorJoins(sql, "v.actor")}`

/** Stores the entry of the audit about the values in `found`, if there are any. They are of one secret. */
const auditFound = (sql: PgClient.PgClient, workspaceId: WorkspaceId, read: AuditOrigin): Statement.Fragment =>
  sql`, audited as (
      insert into audit_entries (${sql.literal(readColumns)})
      select ${read.id}::uuid, ${workspaceId}::uuid, 'secret_read', 'allowed', ${read.actorId}::uuid,
        ${JSON.stringify(read.actor)}::jsonb, ${read.credential && JSON.stringify(read.credential)}::jsonb,
        ${read.address}, 'secret', c.id::text, c.name || ' of ' || p.name, jsonb_agg(e.slug), jsonb_agg(v.version),
        ${read.requestId}
      from found v join chosen c on c.id = v.secret_id join products p on p.id = c.product_id
      join environments e on e.id = v.environment_id
      where v.sealed is not null group by c.id, c.name, p.name
    )`

/** The columns of an entry of the audit about values that are read. */
const readColumns = `id, workspace_id, action, outcome, actor_id, actor, credential, address, subject_type, subject_id,
  subject_label, environments, versions, request_id`

/** One row of an answer of several kinds: its columns in a JSON array. */
type FoundRow = { readonly sealed: Uint8Array | null } & (
  | { readonly kind: "product"; readonly data: [ProductId, string, string, JsonInstant | null] }
  | {
      readonly kind: "environment"
      readonly data: [EnvironmentId, string, string, EnvironmentClass, string | null, JsonInstant | null]
    }
  | { readonly kind: "guarded"; readonly data: [EnvironmentId] }
  | { readonly kind: "deployment"; readonly data: [ProductId, EnvironmentId, boolean] }
  | { readonly kind: "secret"; readonly data: [SecretId, ProductId, string, JsonInstant, JsonInstant] }
  | {
      readonly kind: "version"
      readonly data: [
        SecretId,
        EnvironmentId,
        number,
        boolean,
        JsonInstant,
        ActorRow["actorKind"],
        string,
        string | null,
        string | null
      ]
    }
)

const readRows = (workspaceId: WorkspaceId, rows: ReadonlyArray<FoundRow>): FoundSecrets & LockedTargets => {
  const products: Array<ProductPart> = []
  const environments: Array<EnvironmentPart> = []
  const guarded: Array<EnvironmentId> = []
  const deployments: Array<PairState> = []
  const secrets: Array<SecretRow> = []
  const versions: Array<FoundVersion> = []
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
      case "guarded": {
        guarded.push(...row.data)
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
  return { products, environments, guarded, deployments, secrets, versions }
}

/** An instant as PostgreSQL writes it into JSON. */
type JsonInstant = string

const instantOrNull = (text: JsonInstant | null): Timestamp | null => (text === null ? null : isoOfJson(text))

/** One secret of a product, by the product (slug or id) and the secret's name. */
interface AskedSecret {
  readonly workspaceId: WorkspaceId
  readonly product: string
  readonly name: string
  readonly read: AuditOrigin | undefined
}

/** Look-ups that come together are one statement, and their entries of the audit one write. */
const findOne = (sql: PgClient.PgClient): ((asked: AskedSecret) => Effect.Effect<FoundSecrets>) => {
  const select = selectAsked(sql)
  const findAll = (asked: ReadonlyArray<AskedSecret>) =>
    select(
      uuids(asked.map(({ workspaceId }) => workspaceId)),
      ...idsAndSlugs(asked, ({ product }) => product),
      texts(asked, ({ name }) => name),
      column(asked, PgTypes.OID.uuid, ({ read }) => read?.id),
      column(asked, PgTypes.OID.uuid, ({ read }) => read?.actorId),
      texts(asked, ({ read }) => read && JSON.stringify(read.actor)),
      texts(asked, ({ read }) => read?.credential && JSON.stringify(read.credential)),
      texts(asked, ({ read }) => read?.address),
      texts(asked, ({ read }) => read?.requestId)
    ).pipe(
      Effect.map((rows) => {
        const found = Map.groupBy(rows, ({ place }) => place)
        return asked.map(({ workspaceId }, index) => readAskedRows(workspaceId, found.get(index + 1) ?? []))
      }),
      dieOnSqlError
    )
  return batched(sql, findAll, { running: 2 })
}

/**
 * For each secret that is asked for, with its place from 1: a row of the product and the secret, and one of each
 * environment and the version there. Values come only with the id of an entry of the audit, and where they are readable.
 */
const selectAsked = (sql: PgClient.PgClient) =>
  prepared(
    sql,
    (
      workspaceIds: PgTypes.Parameter,
      productIds: PgTypes.Parameter,
      slugs: PgTypes.Parameter,
      names: PgTypes.Parameter,
      ids: PgTypes.Parameter,
      actorIds: PgTypes.Parameter,
      actors: PgTypes.Parameter,
      credentials: PgTypes.Parameter,
      addresses: PgTypes.Parameter,
      requestIds: PgTypes.Parameter
    ) => sql<AskedRow>`with asked as (
        select place::int, workspace_id, product_id, slug, name, id, actor_id, actor, credential, address, request_id
        from unnest(${workspaceIds}::uuid[], ${productIds}::uuid[], ${slugs}::text[], ${names}::text[],
          ${ids}::uuid[], ${actorIds}::uuid[], ${actors}::text[], ${credentials}::text[], ${addresses}::text[],
          ${requestIds}::text[]) with ordinality
          as a (workspace_id, product_id, slug, name, id, actor_id, actor, credential, address, request_id, place)
      ), p as (
        select a.place, p.workspace_id, p.id, p.slug, p.name, p.archived_at, s.id as secret_id,
          s.name as secret_name, s.created_at, s.updated_at, a.id is not null as is_reading
        from asked a
        join products p on p.workspace_id = a.workspace_id and p.id = coalesce(a.product_id,
          (select id from products where workspace_id = a.workspace_id and slug = a.slug))
        left join secrets s on s.workspace_id = p.workspace_id and s.product_id = p.id and s.name = a.name
          and s.deleted_at is null
      ), found as (
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
        insert into audit_entries (${sql.literal(readColumns)})
        select a.id, a.workspace_id, 'secret_read', 'allowed', a.actor_id, a.actor::jsonb, a.credential::jsonb,
          a.address, 'secret', p.secret_id::text, p.secret_name || ' of ' || p.name, read.environments, read.versions,
          a.request_id
        from asked a join p on p.place = a.place join (
          select place, jsonb_agg(slug) as environments, jsonb_agg(version) as versions
          from found where sealed is not null group by place
        ) read on read.place = a.place
      )
      select place, true as "isHead", json_build_array(id, slug, name, archived_at, secret_id, secret_name,
        created_at, updated_at) as data, null::bytea as sealed
      from p
      union all
      select s.place, false, json_build_array(s.id, s.slug, s.name, s.class, s.emoji, s.archived_at, s.deployed,
        s.version, s.has_value, s.created_at, s.actor_kind, s.actor_id,
        coalesce(actor_person.name, actor_key.name), actor_person.email), s.sealed
      from found s ${actorJoins(sql, "s.actor")}`
  )

/** A row of `selectAsked`: the product with the secret, or an environment with the version there. */
type AskedRow = { readonly place: number; readonly sealed: Uint8Array | null } & (
  | {
      readonly isHead: true
      readonly data: [
        ...product: [ProductId, string, string, JsonInstant | null],
        ...secret: [SecretId, string, JsonInstant, JsonInstant] | [null, null, null, null]
      ]
    }
  | {
      readonly isHead: false
      readonly data: [
        ...environment: [EnvironmentId, string, string, EnvironmentClass, string | null, JsonInstant | null],
        deployed: boolean | null,
        version: number | null,
        hasValue: boolean,
        at: JsonInstant,
        actorKind: ActorRow["actorKind"],
        actorId: string,
        actorName: string | null,
        actorEmail: string | null
      ]
    }
)

const readAskedRows = (workspaceId: WorkspaceId, rows: ReadonlyArray<AskedRow>): FoundSecrets => {
  const head = rows.find((row) => row.isHead)
  if (head === undefined) return { products: [], environments: [], deployments: [], secrets: [], versions: [] }
  const [productId, slug, name, archivedAt, secretId, secretName, createdAt, updatedAt] = head.data
  const environments: Array<EnvironmentPart> = []
  const deployments: Array<PairState> = []
  const versions: Array<FoundVersion> = []
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

import type { EnvironmentClass } from "@delivery/domain/catalog/Environment"
import type { EnvironmentId, ProductId, SecretId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { type PgClient, PgTypes } from "@effect/sql-pg"
import { Effect } from "effect"
import { actorJoins, type ActorRow, readActor } from "../access/Actors.ts"
import { batched } from "../storage/Batched.ts"
import { column, idsAndSlugs, texts, uuids } from "../storage/Columns.ts"
import { date, dieOnSqlError, isoOfJson, prepared } from "../storage/Sql.ts"
import type { EnvironmentPart, FoundSecrets, FoundVersion, PairState, ReadAudit } from "./VaultRepo.ts"

/** One secret of a product, by the product (slug or id) and the secret's name. */
interface AskedSecret {
  readonly workspaceId: WorkspaceId
  readonly product: string
  readonly name: string
  readonly read: ReadAudit | undefined
}

/** Look-ups that come together are one statement, and their audit rows one write. */
export const findSecret = (sql: PgClient.PgClient): ((asked: AskedSecret) => Effect.Effect<FoundSecrets>) => {
  const select = selectAsked(sql)
  const findAll = (asked: ReadonlyArray<AskedSecret>) =>
    select(
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
        return asked.map(({ workspaceId }, index) => readRows(workspaceId, found.get(index + 1) ?? []))
      }),
      dieOnSqlError
    )
  return batched(sql, findAll, { running: 2 })
}

/**
 * For each secret that is asked for, with its place from 1: a row of the product and the secret, and one of each
 * environment and the version there. Values come only with the id of an audit row, and where they are readable.
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
        insert into vault_audit (id, workspace_id, action, actor_kind, actor_id, name, entries, request_id,
          created_at)
        select a.id, a.workspace_id, 'read', a.actor_kind, a.actor_id, a.name, read.entries, a.request_id, a.at
        from asked a join (
          select place, jsonb_agg(jsonb_build_object('product', product_id, 'environment', id,
            'version', version)) as entries
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

/** An instant as PostgreSQL writes it into JSON. */
export type JsonInstant = string

export const instantOrNull = (text: JsonInstant | null): Timestamp | null => (text === null ? null : isoOfJson(text))

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

const readRows = (workspaceId: WorkspaceId, rows: ReadonlyArray<AskedRow>): FoundSecrets => {
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

import type { DeploymentId, DeploymentTokenId } from "@delivery/domain/Ids"
import { isId } from "@delivery/domain/Text"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import { type DeploymentTokenRow, deploymentTokens } from "../access/ActorRows.ts"
import { column, texts, uuids } from "../storage/Columns.ts"
import { date, dieOnSqlError, iso } from "../storage/Sql.ts"
import { columnsOf, insertInto, readerOf, type SelectedRow, selectFrom } from "../storage/Table.ts"
import { DeploymentTokensRepo, type TokenWithMaker, type TokenWithPair } from "./DeploymentTokensRepo.ts"

export const layer = Layer.effect(
  DeploymentTokensRepo,
  Effect.map(PgClient.PgClient, (sql) => {
    const insert = insertInto(sql, deploymentTokens)
    return DeploymentTokensRepo.of({
      insert: (token) => dieOnSqlError(insert(token)),
      holdDeployment: holdDeployment(sql),
      hold: hold(sql),
      ofDeployment: (id, now) => withMakers(sql, sql`t.deployment_id = ${id}`, now),
      ofWorkspace: (id, now) => withMakers(sql, sql`t.workspace_id = ${id}`, now),
      lock: lock(sql),
      replace: replace(sql),
      revoke: revoke(sql),
      revokeAll: (id, at) => end(sql, sql`t.deployment_id = ${id} and ${works(sql, at)}`, date(at)),
      revokeByToken: revokeByToken(sql),
      endExpired: endExpired(sql),
      madeBy: madeBy(sql),
      touch: touch(sql),
      cameFrom: cameFrom(sql)
    })
  })
)

const readRow = readerOf(deploymentTokens)

/** Whether the token `t` is neither revoked nor expired. */
const works = (sql: PgClient.PgClient, now: Timestamp): Statement.Fragment =>
  sql`t.revoked_at is null and (t.expires_at is null or t.expires_at > ${date(now)})`

const holdDeployment = (sql: PgClient.PgClient) => (id: DeploymentId) =>
  sql`select from deployments where id = ${id} and deleted_at is null for share`.pipe(
    Effect.map((rows) => rows.length === 1),
    dieOnSqlError
  )

/** The deployment is about to be changed. */
const hold = (sql: PgClient.PgClient) => (token: DeploymentTokenId, deployment: DeploymentId, now: Timestamp) =>
  Effect.gen(function* () {
    const held = yield* sql`select from deployments where id = ${deployment} and deleted_at is null for no key update`
    if (held.length === 0) return false
    const live = yield* sql`select from deployment_tokens t where t.id = ${token} and ${works(sql, now)} for share`
    return live.length === 1
  }).pipe(dieOnSqlError)

interface MakerRow extends Pick<PairRow, "productSlug" | "productName" | "environmentSlug" | "environmentName"> {
  readonly makerName: string
  readonly makerEmail: string
  readonly makerActive: boolean
  readonly keyRevokedAt: Date | null
  readonly keyExpiresAt: Date | null
}

const withMakers = (
  sql: PgClient.PgClient,
  of: Statement.Fragment,
  now: Timestamp
): Effect.Effect<ReadonlyArray<TokenWithMaker>> =>
  sql<SelectedRow & MakerRow>`select ${sql.literal(columnsOf(deploymentTokens, { of: "t" }))},
      pr.slug as "productSlug", pr.name as "productName", e.slug as "environmentSlug", e.name as "environmentName",
      p.name as "makerName", p.email as "makerEmail", coalesce(m.active, false) as "makerActive",
      k.revoked_at as "keyRevokedAt", k.expires_at as "keyExpiresAt"
    from deployment_tokens t
    join deployments d on d.id = t.deployment_id and d.deleted_at is null
    join products pr on pr.id = d.product_id
    join environments e on e.id = d.environment_id
    join persons p on p.id = t.created_by_id
    left join members m on m.workspace_id = t.workspace_id and m.person_id = p.id
    left join api_keys k on k.id = t.maker_id
    where ${of} and ${works(sql, now)} order by t.created_at desc, t.id desc`.pipe(
    Effect.map((rows) =>
      rows.map((row) => {
        const token = readRow(row)
        const ended =
          row.keyRevokedAt ?? (row.keyExpiresAt !== null && iso(row.keyExpiresAt) <= now ? row.keyExpiresAt : null)
        return {
          ...token,
          product: { slug: row.productSlug, name: row.productName },
          environment: { slug: row.environmentSlug, name: row.environmentName },
          maker: { id: token.createdById, name: row.makerName, email: row.makerEmail, active: row.makerActive },
          makerEndedAt: ended && iso(ended)
        }
      })
    ),
    dieOnSqlError
  )

const lock = (sql: PgClient.PgClient) => (deployment: DeploymentId, id: string) =>
  isId(id)
    ? sql<SelectedRow>`${selectFrom(sql, deploymentTokens)}
        where deployment_id = ${deployment} and id = ${id} for no key update`.pipe(
        Effect.map((rows) => rows.map(readRow)[0]),
        dieOnSqlError
      )
    : Effect.succeed(undefined)

const replace = (sql: PgClient.PgClient) => (token: DeploymentTokenRow, by: DeploymentTokenId, until: Timestamp) =>
  Effect.gen(function* () {
    yield* sql`update deployment_tokens set replaced_by = ${by}, expires_at = least(expires_at, ${date(until)})
      where id = ${token.id}`
    yield* sql`insert into deployment_token_networks (workspace_id, token_id, network, first_used_at)
      select workspace_id, ${by}, network, first_used_at from deployment_token_networks where token_id = ${token.id}`
  }).pipe(dieOnSqlError)

const revoke = (sql: PgClient.PgClient) => (id: DeploymentTokenId, at: Timestamp) =>
  dieOnSqlError(Effect.asVoid(sql`update deployment_tokens set revoked_at = ${date(at)} where id = ${id}`))

/** What is told of tokens: `t`, with the deployment `d`, its product `p` and environment `e`. */
const pairColumns = `t.id, t.workspace_id as "workspaceId", t.name, t.expires_at as "expiresAt",
  p.slug as "productSlug", p.name as "productName", e.slug as "environmentSlug", e.name as "environmentName"`
const pairJoins = `join deployments d on d.id = t.deployment_id join products p on p.id = d.product_id
  join environments e on e.id = d.environment_id`

type PairRow = Pick<TokenWithPair, "id" | "workspaceId" | "name"> & {
  readonly expiresAt: Date | null
  readonly productSlug: string
  readonly productName: string
  readonly environmentSlug: string
  readonly environmentName: string
}

const readPair = ({ expiresAt, id, name, workspaceId, ...row }: PairRow): TokenWithPair => ({
  id,
  workspaceId,
  name,
  expiresAt: expiresAt && iso(expiresAt),
  product: { slug: row.productSlug, name: row.productName },
  environment: { slug: row.environmentSlug, name: row.environmentName }
})

/** Revokes the tokens `t`, those that others have locked afterwards or not at all. */
const end = (
  sql: PgClient.PgClient,
  which: Statement.Fragment,
  at: Date | Statement.Fragment,
  others: "" | "skip locked" = "",
  limit?: number
): Effect.Effect<ReadonlyArray<TokenWithPair>> =>
  sql<PairRow>`with held as (
      select t.id from deployment_tokens t where ${which} order by t.id
      ${limit === undefined ? sql.literal("") : sql`limit ${limit}`} for no key update ${sql.literal(others)}
    ), ended as (
      update deployment_tokens t set revoked_at = ${at} from held where held.id = t.id returning t.*
    )
    select ${sql.literal(pairColumns)} from ended t ${sql.literal(pairJoins)}`.pipe(
    Effect.map((rows) => rows.map(readPair)),
    dieOnSqlError
  )

const revokeByToken = (sql: PgClient.PgClient) => (tokenHash: string, at: Timestamp) =>
  Effect.map(end(sql, sql`t.token_hash = ${tokenHash} and ${works(sql, at)}`, date(at)), (ended) => ended[0])

const endExpired = (sql: PgClient.PgClient) => (by: Timestamp, limit: number) =>
  end(sql, sql`t.revoked_at is null and t.expires_at <= ${date(by)}`, sql.literal("t.expires_at"), "skip locked", limit)

const madeBy = (sql: PgClient.PgClient) => (makers: ReadonlyArray<string>, now: Timestamp) =>
  sql<PairRow>`select ${sql.literal(pairColumns)} from deployment_tokens t ${sql.literal(pairJoins)}
    where t.maker_id = any(${uuids(makers)}::uuid[]) and d.deleted_at is null and ${works(sql, now)}`.pipe(
    Effect.map((rows) => rows.map(readPair)),
    dieOnSqlError
  )

const touch =
  (sql: PgClient.PgClient): DeploymentTokensRepo["Service"]["touch"] =>
  (uses) => {
    const rows = [...uses]
    return dieOnSqlError(
      Effect.asVoid(sql`with used as (
          select t.id, u.at, u.used_from from unnest(${uuids(rows.map(([id]) => id))}::uuid[],
            ${column(rows, PgTypes.OID.timestamptz, ([, { at }]) => date(at))}::timestamptz[],
            ${texts(rows, ([, { from }]) => from)}::text[]) as u (id, at, used_from)
          join deployment_tokens t on t.id = u.id order by t.id for no key update of t
        )
        update deployment_tokens t set last_used_at = used.at, last_used_from = used.used_from
        from used where t.id = used.id and (t.last_used_at is null or t.last_used_at < used.at)`)
    )
  }

/** Only what is new is decided while the token is held. */
const cameFrom =
  (sql: PgClient.PgClient): DeploymentTokensRepo["Service"]["cameFrom"] =>
  ({ firstUsedAt, network, tokenId, workspaceId }) =>
    Effect.gen(function* () {
      const known =
        yield* sql`select from deployment_token_networks where token_id = ${tokenId} and network = ${network}`
      if (known.length === 1) return "known" as const
      yield* sql`select from deployment_tokens where id = ${tokenId} for no key update`
      const [others] = yield* sql<{ readonly count: number }>`select count(*)::int as count
        from deployment_token_networks where token_id = ${tokenId}`
      const added = yield* sql`insert into deployment_token_networks (workspace_id, token_id, network, first_used_at)
        values (${workspaceId}, ${tokenId}, ${network}, ${date(firstUsedAt)}) on conflict do nothing returning token_id`
      if (added.length === 0) return "known" as const
      return others!.count === 0 ? ("first" as const) : ("other" as const)
    }).pipe(dieOnSqlError)

import type { SecretId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { deploymentTokens } from "../access/ActorRows.ts"
import { deployments } from "../catalog/DeploymentsRepo.ts"
import { environments } from "../catalog/EnvironmentsRepo.ts"
import { products } from "../catalog/ProductsRepo.ts"
import { askedOnce, batched } from "../storage/Batched.ts"
import { texts } from "../storage/Columns.ts"
import { date, dieOnSqlError, iso, prepared } from "../storage/Sql.ts"
import { columnsOf, partReaderOf, readerOf, type SelectedRow, selectFrom } from "../storage/Table.ts"
import {
  deploymentLoads,
  type FoundSecret,
  type FoundSecrets,
  type KnownToken,
  LoadsRepo,
  type TokenReadRow
} from "./LoadsRepo.ts"

export const layer = Layer.effect(
  LoadsRepo,
  Effect.map(PgClient.PgClient, (sql) =>
    LoadsRepo.of({
      authenticate: authenticate(sql),
      read: read(sql),
      claimEntry: claimEntry(sql),
      eraseReads: (before) =>
        dieOnSqlError(Effect.asVoid(sql`delete from deployment_token_reads where began_at < ${date(before)}`)),
      load: load(sql),
      loaded: loaded(sql)
    })
  )
)

const only = {
  token: ["id", "workspaceId", "name", "lastFour", "allowedAddresses", "expiresAt"],
  deployment: ["id", "version", "baseUrl"],
  product: ["id", "slug", "name", "type", "archivedAt"],
  environment: ["id", "slug", "name", "class", "emoji", "archivedAt"]
} as const

const columns = [
  columnsOf(deploymentTokens, { of: "t", as: "token", only: only.token }),
  columnsOf(deployments, { of: "d", as: "deployment", only: only.deployment }),
  columnsOf(products, { of: "p", as: "product", only: only.product }),
  columnsOf(environments, { of: "e", as: "environment", only: only.environment })
].join(", ")

const readToken = partReaderOf(deploymentTokens, only.token, { as: "token" })
const readDeployment = partReaderOf(deployments, only.deployment, { as: "deployment" })
const readProduct = partReaderOf(products, only.product, { as: "product" })
const readEnvironment = partReaderOf(environments, only.environment, { as: "environment" })

const readKnown = (row: SelectedRow): KnownToken => ({
  token: readToken(row),
  deployment: readDeployment(row),
  product: readProduct(row),
  environment: readEnvironment(row)
})

/** The tokens `t` that the rows of `asked (token_hash, ...)` name and that work but for their time, with their deployments. */
const working = `join deployment_tokens t on t.token_hash = asked.token_hash and t.revoked_at is null
    and not exists (select from credential_blocks b where b.workspace_id = t.workspace_id and b.credential_id = t.id)
  join deployments d on d.id = t.deployment_id and d.deleted_at is null
  join products p on p.id = d.product_id
  join environments e on e.id = d.environment_id`

type Placed = SelectedRow & { readonly place: number }

const authenticate = (sql: PgClient.PgClient): LoadsRepo["Service"]["authenticate"] => {
  const find = prepared(
    sql,
    (hashes: PgTypes.Parameter) => sql<Placed>`select asked.place::int as place, ${sql.literal(columns)}
      from unnest(${hashes}::text[]) with ordinality as asked (token_hash, place) ${sql.literal(working)}`
  )
  return batched(
    sql,
    askedOnce(
      (hash) => hash,
      (hashes: ReadonlyArray<string>) =>
        find(texts(hashes, (hash) => hash)).pipe(
          Effect.map((rows) => {
            const found = new Map(rows.map((row) => [row.place, readKnown(row)]))
            return hashes.map((_, index) => found.get(index + 1))
          }),
          dieOnSqlError
        )
    ),
    { running: 2 }
  )
}

/** The secrets, an array for each of their columns; null where there are none. */
interface ReadRow extends Placed {
  readonly secretIds: ReadonlyArray<SecretId> | null
  readonly secretNames: ReadonlyArray<string>
  readonly versions: ReadonlyArray<number>
  readonly sealed: ReadonlyArray<Uint8Array>
}

const read = (sql: PgClient.PgClient): LoadsRepo["Service"]["read"] => {
  const find = findSecrets(sql)
  const one = batched(
    sql,
    askedOnce(
      ({ name, tokenHash }) => `${tokenHash} ${name ?? ""}`,
      (asked: ReadonlyArray<{ readonly tokenHash: string; readonly name: string | undefined }>) =>
        find(
          texts(asked, ({ tokenHash }) => tokenHash),
          texts(asked, ({ name }) => name)
        ).pipe(
          Effect.map((rows) => {
            const found = new Map(rows.map((row) => [row.place, readFound(row)]))
            return asked.map((_, index) => found.get(index + 1))
          }),
          dieOnSqlError
        )
    ),
    { running: 2 }
  )
  return (tokenHash, name) => one({ tokenHash, name })
}

const findSecrets = (sql: PgClient.PgClient) =>
  prepared(
    sql,
    (hashes: PgTypes.Parameter, names: PgTypes.Parameter) => sql<ReadRow>`select asked.place::int as place,
        ${sql.literal(columns)}, f.ids as "secretIds", f.names as "secretNames", f.versions, f.sealed
      from unnest(${hashes}::text[], ${names}::text[]) with ordinality as asked (token_hash, name, place)
      ${sql.literal(working)}
      cross join lateral (
        select array_agg(s.id) as ids, array_agg(s.name) as names, array_agg(h.version) as versions,
          array_agg(h.sealed) as sealed
        from secrets s
        join secret_values v on v.secret_id = s.id and v.environment_id = e.id
        join secret_versions h on h.secret_id = v.secret_id and h.environment_id = v.environment_id
          and h.version = v.version and h.sealed is not null
        where s.workspace_id = t.workspace_id and s.product_id = p.id and s.deleted_at is null
          and (asked.name is null or s.name = asked.name)
          and p.archived_at is null and e.archived_at is null
      ) f`
  )

const readFound = (row: ReadRow): FoundSecrets => {
  const known = readKnown(row)
  return {
    ...known,
    secrets: (row.secretIds ?? []).map((secretId, index): FoundSecret => ({
      secretId,
      environmentId: known.environment.id,
      name: row.secretNames[index]!,
      version: row.versions[index]!,
      sealed: row.sealed[index]!
    }))
  }
}

const claimEntry =
  (sql: PgClient.PgClient): LoadsRepo["Service"]["claimEntry"] =>
  (read: TokenReadRow, after: Timestamp) => {
    const isEqual = sql`r.fingerprint = excluded.fingerprint and r.began_at > ${date(after)}`
    return sql<{
      readonly entryId: TokenReadRow["entryId"]
      readonly beganAt: Date
    }>`insert into deployment_token_reads as r
        (workspace_id, token_id, address, subject_id, fingerprint, entry_id, began_at)
      values (${read.workspaceId}, ${read.tokenId}, ${read.address}, ${read.subjectId}, ${read.fingerprint},
        ${read.entryId}, ${date(read.beganAt)})
      on conflict (token_id, address, subject_id) do update set fingerprint = excluded.fingerprint,
        entry_id = case when ${isEqual} then r.entry_id else excluded.entry_id end,
        began_at = case when ${isEqual} then r.began_at else excluded.began_at end
      returning entry_id as "entryId", began_at as "beganAt"`.pipe(
      Effect.map(([row]) => ({ entryId: row!.entryId, beganAt: iso(row!.beganAt) })),
      dieOnSqlError
    )
  }

const load =
  (sql: PgClient.PgClient): LoadsRepo["Service"]["load"] =>
  ({ deploymentId, loadedAt, versions, workspaceId }, extent) =>
    dieOnSqlError(
      Effect.asVoid(sql`insert into deployment_loads as l (workspace_id, deployment_id, loaded_at, versions, whole)
        values (${workspaceId}, ${deploymentId}, ${date(loadedAt)}, ${PgTypes.json(versions)}::jsonb, ${extent === "all"})
        on conflict (deployment_id) do update set loaded_at = greatest(l.loaded_at, excluded.loaded_at),
          whole = l.whole or excluded.whole,
          versions = ${sql.literal(extent === "all" ? "excluded.versions" : "l.versions || excluded.versions")}`)
    )

const readLoad = readerOf(deploymentLoads)

const loaded =
  (sql: PgClient.PgClient): LoadsRepo["Service"]["loaded"] =>
  (id) =>
    sql<SelectedRow>`${selectFrom(sql, deploymentLoads)} where deployment_id = ${id}`.pipe(
      Effect.map((rows) => rows.map(readLoad)[0]),
      dieOnSqlError
    )

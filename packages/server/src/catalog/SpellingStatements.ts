import type { ProductId, WorkspaceId } from "@delivery/domain/Ids"
import { type PgClient, PgTypes } from "@effect/sql-pg"
import { Effect } from "effect"
import type { Statement } from "effect/sql"
import { dieOnSqlError } from "../storage/Sql.ts"
import { type Spelled, spelledAmong } from "./Spellings.ts"

/** Whether a version may be a commit, as the index `deployment_releases_commit` has it: word for word. */
export const isCommitSql = "version ~* '^[0-9a-f]{7,64}$'"

/**
 * The versions that begin so and that a deployment had, of each beginning those together.
 *
 * @param begins Selects products, and the first 7 digits of versions in lower case.
 * @param least How many there are of a beginning, at least.
 */
export const begunIn = (sql: PgClient.PgClient, workspaceId: WorkspaceId, begins: Statement.Fragment, least: 1 | 2) =>
  dieOnSqlError(sql<{ readonly productId: ProductId; readonly versions: ReadonlyArray<string> }>`
    select begun.product_id as "productId", array_agg(known.version) as versions
    from (${begins}) as begun (product_id, digits) cross join lateral (
      select distinct version from deployment_releases
      where workspace_id = ${workspaceId} and product_id = begun.product_id and ${sql.literal(isCommitSql)}
        and (lower(version) collate "C") >= begun.digits and (lower(version) collate "C") < begun.digits || 'g'
    ) as known
    group by begun.product_id, begun.digits having count(*) >= ${least}`)

/** The versions that are written in several ways, of those that begin so. */
export const spelledIn = (sql: PgClient.PgClient, workspaceId: WorkspaceId, begins: Statement.Fragment) =>
  Effect.map(begunIn(sql, workspaceId, begins, 2), (rows): ReadonlyArray<Spelled> => rows.flatMap(spelledAmong))

/** Those versions as the rows `(product_id, version, spellings)`. */
export const spelledRows = (sql: PgClient.PgClient, spelled: ReadonlyArray<Spelled>): Statement.Fragment =>
  sql`select * from json_to_recordset(${PgTypes.json(
    spelled.map(({ productId, spellings, version }) => ({ product_id: productId, version, spellings }))
  )}::json) as spelled (product_id uuid, version text, spellings text[])`

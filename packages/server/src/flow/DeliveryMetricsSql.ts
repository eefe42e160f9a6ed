import { PgClient } from "@effect/sql-pg"
import type { DeploymentId } from "@delivery/domain/Ids"
import { Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import type { Spelled } from "../catalog/Spellings.ts"
import { isCommitSql, spelledIn, spelledRows } from "../catalog/SpellingStatements.ts"
import { date, dieOnSqlError, iso } from "../storage/Sql.ts"
import { DeliveryMetricsRepo, type MetricsScope } from "./DeliveryMetricsRepo.ts"

export const layer = Layer.effect(
  DeliveryMetricsRepo,
  Effect.map(PgClient.PgClient, (sql) => DeliveryMetricsRepo.of({ releases: releases(sql), commits: commits(sql) }))
)

const ofProduct = (sql: PgClient.PgClient, column: string, { productId }: MetricsScope): Statement.Fragment =>
  productId === undefined ? sql.literal("true") : sql`${sql.literal(column)} = ${productId}`

interface ReleaseRow {
  readonly deployment: DeploymentId
  readonly product: string
  readonly environment: string
  readonly number: number
  readonly version: string
  readonly at: Date
  readonly nextNumber: number | null
  readonly nextAt: Date
}

/** The versions that come to production in the period or after it, as far as they are written in several ways. */
const spelled = (sql: PgClient.PgClient) => (scope: MetricsScope) =>
  spelledIn(
    sql,
    scope.workspaceId,
    sql`select distinct r.product_id, left(lower(r.version), 7) from deployment_releases r
      join environments e on e.id = r.environment_id and e.class = 'production'
      where r.workspace_id = ${scope.workspaceId} and r.${sql.literal(isCommitSql)} and r.at >= ${date(scope.from)}
        and ${ofProduct(sql, "r.product_id", scope)}`
  )

/** The version of a release in all the ways in which it is written. */
const writtenAs = (release: string) => `coalesce((select s.spellings from spelled s
  where s.product_id = ${release}.product_id and s.version = ${release}.version), array[${release}.version])`

/** Whether it has a version, and not the commit that was there before in another way of writing. */
const isChange = (release: string) => `${release}.version is not null and not exists (
  select from deployment_releases previous where previous.deployment_id = ${release}.deployment_id
    and previous.number = ${release}.number - 1 and previous.version = any(${writtenAs(release)}))`

/** The number of the release with which its version first came to the deployment. */
const firstOf = (release: string) => `(select min(one.number) from unnest(${writtenAs(release)}) as written (version)
  cross join lateral (
    select number from deployment_releases
    where deployment_id = ${release}.deployment_id and version = written.version order by number limit 1
  ) as one)`

const releases = (sql: PgClient.PgClient) => (scope: MetricsScope) =>
  Effect.flatMap(spelled(sql)(scope), (several) => releasesOf(sql, scope, several))

const releasesOf = (sql: PgClient.PgClient, scope: MetricsScope, several: ReadonlyArray<Spelled>) =>
  sql<ReleaseRow>`with spelled as materialized (${spelledRows(sql, several)})
    select p.slug as product, e.slug as environment,
      r.deployment_id as deployment, r.number, r.version, r.at,
      next.number as "nextNumber", next.at as "nextAt"
    from deployment_releases r
    join environments e on e.id = r.environment_id and e.class = 'production'
    join products p on p.id = r.product_id
    left join lateral (
      select n.number, n.at, n.version, n.deployment_id, n.product_id from deployment_releases n
      where n.deployment_id = r.deployment_id and n.number > r.number and ${sql.literal(isChange("n"))}
      order by n.number limit 1
    ) next on ${sql.literal(`${firstOf("next")} < ${firstOf("r")}`)}
    where r.workspace_id = ${scope.workspaceId} and ${sql.literal(isChange("r"))} and r.at >= ${date(scope.from)}
      and r.at < ${date(scope.until)} and ${ofProduct(sql, "r.product_id", scope)}`.pipe(
    Effect.map((rows) =>
      rows.map(({ at, nextAt, nextNumber, ...row }) => ({
        ...row,
        at: iso(at),
        rollback: nextNumber === null ? null : { number: nextNumber, at: iso(nextAt) }
      }))
    ),
    dieOnSqlError
  )

interface CommitRow {
  readonly product: string
  readonly sha: string
  readonly at: Date
  readonly releasedAt: Date
}

/** The releases, those of a version that is written in several ways also under each of the others. */
const released = (sql: PgClient.PgClient, scope: MetricsScope, several: ReadonlyArray<Spelled>): Statement.Fragment =>
  several.length === 0
    ? sql`deployment_releases`
    : sql`(select workspace_id, product_id, environment_id, version, at from deployment_releases
        union all
        select other.workspace_id, other.product_id, other.environment_id, s.version, other.at
        from (${spelledRows(sql, several)}) as s cross join unnest(s.spellings) as written (version)
          join deployment_releases other on other.workspace_id = ${scope.workspaceId}
            and other.product_id = s.product_id and other.version = written.version
        where written.version <> s.version)`

const commits = (sql: PgClient.PgClient) => (scope: MetricsScope) =>
  Effect.flatMap(spelled(sql)(scope), (several) => commitsOf(sql, scope, several))

const commitsOf = (sql: PgClient.PgClient, scope: MetricsScope, several: ReadonlyArray<Spelled>) =>
  sql<CommitRow>`select p.slug as product, c.sha, min(c.at) as at, min(r.at) as "releasedAt"
    from version_commits c
    join ${released(sql, scope, several)} r on r.workspace_id = c.workspace_id and r.product_id = c.product_id
      and r.version = c.version and r.at < ${date(scope.until)}
    join environments e on e.id = r.environment_id and e.class = 'production'
    join products p on p.id = c.product_id
    where c.workspace_id = ${scope.workspaceId} and c.at is not null and ${ofProduct(sql, "c.product_id", scope)}
    group by p.id, c.sha having min(r.at) >= ${date(scope.from)}`.pipe(
    Effect.map((rows) =>
      rows.map(({ at, product, releasedAt, sha }) => ({ product, sha, at: iso(at), releasedAt: iso(releasedAt) }))
    ),
    dieOnSqlError
  )

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

/** The number of the release with which a version first came to the deployment of `r`, in whichever of the ways. */
const firstOf = (versions: string) => `(select min(one.number) from unnest(${versions}) as written (version)
  cross join lateral (
    select number from deployment_releases
    where deployment_id = r.deployment_id and version = written.version order by number limit 1
  ) as one)`

const writtenAs = (spelled: string, version: string) => `coalesce(${spelled}.spellings, array[${version}])`

const releases = (sql: PgClient.PgClient) => (scope: MetricsScope) =>
  Effect.flatMap(spelled(sql)(scope), (several) => releasesOf(sql, scope, several))

/**
 * What only writes the commit of the release before it in another way is no change: neither a release of the period, nor what comes next
 * after one. All between a release and what comes next is of its commit, or cleared.
 */
const releasesOf = (sql: PgClient.PgClient, scope: MetricsScope, several: ReadonlyArray<Spelled>) => {
  const [own, others] = [writtenAs("own", "r.version"), writtenAs("others", "next.version")]
  const isBack = `${firstOf(others)} < ${firstOf(own)}`
  return sql<ReleaseRow>`with spelled as materialized (${spelledRows(sql, several)})
    select p.slug as product, e.slug as environment,
      r.deployment_id as deployment, r.number, r.version, r.at,
      case when ${sql.literal(isBack)} then next.number end as "nextNumber", next.at as "nextAt"
    from deployment_releases r
    join environments e on e.id = r.environment_id and e.class = 'production'
    join products p on p.id = r.product_id
    left join spelled own on own.product_id = r.product_id and own.version = r.version
    left join deployment_releases previous
      on previous.deployment_id = r.deployment_id and previous.number = r.number - 1
    left join lateral (
      select n.number, n.at, n.version from deployment_releases n
      left join deployment_releases earlier
        on earlier.deployment_id = n.deployment_id and earlier.number = n.number - 1
      where n.deployment_id = r.deployment_id and n.number > r.number and n.version is not null
        and (earlier.version is null or n.version <> all(${sql.literal(own)}))
      order by n.number limit 1
    ) next on true
    left join spelled others on others.product_id = r.product_id and others.version = next.version
    where r.workspace_id = ${scope.workspaceId} and r.version is not null and r.at >= ${date(scope.from)}
      and r.at < ${date(scope.until)} and ${ofProduct(sql, "r.product_id", scope)}
      and (previous.version is null or previous.version <> all(${sql.literal(own)}))`.pipe(
    Effect.map((rows) =>
      rows.map(({ at, nextAt, nextNumber, ...row }) => ({
        ...row,
        at: iso(at),
        rollback: nextNumber === null ? null : { number: nextNumber, at: iso(nextAt) }
      }))
    ),
    dieOnSqlError
  )
}

interface CommitRow {
  readonly product: string
  readonly sha: string
  readonly at: Date
  readonly releasedAt: Date
}

/**
 * The commits with the releases of their versions, those of a version that is written in several ways also with the releases of the others.
 * Each of these is looked up by the indexes, whatever is known of how many there are.
 */
const releasedCommits = (sql: PgClient.PgClient, scope: MetricsScope, several: ReadonlyArray<Spelled>) => {
  const own = sql`select c.product_id, c.sha, c.at, r.at as released_at, r.environment_id from version_commits c
    join deployment_releases r on r.workspace_id = c.workspace_id and r.product_id = c.product_id
      and r.version = c.version and r.at < ${date(scope.until)}
    where c.workspace_id = ${scope.workspaceId} and c.at is not null and ${ofProduct(sql, "c.product_id", scope)}`
  return several.length === 0
    ? own
    : sql`${own} union all select s.product_id, c.sha, c.at, r.at, r.environment_id
      from (${spelledRows(sql, several)}) as s cross join unnest(s.spellings) as written (version)
        cross join lateral (
          select at, environment_id from deployment_releases where workspace_id = ${scope.workspaceId}
            and product_id = s.product_id and version = written.version and at < ${date(scope.until)} offset 0
        ) as r cross join lateral (
          select sha, at from version_commits where workspace_id = ${scope.workspaceId}
            and product_id = s.product_id and version = s.version and at is not null offset 0
        ) as c
      where written.version <> s.version`
}

const commits = (sql: PgClient.PgClient) => (scope: MetricsScope) =>
  Effect.flatMap(spelled(sql)(scope), (several) => commitsOf(sql, scope, several))

const commitsOf = (sql: PgClient.PgClient, scope: MetricsScope, several: ReadonlyArray<Spelled>) =>
  sql<CommitRow>`select p.slug as product, c.sha, min(c.at) as at, min(c.released_at) as "releasedAt"
    from (${releasedCommits(sql, scope, several)}) as c
    join environments e on e.id = c.environment_id and e.class = 'production'
    join products p on p.id = c.product_id
    group by p.id, c.sha having min(c.released_at) >= ${date(scope.from)}`.pipe(
    Effect.map((rows) =>
      rows.map(({ at, product, releasedAt, sha }) => ({ product, sha, at: iso(at), releasedAt: iso(releasedAt) }))
    ),
    dieOnSqlError
  )

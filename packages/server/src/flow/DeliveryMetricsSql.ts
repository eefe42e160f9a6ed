import { PgClient } from "@effect/sql-pg"
import type { DeploymentId } from "@delivery/domain/Ids"
import { Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
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

const releases = (sql: PgClient.PgClient) => (scope: MetricsScope) =>
  sql<ReleaseRow>`select p.slug as product, e.slug as environment,
      r.deployment_id as deployment, r.number, r.version, r.at,
      next.number as "nextNumber", next.at as "nextAt"
    from deployment_releases r
    join environments e on e.id = r.environment_id and e.class = 'production'
    join products p on p.id = r.product_id
    left join lateral (
      select n.number, n.at, n.version from deployment_releases n
      where n.deployment_id = r.deployment_id and n.number > r.number and n.version is not null
      order by n.number limit 1
    ) next on next.version <> r.version and exists (select from deployment_releases earlier where earlier.deployment_id = r.deployment_id
        and earlier.version = next.version and earlier.number < r.number
        and not exists (select from deployment_releases same where same.deployment_id = r.deployment_id
          and same.version = r.version and same.number < earlier.number))
    where r.workspace_id = ${scope.workspaceId} and r.version is not null and r.at >= ${date(scope.from)}
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

const commits = (sql: PgClient.PgClient) => (scope: MetricsScope) =>
  sql<CommitRow>`select p.slug as product, c.sha, min(c.at) as at, min(r.at) as "releasedAt"
    from version_commits c
    join deployment_releases r on r.workspace_id = c.workspace_id and r.product_id = c.product_id
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

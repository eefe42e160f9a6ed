import { beginOf, isCommit } from "@delivery/domain/catalog/WholeVersion"
import type { DeploymentId, ProductId, TicketId, WorkspaceId } from "@delivery/domain/Ids"
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import { actorColumns, actorJoins, type ActorRow, readActor } from "../access/Actors.ts"
import { presentRefs, type ReleasePlace } from "../catalog/DeploymentsRepo.ts"
import { environments } from "../catalog/EnvironmentsRepo.ts"
import { products } from "../catalog/ProductsRepo.ts"
import { versionCommits } from "../catalog/ReleaseRows.ts"
import { type Spelled, spelledWith } from "../catalog/Spellings.ts"
import { begunIn, isCommitSql, spelledIn, spelledRows } from "../catalog/SpellingStatements.ts"
import type { Viewer } from "../planning/Viewer.ts"
import { seesTeam } from "../planning/Visibility.ts"
import { testsDeployment } from "../runs/TestedAddress.ts"
import type { ProductVersion } from "../runs/TestRunsRepo.ts"
import { column, texts, uuids } from "../storage/Columns.ts"
import { dieOnSqlError, iso, isoOrNull } from "../storage/Sql.ts"
import { columnsOf, partReaderOf, type SelectedRow } from "../storage/Table.ts"
import {
  type CommitBounds,
  type FoundRelease,
  type HistoryCursor,
  type NamedTicket,
  ReleasesRepo
} from "./ReleasesRepo.ts"

export const layer = Layer.effect(
  ReleasesRepo,
  Effect.map(PgClient.PgClient, (sql) =>
    ReleasesRepo.of({
      history: history(sql),
      wasDeployed: wasDeployed(sql),
      spelled: spelled(sql),
      commits: commits(sql),
      commitsNaming: commitsNaming(sql),
      versionsNaming: versionsNaming(sql),
      releasesOf: releasesOf(sql),
      deployed: deployed(sql)
    })
  )
)

type HistoryRow = ActorRow &
  Omit<FoundRelease, "at" | "by" | "deployment"> & {
    readonly at: Date
    readonly deploymentId: DeploymentId
    readonly deletedAt: Date | null
  }

/** The releases of a page as a table `r`, with the end of their deployments. The live one is before all that ended. */
const pageOf = (
  sql: PgClient.PgClient,
  { environmentId, productId, workspaceId }: ReleasePlace,
  { before, deployment }: HistoryCursor,
  limit: number
): Statement.Fragment => {
  const last = deployment === undefined ? sql`true` : sql`d.id = ${deployment}`
  const isBelow =
    before === undefined ? sql`true` : sql`number < case when ${last} then ${before}::bigint else 2147483648 end`
  const isNotLater =
    deployment === undefined
      ? sql`true`
      : sql`(coalesce(d.deleted_at, 'infinity'), d.id) <=
          (select coalesce(deleted_at, 'infinity'), id from deployments where id = ${deployment})`
  return sql`(select one.*, d.deleted_at from deployments d cross join lateral (
      select * from deployment_releases where deployment_id = d.id and ${isBelow} order by number desc limit ${limit}
    ) as one
    where d.workspace_id = ${workspaceId} and d.product_id = ${productId} and d.environment_id = ${environmentId}
      and ${isNotLater}
    order by coalesce(d.deleted_at, 'infinity') desc, d.id desc, one.number desc limit ${limit}) as r`
}

const wasDeployed =
  (sql: PgClient.PgClient): ReleasesRepo["Service"]["wasDeployed"] =>
  ({ environmentId, productId, workspaceId }, deployment) =>
    sql`select 1 from deployments where workspace_id = ${workspaceId} and product_id = ${productId}
      and environment_id = ${environmentId} and ${deployment === undefined ? sql`true` : sql`id = ${deployment}`}
      limit 1`.pipe(
      Effect.map((rows) => rows.length === 1),
      dieOnSqlError
    )

/**
 * A run counts for the release that it began on. One that a server of before releases started counts for the release that
 * had its version at its start. One counts as readiness counts it: not if it tested another address, and failed where what failed has passed
 * elsewhere alone. Runs that are erased count as before; of those that an earlier server erased, the address is not known.
 */
const page = (sql: PgClient.PgClient) => (place: ReleasePlace, cursor: HistoryCursor, limit: number) =>
  sql<HistoryRow>`select r.number, r.version, previous.version as previous, r.at, r.deployment_id as "deploymentId", r.deleted_at as "deletedAt", r.override_reason as override, r.readiness, ${actorColumns(sql, "r.actor")},
      (select max(earlier.number) from deployment_releases earlier where earlier.deployment_id = r.deployment_id
        and earlier.version = r.version and earlier.number < r.number) as "rolledBackTo",
      tested.passed, tested.failed
    from ${pageOf(sql, place, cursor, limit)}
    left join deployment_releases previous
      on previous.deployment_id = r.deployment_id and previous.number = r.number - 1
    left join deployment_releases next on next.deployment_id = r.deployment_id and next.number = r.number + 1
    cross join lateral (
      select count(*) filter (where t.result = 'passed')::integer as passed,
        count(*) filter (where t.result = 'failed')::integer as failed
      from (
        select workspace_id, product_id, environment_id, deployment_id, deployment_version, release, started_at,
          case when retried_elsewhere then 'failed' else result end as result, ${testsDeployment(sql)} as counts
        from test_runs
        union all
        select workspace_id, product_id, environment_id, deployment_id, deployment_version, release, started_at,
          case when retried_elsewhere then 'failed' else result end, tested_elsewhere is not true
        from past_runs
      ) t
      where t.workspace_id = r.workspace_id and t.product_id = r.product_id and t.deployment_version = r.version
        and t.environment_id = r.environment_id and t.counts
        and case when t.release is null then t.started_at >= r.at and (next.at is null or t.started_at < next.at)
          else t.deployment_id = r.deployment_id and t.release = r.number end
    ) as tested
    ${actorJoins(sql, "r.actor")}
    order by coalesce(r.deleted_at, 'infinity') desc, r.deployment_id desc, r.number desc`.pipe(
    Effect.map((rows) =>
      rows.map((row) => ({
        number: row.number,
        version: row.version,
        previous: row.previous,
        deployment: { id: row.deploymentId, deletedAt: isoOrNull(row.deletedAt) },
        at: iso(row.at),
        by: readActor(row),
        passed: row.passed,
        failed: row.failed,
        rolledBackTo: row.rolledBackTo,
        override: row.override,
        readiness: row.readiness
      }))
    ),
    dieOnSqlError
  )

const history =
  (sql: PgClient.PgClient): ReleasesRepo["Service"]["history"] =>
  (place, cursor, limit) =>
    Effect.gen(function* () {
      const releases = yield* page(sql)(place, cursor, limit)
      const spelled = yield* spelledOf(sql, place, releases)
      if (spelled.size === 0) return releases
      const earlier = yield* earlierOf(sql, releases, spelled)
      return releases.map((release, index) => {
        const spellings = release.version === null ? undefined : spelled.get(release.version)
        if (spellings === undefined) return release
        // What only writes the commit that was there before in another way rolls nothing back.
        const isBack = release.previous === null || !spellings.includes(release.previous)
        return { ...release, rolledBackTo: isBack ? (earlier.get(index) ?? null) : null }
      })
    })

/** How the versions of the releases that may be commits are written, where there are several ways. */
const spelledOf = (sql: PgClient.PgClient, place: ReleasePlace, releases: ReadonlyArray<FoundRelease>) => {
  const commits = releases.flatMap(({ version }) => (version !== null && isCommit(version) ? [beginOf(version)] : []))
  if (commits.length === 0) return Effect.succeed(new Map<string, ReadonlyArray<string>>())
  const begins = sql`select ${place.productId}::uuid, digits from unnest(${texts([...new Set(commits)], (one) => one)}) as digits`
  return Effect.map(
    spelledIn(sql, place.workspaceId, begins),
    (found) => new Map(found.map(({ spellings, version }) => [version, spellings]))
  )
}

/** Of the releases by their place in the list, the newest earlier one of the same commit in the deployment. */
const earlierOf = (
  sql: PgClient.PgClient,
  releases: ReadonlyArray<FoundRelease>,
  spelled: ReadonlyMap<string, ReadonlyArray<string>>
) => {
  const asked = releases.flatMap(({ deployment, number, version }, place) => {
    const spellings = version === null ? undefined : spelled.get(version)
    return spellings === undefined ? [] : [{ place, deployment_id: deployment.id, number, spellings }]
  })
  return sql<{ readonly place: number; readonly number: number | null }>`select r.place, (
      select max(earlier.number) from deployment_releases earlier where earlier.deployment_id = r.deployment_id
        and earlier.version = any(r.spellings) and earlier.number < r.number
    ) as number
    from json_to_recordset(${PgTypes.json(asked)}::json)
      as r (place integer, deployment_id uuid, number integer, spellings text[])`.pipe(
    Effect.map((rows) => new Map(rows.map(({ number, place }) => [place, number]))),
    dieOnSqlError
  )
}

const spelled =
  (sql: PgClient.PgClient): ReleasesRepo["Service"]["spelled"] =>
  (workspaceId, versions) => {
    const commits = versions.filter(({ version }) => isCommit(version))
    if (commits.length === 0) return Effect.succeed(spelledWith(versions, []))
    const begins = sql`select distinct product_id, digits
      from unnest(${column(commits, PgTypes.OID.uuid, ({ productId }) => productId)},
        ${texts(commits, ({ version }) => beginOf(version))}) as asked (product_id, digits)`
    return Effect.map(begunIn(sql, workspaceId, begins, 1), (rows) =>
      spelledWith(
        versions,
        rows.flatMap(({ productId, versions }) => versions.map((version) => ({ productId, version })))
      )
    )
  }

/** The versions as a table `named`. */
const versionRows = (versions: ReadonlyArray<ProductVersion>, sql: PgClient.PgClient): Statement.Fragment =>
  sql`unnest(${column(versions, PgTypes.OID.uuid, ({ productId }) => productId)},
    ${texts(versions, ({ version }) => version)}) as named (product_id, version)`

const commitProperties = ["id", "productId", "version", "sha", "subject", "author", "at"] as const
const commitColumns = columnsOf(versionCommits, { of: "c", only: commitProperties })
const readCommit = partReaderOf(versionCommits, commitProperties)

interface CommitWithTickets extends SelectedRow {
  readonly tickets: ReadonlyArray<NamedTicket> | null
}

/** Commits `c`, from what `from` says, with the tickets that they name. */
const selectCommits = (sql: PgClient.PgClient, viewer: Viewer, from: Statement.Fragment) =>
  sql<CommitWithTickets>`select ${sql.literal(commitColumns)}, (
      select json_agg(distinct jsonb_build_object('id', t.id, 'key', team.key, 'number', t.number, 'title', t.title))
      from commit_mentions m
        join teams called on called.workspace_id = m.workspace_id and called.key = m.team_key
          and ${seesTeam(sql, viewer, "called")}
        join ticket_identifiers i on i.team_id = called.id and i.number = m.number
        join tickets t on t.id = i.ticket_id
        join teams team on team.id = t.team_id and ${seesTeam(sql, viewer, "team")}
      where m.commit_id = c.id) as tickets
    from ${from} order by c.id`.pipe(
    Effect.map((rows) => rows.map((row) => ({ ...readCommit(row), tickets: row.tickets ?? [] }))),
    dieOnSqlError
  )

/** The columns of a commit, with the beginning of its subject. */
const bounded = (sql: PgClient.PgClient, { subject }: CommitBounds): Statement.Fragment =>
  sql`id, workspace_id, product_id, version, sha, left(subject, ${subject}) as subject, author, at`

const commits =
  (sql: PgClient.PgClient) => (viewer: Viewer, versions: ReadonlyArray<ProductVersion>, bounds: CommitBounds) =>
    selectCommits(
      sql,
      viewer,
      sql`${versionRows(versions, sql)} cross join lateral (
        select ${bounded(sql, bounds)} from version_commits
        where workspace_id = ${viewer.workspaceId} and product_id = named.product_id and version = named.version
        order by id limit ${bounds.count}) c`
    )

/** The ids of the commits that name the ticket. */
const naming = (sql: PgClient.PgClient, viewer: Viewer, ticket: TicketId): Statement.Fragment =>
  sql`select m.commit_id from ticket_identifiers i
    join teams named on named.id = i.team_id and ${seesTeam(sql, viewer, "named")}
    join commit_mentions m on m.workspace_id = ${viewer.workspaceId} and m.team_key = named.key and m.number = i.number
    where i.ticket_id = ${ticket}`

const commitsNaming = (sql: PgClient.PgClient) => (viewer: Viewer, ticket: TicketId, bounds: CommitBounds) =>
  selectCommits(
    sql,
    viewer,
    sql`(select ${bounded(sql, bounds)} from version_commits where id in (${naming(sql, viewer, ticket)})
      order by id desc limit ${bounds.count}) c`
  )

const versionsNaming = (sql: PgClient.PgClient) => (viewer: Viewer, ticket: TicketId) =>
  dieOnSqlError(
    sql<ProductVersion>`select distinct product_id as "productId", version from version_commits
      where id in (${naming(sql, viewer, ticket)})`
  )

const productProperties = ["id", "slug", "name", "type", "archivedAt"] as const
const environmentProperties = ["id", "slug", "name", "class", "emoji", "archivedAt"] as const
const pairColumns = [
  columnsOf(products, { of: "p", as: "product", only: productProperties }),
  columnsOf(environments, { of: "e", as: "environment", only: environmentProperties })
].join(", ")
const readProduct = partReaderOf(products, productProperties, { as: "product" })
const readEnvironment = partReaderOf(environments, environmentProperties, { as: "environment" })

const readDeployed = (row: SelectedRow) => ({
  deploymentId: row["deploymentId"] as DeploymentId,
  ...presentRefs({ product: readProduct(row), environment: readEnvironment(row) })
})

interface LiveRow extends SelectedRow {
  readonly number: number
  readonly version: string
  readonly at: Date
  readonly until: Date | null
}

const releasesOf = (sql: PgClient.PgClient) => (workspaceId: WorkspaceId, versions: ReadonlyArray<ProductVersion>) =>
  sql<LiveRow>`select r.deployment_id as "deploymentId", r.number, r.version, r.at,
        coalesce(next.at, d.deleted_at) as until, ${sql.literal(pairColumns)}
      from ${versionRows(versions, sql)} join deployment_releases r on r.workspace_id = ${workspaceId}
        and r.product_id = named.product_id and r.version = named.version
      join deployments d on d.id = r.deployment_id
      join products p on p.id = r.product_id
      join environments e on e.id = r.environment_id
      left join deployment_releases next on next.deployment_id = r.deployment_id and next.number = r.number + 1
      order by r.at, r.deployment_id, r.number`.pipe(
    Effect.map((rows) =>
      rows.map((row) => ({
        ...readDeployed(row),
        number: row.number,
        version: row.version,
        at: iso(row.at),
        until: isoOrNull(row.until)
      }))
    ),
    dieOnSqlError
  )

const deployed = (sql: PgClient.PgClient) => (workspaceId: WorkspaceId, productIds: ReadonlyArray<ProductId>) => {
  const begins = sql`select distinct product_id, left(lower(version), 7) from deployments
    where workspace_id = ${workspaceId} and product_id = any(${uuids(productIds)}) and deleted_at is null
      and ${sql.literal(isCommitSql)}`
  return Effect.flatMap(spelledIn(sql, workspaceId, begins), (several) =>
    deployedAs(sql, workspaceId, productIds, several)
  )
}

const deployedAs = (
  sql: PgClient.PgClient,
  workspaceId: WorkspaceId,
  productIds: ReadonlyArray<ProductId>,
  several: ReadonlyArray<Spelled>
) =>
  sql<SelectedRow & { readonly origin: number | null }>`select d.id as "deploymentId", ${sql.literal(pairColumns)},
      (select min(r.number) from deployment_releases r
        where r.deployment_id = d.id and r.version = any(coalesce(s.spellings, array[d.version]))) as origin
    from deployments d join products p on p.id = d.product_id join environments e on e.id = d.environment_id
      left join (${spelledRows(sql, several)}) as s on s.product_id = d.product_id and s.version = d.version
    where d.workspace_id = ${workspaceId} and d.product_id = any(${uuids(productIds)}) and d.deleted_at is null
      and p.archived_at is null and e.archived_at is null`.pipe(
    Effect.map((rows) => rows.map((row) => ({ ...readDeployed(row), origin: row.origin }))),
    dieOnSqlError
  )

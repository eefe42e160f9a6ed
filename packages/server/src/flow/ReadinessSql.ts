import { maxMutedFailures } from "@delivery/domain/flow/Readiness"
import { maxShownName, shownName } from "@delivery/domain/flow/ShownName"
import type { EnvironmentId, ProductId, SecretId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import type { Counts } from "@delivery/domain/runs/TestRun"
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { isCommitSql } from "../catalog/SpellingStatements.ts"
import type { Viewer } from "../planning/Viewer.ts"
import { seesTeam } from "../planning/Visibility.ts"
import { isReproducibleSql, isWholeSql } from "../runs/RunScope.ts"
import { mostElsewhere, testsDeploymentNow } from "../runs/TestedAddress.ts"
import { clocksApartSql } from "../runs/TestTimes.ts"
import { texts } from "../storage/Columns.ts"
import { date, dieOnSqlError, iso } from "../storage/Sql.ts"
import { readerOf, type SelectedRow, selectFrom } from "../storage/Table.ts"
import { fewer, leftOut, settled } from "./LeftOutSql.ts"
import { mayDecide, ranBefore, testsWhatIsThere } from "./MayDecideSql.ts"
import {
  type AskedRuns,
  type BlockingTicket,
  type ElsewhereRun,
  type FoundRun,
  maxErrorLine,
  mostUnresolved,
  type MutedFailure,
  namedFailures,
  type Place,
  type PolicyRow,
  readinessPolicies,
  ReadinessRepo,
  type SecretState,
  type UncountedRun,
  type UnresolvedRun
} from "./ReadinessRepo.ts"

export const layer = Layer.effect(
  ReadinessRepo,
  Effect.map(PgClient.PgClient, (sql) =>
    ReadinessRepo.of({
      policy: policy(sql),
      setPolicy: setPolicy(sql),
      isKnown: isKnown(sql),
      begunBy: begunBy(sql),
      commits: commits(sql),
      runs: runs(sql),
      unresolved: unresolved(sql),
      elsewhere: elsewhere(sql),
      uncounted: uncounted(sql),
      leftOut: leftOut(sql),
      settled: settled(sql),
      fewer: fewer(sql),
      secrets: secrets(sql),
      blockingTickets: blockingTickets(sql)
    })
  )
)

const readPolicy = readerOf(readinessPolicies)

const policy = (sql: PgClient.PgClient) => (place: Place) =>
  sql<SelectedRow>`${selectFrom(sql, readinessPolicies)} where workspace_id = ${place.workspaceId}
    and product_id = ${place.productId} and environment_id = ${place.environmentId}`.pipe(
    Effect.map((rows) => rows.map(readPolicy)[0]),
    dieOnSqlError
  )

const setPolicy = (sql: PgClient.PgClient) => (row: PolicyRow) =>
  sql`insert into readiness_policies (workspace_id, product_id, environment_id, from_id, requires, tickets, secrets,
      drift, mutes, freezes, updated_at)
    values (${row.workspaceId}, ${row.productId}, ${row.environmentId}, ${row.fromId},
      ${PgTypes.json(row.requires)}::jsonb, ${row.tickets}, ${row.secrets}, ${row.drift}, ${row.mutes},
      ${PgTypes.json(row.freezes)}::jsonb, ${date(row.updatedAt)})
    on conflict (workspace_id, product_id, environment_id) do update set from_id = excluded.from_id,
      requires = excluded.requires, tickets = excluded.tickets, secrets = excluded.secrets, drift = excluded.drift,
      mutes = excluded.mutes, freezes = excluded.freezes, updated_at = excluded.updated_at`.pipe(
    Effect.asVoid,
    dieOnSqlError
  )

/**
 * One look into an index of each. They are asked for the first of a range of one, which only the index has in order: for any one that is
 * equal, PostgreSQL reads all runs of a product of which most are of one version.
 */
const isKnown =
  (sql: PgClient.PgClient) =>
  ({ productId, workspaceId }: Place, version: string) => {
    const has = (table: string, column: string) => {
      const [from, of] = [sql.literal(table), sql.literal(column)]
      return sql`(select ${of} from ${from} where workspace_id = ${workspaceId} and product_id = ${productId}
        and ${of} between ${version} and ${version} order by ${of} limit 1) is not null`
    }
    return sql<{ readonly isKnown: boolean }>`select ${has("deployment_releases", "version")}
        or ${has("test_runs", "deployment_version")} or ${has("past_runs", "deployment_version")} as "isKnown"`.pipe(
      Effect.map((rows) => rows[0]!.isKnown),
      dieOnSqlError
    )
  }

/** The first and the last that begin so, of each: where these are one, so are all. No digit of an id comes after `f`. */
const begunBy =
  (sql: PgClient.PgClient) =>
  ({ productId, workspaceId }: Place, id: string) => {
    const begin = id.toLowerCase()
    const ends = (
      table: "deployment_releases" | "test_runs" | "past_runs",
      column: "version" | "deployment_version"
    ) => {
      const [from, version] = [sql.literal(table), sql.literal(column)]
      return sql`select unnest(array[min(${version}), max(${version})]) as version from ${from}
        where workspace_id = ${workspaceId} and product_id = ${productId}
          and ${version} >= ${begin} and ${version} < ${`${begin}g`}
          and ${version} ~ '^([0-9a-f]{40}|[0-9a-f]{64})$'`
    }
    return sql<{ readonly version: string }>`select distinct version from (
        ${ends("deployment_releases", "version")}
        union all ${ends("test_runs", "deployment_version")}
        union all ${ends("past_runs", "deployment_version")}
      ) known where version is not null`.pipe(
      Effect.map((rows) => rows.map(({ version }) => version)),
      dieOnSqlError
    )
  }

/** One look into an index that holds such versions alone (`deployment_releases_commit`, whose condition has to be there word for word). */
const commits =
  (sql: PgClient.PgClient): ReadinessRepo["Service"]["commits"] =>
  ({ productId, workspaceId }, begin) =>
    sql<{ readonly version: string }>`select distinct version from deployment_releases
      where workspace_id = ${workspaceId} and product_id = ${productId} and ${sql.literal(isCommitSql)}
        and (lower(version) collate "C") >= ${begin} and (lower(version) collate "C") < ${`${begin}g`}`.pipe(
      Effect.map((rows) => rows.map(({ version }) => version)),
      dieOnSqlError
    )

type RunRow = Omit<FoundRun, "counts" | "environment" | "failures" | "finishedAt" | "git" | "mutedFailures"> &
  Counts & {
    readonly branch: string
    readonly sha: string
    readonly dirty: boolean
    readonly finishedAt: Date
    readonly slug: string
    readonly name: string
    readonly failedCount: number
    readonly failedTitles: ReadonlyArray<string>
    readonly mutedCount: number
    readonly mutedTests: ReadonlyArray<MutedFailure>
  }

/** Whether runs of an environment decide. */
const isSource = (
  sql: PgClient.PgClient,
  { environmentId, fromId }: Pick<AskedRuns, "environmentId" | "fromId">,
  id: string
) => (fromId === null ? sql`${sql.literal(id)} <> ${environmentId}` : sql`${sql.literal(id)} = ${fromId}`)

/** The ways in which the version is written that is asked for, as `v`. */
const versionsOf = (sql: PgClient.PgClient, versions: AskedRuns["versions"]) =>
  sql`unnest(${texts(versions, (version) => version)}) as v (version)`

/** Of `newest`. */
const retriedBefore = (sql: PgClient.PgClient) => sql`coalesce((
          select max(started_at) + ${sql.literal(clocksApartSql)} < newest.first_test_at from test_run_attempts
          where run_id = newest.id and retry = (
            select max(number) from test_run_retries
            where run_id = newest.id and newest.retried_elsewhere and elsewhere and flaky_count > 0
          )
        ), false)`

/** One look into the index for each coverage and environment, however many runs there are (`test_runs_deciding`). */
const runs =
  (sql: PgClient.PgClient) =>
  ({ coverages, environmentId, fromId, productId, versions, workspaceId }: AskedRuns, now: Timestamp) =>
    sql<RunRow>`select asked.coverage, newest.id, newest.number, newest.result, newest.gate_result as "gateResult",
        newest.retried_elsewhere as "retriedElsewhere", newest.error,
        newest.finished_at as "finishedAt",
        newest.git_branch as branch, newest.git_sha as sha, newest.git_dirty as dirty, newest.slug, newest.name,
        ${retriedBefore(sql)} as "retriedBefore",
        (select number from test_run_retries r
          where r.run_id = newest.id and r.state = 'running' and r.expires_at > ${date(now)}) as "runningRetry",
        newest.total, newest.passed, newest.flaky, newest.failed, newest.skipped,
        failures.count as "failedCount", failures.titles as "failedTitles", muted.count as "mutedCount", muted.tests as "mutedTests"
      from unnest(${texts(coverages, (coverage) => coverage)}) as asked (coverage)
      cross join lateral (
        select t.*, e.slug, e.name
        from environments e cross join ${versionsOf(sql, versions)} cross join lateral (
          select id, number, result, coalesce(gate_result, result) as gate_result, retried_elsewhere, left(error, ${maxErrorLine}::integer) as error, finished_at, total, passed, flaky,
            failed, skipped, mutes, git_branch, git_sha, git_dirty, first_test_at
          from test_runs
          where workspace_id = ${workspaceId} and product_id = ${productId} and deployment_version = v.version
            and coverage = asked.coverage and environment_id = e.id and ${sql.literal(mayDecide)}
            and ${testsWhatIsThere(sql, "test_runs")}
          order by finished_at desc, number desc limit 1
        ) t
        where e.workspace_id = ${workspaceId} and ${isSource(sql, { environmentId, fromId }, "e.id")}
        order by t.finished_at desc, t.number desc limit 1
      ) newest
      cross join lateral (
        select count(*)::int as count,
          coalesce(jsonb_agg(failure.title order by failure.case_id) filter (where failure.place <= ${namedFailures}::int), '[]') as titles
        from (
          select case_id, left(title, ${maxShownName}) as title, row_number() over (order by case_id) as place from (
            select case_id, title from test_run_tests where run_id = newest.id and status = 'failed'
            union all
            select case_id, title from test_run_tests where run_id = newest.id and newest.retried_elsewhere and status = 'flaky'
          ) t where not coalesce(newest.mutes, '[]') @> jsonb_build_array(jsonb_build_object('caseId', case_id))
        ) failure
      ) failures
      cross join lateral (
        select count(*)::int as count,
          coalesce(jsonb_agg(failure.mute || jsonb_build_object('title', failure.title) order by failure.case_id)
            filter (where failure.place <= ${maxMutedFailures}::int), '[]') as tests
        from (
          select t.case_id, t.title, muted.mute, row_number() over (order by t.case_id) as place
          from jsonb_array_elements(newest.mutes) as muted (mute)
            join test_run_tests t on t.run_id = newest.id and t.case_id = muted.mute->>'caseId' and t.status = 'failed'
        ) failure
      ) muted`.pipe(
      Effect.map((rows) => rows.map(foundRunOf)),
      dieOnSqlError
    )

const foundRunOf = ({
  branch,
  coverage,
  dirty,
  error,
  failed,
  failedCount,
  failedTitles,
  finishedAt,
  flaky,
  gateResult,
  id,
  mutedCount,
  mutedTests,
  name,
  number,
  passed,
  result,
  retriedBefore,
  retriedElsewhere,
  runningRetry,
  sha,
  skipped,
  slug,
  total
}: RunRow): FoundRun => ({
  coverage,
  id,
  number,
  result,
  gateResult,
  retriedElsewhere: retriedElsewhere === true,
  retriedBefore,
  runningRetry,
  error,
  git: { branch, sha, dirty },
  counts: { total, passed, flaky, failed, skipped },
  failures: { count: failedCount, titles: failedTitles.map(shownName) },
  mutedFailures: {
    count: mutedCount,
    tests: mutedTests.map((test) => ({ ...test, title: shownName(test.title) }))
  },
  finishedAt: iso(finishedAt),
  environment: { slug, name }
})

/** One look into an index of each coverage (`test_runs_unresolved`). */
const unresolved =
  (sql: PgClient.PgClient): ReadinessRepo["Service"]["unresolved"] =>
  ({ coverages, environmentId, fromId, productId, versions, workspaceId }, now) =>
    sql<UnresolvedRun>`select asked.coverage, newest.number, newest.slug as environment,
        case when newest.is_running then 'running' else 'interrupted' end as state
      from unnest(${texts(coverages, (coverage) => coverage)}) as asked (coverage)
      cross join lateral (
        select t.number, t.is_running, e.slug from ${versionsOf(sql, versions)} cross join lateral (
          select number, environment_id, state = 'running' and expires_at > ${date(now)} as is_running from test_runs
          where workspace_id = ${workspaceId} and product_id = ${productId} and deployment_version = v.version
            and coverage = asked.coverage and coverage is not null and ${isSource(sql, { environmentId, fromId }, "environment_id")} and result is null
            and ${sql.literal(isWholeSql)} and ${sql.literal(isReproducibleSql)} and ${testsDeploymentNow(sql, "test_runs")}
          order by number desc limit ${sql.literal(String(mostUnresolved))}
        ) t join environments e on e.id = t.environment_id
        order by t.is_running desc, t.number desc limit 1
      ) newest`.pipe(dieOnSqlError)

/** One look into the index for each coverage and environment (`test_runs_deciding`). */
const elsewhere =
  (sql: PgClient.PgClient): ReadinessRepo["Service"]["elsewhere"] =>
  ({ coverages, environmentId, fromId, productId, versions, workspaceId }) =>
    sql<
      Omit<ElsewhereRun, "finishedAt"> & { readonly finishedAt: Date }
    >`select distinct on (asked.coverage, newest.reason) asked.coverage, newest.number, e.slug as environment,
        newest.base_url as "baseUrl", newest.result, newest.finished_at as "finishedAt", newest.reason
      from unnest(${texts(coverages, (coverage) => coverage)}) as asked (coverage)
      cross join environments e cross join ${versionsOf(sql, versions)} cross join lateral (
        select number, base_url, coalesce(gate_result, result) as result, finished_at,
          case when not ${testsDeploymentNow(sql, "test_runs")} then 'other_address'
            when ${ranBefore(sql, "test_runs")} then 'ran_before' end as reason
        from test_runs
        where workspace_id = ${workspaceId} and product_id = ${productId} and deployment_version = v.version
          and coverage = asked.coverage and environment_id = e.id and ${sql.literal(mayDecide)}
        order by finished_at desc, number desc limit ${sql.literal(String(mostElsewhere))}
      ) newest
      where e.workspace_id = ${workspaceId} and ${isSource(sql, { environmentId, fromId }, "e.id")}
        and newest.reason is not null
      order by asked.coverage, newest.reason, newest.finished_at desc, newest.number desc`.pipe(
      Effect.map((rows) => rows.map((row) => ({ ...row, finishedAt: iso(row.finishedAt) }))),
      dieOnSqlError
    )

/** The index holds only such runs (`test_runs_uncounted`, whose conditions have to be there word for word). */
const uncounted =
  (sql: PgClient.PgClient): ReadinessRepo["Service"]["uncounted"] =>
  ({ coverages, environmentId, fromId, productId, versions, workspaceId }) =>
    sql<
      Omit<UncountedRun, "finishedAt"> & { readonly finishedAt: Date }
    >`select distinct on (t.coverage, t.result) t.coverage,
        t.number, e.slug as environment, t.base_url as "baseUrl", t.result, t.finished_at as "finishedAt",
        case when t.deployment_changed then 'deployment_changed' when t.git_dirty then 'uncommitted_changes'
          when t.publisher_kind = 'agent' then 'of_agent' when not t.is_whole then 'part_of_tests'
          when t.coverage is null then 'no_coverage' else 'nothing_tested' end as reason
      from ${versionsOf(sql, versions)} cross join lateral (
        select number, coverage, environment_id, base_url, coalesce(gate_result, result) as result, finished_at,
          deployment_changed, git_dirty, publisher_kind, ${sql.literal(isWholeSql)} as is_whole
        from test_runs
        where workspace_id = ${workspaceId} and product_id = ${productId} and deployment_version = v.version
          and result is not null and (deployment_changed is true or git_dirty or publisher_kind = 'agent'
            or selection <> '{"folders":[],"caseIds":[]}' or coverage is null
            or (coalesce(gate_result, result) <> 'failed' and passed + flaky = 0))
          and ${isSource(sql, { environmentId, fromId }, "environment_id")} and ${testsDeploymentNow(sql, "test_runs")}
          and (coverage is null or coverage = any(${texts(coverages, (coverage) => coverage)}))
        order by finished_at desc, number desc limit ${sql.literal(String(mostElsewhere))}
      ) t join environments e on e.id = t.environment_id
      order by t.coverage, t.result, t.finished_at desc, t.number desc`.pipe(
      Effect.map((rows) => rows.map((row) => ({ ...row, finishedAt: iso(row.finishedAt) }))),
      dieOnSqlError
    )

/**
 * Whether there is a value is asked, and never the value. One of the name of a deleted one tells what became of that. What was loaded is
 * looked up in one object: as rows they would be gone through for each secret wherever the planner takes a product to have few.
 */
const secrets =
  (sql: PgClient.PgClient) =>
  (
    { environmentId, productId, workspaceId }: Place,
    beside: EnvironmentId | null,
    loaded: Readonly<Record<SecretId, number>>
  ) =>
    sql<SecretState>`with l as materialized (
        select ${PgTypes.json(loaded)}::jsonb as versions
      ), gone as materialized (
        select s.name from l cross join secrets s where s.workspace_id = ${workspaceId}
          and s.product_id = ${productId} and s.deleted_at is not null and l.versions ? s.id::text
      )
      select s.id, s.name, s.deleted_at is not null as "isDeleted", coalesce(v.version, 0) as version,
        h.sealed is not null as "hasValue", b.sealed is not null as "hasValueBeside"
      from l cross join secrets s
      left join secret_values v on v.secret_id = s.id and v.environment_id = ${environmentId}
      left join secret_versions h on h.secret_id = v.secret_id and h.environment_id = v.environment_id
        and h.version = v.version
      left join secret_values w on w.secret_id = s.id and w.environment_id = ${beside}::uuid
      left join secret_versions b on b.secret_id = w.secret_id and b.environment_id = w.environment_id
        and b.version = w.version
      where s.workspace_id = ${workspaceId} and s.product_id = ${productId}
        and (s.deleted_at is null or l.versions ? s.id::text)
        and ((l.versions->>s.id::text)::integer is distinct from v.version or (b.sealed is not null and h.sealed is null)
          or s.name in (select name from gone))`.pipe(dieOnSqlError)

const blockingTickets = (sql: PgClient.PgClient) => (viewer: Viewer, product: ProductId) =>
  sql<BlockingTicket>`select t.id, team.key as "teamKey", t.number, t.title, ${seesTeam(sql, viewer, "team")} as "isSeen"
    from project_products l
    join projects p on p.id = l.project_id and p.archived_at is null
    join tickets t on t.workspace_id = l.workspace_id and t.project_id = p.id and t.blocks
    join ticket_statuses s on s.id = t.status_id and s.category not in ('completed', 'canceled')
    join teams team on team.id = t.team_id and team.archived_at is null
    where l.workspace_id = ${viewer.workspaceId} and l.product_id = ${product}`.pipe(dieOnSqlError)

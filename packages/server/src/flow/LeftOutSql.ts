import { maxShownName } from "@delivery/domain/flow/ShownName"
import type { TestRunId } from "@delivery/domain/Ids"
import { Coverage } from "@delivery/domain/runs/TestEntry"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { isReproducibleSql, isWholeSql } from "../runs/RunScope.ts"
import { mostElsewhere, sameAddress, testsDeployment, testsDeploymentNow } from "../runs/TestedAddress.ts"
import { beganBySql, clocksApartSql } from "../runs/TestTimes.ts"
import { texts, uuids } from "../storage/Columns.ts"
import { dieOnSqlError, iso } from "../storage/Sql.ts"
import { mayDecide, ranBefore, testsWhatIsThere } from "./MayDecideSql.ts"
import {
  type AskedVersions,
  fewerOf,
  type FewerTests,
  leastFewer,
  type LeftOutTest,
  mostCompared,
  mostLeftOut,
  namedTests,
  type ReadinessRepo
} from "./ReadinessRepo.ts"
import { isAbout } from "./TestRulesSql.ts"

/** What the runs that decide have left out, of what ran before them (docs/contract.md, Readiness). */

type Repo = ReadinessRepo["Service"]

const wasInterrupted = `coverage is not null and result is null and state = 'interrupted' and finished_at is not null
  and ${isWholeSql} and ${isReproducibleSql}`

const most = String(mostElsewhere)

const coverages = `array[${Coverage.literals.map((one) => `'${one}'`).join(", ")}]`

const those = ({ versions }: AskedVersions) => texts(versions, (version) => version)

const inProduct = (sql: PgClient.PgClient, { productId, workspaceId }: AskedVersions) =>
  sql`workspace_id = ${workspaceId} and product_id = ${productId}`

/** The runs that decide, as `deciding`, with the time when their environment had their version first. */
const decidingRuns = (sql: PgClient.PgClient, asked: AskedVersions, runs: ReadonlyArray<TestRunId>) => sql`deciding as (
      select r.id, r.number, r.coverage, r.environment_id, r.finished_at, r.passed + r.flaky + r.failed as ran, (
        select min(at) from deployment_releases
        where ${inProduct(sql, asked)} and version = any(${those(asked)}) and environment_id = r.environment_id
      ) as released_at
      from test_runs r where r.id = any(${uuids(runs)})
    )`

/** The last finished runs of the environment of `d` that started before it. */
const finishedBefore = (sql: PgClient.PgClient, asked: AskedVersions) => sql`select * from test_runs
  where ${inProduct(sql, asked)} and environment_id = d.environment_id and number < d.number and result is not null
  order by number desc limit ${sql.literal(most)}`

/** Whether one of those is of another version, and of the coverage of `d`. */
const isOfOthers = (sql: PgClient.PgClient, asked: AskedVersions) => sql`deployment_version <> all(${those(asked)})
  and coverage = d.coverage and environment_id = d.environment_id`

/**
 * The runs up to each of those that decide, that itself in the first place, as `before`: the last of its version, found by that, and those of
 * others among the last of its environment. Each of the four looks ends after so many runs, however many there are. Those that tested an
 * address which the deployment had then, and has not now, have that as `former_url`.
 */
const runsBefore = (sql: PgClient.PgClient, asked: AskedVersions, runs: ReadonlyArray<TestRunId>) => {
  const read = (of: "test_runs" | "earlier") =>
    sql`id, number, coverage, git_branch, deployment_version, started_at, finished_at, failed, flaky, retried_elsewhere is true as is_elsewhere,
    deployment_id, release, last_test_at, result, gate_result, retried_elsewhere,
    result is null as is_interrupted, case when not ${testsDeploymentNow(sql, of)} then base_url end as former_url`
  const isOf = sql`${inProduct(sql, asked)} and deployment_version = v.version and coverage = d.coverage
    and environment_id = d.environment_id and ${testsDeployment(sql, "test_runs")}`
  const isOther = sql`${isOfOthers(sql, asked)} and ${testsDeployment(sql, "earlier")}`
  return sql`${decidingRuns(sql, asked, runs)}, before as materialized (
      select t.*, t.is_other and coalesce(t.started_at >= d.released_at, false) as is_later,
        row_number() over (partition by d.id order by t.finished_at desc, t.number desc) as place
      from deciding d cross join lateral (
        select false as is_other, o.* from unnest(${those(asked)}) as v (version) cross join lateral (
          (select ${read("test_runs")} from test_runs where ${isOf} and ${sql.literal(mayDecide)}
            and (finished_at, number) <= (d.finished_at, d.number)
          order by finished_at desc, number desc limit ${sql.literal(most)})
          union all
          (select ${read("test_runs")} from test_runs where ${isOf} and ${sql.literal(wasInterrupted)}
          order by number desc limit ${sql.literal(most)})
        ) o
        union all
        select true, ${read("earlier")} from (${finishedBefore(sql, asked)}) earlier
        where ${isOther} and ${sql.literal(mayDecide)}
        union all
        select true, ${read("earlier")} from (
          select * from test_runs where ${inProduct(sql, asked)} and number < d.number and state = 'interrupted' and finished_at is not null
          order by number desc limit ${sql.literal(most)}
        ) earlier where ${isOther} and ${sql.literal(wasInterrupted)}
      ) t
      where (t.finished_at, t.number) <= (d.finished_at, d.number) and not ${ranBefore(sql, "t")}
    )`
}

/** Of each other coverage, the run of the version which finished last in the environment of one that decides and could decide itself. */
const besides = (sql: PgClient.PgClient, asked: AskedVersions) => sql`besides as materialized (
      select distinct on (d.id, o.coverage) d.id as deciding_id, o.*
      from deciding d cross join unnest(${those(asked)}) as v (version)
        cross join unnest(${sql.literal(coverages)}) as c (coverage) cross join lateral (
          select id, number, coverage, finished_at, retried_elsewhere is true as is_elsewhere from test_runs
          where ${inProduct(sql, asked)} and deployment_version = v.version and coverage = c.coverage
            and environment_id = d.environment_id and ${testsWhatIsThere(sql, "test_runs")} and ${sql.literal(mayDecide)}
          order by finished_at desc, number desc limit 1
        ) o
      where c.coverage <> d.coverage
      order by d.id, o.coverage, o.finished_at desc, o.number desc
    )`

/** When the last attempt of a retry of a test began. */
const retriedAt = (run: string, test: string) =>
  `(select a.started_at from test_run_attempts a where a.run_id = ${run} and a.case_id = ${test} order by a.number desc limit 1)`

/**
 * The failures of those runs, as `failures`: for each test the one of the run that finished last, and the one that began last, which a pass may
 * have not settled that settles the other. What passed elsewhere in a retry is flaky there: of such a run all that is flaky has failed. So has
 * what passed in a retry that began before it failed, also in the run that decides.
 */
const failures = (sql: PgClient.PgClient) => {
  const began = beganBySql("t.attempt_started_at", "b.finished_at")
  const read = sql.literal("case_id, title, attempt_started_at from test_run_tests where run_id = b.id")
  const group = sql.literal("coverage, case_id, is_other, is_later, former_url")
  return sql`failures as materialized (
        select * from (
          select *, row_number() over (partition by ${group} order by place) as by_place,
            row_number() over (partition by ${group} order by began_at desc nulls last, place) as by_time
          from (
            select b.id, b.coverage, b.place, b.number, b.git_branch, b.finished_at, b.is_other, b.is_later, b.former_url, t.case_id, t.title,
              ${sql.literal(began)} as began_at, case when b.is_other then b.deployment_version end as other_version
            from before b cross join lateral (
              select ${read} and status = 'failed' and b.place > 1 and b.failed > 0
              union all
              select ${read} and status = 'flaky' and b.place > 1 and b.is_elsewhere
              union all
              select t.case_id, t.title, t.attempt_started_at from (
                select distinct case_id from test_run_attempts where run_id = b.id and b.flaky > 0 and not b.is_elsewhere
              ) retried cross join lateral (
                select ${read} and case_id = retried.case_id and status = 'flaky' offset 0
              ) t where ${sql.literal(`${retriedAt("b.id", "t.case_id")} + ${clocksApartSql} < ${began}`)}
            ) t
          ) f
        ) f where by_place = 1 or by_time = 1
      )`
}

/** The runs up to that of `f` in which its test passed, as `l`, with when that began. In that itself it passed in a retry that began before it failed. */
const passesAnywhere = (sql: PgClient.PgClient) => sql`before l cross join lateral (
              select status, case status when 'flaky' then ${sql.literal(retriedAt("l.id", "f.case_id"))} else attempt_started_at end as began_at
              from test_run_tests where run_id = l.id and case_id = f.case_id offset 0
            ) p
            where l.coverage = f.coverage and not l.is_interrupted and (p.status = 'passed' or (p.status = 'flaky' and not l.is_elsewhere))
              and l.place <= f.place and (l.place < f.place or p.status = 'flaky')`

const isSameFormer = (sql: PgClient.PgClient) => sameAddress(sql, "l.former_url", "f.former_url")

/** Those of them that say anything of where it failed. */
const passes = (sql: PgClient.PgClient) =>
  sql`${passesAnywhere(sql)} and (l.former_url is null or ${isSameFormer(sql)})`

const settlesSql = `(l.place < f.place and coalesce(p.began_at + ${clocksApartSql} >= f.began_at, true))`

/** Those at another address, which is not that of now, that would else have settled it. */
const passesAway = (sql: PgClient.PgClient) =>
  sql`${passesAnywhere(sql)} and ${sql.literal(settlesSql)} and l.former_url is not null and (f.former_url is null or not ${isSameFormer(sql)})`

/**
 * Of those runs, that alone is read which failed (`test_run_tests_failed`), then for each test its last failure is looked up in those since.
 * Each look is by itself (`offset 0`): the planner takes them to be many, and would read the tests of all runs. Where any pass is found that
 * began too early, all are looked at; mostly it is the first that settles, or there is none.
 */
export const leftOut =
  (sql: PgClient.PgClient): Repo["leftOut"] =>
  (asked, runs) =>
    sql<
      Omit<LeftOutTest, "failedAt"> & { readonly failedAt: Date }
    >`with ${runsBefore(sql, asked, runs)}, ${failures(sql)}, ${besides(sql, asked)}
      select distinct on (f.coverage, f.case_id) f.coverage, f.case_id as "caseId", left(f.title, ${maxShownName}) as title, f.number,
        f.git_branch as branch, f.other_version as "otherVersion", f.former_url is not null as "isFormer", greatest(f.finished_at, (
          select max(r.finished_at) from test_run_attempts a join test_run_retries r on r.run_id = a.run_id and r.number = a.retry
          where a.run_id = f.id and a.case_id = f.case_id and a.status = 'failed'
        )) as "failedAt", case when f.has_settled is not null then (select l.number from ${passes(sql)} order by l.place limit 1) end as "oldPass",
        (select l.number from ${passesAway(sql)} order by l.place limit 1) as "passedAway", (
          select jsonb_build_object('coverage', b.coverage, 'number', b.number) from besides b cross join lateral (
            select status from test_run_tests where run_id = b.id and case_id = f.case_id offset 0
          ) t
          where b.deciding_id = f.deciding_id and (t.status = 'passed' or (t.status = 'flaky' and not b.is_elsewhere))
          order by b.number desc limit 1
        ) as "passedIn"
      from deciding d cross join lateral (
        select f.*, d.id as deciding_id, one.has_settled from (
          select * from failures where coverage = d.coverage order by is_other, place, case_id offset 0
        ) f left join lateral (select ${sql.literal(settlesSql)} as has_settled from ${passes(sql)} limit 1) one on true
        where one.has_settled is not true and (one.has_settled is null or not exists (select 1 from ${passes(sql)} and ${sql.literal(settlesSql)}))
          and (f.place = 1 or not exists (select 1 from test_run_tests where run_id = d.id and case_id = f.case_id and status = 'failed' offset 0))
          and (not f.is_later or exists (
            select 1 from before o cross join lateral (
              select 1 from test_run_tests where run_id = o.id and case_id = f.case_id offset 0
            ) t
            where o.coverage = f.coverage and not o.is_other
          ))
        limit ${sql.literal(String(mostLeftOut))}
      ) f
      order by f.coverage, f.case_id, f.is_other, f.place`.pipe(
      Effect.map((rows) => rows.map((row) => ({ ...row, failedAt: iso(row.failedAt) }))),
      dieOnSqlError
    )

/** Completed tickets alone have the time. A test that was asked of one afterwards is settled from then on. */
export const settled =
  (sql: PgClient.PgClient): Repo["settled"] =>
  ({ productId, workspaceId }, caseIds) =>
    sql<{ readonly caseId: string; readonly at: Date }>`select tested.id as "caseId",
        max(greatest(t.completed_at, (t.cases->'askedAt'->>tested.id)::timestamptz)) as at
      from tickets t cross join lateral jsonb_array_elements_text(t.cases->'caseIds') as tested (id)
      where t.workspace_id = ${workspaceId} and t.cases is not null and t.cases->>'productId' = ${productId}
        and t.completion = 'evidence' and t.completed_at is not null and ${isAbout(sql, caseIds)}
        and tested.id = any(${texts(caseIds, (caseId) => caseId)})
      group by tested.id`.pipe(
      Effect.map((rows) => rows.map(({ at, caseId }) => ({ caseId, at: iso(at) }))),
      dieOnSqlError
    )

/** Looks at as many runs as the last of the environment are. The tests of the two are read where there are so many fewer. */
export const fewer =
  (sql: PgClient.PgClient): Repo["fewer"] =>
  (asked, runs) =>
    sql<FewerTests>`with ${decidingRuns(sql, asked, runs)}
      select d.coverage, r.number, r.version, r.ran - d.ran as count, named.titles
      from deciding d cross join lateral (
        select * from (
          select * from (
            select distinct on (deployment_version) id, number, deployment_version as version, passed + flaky + failed as ran
            from (${finishedBefore(sql, asked)}) earlier
            where ${isOfOthers(sql, asked)} and ${testsDeploymentNow(sql, "earlier")} and ${sql.literal(mayDecide)} and not ${ranBefore(sql, "earlier")} and finished_at <= d.finished_at
              and not coalesce(started_at >= d.released_at, false)
            order by deployment_version, number desc
          ) newest
          order by number desc limit ${sql.literal(String(mostCompared))}
        ) compared
        order by ran desc, number desc limit 1
      ) r cross join lateral (
        select coalesce(jsonb_agg(left(title, ${maxShownName}) order by case_id), '[]') as titles from (
          select case_id, title from test_run_tests t
          where run_id = r.id and status <> 'skipped' and not exists (
            select 1 from test_run_tests where run_id = d.id and case_id = t.case_id and status <> 'skipped'
          )
          order by case_id limit ${sql.literal(String(namedTests))}
        ) missing
      ) named
      where r.ran - d.ran >= ${sql.literal(String(leastFewer))} and r.ran - d.ran >= r.ran::float / ${sql.literal(String(fewerOf))}`.pipe(
      dieOnSqlError
    )

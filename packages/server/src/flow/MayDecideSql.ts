import type { PgClient } from "@effect/sql-pg"
import type { Statement } from "effect/sql"
import { hasFailedSql, hasTestedSql, isReproducibleSql, isWholeSql } from "../runs/RunScope.ts"
import { testsDeploymentNow } from "../runs/TestedAddress.ts"
import { clocksApartSql } from "../runs/TestTimes.ts"

/** Which runs may decide whether a version goes out (docs/contract.md, Readiness), over rows of `test_runs`. */

/**
 * Whether a run decides, or would if it had tested the deployment. The first conditions are those of the index
 * (`test_runs_deciding`), which have to be there word for word.
 */
export const mayDecide = `coverage is not null and result is not null and deployment_changed is distinct from true
  and ${isWholeSql} and (result = 'failed' or passed + flaky > 0) and ${hasTestedSql} and ${isReproducibleSql}`

/**
 * Whether a run, called `of`, was started when all its tests had begun, and passed, and they began before its release, or before those of a
 * run that failed on that and finished earlier: it tested something else, or what was seen to fail since. One look into an index for each of
 * the two (`test_runs_failed_at`).
 */
export const ranBefore = (sql: PgClient.PgClient, of: string): Statement.Fragment => {
  const run = sql.literal(of)
  const clocks = sql.literal(clocksApartSql)
  return sql`(${run}.last_test_at + ${clocks} < ${run}.started_at and ${run}.last_test_at is not null and coalesce(${run}.gate_result, ${run}.result, '') = 'passed'
    and ${run}.retried_elsewhere is not true and (
      coalesce(${run}.last_test_at + ${clocks} < (select released.at from deployment_releases released
        where released.deployment_id = ${run}.deployment_id and released.number = ${run}.release), false)
      or exists (select 1 from test_runs broken
        where broken.deployment_id = ${run}.deployment_id and broken.release = ${run}.release
          and broken.first_test_at is not null and (broken.result = 'failed' or broken.retried_elsewhere)
          and broken.first_test_at > ${run}.last_test_at + ${clocks} and broken.coverage = ${run}.coverage
          and (broken.finished_at, broken.number) < (${run}.finished_at, ${run}.number)
          and ${sql.literal(mayDecide)} and (${sql.literal(hasFailedSql)} or broken.retried_elsewhere)
          and ${testsDeploymentNow(sql, "broken")})))`
}

/** Whether a run that may decide, called `of`, does: it tested the deployment as it is, and did not run before that. */
export const testsWhatIsThere = (sql: PgClient.PgClient, of: string): Statement.Fragment =>
  sql`(${testsDeploymentNow(sql, of)} and not ${ranBefore(sql, of)})`

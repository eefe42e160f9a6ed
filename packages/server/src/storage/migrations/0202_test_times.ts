import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * When the first and the last test of a run began, so that readiness reads no tests to find that. Null for runs of before, and for those that
 * servers of before end: nobody knows that these ran too early.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table test_runs add column first_test_at timestamptz, add column last_test_at timestamptz`
  yield* sql`create index test_runs_failed_at on test_runs (deployment_id, release, first_test_at)
    where first_test_at is not null and coverage is not null and (result = 'failed' or retried_elsewhere)`
})

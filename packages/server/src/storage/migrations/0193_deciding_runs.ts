import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Finds the run of a version with a whole coverage in each environment that finished last: of two at once, the one that started last need
 * not be it. Servers of before find theirs without their index, somewhat slower.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create index test_runs_deciding
    on test_runs (workspace_id, product_id, deployment_version, coverage, environment_id, finished_at, number)
    where coverage is not null and result is not null and deployment_changed is distinct from true
      and selection = '{"folders":[],"caseIds":[]}' and (result = 'failed' or passed + flaky > 0)`
  yield* sql`drop index test_runs_evidence`
})

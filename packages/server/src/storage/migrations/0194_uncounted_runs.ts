import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Finds the finished runs of a version that decide nothing, without those that do. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create index test_runs_uncounted on test_runs (workspace_id, product_id, deployment_version, finished_at, number)
    where result is not null and (deployment_changed is true or git_dirty or publisher_kind = 'agent'
      or selection <> '{"folders":[],"caseIds":[]}' or coverage is null
      or (coalesce(gate_result, result) <> 'failed' and passed + flaky = 0))`
})

import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Finds the failed runs of a version that decide nothing, which are few. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create index test_runs_uncounted on test_runs (workspace_id, product_id, deployment_version, finished_at, number)
    where coalesce(gate_result, result) = 'failed'
      and (deployment_changed is true or selection <> '{"folders":[],"caseIds":[]}' or coverage is null)`
})

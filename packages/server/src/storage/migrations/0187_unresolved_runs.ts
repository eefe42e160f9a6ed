import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Finds the newest run of a version with a whole coverage that runs or was interrupted: readiness names it beside the one that decides. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create index test_runs_unresolved on test_runs (workspace_id, product_id, deployment_version, coverage, number)
    where coverage is not null and result is null and selection = '{"folders":[],"caseIds":[]}'`
})

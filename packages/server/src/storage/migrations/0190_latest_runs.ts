import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Finds the newest finished run of each deployment. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create index test_runs_latest on test_runs (workspace_id, product_id, environment_id, number)
    where result is not null`
})

import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Finds the tests that failed in a run without reading all that it ran: readiness looks for them in hundreds of runs. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create index test_run_tests_failed on test_run_tests (run_id, case_id) where status = 'failed'`
})

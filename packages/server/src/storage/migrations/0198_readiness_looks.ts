import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Finds the tests that failed in a run without reading all that it ran, since readiness looks for them in hundreds of runs, and the versions
 * of a product that are one commit, however each is written.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create index test_run_tests_failed on test_run_tests (run_id, case_id) where status = 'failed'`
  yield* sql`create index deployment_releases_commit
    on deployment_releases (workspace_id, product_id, (lower(version) collate "C"))
    where version ~* '^[0-9a-f]{7,64}$'`
})

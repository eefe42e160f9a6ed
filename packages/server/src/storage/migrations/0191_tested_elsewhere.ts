import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * What tested another address than its deployment's, or another release: of runs that are gone, and of retries. Null for those of before, and
 * for those that servers of before erase or end. `views_person` was never used.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table past_runs add column tested_elsewhere boolean, add column retried_elsewhere boolean`
  yield* sql`alter table test_run_retries add column elsewhere boolean`
  yield* sql`drop index views_person`
})

import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Whether a retry of the run tested another release than the run. Servers of before the migration do not note it. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table test_runs add column retried_elsewhere boolean`
})

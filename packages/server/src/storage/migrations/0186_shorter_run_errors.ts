import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Servers of before kept errors outside of tests whole: one of many megabytes, or those of several shards together, took the list
 * of runs away from everybody.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`update test_runs set error = left(error, 20000) where octet_length(error) > 80000`
})

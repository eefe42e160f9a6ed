import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Which pull request and which job of a CI published a run. Servers of before know neither. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table test_runs add column git_pull_request integer, add column ci_url text`
})

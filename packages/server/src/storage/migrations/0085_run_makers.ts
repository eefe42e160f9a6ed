import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The credentials that runs and retries were started with: their run tokens end with these. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table test_runs add column maker_id uuid`
  yield* sql`alter table test_run_retries add column maker_id uuid`
})

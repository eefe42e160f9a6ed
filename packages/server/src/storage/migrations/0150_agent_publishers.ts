import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Agents publish runs. Servers of before show such a publisher as they show any agent that did something. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Rows of before are right, and not looked at again.
  for (const table of ["test_runs", "test_run_shards", "test_run_retries"]) {
    yield* sql`${sql.literal(`alter table ${table} drop constraint ${table}_publisher_kind_check,
      add constraint ${table}_publisher_kind_check check (publisher_kind in ('user', 'agent', 'apiKey')) not valid`)}`
  }
})

import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Of the indexes of what runs alone, only that of token hashes has `state = 'running'` as its condition. PostgreSQL takes
 * what runs for little, as it was when it last counted: another index with that condition it takes for as good as the
 * right one, and reads all that runs to find one.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`drop index test_runs_overdue`
  yield* sql`create index test_runs_overdue on test_runs ((case when state = 'running' then expires_at end))
    where case when state = 'running' then expires_at end is not null`
  yield* sql`drop index test_run_retries_running_key`
  yield* sql`create unique index test_run_retries_running_key on test_run_retries
    ((case when state = 'running' then run_id end))`
})

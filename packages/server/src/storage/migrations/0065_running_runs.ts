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
  // The run is found by its id alone: a condition on its state would let PostgreSQL choose the index of token hashes.
  yield* sql`create or replace function semaphore_run_is_running(in_run uuid, in_retry integer) returns boolean
    language sql stable as $$
      select coalesce((
        select case
          when in_retry is null then state = 'running' and expires_at > clock_timestamp()
          else running_retry = in_retry and running_retry_expires_at > clock_timestamp()
        end
        from test_runs where id = in_run
      ), false)
    $$`
})

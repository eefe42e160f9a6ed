import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Which requests have started runs, so that a start whose answer was lost can be repeated. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create table test_run_requests (
    workspace_id uuid not null references workspaces,
    publisher_kind text not null,
    publisher_id uuid not null,
    request_id text collate "C" not null,
    run_id uuid not null references test_runs on delete cascade,
    fingerprint text not null,
    constraint test_run_requests_key primary key (workspace_id, publisher_kind, publisher_id, request_id)
  )`
  yield* sql`create index test_run_requests_run on test_run_requests (run_id)`
})

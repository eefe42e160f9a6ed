import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // A page is found in one index alone: by what the index of one filter has, or in the order of numbers by what several
  // compare. Numbers ascend, which leaves pages full, and are read backward.
  yield* sql`alter table test_runs drop constraint test_runs_number_key,
    add constraint test_runs_number_key unique (workspace_id, number)
      include (product_id, environment_id, publisher_id, publisher_kind, result, flaky)`
  yield* sql`drop index test_runs_product, test_runs_environment, test_runs_publisher, test_runs_commit,
    test_runs_result, test_runs_flaky`
  yield* sql`create index test_runs_product on test_runs (workspace_id, product_id, number)`
  yield* sql`create index test_runs_environment on test_runs (workspace_id, environment_id, number)`
  yield* sql`create index test_runs_publisher on test_runs (workspace_id, publisher_id, publisher_kind, number)`
  yield* sql`create index test_runs_result on test_runs (workspace_id, result, number) where result is not null`
  yield* sql`create index test_runs_flaky on test_runs (workspace_id, number) where flaky > 0 and result is not null`
  // Few runs are of one commit: what else is asked is compared here. An index of an expression is read alone only where
  // it has the column, too.
  yield* sql`create index test_runs_commit on test_runs
    (workspace_id, (lower(git_sha collate "C")) collate "C", number)
    include (git_sha, product_id, environment_id, publisher_id, publisher_kind, result, flaky)`
})

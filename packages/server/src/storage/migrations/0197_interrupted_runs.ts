import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Finds the interrupted runs of a product that ended, without all others: what failed in them has failed (docs/contract.md, Evidence). */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create index test_runs_interrupted on test_runs (workspace_id, product_id, number)
    where state = 'interrupted' and finished_at is not null`
})

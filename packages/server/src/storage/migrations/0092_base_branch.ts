import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The branch of a product that others are merged into. Servers of before the migration know of none, and make products of `main`. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table products add column base_branch text not null default 'main'`
})

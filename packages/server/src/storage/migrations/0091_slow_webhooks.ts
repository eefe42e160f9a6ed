import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Until when a webhook counts as slow, so that slow receivers do not hold up the others. Null: it is not slow. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table webhooks add column slow_until timestamptz`
})

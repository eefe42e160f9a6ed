import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Limits of API keys. Keys made before have all scopes and do not expire. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table api_keys add column scopes jsonb`
  yield* sql`alter table api_keys add column expires_at timestamptz`
})

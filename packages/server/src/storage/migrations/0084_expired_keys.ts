import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Finds keys that have expired and are not marked as ended yet. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create index api_keys_expiry on api_keys (expires_at) where revoked_at is null and expires_at is not null`
})

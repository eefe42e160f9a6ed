import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Refusals are few among the entries of the audit: without an index of their own, their page reads all others. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create index audit_entries_refused on audit_entries (workspace_id, id) where outcome = 'refused'`
})

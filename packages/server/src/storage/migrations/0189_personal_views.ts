import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Whose view it is alone; null for those that everybody sees who sees the scope, as all of before. Servers of before the
 * migration show personal ones to them, too.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table views add column person_id uuid references persons`
  yield* sql`create index views_person on views (workspace_id, person_id) where person_id is not null`
})

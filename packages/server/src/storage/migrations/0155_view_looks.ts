import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Views keep their grouping and their order. Servers of before the migration make views that are grouped by status. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table views
    add column grouped_by text not null default 'status'
      check (grouped_by in ('status', 'owner', 'project', 'milestone')),
    add column sorted_by text check (sorted_by in ('updated', 'created'))`
})

import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Mutes that ended by their time while their ticket was open: readiness names them until the ticket is closed or muted anew. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create table overdue_mutes (
    ticket_id uuid primary key references tickets on delete cascade,
    workspace_id uuid not null references workspaces,
    product_id uuid not null references products on delete cascade,
    case_ids jsonb not null,
    until timestamptz not null
  )`
  yield* sql`create index overdue_mutes_product on overdue_mutes (workspace_id, product_id)`
})

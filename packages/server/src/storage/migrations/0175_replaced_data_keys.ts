import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Data keys that another one has replaced. The one that encrypts stays the only one of its workspace in `vault_data_keys`,
 * where servers of before look for it.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create table vault_replaced_data_keys (
    id uuid primary key,
    workspace_id uuid not null references workspaces,
    key_id text not null,
    sealed text not null,
    created_at timestamptz not null
  )`
  yield* sql`create index vault_replaced_data_keys_workspace on vault_replaced_data_keys (workspace_id, id)`
  yield* sql`create index vault_replaced_data_keys_key on vault_replaced_data_keys (key_id, id)`
  yield* sql`alter table vault_data_keys add column revision_key bytea`
})

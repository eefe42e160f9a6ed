import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Credentials that a workspace does not let in. The root is the credential that was blocked: what it made is blocked with
 * it, and has a row of its own.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create table credential_blocks (
    workspace_id uuid not null references workspaces,
    credential_id uuid not null,
    root_id uuid not null,
    created_at timestamptz not null,
    constraint credential_blocks_key primary key (workspace_id, credential_id, root_id)
  )`
  yield* sql`create index credential_blocks_credential on credential_blocks (credential_id)`
})

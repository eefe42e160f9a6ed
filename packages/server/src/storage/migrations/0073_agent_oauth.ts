import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Agents of other clients, by the names that these give themselves, and refresh tokens whose answer was lost. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Of a client that the service does not know, the name that it gives itself.
  yield* sql`alter table agents add column client_name text`
  yield* sql`alter table agents drop constraint agents_client_check`
  yield* sql`alter table agents add constraint agents_client_check
    check (client in ('claude', 'codex', 'cursor') and client_name is null or client = 'other' and client_name is not null)`
  yield* sql`drop index agents_client_key`
  yield* sql`create unique index agents_client_key on agents (workspace_id, person_id, client, coalesce(client_name, ''))
    where revoked_at is null`

  yield* sql`create table replaced_tokens (
    token_hash text primary key,
    workspace_id uuid not null references workspaces,
    sign_in_id uuid not null references sign_ins on delete cascade,
    expires_at timestamptz not null
  )`
  yield* sql`create index replaced_tokens_sign_in on replaced_tokens (sign_in_id)`
})

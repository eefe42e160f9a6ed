import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Sign-ins by the server's URL: what clients ask of people, the codes of those who allowed it, and the tokens that followed. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Null: made by registering an agent; then its id is the client's.
  yield* sql`alter table sign_ins add column client_id text`
  // Of a sign-in by the server's URL: when the token was first used.
  yield* sql`alter table refresh_tokens add column used_at timestamptz`

  yield* sql`create table authorizations (
    id uuid primary key,
    client_id text not null,
    client_kind text not null,
    client_name text not null,
    client text not null,
    redirect_uri text not null,
    scope text not null,
    code_challenge text not null,
    state text,
    created_at timestamptz not null,
    expires_at timestamptz not null
  )`
  yield* sql`create index authorizations_expiry on authorizations (expires_at)`

  // Until it is exchanged, a code has no sign-in. Afterwards it is kept, so that a second use is noticed.
  yield* sql`create table authorization_codes (
    code_hash text primary key,
    workspace_id uuid not null references workspaces,
    person_id uuid not null references persons,
    client_id text not null,
    client_name text not null,
    client text not null,
    redirect_uri text not null,
    scope text not null,
    code_challenge text not null,
    maker_id uuid not null,
    expires_at timestamptz not null,
    sign_in_id uuid,
    kept_until timestamptz not null
  )`
  yield* sql`create index authorization_codes_kept on authorization_codes (kept_until)`
  yield* sql`create index authorization_codes_person on authorization_codes (workspace_id, person_id)`
})

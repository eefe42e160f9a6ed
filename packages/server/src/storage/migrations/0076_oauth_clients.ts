import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Clients that registered themselves, to sign in by the server's URL. They belong to no workspace. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create table oauth_clients (
    id uuid primary key,
    name text not null,
    redirect_uris jsonb not null,
    created_at timestamptz not null,
    used_at timestamptz
  )`
  yield* sql`create index oauth_clients_unused on oauth_clients (created_at) where used_at is null`
})

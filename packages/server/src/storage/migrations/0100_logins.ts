import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Logins of the command line: what was asked for, and what a person decided, until the key is made. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create table logins (
    id uuid primary key,
    state text not null,
    name text not null,
    scopes jsonb,
    key_expires_at timestamptz not null,
    code_challenge text not null,
    redirect_uri text,
    user_code_hash text,
    address text not null,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    person_id uuid references persons,
    session_id uuid,
    code_hash text
  )`
  yield* sql`create index logins_expiry on logins (expires_at)`
  yield* sql`create unique index logins_code on logins (code_hash)`
})

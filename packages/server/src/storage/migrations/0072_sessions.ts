import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Sessions of persons in browsers, links to begin one, and what counts attempts for all servers. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create table web_sessions (
    id uuid primary key,
    person_id uuid not null references persons,
    token_hash text not null constraint web_sessions_token_hash_key unique,
    last_four text not null,
    method text not null,
    device text not null,
    address text not null,
    created_at timestamptz not null,
    last_seen_at timestamptz not null,
    proved_at timestamptz not null
  )`
  yield* sql`create index web_sessions_person on web_sessions (person_id)`
  yield* sql`create index web_sessions_created on web_sessions (created_at)`
  yield* sql`create index web_sessions_seen on web_sessions (last_seen_at)`
  yield* sql`create table sign_in_links (
    id uuid primary key,
    person_id uuid not null references persons,
    token_hash text not null constraint sign_in_links_token_hash_key unique,
    created_at timestamptz not null,
    expires_at timestamptz not null
  )`
  yield* sql`create index sign_in_links_expiry on sign_in_links (expires_at)`
  yield* sql`create table throttles (
    subject text primary key,
    count integer not null,
    started_at timestamptz not null
  )`
  yield* sql`create index throttles_started on throttles (started_at)`
})

import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Accounts at providers of single sign-on, and what browsers take there and back. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create table identities (
    id uuid primary key,
    person_id uuid not null references persons,
    provider text not null,
    issuer text not null,
    subject text not null,
    email text,
    created_at timestamptz not null,
    last_used_at timestamptz not null,
    constraint identities_subject_key unique (issuer, subject)
  )`
  yield* sql`create index identities_person on identities (person_id)`
  yield* sql`create table sign_in_flows (
    id uuid primary key,
    state_hash text not null constraint sign_in_flows_state_hash_key unique,
    browser_hash text not null,
    provider text not null,
    purpose text not null,
    return_to text not null,
    session_id uuid,
    created_at timestamptz not null,
    expires_at timestamptz not null
  )`
  yield* sql`create index sign_in_flows_expiry on sign_in_flows (expires_at)`
})

import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What was mailed to prove who somebody is, and from where each person has signed in. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create table mailed_proofs (
    id uuid primary key,
    person_id uuid references persons,
    purpose text not null,
    token_hash text not null constraint mailed_proofs_token_hash_key unique,
    code_hash text not null,
    browser_hash text not null,
    tries integer not null,
    created_at timestamptz not null,
    expires_at timestamptz not null
  )`
  yield* sql`create index mailed_proofs_browser on mailed_proofs (browser_hash)`
  yield* sql`create index mailed_proofs_expiry on mailed_proofs (expires_at)`
  yield* sql`create table known_devices (
    person_id uuid not null references persons,
    device text not null,
    network text not null,
    seen_at timestamptz not null,
    primary key (person_id, device, network)
  )`
  yield* sql`create index known_devices_seen on known_devices (seen_at)`
  yield* sql`create index invites_email on invites (email)`
})
